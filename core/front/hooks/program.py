"""The program over HTTP: its status, the clock of a test, and the panels that belong to no other resource."""

from __future__ import annotations

import asyncio
import re
import types
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from core.agent.agent_messages import NoteActivity
from core.app.app_messages import PERSON_ONLY, Command, DismissNotice, Quit, SaveWindow
from core.front.hooks.agent import TurnData
from core.front.hooks.caches import kept_warm
from core.front.hooks.client import HELLO_PATH
from core.front.hooks.context import PresetItem, PresetItems, preset_of
from core.front.hooks.conversation import CallData, pay
from core.front.hooks.fields import (
    Body,
    Count,
    Data,
    Money,
    Name,
    Query,
    RefusedError,
    Texts,
    Time,
    filled,
    for_a_person,
    unknown,
)
from core.front.hooks.knowledge import ItemPlace, stored_item
from core.front.hooks.operation import (
    FRAMES_S,
    Answer,
    HookDesk,
    Operation,
    Request,
    Resource,
    Window,
    command_of,
    operation,
    taken,
)
from core.kernel.language import tr
from core.kernel.values.curation import FileItem
from core.kernel.values.knowledge import Item
from core.kernel.values.settings import Project
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import given_fields
from core.services.settings.asked_values import asked_lines, question_id, trust_title
from core.services.settings.settings_messages import (
    ChangeProjectSetting,
    ChangeSetting,
    FindLocalServers,
    OpenProject,
    PriceModels,
    ReadGuide,
    RefreshModels,
    RemoveServer,
    ResetPrompt,
    SavePrompt,
    SaveServer,
    UpdatePrices,
)
from core.services.settings.settings_rules import named_provider
from core.services.spending.limits import under_way_usd
from core.talk.context.context_messages import DeleteNamedText, SaveNamedText
from core.talk.discussion.discussion_messages import UndoDelete
from core.talk.turn.turn_messages import CompareReplies, PaidCommand


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

    `is_estimate`: a provider did not report the usage of some calls. `under_way_usd`: what this program's calls are expected to cost
    that are not over.
    """

    spent_usd: Money
    is_estimate: bool
    under_way_usd: float
    limit_usd: Money


class StatusData(Data, frozen=True):
    """The program as it is now. `holder`: another program that owns the data folder, in words, empty while this one does."""

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
        data=filled(
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
                spent_usd=state.spending.spent_today_usd,
                is_estimate=state.spending.has_estimate,
                under_way_usd=under_way_usd(state),
                limit_usd=state.config.settings.caching.day_limit_usd,
            ),
        )
    )


async def advance_clock(request: Request[ClockBody]) -> Answer:
    """Put the program's clock forward, for tests."""
    clock = request.desk.clock
    assert clock is not None
    now = clock.advance(request.fields.advance_s)
    if now is None:
        raise RefusedError(
            422, "wrong_body", "The clock would be more than 100 years ahead", "Advance the clock by less"
        )
    state = await request.desk.watch.until(lambda at: at.now is not None and at.now >= now, FRAMES_S)
    return Answer(data=ClockData((now if state is None or state.now is None else state.now).isoformat()))


_NO_CLOCK = {404: "the program runs without --test-clock"}

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
    operations=(
        operation("GET", "/api/status", status, {200: StatusData}),
        operation("POST", "/api/clock", advance_clock, {200: ClockData}, _NO_CLOCK, needs_clock=True),
    ),
    panels={
        "settings": (
            ChangeSetting,
            ChangeProjectSetting,
            SaveServer,
            RemoveServer,
            RefreshModels,
            FindLocalServers,
            ReadGuide,
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
    check=_check,
)


# Controls of `POST /api/ui`: the commands that the widgets of each panel send, by name.

COMMAND_ID = "command_id"
"""The field by which we wait for a command; nobody else gives it."""

HELD_BACK: tuple[type[Any], ...] = (*PERSON_ONLY, SaveWindow, NoteActivity, CompareReplies)
"""A person's own words never come through the Hook API; the window keeps its own places, and tells when it is used.

A comparison has a path of its own (`POST /api/discussions/{discussion_id}/compare`), for its models are no plain fields.
"""


def action_name(kind: type[Any]) -> str:
    """A command's name as an action: `rename_discussion`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_NO_FIELDS = frozenset({"panel", "action", "keeps_cache"})
"""Fields of a request to the window that are not fields of its command."""


def make_command(
    resources: Sequence[Resource], state: AppState, panel: str, action: str, body: Mapping[str, Any]
) -> Command:
    """The command that a body asks for.

    Args:
        resources: whose panels there are; body: with the command's fields beside those of the request.

    Raises:
        RefusedError: 403 a person alone may; 404 no such panel, action or thing that a field names; 409 it cannot be done with that thing;
            422 wrong fields.
    """
    if action in map(action_name, PERSON_ONLY):
        raise for_a_person()
    panels = panels_of(resources)
    if panel not in panels:
        raise unknown("panel", panel, tr("Known: window, {panels}", panels=", ".join(panels)))
    resource, kinds = panels[panel]
    kind = next((kind for kind in kinds if action_name(kind) == action), None)
    if kind is None:
        raise unknown(
            "action", action, tr("Known: {action_name}", action_name=", ".join(map(action_name, kinds)))
        )
    given = {name: value for name, value in body.items() if name not in _NO_FIELDS}
    fields = taken(
        fields_type(kind), given, tr("See the fields of {schema} in docs/openapi.json", schema=kind.__name__)
    )
    wanted = given.get("discussion_id", "")
    if wanted and wanted not in state.discussions.summaries and kind is not UndoDelete:
        raise unknown("discussion", wanted, tr("See GET /api/discussions"))
    values = {name: _value(state, getattr(fields, name)) for name in fields.__struct_fields__}
    command = command_of(kind(**values))
    resource.check(state, command)
    return command


def panels_of(resources: Sequence[Resource]) -> Mapping[str, tuple[Resource, tuple[type[Any], ...]]]:
    """The commands of each panel, and the resource that offers them."""
    return {panel: (one, kinds) for one in resources for panel, kinds in one.panels.items()}


def fields_type(kind: type[Any]) -> type[Body]:
    """The type of a command's fields as a request says them."""
    hints, given = get_type_hints(kind), given_fields(kind)
    rows: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (name, _said(hints[name]))
        if found.default is found.empty
        else (name, _said(hints[name]), found.default)
        for name, found in signature(kind).parameters.items()
        if name != COMMAND_ID and name in given
    ]
    made = msgspec.defstruct(f"{kind.__name__}Fields", rows, bases=(Body,), kw_only=True, frozen=True)
    assert issubclass(made, Body)
    return made


