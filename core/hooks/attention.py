"""Autonomy over HTTP: how the loop stands, for every program; its start for a person alone."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from msgspec import Meta

from core.attention.machine import interval_s
from core.attention.messages import StartAutonomy, StopAutonomy
from core.hooks.fields import Body, Count, Data, Rows, Time, filled
from core.hooks.operation import NO_DISCUSSION, Resource, operation
from core.hooks.queries import PageQuery
from core.hooks.refusals import RefusedError
from core.hooks.request import Answer, Request
from core.values.attention import Attention, Autonomy
from core.values.state import AppState


class LoopNoteData(Data, frozen=True):
    """A line of the loop: what woke it, what it went to, why it stopped."""

    at: Time
    text: str


class AutonomyData(Data, frozen=True):
    """The loop of the autonomous discussion, or of the one that was it last.

    `is_on`: it goes on by itself; `next_at`: of its next turn, none while one runs or only the person wakes it;
    `interval_s`: in this state, errors counted; `stopped`: why it rests until the person writes; `usd`: of its own turns.
    """

    is_on: bool
    discussion_id: str
    state: Attention
    is_running: bool
    next_at: Time | None
    interval_s: Count
    turns: Count
    max_turns: Count
    errors: Count
    woken_by: str
    stopped: str
    usd: float
    notes: Rows[LoopNoteData]

    @classmethod
    def of(cls, state: AppState, autonomy: Autonomy, query: PageQuery) -> AutonomyData:
        """The loop as it is answered with."""
        return filled(
            cls,
            autonomy,
            is_on=state.attention.autonomy is not None,
            is_running=bool(autonomy.message_id),
            interval_s=interval_s(autonomy),
            max_turns=state.config.settings.agent.max_turns,
            notes=query.cut(autonomy.notes, LoopNoteData),
        )


class AutonomyBody(Body, frozen=True, kw_only=True):
    """The discussion that shall go on by itself."""

    discussion_id: Annotated[str, Meta(min_length=1, max_length=200)]


class StartedData(Data, frozen=True):
    """The discussion that goes on by itself now."""

    discussion_id: str


async def get_autonomy(request: Request[PageQuery]) -> Answer:
    """The loop as it stands; 404 where no discussion was autonomous since the program started."""
    attention = request.state.attention
    autonomy = attention.autonomy or attention.ended
    if autonomy is None:
        raise RefusedError(404, "no_autonomy", "No discussion is autonomous", "Start it in the window")
    return Answer(AutonomyData.of(request.state, autonomy, request.fields))


async def start(request: Request[AutonomyBody]) -> Answer:
    """Let a discussion go on by itself. What was allowed for it counts no more."""
    chosen = request.fields.discussion_id
    await request.opened(chosen)
    request.check_writable()
    try:
        await request.do(StartAutonomy(chosen))
    except RefusedError as error:
        if error.status != HTTPStatus.INTERNAL_SERVER_ERROR:
            raise
        raise RefusedError(409, "not_now", error.what, error.remedy) from error
    return Answer(StartedData(chosen))


_ALL = "/api/autonomy"
_AGAINST = "the home is read-only, another discussion is autonomous, or a limit or an unknown price stands against it"

RESOURCE = Resource(
    (
        operation("GET", _ALL, get_autonomy, {200: AutonomyData}, {404: "no discussion is autonomous"}),
        operation(
            "PUT", _ALL, start, {200: StartedData}, {404: NO_DISCUSSION, 409: _AGAINST}, needs_person=True
        ),
    ),
    {"autonomy": (StopAutonomy,)},
)
