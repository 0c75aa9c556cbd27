"""A discussion's messages over HTTP: the log, sending, the reply as it comes, cancelling."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from core.agent.agent_messages import CompactDiscussion
from core.agent.delegation import questions_of
from core.agent.tool import FailedCall, failed_calls
from core.app.execution import begin, is_over
from core.front.hooks.agent import (
    AttachmentData,
    ToolCallData,
    ToolResultData,
    TurnData,
    WorkingCallData,
    commands_of,
    turn_of,
)
from core.front.hooks.fields import Body, Data, Name, RefusedError, Time, UsageData, encode, filled, unknown
from core.front.hooks.operation import (
    NO_DISCUSSION,
    Answer,
    HookDesk,
    Request,
    Resource,
    choice_forms,
    operation,
)
from core.kernel.errors import SHORT_ENDS, FailureKind
from core.kernel.figures import time_limit
from core.kernel.language import tr
from core.kernel.values.discussion import (
    CallPhase,
    ComparedModel,
    ComparedReply,
    LiveCall,
    OpenDiscussion,
    QueuedPrompt,
)
from core.kernel.values.messages import (
    Entry,
    Mark,
    Message,
    ReasoningPart,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import is_busy, message_at_work, outcome_of
from core.kernel.values.usage import SpendRefusal
from core.talk.discussion.discussion_messages import (
    AttachFile,
    AttachPicture,
    AttachText,
    BranchDiscussion,
    ChooseVersion,
    DeleteMessage,
    Detach,
    EditDraft,
    EditMessage,
    RestoreMessage,
    SetDraft,
)
from core.talk.turn.comparison import MOST
from core.talk.turn.turn_messages import (
    CancelReply,
    CompareReplies,
    ContinueReply,
    LeaveUnsent,
    PaidCommand,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
    TakeBackQueued,
)

# A discussion's entries as the Hook API answers with them.


class CallData(Data, frozen=True):
    """A call under way."""

    discussion_id: str
    message_id: str
    provider: str
    model: str
    phase: CallPhase
    retry_reason: str

    @classmethod
    def of(cls, call: LiveCall) -> CallData:
        """The call as it is answered with."""
        reason = call.retry_reason if call.phase is CallPhase.RETRYING else ""
        return filled(cls, call, message_id=call.user_message_id, retry_reason=reason)


class MessageData(Data, frozen=True, tag_field="type", tag="message"):
    """One message. What a vendor wants back of its reasoning stays inside.

    `version_of`: the first version of the reply that this one is another version of; empty for that one itself.
    `is_autonomous`: words of the program's, by which an autonomous turn began, and not the person's. `asks_rest`: words of
    the program's, too, by which the person had a reply continued.
    """

    id: str
    at: Time
    role: Role
    status: Status
    text: str
    reasoning: str
    tool_calls: list[ToolCallData]
    tool_results: list[ToolResultData]
    attachments: list[AttachmentData]
    provider: str
    model: str
    is_edited: bool
    version_of: str
    is_autonomous: bool
    asks_rest: bool
    usage: UsageData | None

    @classmethod
    def of(cls, message: Message) -> MessageData:
        """The message as it is answered with."""
        parts = message.parts
        told = (part for part in parts if isinstance(part, ToolResultPart))
        results = [ToolResultData.of(part, message.status) for part in told]
        return filled(
            cls,
            message,
            tool_calls=[filled(ToolCallData, part) for part in parts if isinstance(part, ToolCallPart)],
            tool_results=results,
            attachments=[filled(AttachmentData, part) for part in message.attachments],
            usage=None if message.usage is None else UsageData.of(message.usage),
        )


class MarkData(Data, frozen=True, tag_field="type", tag="mark"):
    """Something that is shown in place."""

    id: str
    at: Time
    kind: str
    text: str


class QueuedData(Data, frozen=True):
    """A message that waits for the end of the reply under way. `id`: its message's, once it is sent."""

    id: str
    at: Time
    text: str
    attachments: list[AttachmentData]

    @classmethod
    def of(cls, prompt: QueuedPrompt) -> QueuedData:
        """The prompt as it is answered with."""
        parts = [filled(AttachmentData, part) for part in prompt.attachments]
        return filled(cls, prompt, attachments=parts)


