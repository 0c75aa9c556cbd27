"""A turn's part of the step, and the end of a call: the reply and its usage go to the log, then the call is over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, assert_never

from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import as_sentences, english, joined, spliced, tr
from core.kernel.patterns import late
from core.kernel.values.discussion import CallPhase, LiveCall, OpenDiscussion
from core.kernel.values.messages import (
    Entry,
    Message,
    Part,
    ReasoningPart,
    Role,
    Status,
    TextPart,
    ToolCallPart,
)
from core.kernel.values.provider import (
    FAILED,
    WHOLE_REPLY,
    ContentsReport,
    Failure,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.records import MarkRecord, MessageRecord, Record, UsageRecord
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import (
    Handlers,
    Result,
    calls_in,
    conclude,
    follow,
    keep,
    notify,
    on,
    on_stamped,
    with_call,
    with_open,
    without_call,
)
from core.kernel.values.usage import UNPRICED_REMEDY, SpendRefusal, Usage
from core.services.providers.endings import NO_CALL, told_of
from core.services.spending.limits import is_looked_up, reached_limits
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    PromptGone,
    PromptToken,
    QueueWritten,
    RecordsAppended,
    ReplyToken,
    WriteFailed,
)
from core.talk.turn import comparison, prompt_queue, sending
from core.talk.turn.prompt_queue import hold, hold_after, hold_at_limit
from core.talk.turn.sending import column_failed, find_call, make_room
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallRetrying,
    CancelReply,
    CompareReplies,
    ContinueReply,
    KnowledgeSent,
    LeaveUnsent,
    PaidCommand,
    RecallSent,
    RegenerateReply,
    ReplyArrived,
    RequestBuilt,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
    ServerRemarked,
    TakeBackQueued,
    TurnCommand,
)

# End of a call: the reply and its usage go to the log, and only then is the call over.

# Ids of tool calls: each once in a discussion, whatever a model or a server makes of them.

LONGEST = 200
"""Characters of an id that stay: whoever answers a call names it in an address."""

_UNFIT = late(r"[^A-Za-z0-9_.:|=+@~-]|^\.+$")
"""Characters that end a part of an address, or that nobody can type; and what stands there for a folder."""


def with_own_ids(parts: tuple[Part, ...], used: Collection[str]) -> tuple[Part, ...]:
    """The parts of a reply with an id for each call that no other has: a result names its call by nothing else.

    An id that no address can hold gets another: a person could not answer the call from elsewhere.
    """
    taken = set(used)
    numbers: dict[str, int] = {}
    found: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCallPart):
            own = _free(_UNFIT.sub("_", part.call_id[:LONGEST]) or "call", taken, numbers)
            taken.add(own)
            found.append(part if own == part.call_id else replace(part, call_id=own))
        else:
            found.append(part)
    return tuple(found)


def used_ids(opened: OpenDiscussion) -> frozenset[str]:
    """Ids of the calls of a discussion, other versions of replies included. O(new entries, calls and other versions)."""
    aside = (run for versions in opened.versions.values() for run in versions.aside.values())
    own = opened.places.grown.each("calls", opened.entries, _ids_of)
    return frozenset((*own, *(call_id for run in aside for entry in run for call_id in _ids_of(entry))))


def _ids_of(entry: Entry) -> tuple[str, ...]:
    if not isinstance(entry, Message):
        return ()
    return tuple(part.call_id for part in entry.parts if isinstance(part, ToolCallPart))


def _free(wanted: str, taken: Collection[str], numbers: dict[str, int]) -> str:
    """A free id. `numbers`: by ids, the number that was tried last: a thousand calls of one id take no square of it."""
    own = wanted
    while own in taken:
        numbers[wanted] = numbers.get(wanted, 1) + 1
        own = f"{wanted}-{numbers[wanted]}"
    return own


FAILURE_OF_STOP = {
    StopKind.TRUNCATED: FailureKind.CUT_OFF,
    StopKind.REFUSED: FailureKind.DECLINED,
    StopKind.BROKEN: FailureKind.BAD_REPLY,
    StopKind.UNKNOWN: FailureKind.UNKNOWN_END,
}
"""Half a reply is no reply: where it is not whole the call has failed, in every front end, and what came is kept."""

_AGAIN = tr("Press Retry, or choose another model.")


def ended(state: AppState, given: Stamp, event: CallEnded) -> Result:
    """A reply is whole, was stopped by the person, or was ended before its end."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    if call.held:
        return _held(state, given, call)
    if call.refused:
        return _refused(state, given, call)
    kind = event.stopped.kind
    if kind in WHOLE_REPLY and (why := _what_is_missing(event)):
        empty = Failure(kind=FailureKind.BAD_REPLY, what=why, remedy=_AGAIN)
        return failed(
            state,
            given,
            CallFailed(call_id=event.call_id, failure=empty, parts=event.parts, usage=event.usage),
        )
    state = hold_after(state, call.discussion_id, kind)
    if kind in WHOLE_REPLY:
        return _store(state, given, call, event.parts, Status.COMPLETE, event.usage, ())
    if kind is StopKind.CANCELLED:
        if call.compared is not None:
            state = column_failed(state, call, comparison.STOPPED)
        mark = MarkRecord(id=given.make_id(2), at=given.at, kind=kind.value, text="Stopped.")
        is_no_version = (
            call.compared is not None and not event.parts
        )  # else it stands below another's whole reply
        marks = () if is_no_version else (mark,)
        return _store(state, given, call, event.parts, Status.INTERRUPTED, event.usage, marks)
    what, remedy = told_of(event.stopped)
    failure = Failure(kind=FAILURE_OF_STOP[kind], what=what, remedy=as_sentences(remedy, is_closed=True))
    state = _with_failure(state, call, failure, Level.WARNING)
    mark = MarkRecord(id=given.make_id(2), at=given.at, kind=kind.value, text=f"{english(what)}.")
    return _store(state, given, call, event.parts, Status.PARTIAL, event.usage, (mark,))


