"""The program over HTTP: its status, the clock of a test, and the panels that belong to no other resource."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from core.app.messages import Command, DismissNotice, Quit
from core.context.messages import DeleteNamedText, SaveNamedText
from core.hooks.agent import TurnData
from core.hooks.fields import Body, Count, Data, Money, Time, filled
from core.hooks.message_data import CallData
from core.hooks.operation import Resource, operation
from core.hooks.refusals import RefusedError, for_a_person
from core.hooks.request import FRAMES_S, Answer, Request
from core.settings.asked_values import question_id
from core.settings.messages import (
    ChangeProjectSetting,
    ChangeSetting,
    FindLocalServers,
    OpenProject,
    PriceModels,
    RefreshModels,
    RemoveServer,
    ResetPrompt,
    SavePrompt,
    SaveServer,
    UpdatePrices,
)
from core.settings.starting_model import named_provider
from core.settings.wording import asked_lines, trust_title
from core.spending.limits import under_way_usd
from core.values.settings import Project
from core.values.state import AppState, Level


class AskedData(Data, frozen=True):
    """Line of what a folder asks for; `text`: what a text says, empty for other values."""

    words: str
    text: str


class ProjectData(Data, frozen=True):
    """The opened folder, and what it asks for that does not count. `question_id`: what a yes to that must name."""

    root: str
    name: str
    is_trusted: bool
    question: str
    asked: list[AskedData]
    question_id: str
    held_back: list[str]

    @classmethod
    def of(cls, project: Project) -> ProjectData:
        """The project as the API tells it."""
        return filled(
            cls,
            project,
            question=trust_title(project),
            asked=[filled(AskedData, line) for line in asked_lines(project.asked)],
            question_id=question_id(project.asked),
            held_back=list(project.held_back),
        )


class ProviderData(Data, frozen=True):
    """A provider, and where its key comes from, never the key."""

    id: str
    kind: str
    label: str
    key_source: str
    is_ready: bool
    problem: str


class WorkerData(Data, frozen=True):
    """A worker, and how far it is. Null fraction: not known."""

    name: str
    status: str
    detail: str
    fraction: Money


class NoticeData(Data, frozen=True):
    """Notice of the window."""

    id: str
    level: Level
    text: str
    detail: str


class TodayData(Data, frozen=True):
    """Money since the person's midnight. Null: not added up yet, or no limit.

    `is_estimate`: of some of it the provider did not say. `under_way_usd`: what this program's calls are expected to cost
    that are not over.
    """

    spent_usd: Money
    is_estimate: bool
    under_way_usd: float
    limit_usd: Money


class StatusData(Data, frozen=True):
    """The program as it is now. `holder`: another program that owns the home, in words, empty while this one does."""

    version: str
    home: str
    is_home_read_only: bool
    holder: str
    is_headless: bool
    has_test_clock: bool
    is_loading: bool
    now: Time | None
    project: ProjectData
    providers: list[ProviderData]
    workers: list[WorkerData]
    notices: list[NoticeData]
    default_provider: str
    discussions: Count
    selected_id: str
    calls: list[CallData]
    turns: list[TurnData]
    today: TodayData


class ClockBody(Body, frozen=True):
    """Step of the clock forward."""

    advance_s: Annotated[float, Meta(ge=0, le=3_153_600_000)]


class ClockData(Data, frozen=True):
    """The program's time."""

    now: Time | None


async def status(request: Request[None]) -> Answer:
    """The program as it is now."""
    desk, state = request.desk, request.state
    return Answer(
        filled(
            StatusData,
            state.program,
            now=state.now,
            selected_id=state.discussions.selected_id,
            version=desk.version,
            is_headless=desk.window is None,
            has_test_clock=desk.clock is not None,
            project=ProjectData.of(state.config.project),
            providers=[filled(ProviderData, provider) for provider in state.config.providers.values()],
            workers=[filled(WorkerData, worker) for worker in state.program.workers.values()],
            notices=[filled(NoticeData, notice) for notice in state.program.notices],
            default_provider=named_provider(state),
            discussions=len(state.discussions.summaries),
            calls=[CallData.of(call) for call in state.turns.calls.values()],
            turns=[TurnData.of(state, turn) for turn in state.agent.turns.values()],
            today=TodayData(
                state.spending.spent_today_usd,
                state.spending.has_estimate,
                under_way_usd(state),
                state.config.settings.caching.day_limit_usd,
            ),
        )
    )


async def advance_clock(request: Request[ClockBody]) -> Answer:
    """Put the program's clock forward, for tests."""
    clock = request.desk.clock
    assert clock is not None
    now = clock.advance(request.fields.advance_s)
    if now is None:
        raise RefusedError(422, "wrong_body", "The clock would be over 100 years ahead", "Advance it by less")
    state = await request.desk.watch.until(lambda at: at.now is not None and at.now >= now, FRAMES_S)
    return Answer(ClockData((now if state is None or state.now is None else state.now).isoformat()))


_NO_CLOCK = {404: "the program was started without --test-clock"}

_PERSONS_TABLES = frozenset({"tools", "mcp", "channels", "agent", "hooks", "providers"})
"""Tables of settings that say what tools, servers and this API may do, and where words and keys go."""


def _check(_state: AppState, command: Command) -> None:
    """Refuse a change of what no front end of this API gives, whoever asks: policies, servers and channels."""
    if isinstance(command, SaveServer | RemoveServer):
        raise for_a_person()
    if not isinstance(command, ChangeSetting | ChangeProjectSetting):
        return
    if command.key.split(".", 1)[0].strip().strip("\"'").lower() in _PERSONS_TABLES:
        raise for_a_person()


RESOURCE = Resource(
    (
        operation("GET", "/api/status", status, {200: StatusData}),
        operation("POST", "/api/clock", advance_clock, {200: ClockData}, _NO_CLOCK, needs_clock=True),
    ),
    {
        "settings": (
            ChangeSetting,
            ChangeProjectSetting,
            SaveServer,
            RemoveServer,
            RefreshModels,
            FindLocalServers,
            OpenProject,
            SaveNamedText,
            DeleteNamedText,
            PriceModels,
            UpdatePrices,
            SavePrompt,
            ResetPrompt,
        ),
        "notices": (DismissNotice,),
        "program": (Quit,),
    },
    _check,
)