def joined(message: Message, kind: type[TextPart | ReasoningPart]) -> str:
    """The parts of one kind as they streamed, with nothing between them."""
    return "".join(part.text for part in message.parts if isinstance(part, kind))


MAX_TEXT_CHARS = 10_000_000
SAVE_S = 30.0

PAST_LIMIT = tr(
    'Raise the limit in Usage, or send the message with "over_limit": true and the approval token'
)
UNPRICED = tr(
    'Give the price in your models.toml, or update the prices; or send with "over_limit": true and the approval token'
)
"""Remedy where a spend limit stands against a send."""
BUSY = tr('Stop the reply, wait for its end, or send the message with "queue": true')
"""Remedy where a reply is under way."""
REPLY_S = 86_400.0
BEAT_S = 15.0
"""A comment line keeps a silent stream of events alive."""


class MessagesData(Data, frozen=True):
    """The log in order, without what was deleted and versions that were not chosen, the call under way, the turn with tools
    that it belongs to, commands that go on in the background, and what waits for the end.

    `queue_hold`: why the queue waits for a person's `send_queued`, empty while it goes on by itself.
    """

    discussion_id: str
    messages: list[MessageData | MarkData]
    call: CallData | None
    turn: TurnData | None
    commands: list[WorkingCallData]
    queue: list[QueuedData]
    queue_hold: str


class MessageBody(Body, frozen=True):
    """A text to send. `wait`: answer with the reply; `over_limit`: send past a spend limit, with the approval token alone.

    `queue`: while a reply is under way, wait for its end instead of being refused. What waits is held by a failure, a
    stop, a limit (also one that it was sent past) and the end of the program, until a person lets it go.
    """

    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT_CHARS)]
    wait: bool = False
    over_limit: bool = False
    queue: bool = False


class SentData(Data, frozen=True):
    """The message that is on disk now. `is_queued`: it waits for the end of the reply under way."""

    discussion_id: str
    message_id: str
    is_queued: bool


class ShortEndData(Data, frozen=True):
    """Reason for which a reply is not whole: `cut_off`, `declined` or `unknown_end`; what happened, with the provider's word, and what helps."""

    code: str
    message: str
    remedy: str


class AnsweredData(Data, frozen=True):
    """The message and its reply. Null: none came. `failure`: the provider ended the reply before its end; null: it did not."""

    discussion_id: str
    message_id: str
    reply: MessageData | None
    is_stopped: bool
    failure: ShortEndData | None = None


class CancelledData(Data, frozen=True):
    """Answer whether the reply has stopped."""

    discussion_id: str
    is_stopped: bool


async def list_messages(request: Request[None]) -> Answer:
    """Messages of a discussion, and the call under way."""
    opened = await request.opened()
    call = request.state.turns.calls.get(opened.id)
    listed = list(_listed(opened.entries))
    queue = [QueuedData.of(prompt) for prompt in opened.queue]
    under_way = None if call is None else CallData.of(call)
    return Answer(
        data=MessagesData(
            discussion_id=opened.id,
            messages=listed,
            call=under_way,
            turn=turn_of(request.state, opened.id),
            commands=commands_of(request.state, opened.id),
            queue=queue,
            queue_hold=opened.queue_hold,
        )
    )


def _listed(entries: Iterable[Entry]) -> Iterable[MessageData | MarkData]:
    for entry in entries:
        if isinstance(entry, Mark):
            yield filled(MarkData, entry)
        elif not entry.is_deleted:
            yield MessageData.of(entry)