def _said(hint: Any) -> Any:
    """The type of a field as a request says it: items of presets and of knowledge have a form of their own."""
    if get_origin(hint) in {Union, types.UnionType}:
        return Union[tuple(map(_said, get_args(hint)))]  # noqa: UP007
    if get_origin(hint) is tuple:
        return PresetItems if get_args(hint)[0] is FileItem else Texts
    return ItemPlace if hint is Item else hint


def _value(state: AppState, said: Any) -> Any:
    """A field's value from what the request says. Raises RefusedError."""
    if isinstance(said, ItemPlace):
        return stored_item(state, said)
    if isinstance(said, tuple) and said and isinstance(said[0], PresetItem):
        return preset_of("items", said).items
    return said


# The window over HTTP: its picture, and what its widgets do.

WINDOW_PANEL = "window"
"""The panel of `POST /api/ui` whose actions are those of the window's menus."""

T = TypeVar("T")


class ActionBody(Body, frozen=True, forbid_unknown_fields=False):
    """A command of a panel, its fields beside these; or an entry of the window's menus.

    `keeps_cache`: refuse a command that leaves a warm cache unused, with its price.
    """

    panel: Name
    action: Name
    keeps_cache: bool = False


class ActionData(Data, frozen=True):
    """Action that was asked for. `warm_loss`: what it leaves unused of a warm cache and what that costs, empty for nothing."""

    panel: str
    action: str
    warm_loss: str = ""


async def screenshot(request: Request[None]) -> Answer:
    """The window as it is, PNG."""
    return Answer(data=await _drawn(request.desk, lambda window: window.screenshot()))


async def _drawn(desk: HookDesk, ask: Callable[[Window], T]) -> T:
    """Ask the window, which answers between two frames. Raises RefusedError (409, 503)."""
    window = desk.window
    if window is None:
        raise RefusedError(
            409,
            "no_window",
            tr("The program runs without a window"),
            tr("Start the program without --headless"),
        )
    async with desk.window_lock:
        try:
            return await asyncio.wait_for(asyncio.to_thread(ask, window), FRAMES_S)
        except TimeoutError as error:
            raise RefusedError(
                503,
                "slow",
                tr("The window does not draw"),
                tr("If the window is minimised, restore the window. Then try again"),
            ) from error


async def _act_in_window(desk: HookDesk, action: str) -> None:
    try:
        is_done = await _drawn(desk, lambda window: window.act(action))
    except PermissionError as error:
        raise for_a_person() from error
    if is_done is None:
        raise unknown(tr("window action"), action)
    if not is_done:
        raise RefusedError(
            409,
            "not_now",
            tr("{action!r} is not possible just now", action=action),
            tr("The menu entry for this action is disabled"),
        )


def operations(resources: Sequence[Resource]) -> tuple[Operation, ...]:
    """The operations on the window, whose panels are those of the resources."""

    async def act(request: Request[ActionBody]) -> Answer:
        """Do what a widget does: an entry of the window's menus, or a command of a panel."""
        panel, action, lost = request.fields.panel, request.fields.action, ""
        if panel == WINDOW_PANEL:
            await _act_in_window(request.desk, action)
        else:
            command = make_command(resources, request.state, panel, action, request.body)
            if isinstance(command, PaidCommand):
                await pay(request.desk, command)
            else:
                lost = kept_warm(request, command, keeps=request.fields.keeps_cache)
                request.desk.front.send(command)
        return Answer(data=ActionData(panel=panel, action=action, warm_loss=lost), status=202)

    no_window = {409: "there is no window"}
    no_target = {
        404: "no such panel, action or discussion",
        409: "no window, not possible just now, or this would leave a warm cache unused",
    }
    return (
        operation("GET", "/api/screenshot.png", screenshot, {200: bytes}, no_window),
        operation("POST", "/api/ui", act, {202: ActionData}, no_target),
    )


# The one operation without a token: who listens here proves that it holds the token of this start.


class HelloQuery(Query, frozen=True):
    """A question that was never asked before."""

    nonce: Annotated[str, Meta(pattern="^[0-9a-f]{32,128}$")]


class HelloData(Data, frozen=True):
    """The answer: HMAC-SHA256, in hexadecimal digits, under the token."""

    proof: str


async def hello(request: Request[HelloQuery]) -> Answer:
    """Prove, before a token or any words are sent, that this is the program that left them in the data folder.

    The proof is the HMAC-SHA256, under the token, of four lines: `manual-slop hello v1`, the nonce, the port, the
    process id as in `hook.json`. Ask on the connection that the token will go over.
    """
    return Answer(data=HelloData(request.desk.prove(request.fields.nonce)))


HELLO = Resource(operations=(operation("GET", HELLO_PATH, hello, {200: HelloData}, is_open=True),))