def _what_is_missing(event: CallEnded) -> str:
    """Thing that a reply lacks which its provider ended as a whole one, in a sentence; empty for nothing."""
    calls = [part for part in event.parts if isinstance(part, ToolCallPart)]
    if event.stopped.kind is StopKind.TOOL_CALLS and not calls:
        return spliced("{} ({})", NO_CALL, event.stopped.detail) if event.stopped.detail else NO_CALL
    return "" if calls or says_something(event.parts) else tr("The model sent an empty reply")


def says_something(parts: Iterable[Part]) -> bool:
    """True if a reply has words for a person: thoughts and blanks are none."""
    return any(isinstance(part, TextPart) and part.text.strip() for part in parts)


def asked_again(
    state: AppState, given: Stamp, call: LiveCall, usage: Usage, records: tuple[Record, ...]
) -> Result:
    """End a call that brought no reply: what it cost goes to the log with these records, and the turn goes on."""
    return _store(state, given, call, (), Status.COMPLETE, usage, records)


def _refused(state: AppState, given: Stamp, call: LiveCall) -> Result:
    """A limit stood against a call when its cost was known: nothing was sent, the words are kept, a yes sends them."""
    refusal = SpendRefusal(call.refused, RetrySend(discussion_id=call.discussion_id, over_limit=True))
    if call.compared is not None:
        state = column_failed(state, call, refusal.sentence)
        return _store(state, given, call, (), Status.COMPLETE, Usage(), ())
    remedy = tr("Send the message again past the limit, or raise the limit in Usage.")
    if refusal.is_unpriced:
        remedy = tr(
            "Send the message again past the limit. {UNPRICED_REMEDY}.", UNPRICED_REMEDY=UNPRICED_REMEDY
        )
    failure = Failure(kind=FailureKind.SPEND_LIMIT, what=refusal.sentence.removesuffix("."), remedy=remedy)
    state, effects = failed(
        state, given, CallFailed(call_id=call.id, failure=failure, parts=(), usage=Usage())
    )
    state = hold_at_limit(state, call.discussion_id, refusal.sentence)
    opened = state.discussions.open[call.discussion_id]
    return with_open(state, replace(opened, refusal=refusal)), effects