async def send_message(request: Request[MessageBody]) -> Answer:
    """Send a text; answer when the words are on disk, when the reply is, or with events as it comes."""
    chosen = request.row().meta.id
    body, text = request.fields, request.fields.text
    request.check_writable()
    if not text.strip():
        raise RefusedError(422, "wrong_body", tr("body.text holds only spaces"), tr("Send some words"))
    async with request.desk.lock(chosen):
        saved = await _save(
            request,
            SendPrompt(discussion_id=chosen, text=text, over_limit=body.over_limit, may_queue=body.queue),
        )
    turn = FollowedTurn(request=request, chosen=chosen, message_id=saved.made_id)
    answer = SentData(discussion_id=chosen, message_id=saved.made_id, is_queued=saved.is_queued)
    if request.wants_events:
        return Answer(events=turn.events(answer))
    if body.wait:
        state = await request.desk.watch.until(turn.is_over, REPLY_S)
        return Answer(data=turn.answer(state or request.state))
    return Answer(data=answer, status=202)


async def _save(request: Request[MessageBody], prompt: SendPrompt) -> CommandOutcome:
    """Send, and wait until the words are on disk. Returns what became of them: their message's id, and whether it waits."""
    opened = await request.opened()
    if is_busy(request.state, prompt.discussion_id) and not prompt.may_queue:
        raise RefusedError(409, "busy", tr("A reply is still arriving in this discussion"), BUSY)
    outcome = await pay(request.desk, prompt)
    if not outcome.is_done:
        status, code = (409, "busy") if opened.held_calls else (500, "not_saved")
        raise RefusedError(status, code, outcome.problem, outcome.remedy or tr("Try again"))
    return outcome


async def pay(desk: HookDesk, command: PaidCommand) -> CommandOutcome:
    """Send what costs money, and wait until its words are on disk and the call has begun, or it was not carried out.

    Raises:
        RefusedError: 404 the discussion is gone; 409 a spend limit stands against it: the window would ask, here
            nobody can be asked; 503 it took too long.
    """
    chosen, command_id = command.discussion_id, begin(desk.front, command)
    state = await desk.watch.until(
        lambda now: is_over(now, command_id) or chosen not in now.discussions.summaries, SAVE_S
    )
    if state is None:
        raise RefusedError(
            503,
            "slow",
            tr("The program did not save the message within {SAVE_S}", SAVE_S=time_limit(SAVE_S)),
            tr("Try again"),
        )
    outcome = outcome_of(state, command_id)
    if outcome is None:
        raise unknown("discussion", chosen, tr("The discussion was deleted meanwhile"))
    if outcome.refusal is not None:
        raise limit_error(outcome.refusal, outcome.problem)
    return outcome


def limit_error(refusal: SpendRefusal, problem: str) -> RefusedError:
    """A spend limit that stands against a request: the window would ask, here nobody can be asked."""
    return RefusedError(409, "spend_limit", problem, UNPRICED if refusal.is_unpriced else PAST_LIMIT)


async def cancel_reply(request: Request[None]) -> Answer:
    """Stop the reply under way; what has arrived is kept."""
    chosen = request.row().meta.id
    before = message_at_work(request.state, chosen)
    if not before:
        raise RefusedError(409, "nothing_runs", tr("No reply is arriving in this discussion"))
    request.desk.front.send(CancelReply(chosen))
    state = await request.desk.watch.until(lambda now: message_at_work(now, chosen) != before, SAVE_S)
    return Answer(data=CancelledData(chosen, state is not None))


_Reply = tuple[str, str, str]
"""Id, text and reasoning."""


