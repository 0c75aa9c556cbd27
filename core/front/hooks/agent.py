"""Turns with tools over HTTP: what runs and what is asked, for every program; a yes or a no, for a person alone."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Literal

from msgspec import Meta

from core.agent.agent_messages import (
    ApproveCall,
    KillCommands,
    RefuseCall,
    SetTools,
    StartAutonomy,
    StopAutonomy,
    UndoTurn,
)
from core.agent.agent_pages import mode_of
from core.agent.attention_machine import interval_s
from core.agent.delegation import children_at_work
from core.front.hooks.caches import kept_warm
from core.front.hooks.fields import Body, Count, Data, PageQuery, RefusedError, Rows, Time, filled, unknown
from core.front.hooks.operation import NO_DISCUSSION, READ_ONLY, Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.agent import (
    ActKind,
    AgentTurn,
    Approval,
    Attention,
    Autonomy,
    CallState,
    Mode,
    ToolCall,
)
from core.kernel.values.messages import CallEnd, Status, ToolResultPart
from core.kernel.values.state import AppState

MOST_HUNKS = 10_000
NOT_ASKED = tr("This question is no longer open, or another question replaced it")


class ToolCallData(Data, frozen=True):
    """Call of a tool by the model."""

    call_id: str
    name: str
    arguments_json: str


class AttachmentData(Data, frozen=True):
    """Attachment of a message."""

    sha256: str
    name: str
    media_type: str
    size_bytes: Count


class ToolResultData(Data, frozen=True):
    """Answer of a tool. `attachments`: pictures in it; `ended`: how the call ended, `refused` ones were never begun."""

    call_id: str
    text: str
    is_error: bool
    ended: CallEnd
    attachments: list[AttachmentData]

    @classmethod
    def of(cls, part: ToolResultPart, status: Status) -> ToolResultData:
        """The result as it is answered with. `status`: of its message."""
        files = [filled(AttachmentData, file) for file in part.attachments]
        return filled(cls, part, attachments=files, ended=part.end(status))


class HunkData(Data, frozen=True):
    """Place of an edit, which may be taken or left by itself. `text`: lines of a unified difference."""

    first_line: Count
    text: str


class QuestionData(Data, frozen=True):
    """A question about a call. `id`: a yes counts for exactly this; `grant`: what it would allow for the discussion."""

    id: str
    kind: ActKind
    title: str
    detail: str
    reasons: list[str]
    path: str
    hunks: list[HunkData]
    grant: str
    asked_at: Time | None

    @classmethod
    def of(cls, approval: Approval) -> QuestionData:
        """The question as it is answered with."""
        hunks = [filled(HunkData, hunk) for hunk in approval.hunks]
        return filled(cls, approval, reasons=list(approval.reasons), hunks=hunks)


class WorkingCallData(Data, frozen=True):
    """A call of a turn that runs, or a command that goes on behind its result.

    `tail`: the end of its output so far; `result`: the start of its answer; `question`: null unless it is asked now.
    """

    call_id: str
    name: str
    arguments_json: str
    state: CallState
    summary: str
    tail: str
    result: str
    is_recovered: bool
    is_background: bool
    started_at: Time | None
    ended_at: Time | None
    question: QuestionData | None

    @classmethod
    def of(cls, call: ToolCall) -> WorkingCallData:
        """The call as it is answered with."""
        approval = call.approval if call.state is CallState.ASKING else None
        question = None if approval is None else QuestionData.of(approval)
        return filled(cls, call, call_id=call.id, question=question)


class TurnData(Data, frozen=True):
    """A turn with tools that runs. `is_left`: a program that ended left it; it waits for the person.

    `tasks`: ids of discussions that work on its tasks; their turns and questions stand there.
    """

    discussion_id: str
    message_id: str
    rounds: Count
    is_stopping: bool
    is_left: bool
    calls: list[WorkingCallData]
    tasks: list[str]

    @classmethod
    def of(cls, state: AppState, turn: AgentTurn) -> TurnData:
        """The turn as it is answered with."""
        calls = [WorkingCallData.of(call) for call in turn.calls]
        made = state.discussions.summaries
        tasks = [one for one in children_at_work(state, turn.discussion_id) if one in made]
        return filled(cls, turn, message_id=turn.turn_id, calls=calls, tasks=tasks)


class ToolsData(Data, frozen=True):
    """The tools of a discussion, and its mode."""

    discussion_id: str
    has_tools: bool
    mode: Mode
    warm_loss: str


class ToolsBody(Body, frozen=True):
    """Tools of a discussion, on or off, and its mode. `keeps_cache`: refuse it where it leaves a warm cache unused."""

    has_tools: bool
    mode: Mode = Mode.ASK
    keeps_cache: bool = False


class ApprovalBody(Body, frozen=True):
    """A person's answer. `question_id`: of the question that they saw; `hunks`: numbers of those taken, from 0, null for all.

    `for_discussion`: the question's grant counts from now on; `words`: for the model, beside a no and what is left out.
    """

    question_id: Annotated[str, Meta(min_length=1, max_length=200)]
    answer: Literal["yes", "no"]
    for_discussion: bool = False
    hunks: Annotated[tuple[Count, ...], Meta(max_length=MOST_HUNKS)] | None = None
    words: Annotated[str, Meta(max_length=MOST_HUNKS)] = ""


class ApprovedData(Data, frozen=True):
    """The answer that was taken."""

    discussion_id: str
    call_id: str
    answer: Literal["yes", "no"]


def turn_of(state: AppState, discussion_id: str) -> TurnData | None:
    """The turn that runs in a discussion."""
    turn = state.agent.turns.get(discussion_id)
    return None if turn is None else TurnData.of(state, turn)


def commands_of(state: AppState, discussion_id: str) -> list[WorkingCallData]:
    """Commands of a discussion that go on in the background."""
    page = state.agent.pages.get(discussion_id)
    return _calls(() if page is None else page.commands)


def _calls(calls: Iterable[ToolCall]) -> list[WorkingCallData]:
    return [WorkingCallData.of(call) for call in calls]


async def approve(request: Request[ApprovalBody]) -> Answer:
    """Answer the question about a call of a tool. Takes the approval token alone."""
    chosen, call_id, body = request.row().meta.id, request.names["call_id"], request.fields
    turn = request.state.agent.turns.get(chosen)
    call = next((one for one in turn.calls if one.id == call_id), None) if turn is not None else None
    if call is None:
        raise unknown(
            tr("running call"), call_id, tr("See GET /api/discussions/{chosen}/messages", chosen=chosen)
        )
    asked = call.approval if call.state is CallState.ASKING else None
    if asked is None or asked.id != body.question_id:
        raise RefusedError(
            409, "not_asked", NOT_ASKED, tr("Read the open question of this call again, then answer")
        )
    if body.answer == "no":
        await request.do(RefuseCall(discussion_id=chosen, call_id=call_id, words=body.words))
    else:
        await request.do(
            ApproveCall(
                discussion_id=chosen,
                call_id=call_id,
                approval_id=asked.id,
                hunks=body.hunks,
                for_discussion=body.for_discussion,
                words=body.words,
            )
        )
    return Answer(data=ApprovedData(discussion_id=chosen, call_id=call_id, answer=body.answer))


async def set_tools(request: Request[ToolsBody]) -> Answer:
    """Give a discussion tools or take them away, and set its mode. Takes the approval token alone."""
    chosen, body = request.row().meta.id, request.fields
    request.check_writable()
    command = SetTools(discussion_id=chosen, has_tools=body.has_tools, mode=body.mode)
    lost = kept_warm(request, command, keeps=body.keeps_cache)
    state = await request.do(command)
    row = state.discussions.summaries.get(chosen)
    if row is None:
        raise unknown("discussion", chosen, tr("The discussion was deleted meanwhile"))
    return Answer(
        data=ToolsData(
            discussion_id=chosen,
            has_tools=row.meta.has_tools,
            mode=mode_of(state, chosen),
            warm_loss=lost,
        )
    )


_ONE = "/api/discussions/{discussion_id}"
_APPROVE_ERRORS = {404: "no such discussion or call", 409: "this question is no longer open"}
_TOOLS_ERRORS = {404: NO_DISCUSSION, 409: f"{READ_ONLY}, or this would leave a warm cache unused"}

RESOURCE = Resource(
    operations=(
        operation(
            "POST",
            f"{_ONE}/approvals/{{call_id}}",
            approve,
            {200: ApprovedData},
            _APPROVE_ERRORS,
            needs_person=True,
        ),
        operation("PUT", f"{_ONE}/tools", set_tools, {200: ToolsData}, _TOOLS_ERRORS, needs_person=True),
    ),
    panels={"agent": (KillCommands, UndoTurn)},
)


# Autonomy over HTTP: how the loop stands, for every program; its start for a person alone.


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
    """The discussion that is autonomous from now on."""

    discussion_id: str


async def get_autonomy(request: Request[PageQuery]) -> Answer:
    """The loop as it stands; 404 where no discussion was autonomous since the program started."""
    attention = request.state.attention
    autonomy = attention.autonomy or attention.ended
    if autonomy is None:
        raise RefusedError(
            404, "no_autonomy", tr("No discussion is autonomous"), tr("Start autonomy in the window")
        )
    return Answer(data=AutonomyData.of(request.state, autonomy, request.fields))


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
    return Answer(data=StartedData(chosen))


_ALL = "/api/autonomy"
_AGAINST = "the data folder is read-only, another discussion is autonomous, or a limit or an unknown price is in the way"

ATTENTION = Resource(
    operations=(
        operation("GET", _ALL, get_autonomy, {200: AutonomyData}, {404: "no discussion is autonomous"}),
        operation(
            "PUT", _ALL, start, {200: StartedData}, {404: NO_DISCUSSION, 409: _AGAINST}, needs_person=True
        ),
    ),
    panels={"autonomy": (StopAutonomy,)},
)