def _held(state: AppState, given: Stamp, call: LiveCall) -> Result:
    """A request parted from what is warm though nobody asked for that: nothing was sent, the words are kept, Retry sends them."""
    failure = Failure(
        kind=FailureKind.BAD_REQUEST,
        what=tr(
            "The program held the request back: it would lose the warm cache without known cause. {held}",
            held=call.held.removesuffix("."),
        ),
        remedy=tr(
            "Nothing was sent. Retry sends the request, and you pay for the lost cache. Please report this fault of the program."
        ),
    )
    return failed(state, given, CallFailed(call_id=call.id, failure=failure, parts=(), usage=Usage()))


def failed(state: AppState, given: Stamp, event: CallFailed) -> Result:
    """A call failed. What was received is kept and marked; the prompt can be sent again with one key."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    failure = event.failure
    if _may_go_again(call, event):
        return make_room(state, given, call, failure, event.usage)
    state = hold(
        state,
        call.discussion_id,
        tr("The previous message failed: {what}.", what=failure.what.removesuffix(".")),
    )
    state = _with_failure(state, call, failure, Level.ERROR)
    mark = MarkRecord(id=given.make_id(2), at=given.at, kind=FAILED, text=english(failure.what))
    return _store(state, given, call, event.parts, Status.PARTIAL, event.usage, (mark,))


def _with_failure(state: AppState, call: LiveCall, failure: Failure, level: Level) -> AppState:
    """The state in which a call has failed, told to the person with Retry; a compared one in its column."""
    if call.compared is not None:
        return column_failed(
            state, call, as_sentences(failure.what, failure.remedy, failure.where, is_closed=True)
        )
    opened = replace(
        state.discussions.open[call.discussion_id], failure=failure, failed_message_id=call.user_message_id
    )
    return notify(
        with_open(state, opened),
        f"call/{call.discussion_id}",
        level,
        joined(": ", (_name(state, call), failure.what)),
        as_sentences(failure.remedy, failure.where),
        action=RetrySend(discussion_id=call.discussion_id),
        action_label=tr("Retry"),
        discussion_id=call.discussion_id,
    )


MOST_OVERFLOWS = 2
"""Times that a request which is longer than the window is sent again with less in it."""


def _may_go_again(call: LiveCall, event: CallFailed) -> bool:
    is_too_long = event.failure.kind is FailureKind.CONTEXT_TOO_LONG and not event.parts
    return (
        is_too_long
        and call.compared is None
        and call.overflows < MOST_OVERFLOWS
        and call.phase is not CallPhase.STOPPING
    )


def no_room(state: AppState, given: Stamp, discussion_id: str, why: str) -> Result:
    """Nothing more could leave the view of a call whose request was too long: it fails as it was said then."""
    call = state.turns.calls.get(discussion_id)
    if call is None or call.overflow is None:
        return state, ()
    remedy = as_sentences(call.overflow.remedy, why)
    failure = replace(call.overflow, remedy=remedy)
    call = replace(call, overflows=MOST_OVERFLOWS, awaits_view=False)
    return failed(
        with_call(state, call), given, CallFailed(call_id=call.id, failure=failure, parts=(), usage=Usage())
    )


def _name(state: AppState, call: LiveCall) -> str:
    summary = state.discussions.summaries.get(call.discussion_id)
    return repr(summary.meta.name) if summary is not None else f"Discussion {call.discussion_id}"


def _store(
    state: AppState,
    given: Stamp,
    call: LiveCall,
    parts: tuple[Part, ...],
    status: Status,
    usage: Usage,
    marks: tuple[Record, ...],
) -> Result:
    """Append reply, usage and marks in one write; the call is over when they are on disk."""
    records: list[Record] = []
    opened = state.discussions.open[call.discussion_id]
    version_of = call.version_of if parts else ""
    if parts and call.compared is not None:
        state, version_of = comparison.version_for(state, call)
    if any(isinstance(part, ToolCallPart) for part in parts):
        parts = with_own_ids(parts, used_ids(opened))
    parts = tuple(TextPart(clean(part.text)) if isinstance(part, TextPart) else part for part in parts)
    if parts:
        records.append(
            MessageRecord(
                id=call.reply_id,
                at=given.at,
                role=Role.ASSISTANT,
                parts=parts,
                status=status,
                provider=call.provider,
                model=call.model,
                version_of=version_of,
            )
        )
    if usage != Usage():
        spent = UsageRecord(id=given.make_id(1), at=given.at, message_id=call.reply_id, usage=usage)
        if not parts:
            spent = replace(spent, message_id=call.id, paid_provider=call.provider, paid_model=call.model)
        records.append(spent)
    storing = replace(call, phase=CallPhase.STORING, reserved_usd=usage.cost_usd or 0.0)
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if len(texts) == 1:
        storing = replace(storing, text=texts[0])  # the same text once in memory: a reply may be large
    state = with_call(state, storing)
    return state, (
        AppendRecords(
            discussion_id=call.discussion_id, records=(*records, *marks), token=ReplyToken(call.id)
        ),
    )


# The part of a reply that has arrived: its parts in order, what is told of it, and what it may be billed
# at.

_LARGE_CHARS = 1_000_000
"""Characters from which a reply is reported in larger steps."""

_RUN_PIECES = 500
"""Pieces of a reply that are joined in one go."""


class ArrivingReply:
    """The part of a reply that has arrived, in order, and what it is expected to be billed at.

    `is_out`: the provider has the request and may bill it; `lost`: attempts before whose answers never came.
    `is_outgrown`: more of it came after its length was reported; `is_other`: it answers another form of the request than
    the one that was planned.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._done: list[Part] = []
        self._text, self._reasoning = _Pieces(), _Pieces()
        self._new_text: list[str] = []
        self._new_reasoning: list[str] = []
        self._told_chars = self._new_chars = 0
        self.has_begun = False
        self.contents: ContentsReport | None = None
        self.usage: Usage | None = None
        self.expected = Usage()
        self.is_out = self.is_outgrown = self.is_other = False
        self.lost = 0
        self.first_token_s: float | None = None

    def elapsed_s(self) -> float:
        """Seconds since the call began."""
        return self._clock() - self._started

    def failed(self, error: ProviderError) -> None:
        """An attempt failed, and another one is made after a while."""
        self.is_out, self.lost = False, self.lost + error.is_lost

    def add(self, item: StreamItem) -> None:
        """Take in what came."""
        self.has_begun = True
        if isinstance(item, TextDelta):
            self._new_text.append(item.text)
            self._new_chars += len(item.text)
        elif isinstance(item, ReasoningDelta):
            self._new_reasoning.append(item.text)
            self._new_chars += len(item.text)
        if not isinstance(item, UsageUpdate | Stopped):
            self.is_outgrown = self.usage is not None and self.usage.output_tokens is not None
            if self.first_token_s is None:
                self.first_token_s = self.elapsed_s()
        match item:
            case TextDelta():
                self._end_reasoning("")
                self._text.append(item.text)
            case ReasoningDelta():
                self._end_text()
                self._reasoning.append(item.text)
                if item.vendor_json:
                    self._end_reasoning(item.vendor_json)
            case ToolCallReady():
                self._end_text()
                self._end_reasoning("")
                self._done.append(item.part)
            case UsageUpdate():
                self.usage, self.is_outgrown = item.usage, False
                if item.contents is not None:
                    self.contents = _together(self.contents, item.contents)
            case Stopped():
                pass

    def news(self) -> tuple[str, str] | None:
        """Text and reasoning to tell of, None while there is too little.

        Each is told at once until a megabyte has come; then only what adds a thirty-second to it: who shows a reply
        puts all of it together anew for every piece.
        """
        is_large = self._told_chars > _LARGE_CHARS
        if not self._new_chars or (is_large and self._new_chars < self._told_chars // 32):
            return None
        news = "".join(self._new_text), "".join(self._new_reasoning)
        self._told_chars += self._new_chars
        self._new_chars = 0
        self._new_text.clear()
        self._new_reasoning.clear()
        return news

    def parts(self) -> tuple[Part, ...]:
        """All that arrived, in order."""
        self._end_text()
        self._end_reasoning("")
        return tuple(self._done)

    def _end_text(self) -> None:
        text = self._text.taken()
        if text:
            self._done.append(TextPart(text))

    def _end_reasoning(self, vendor_json: str) -> None:
        text = self._reasoning.taken()
        if text or vendor_json:
            self._done.append(ReasoningPart(text, vendor_json))


class _Pieces:
    """Pieces of a text, joined now and then: thousands of small ones would keep their memory long after."""

    def __init__(self) -> None:
        self._runs: list[str] = []
        self._pieces: list[str] = []

    def append(self, piece: str) -> None:
        self._pieces.append(piece)
        if len(self._pieces) == _RUN_PIECES:
            self._runs.append("".join(self._pieces))
            self._pieces.clear()

    def taken(self) -> str:
        """Return the whole text and clear it."""
        text = "".join((*self._runs, *self._pieces))
        self._runs.clear()
        self._pieces.clear()
        return text


def _together(before: ContentsReport | None, new: ContentsReport) -> ContentsReport:
    """The later report, with what an attempt before it has paid for."""
    if before is None or before.stored is None or new.stored is None:
        return new
    return replace(new, is_new=before.is_new or new.is_new)


# A turn's part of the step: the words to disk, then the call, the reply to disk, then shown as done.


def _send_prompt(state: AppState, given: Stamp, asked: SendPrompt) -> Result:
    if why := sending.unfit_attachment(state, asked.discussion_id):
        return sending.ignore(state, asked, why)
    if prompt_queue.must_wait(state, asked):
        return prompt_queue.enqueue(state, given, asked)
    return sending.send(state, given, asked)


def _cancel_reply(state: AppState, asked: CancelReply) -> Result:
    if not asked.call_id:
        state = comparison.stop(state, asked.discussion_id)
    effects: tuple[Any, ...] = ()
    calls = [one for one in calls_in(state, asked.discussion_id) if asked.call_id in ("", one.id)]
    for call in calls:
        state, more = sending.cancel(state, call)
        effects = (*effects, *more)
    if calls and asked.discussion_id not in state.turns.calls:
        state = comparison.end(state, asked.discussion_id)
        state = prompt_queue.hold_after(state, asked.discussion_id, StopKind.CANCELLED)
    return state, effects


def is_past_limit(state: AppState, asked: TurnCommand) -> bool:
    """True if a spend limit, as far as it is known, stands against a call that is asked for without a yes."""
    is_asking = isinstance(asked, PaidCommand) and not asked.over_limit
    models = [(m.provider, m.model) for m in asked.models] if isinstance(asked, CompareReplies) else [None]
    return is_asking and any(reached_limits(state, asked.discussion_id, model=model) for model in models)


def wants_price(state: AppState, asked: TurnCommand) -> bool:
    """True if a limit asks what a call costs, and nobody has looked its price up."""
    if not isinstance(asked, PaidCommand) or asked.over_limit:
        return False
    return not is_looked_up(state, asked.discussion_id)


def settled(state: AppState, given: Stamp) -> Result:
    """Let what waited for changes of settings go on; a queue whose call was stopped meanwhile waits for the person."""
    before = state.turns.calls
    state, effects = sending.settled(state, given)
    for call in before.values():
        if sending.find_call(state, call.id) is None:
            state = prompt_queue.hold_after(state, call.discussion_id, sending.end_while_saving(call))
            state = comparison.end(state, call.discussion_id)
    return state, effects


def saved(state: AppState, given: Stamp, happened: RecordsAppended) -> Result:
    """Let what waited for a write go on: the call after its prompt, the end after its reply."""
    if not isinstance(happened.token, PromptToken | ReplyToken):
        return state, ()
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state, ()
    match happened.token:
        case PromptToken():
            state = prompt_queue.hold_after(state, call.discussion_id, sending.end_while_saving(call))
            is_draft = happened.token.is_draft
            state, effects = sending.prompt_saved(state, given, call, happened.records, is_draft=is_draft)
            if call.compared is None:
                return state, effects
            state, others = comparison.ask_others(state, given, call)
            return state, (*effects, *others)
        case ReplyToken() if call.compared is not None:
            return comparison.go_on(without_call(state, call), given, call)
        case ReplyToken():
            return prompt_queue.go_on(without_call(state, call), given, call.discussion_id)
        case _:
            assert_never(happened.token)


def queued(state: AppState, given: Stamp, happened: QueueWritten | PromptGone) -> Result:
    """Take in the queue on disk and send the messages that may go."""
    match happened:
        case QueueWritten():
            return prompt_queue.written(state, given, happened)
        case PromptGone():
            return prompt_queue.gone(state, given, happened)
        case _:
            assert_never(happened)


def limits_changed(before: AppState, after: AppState, given: Stamp) -> Result:
    """After a limit was raised, send the message that waited for the limit, otherwise the next one of the queue."""
    effects: tuple[Any, ...] = ()
    for opened in tuple(after.discussions.open.values()):
        waits = opened.awaits_limit is not None or opened.is_held_at_limit
        if not waits or not prompt_queue.has_other_limit(before, after, opened.id):
            continue
        own = Stamp(given.at, f"{given.seed}/{opened.id}")
        if isinstance(opened.awaits_limit, TurnCommand):
            after, more = HANDLERS(sending.leave(after, LeaveUnsent(opened.id)), opened.awaits_limit, own)
        else:
            after, more = prompt_queue.go_on(after, own, opened.id)
        effects = (*effects, *more)
    return after, effects


def unsaved(state: AppState, happened: WriteFailed) -> AppState:
    """A call whose prompt cannot be written is not made; the prompt stays in the composer, or in the queue."""
    if not isinstance(happened.token, PromptToken):
        return state
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state
    state = conclude(
        state, CommandOutcome(command_id=call.command_id, problem=happened.text, remedy=happened.detail)
    )
    state = prompt_queue.hold(state, call.discussion_id, as_sentences(happened.text, is_closed=True))
    return comparison.end(without_call(state, call), call.discussion_id)


HANDLERS = Handlers(
    on_stamped(SendPrompt, _send_prompt),
    on_stamped(SendQueued, prompt_queue.send_now),
    on(TakeBackQueued, prompt_queue.take_back),
    on(LeaveUnsent, lambda state, asked: (sending.leave(state, asked), ())),
    on(CancelReply, _cancel_reply),
    on_stamped(RetrySend, prompt_queue.retry),
    on_stamped(RegenerateReply, prompt_queue.regenerate),
    on_stamped(ResendMessage, prompt_queue.resend),
    on_stamped(CompareReplies, comparison.compare),
    on_stamped(ContinueReply, prompt_queue.continue_reply),
    on(RequestBuilt, sending.request_built),
    on_stamped(RecallSent, lambda state, given, happened: (sending.recall_sent(state, given, happened), ())),
    on(KnowledgeSent, keep),  # the room of knowledge keeps what entered
    on_stamped(ReplyArrived, sending.arrived),
    on(ServerRemarked, lambda state, happened: (sending.server_remarked(state, happened), ())),
    on_stamped(CallRetrying, sending.retrying),
    on_stamped(CallEnded, ended),
    on_stamped(CallFailed, failed),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = follow(
    "config.settings discussions.summaries",
    lambda before, after, moment: limits_changed(before, after, moment.given),
)