@dataclass(slots=True)
class FollowedTurn:
    """A message on disk and the reply to it.

    Args:
        told_chars: how much of text and reasoning of each reply went out as events; told: waits and questions that did.
    """

    request: Request[MessageBody]
    chosen: str
    message_id: str
    told_chars: dict[str, tuple[int, int]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    def is_over(self, state: AppState) -> bool:
        """True if the call has ended, and what came of it is written; also where it waits for a person."""
        if self._waits(state):
            return bool(state.discussions.open[self.chosen].queue_hold)
        return message_at_work(state, self.chosen) != self.message_id

    def _waits(self, state: AppState) -> bool:
        opened = state.discussions.open.get(self.chosen)
        is_queued = opened is not None and any(one.id == self.message_id for one in opened.queue)
        return is_queued and self._call(state) is None

    def _call(self, state: AppState) -> LiveCall | None:
        call = state.turns.calls.get(self.chosen)
        return call if call is not None and call.user_message_id == self.message_id else None

    def answer(self, state: AppState) -> AnsweredData:
        """The reply. Raises RefusedError: 502 the provider failed, 404 the discussion is gone, 409 it was not sent, or a limit ended
        the turn before its next request.
        """
        opened = self._opened(state)
        if self._waits(state):
            remedy = tr("Send the queue with send_queued, or take the message back")
            raise RefusedError(
                409,
                "queue_held",
                tr("The message waits in the queue: {reason}", reason=opened.queue_hold),
                remedy,
            )
        if all(message.id != self.message_id for message in opened.entries):
            raise RefusedError(409, "taken_back", tr("The message was taken out before the program sent it"))
        reply, short = self._reply(opened), None
        if opened.failure is not None and opened.failed_message_id == self.message_id:
            failure = opened.failure
            if failure.kind is FailureKind.SPEND_LIMIT:
                raise RefusedError(409, failure.kind.value, failure.what, PAST_LIMIT)
            if reply is None or failure.kind not in SHORT_ENDS:
                raise RefusedError(502, failure.kind.value, failure.what, failure.remedy)
            short = ShortEndData(code=failure.kind.value, message=failure.what, remedy=failure.remedy)
        if opened.refusal is not None:  # of its next request: what a send of its own met, the send was told
            raise limit_error(opened.refusal, opened.refusal.sentence)
        is_stopped = reply is None or reply.status is not Status.COMPLETE
        data = None if reply is None else MessageData.of(reply)
        return AnsweredData(
            discussion_id=self.chosen,
            message_id=self.message_id,
            reply=data,
            is_stopped=is_stopped,
            failure=short,
        )

    def _opened(self, state: AppState) -> OpenDiscussion:
        opened = state.discussions.open.get(self.chosen)
        if opened is None:
            raise unknown("discussion", self.chosen, tr("The discussion was deleted meanwhile"))
        return opened

    def _reply(self, opened: OpenDiscussion) -> Message | None:
        ids = [message.id for message in opened.messages]
        if self.message_id not in ids:
            return None
        after = opened.messages[ids.index(self.message_id) + 1 :]
        own = []
        for message in after:
            if message.role is Role.USER:
                break
            own.append(message)
        replies = [message for message in own if message.role is Role.ASSISTANT]
        return replies[-1] if replies else None

    async def events(self, accepted: SentData) -> AsyncIterator[bytes]:
        """Server-sent events: accepted, reasoning, text, reply, asking, failed_call, retrying, then done or error."""
        yield event("accepted", accepted)
        try:
            while True:
                state = await self.request.desk.watch.until(self._has_news, BEAT_S)
                if state is None:
                    yield b": waiting\n\n"
                    continue
                for line in self._news(state):
                    yield line
                if self.is_over(state):
                    break
            yield event("done", self.answer(state))
        except RefusedError as error:
            yield event("error", error.data.error)

    def _has_news(self, state: AppState) -> bool:
        if self.is_over(state):
            return True
        call = self._call(state)
        is_retry = (
            call is not None and call.phase is CallPhase.RETRYING and call.retry_reason not in self.told
        )
        is_asked = any(
            f"{asker}/{one.question_id}" not in self.told for asker, one in questions_of(state, self.chosen)
        )
        return (
            is_retry
            or is_asked
            or bool(self._failed(state))
            or any(self._is_more(one) for one in self._said(state))
        )

    def _said(self, state: AppState) -> list[_Reply]:
        """The replies to the message in order, of each round one, as far as they have come."""
        opened, call = state.discussions.open.get(self.chosen), self._call(state)
        found: list[_Reply] = []
        for entry in reversed(() if opened is None else opened.entries):
            if isinstance(entry, Message) and entry.id == self.message_id:
                break
            if isinstance(entry, Message) and entry.role is Role.ASSISTANT:
                found.append((entry.id, joined(entry, TextPart), joined(entry, ReasoningPart)))
        else:
            found = []  # the message is not there yet: nothing before it answers it
        found.reverse()
        if call is not None and all(call.reply_id != one[0] for one in found):
            found.append((call.reply_id, call.text, call.reasoning))
        return found

    def _failed(self, state: AppState) -> list[FailedCall]:
        """The calls of this turn that failed and were not told of."""
        opened = state.discussions.open.get(self.chosen)
        entries = () if opened is None else opened.entries
        at = next(
            (n for n in range(len(entries) - 1, -1, -1) if entries[n].id == self.message_id), len(entries)
        )
        return [one for one in failed_calls(entries[at:]) if one.call_id not in self.told]

    def _is_more(self, reply: _Reply) -> bool:
        text, reasoning = self.told_chars.get(reply[0], (0, 0))
        return len(reply[1]) > text or len(reply[2]) > reasoning

    def _news(self, state: AppState) -> list[bytes]:
        call = self._call(state)
        lines = [line for one in self._said(state) if self._is_more(one) for line in self._more(*one)]
        for failed in self._failed(state):
            self.told.add(failed.call_id)
            said = {
                "call_id": failed.call_id,
                "name": failed.name,
                "end": failed.end.value,
                "words": failed.words,
            }
            lines.append(event("failed_call", said))
        for asker, one in questions_of(state, self.chosen):
            key = f"{asker}/{one.question_id}"
            if key not in self.told and one.approval is not None:
                self.told.add(key)
                asked = {"discussion_id": asker, "call_id": one.id, "title": one.approval.title}
                lines.append(event("asking", asked))
        if call is not None and call.phase is CallPhase.RETRYING and call.retry_reason not in self.told:
            self.told.add(call.retry_reason)
            lines.append(event("retrying", {"reason": call.retry_reason}))
        return lines

    def _more(self, reply_id: str, text: str, reasoning: str) -> list[bytes]:
        """Events of the rest of one reply that was not told. One that follows another says so first."""
        lines = []
        if self.told_chars and reply_id not in self.told_chars:
            lines.append(event("reply", {"message_id": reply_id}))
        told_text, told_reasoning = self.told_chars.get(reply_id, (0, 0))
        if len(reasoning) > told_reasoning:
            lines.append(event("reasoning", {"text": reasoning[told_reasoning:]}))
        if len(text) > told_text:
            lines.append(event("text", {"text": text[told_text:]}))
        self.told_chars[reply_id] = len(text), len(reasoning)
        return lines


def event(name: str, data: Data | Mapping[str, str]) -> bytes:
    """One server-sent event; its data is JSON on one line."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(data))


_ONE = "/api/discussions/{discussion_id}"
_SEND_ERRORS = {
    404: NO_DISCUSSION,
    409: "a reply is still arriving, a limit is reached, the queue is held, or the data folder is read-only",
    502: "the provider failed; the program keeps the message",
}
_MISSING = {404: NO_DISCUSSION}
_SENT: Mapping[int, type[Data]] = {200: AnsweredData, 202: SentData}

RESOURCE = Resource(
    operations=(
        operation("GET", f"{_ONE}/messages", list_messages, {200: MessagesData}, _MISSING),
        operation("POST", f"{_ONE}/messages", send_message, _SENT, _SEND_ERRORS, streams=True),
        operation(
            "POST",
            f"{_ONE}/cancel",
            cancel_reply,
            {200: CancelledData},
            {**_MISSING, 409: "no reply is arriving"},
        ),
    ),
    panels={
        "conversation": (
            CancelReply,
            RetrySend,
            RegenerateReply,
            ChooseVersion,
            ResendMessage,
            ContinueReply,
            EditMessage,
            DeleteMessage,
            RestoreMessage,
            BranchDiscussion,
            CompactDiscussion,
        ),
        "composer": (
            SendPrompt,
            SendQueued,
            TakeBackQueued,
            LeaveUnsent,
            SetDraft,
            EditDraft,
            AttachFile,
            AttachPicture,
            AttachText,
            Detach,
            *choice_forms("composer"),
        ),
    },
)


# A comparison over HTTP: one message put to several models at once, and what each said, cost and failed on.


class ComparedModelBody(Body, frozen=True):
    """A model to ask. `has_memory`: knowledge, facts and recall go along, where they are on."""

    provider: Name
    model: Name
    has_memory: bool = True


class CompareBody(Body, frozen=True):
    """Models to put one message to.

    `text`: of a new message; empty: a message that was sent (`message_id`, or the last one), whose reply is a column, too.
    `wait`: answer when all replies are there; `over_limit`: send past a spend limit, with the approval token alone.
    """

    models: Annotated[tuple[ComparedModelBody, ...], Meta(min_length=1, max_length=MOST)]
    text: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)] = ""
    message_id: Name = ""
    wait: bool = False
    over_limit: bool = False


class ComparedReplyData(Data, frozen=True):
    """A column: who was asked, the reply with its usage, and why it is not whole."""

    provider: str
    model: str
    has_memory: bool
    problem: str
    is_over: bool
    reply: MessageData | None


class ComparisonData(Data, frozen=True):
    """The last comparison of a discussion. `is_over`: nothing more comes; `POST …/messages/{id}/choose` keeps a reply."""

    discussion_id: str
    message_id: str
    is_over: bool
    replies: list[ComparedReplyData]


async def compare_models(request: Request[CompareBody]) -> Answer:
    """Put a message to several models at once; answer when it is on disk, or with all replies."""
    chosen, body = request.row().meta.id, request.fields
    request.check_writable()
    async with request.desk.lock(chosen):
        await request.opened()
        if is_busy(request.state, chosen):
            raise RefusedError(409, "busy", tr("A reply is still arriving in this discussion"), BUSY)
        models = tuple(
            ComparedModel(provider=one.provider, model=one.model, has_memory=one.has_memory)
            for one in body.models
        )
        command = CompareReplies(
            discussion_id=chosen,
            models=models,
            text=body.text,
            message_id=body.message_id,
            over_limit=body.over_limit,
        )
        outcome = await pay(request.desk, command)
    if not outcome.is_done:
        raise RefusedError(409, "not_compared", outcome.problem, outcome.remedy)
    if not body.wait:
        return Answer(data=_data(request.state, chosen), status=202)
    state = await request.desk.watch.until(lambda now: not is_busy(now, chosen), REPLY_S)
    return Answer(data=_data(state or request.state, chosen))


async def last_comparison(request: Request[None]) -> Answer:
    """The last comparison of a discussion since the program started."""
    opened = await request.opened()
    return Answer(data=_data(request.state, opened.id))


def _data(state: AppState, chosen: str) -> ComparisonData:
    opened = state.discussions.open.get(chosen)
    if opened is None or opened.comparison is None:
        raise unknown("comparison", chosen, tr("Start a comparison with POST to the same path"))
    return ComparisonData(
        discussion_id=chosen,
        message_id=opened.comparison.prompt_id,
        is_over=opened.comparison.is_over,
        replies=[_column(opened, one) for one in opened.comparison.replies],
    )


def _column(opened: OpenDiscussion, one: ComparedReply) -> ComparedReplyData:
    reply = opened.message_anywhere(one.reply_id) if one.reply_id else None
    data = None if reply is None else MessageData.of(reply)
    return filled(ComparedReplyData, one.asked, problem=one.problem, is_over=one.is_over, reply=data)


_PATH = "/api/discussions/{discussion_id}/compare"
_ERRORS = {
    404: NO_DISCUSSION,
    409: "a reply is still arriving, a limit is reached, or these models cannot be compared",
}

COMPARISONS = Resource(
    operations=(
        operation(
            "GET", _PATH, last_comparison, {200: ComparisonData}, {404: "no discussion, or no comparison"}
        ),
        operation("POST", _PATH, compare_models, {200: ComparisonData, 202: ComparisonData}, _ERRORS),
    )
)
