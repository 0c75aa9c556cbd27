"""Tool calls of a log: which still lack a result, and each call paired with its result as a request may hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel.ids import make_id
from core.kernel.structures import GrownRuns
from core.kernel.values.messages import (
    CallEnd,
    Message,
    Part,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import MessageRecord, Record, StartRecord
from core.talk.discussion.discussion_messages import ReplyToken, WriteToken

# Tool calls of a log that have no result: what a start writes of them, and which are asked about again.

BEGUN = (
    "interrupted: the program ended while this ran. It was not run again, and what it had done by then stands. "
    "Look before you go on."
)
NOT_BEGUN = "Not run: the program ended before this began."


class LeftCalls(msgspec.Struct, frozen=True):
    """Calls without a result.

    Args:
        results: for the log, of those that were begun or can be asked about no more; asked: ids of the others.
    """

    results: tuple[MessageRecord, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def is_any(self) -> bool:
        """True if there is any."""
        return bool(self.results or self.asked)


def left_calls(records: Sequence[Record], now: datetime) -> LeftCalls:
    """Sort out calls of a log that no program runs any more. One that was begun is never begun again.

    Calls of the last reply that were not begun are asked about again, unless the person has written on.
    """
    said = [one for one in records if isinstance(one, MessageRecord)]
    calls = [(one, part.call_id) for one in said for part in one.parts if isinstance(part, ToolCallPart)]
    if not calls:
        return LeftCalls()
    answered = results_of(said)
    open_calls = [(reply, call_id) for reply, call_id in calls if call_id not in answered]
    if not open_calls:
        return LeftCalls()
    begun = {one.call_id for one in records if isinstance(one, StartRecord)}
    last = next((one for one in reversed(said) if one.role is not Role.TOOL), None)
    results: list[MessageRecord] = []
    asked: list[str] = []
    for reply, call_id in open_calls:
        if call_id not in begun and reply is last and reply.status is Status.COMPLETE:
            asked.append(call_id)
            continue
        words = BEGUN if call_id in begun else NOT_BEGUN
        part = ToolResultPart(call_id=call_id, text=words, is_error=True, ended=CallEnd.INTERRUPTED)
        record_id = make_id(now, f"left/{reply.id}/{call_id}")
        results.append(
            MessageRecord(id=record_id, at=now, role=Role.TOOL, parts=(part,), status=Status.INTERRUPTED)
        )
    return LeftCalls(tuple(results), tuple(asked))


def calls_of(records: Sequence[Record]) -> frozenset[str]:
    """Ids of the calls that messages among these records ask for."""
    said = (one for one in records if isinstance(one, MessageRecord))
    return frozenset(part.call_id for one in said for part in one.parts if isinstance(part, ToolCallPart))


def open_calls_of(records: Sequence[Record]) -> tuple[str, ...]:
    """Ids of the calls that have no result, sorted."""
    return tuple(sorted(calls_of(records) - results_of(records)))


def goes_on(token: WriteToken | None, records: Sequence[Record]) -> bool:
    """True for the write of a reply that asks for tools: its turn goes on at once, and what it reserved ends behind it."""
    return isinstance(token, ReplyToken) and bool(calls_of(records))


def results_of(records: Sequence[Record]) -> frozenset[str]:
    """Ids of the calls whose results are among these records."""
    said = (one for one in records if isinstance(one, MessageRecord))
    return frozenset(part.call_id for one in said for part in one.parts if isinstance(part, ToolResultPart))


# Tool calls and their results as a request may hold them: each call with its result behind it, no result
# without a call.

NO_RESULT = "interrupted: no result of this call is known."


def paired(messages: tuple[Message, ...], grown: GrownRuns | None = None) -> tuple[Message, ...]:
    """The messages with the results of each reply right behind it, in the order of its calls.

    A call without one gets one that says so; of two results of a call the first counts, of two calls of one id the
    first; a result without its call before it is left out. The same messages where all is in order. O(n), and O(new
    messages) for finding that they still are.

    Args:
        grown: of the discussion; it only saves time.
    """
    order = (grown or GrownRuns()).folded("order", messages, _Order, _Order.copy, _Order.take)
    if order.is_kept and order.answered == len(order.asked):
        return messages
    results = _results(messages)
    found: list[Message] = []
    seen: set[str] = set()
    for message in messages:
        if message.role is Role.TOOL:
            continue
        fresh = _without_repeated(message, seen)
        calls = _calls(fresh)
        seen.update(call.call_id for call in calls)
        if fresh.parts:
            found.append(fresh)
        found += _answers(fresh, calls, results)
    return messages if tuple(found) == messages else tuple(found)


class _Order(msgspec.Struct):
    """Order of calls and results up to a message: it is asked for every request, and so it builds nothing.

    Args:
        is_kept: nothing stood where it may not; seen: ids of all calls; asked: of the last reply's, in order, of which so
            many are answered.
    """

    is_kept: bool = True
    seen: set[str] = msgspec.field(default_factory=set)
    asked: list[str] = msgspec.field(default_factory=list)
    answered: int = 0

    def copy(self) -> _Order:
        """One that can be changed."""
        return _Order(is_kept=self.is_kept, seen=set(self.seen), asked=self.asked, answered=self.answered)

    def take(self, message: Message) -> None:
        """Take in the message behind the last."""
        if not self.is_kept:
            return
        if message.role is Role.TOOL:
            results = [part.call_id for part in message.parts if isinstance(part, ToolResultPart)]
            end = self.answered + len(results)
            self.is_kept = bool(results) and results == self.asked[self.answered : end]
            self.answered = end
            return
        if self.answered < len(self.asked) or not message.parts:
            self.is_kept = False
            return
        self.asked, self.answered = [], 0
        if len(message.parts) == 1 and isinstance(message.parts[0], TextPart):  # most are, of thousands
            return
        self.asked = [part.call_id for part in message.parts if isinstance(part, ToolCallPart)]
        count = len(self.seen) + len(self.asked)
        self.seen.update(self.asked)
        self.is_kept = len(self.seen) == count


def _results(messages: Sequence[Message]) -> dict[str, tuple[Message, int]]:
    """The first result of each call that came behind it: the message that holds it, and its place there."""
    asked: set[str] = set()
    found: dict[str, tuple[Message, int]] = {}
    for message in messages:
        asked.update(call.call_id for call in _calls(message))
        if message.role is not Role.TOOL:
            continue
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolResultPart) and part.call_id in asked:
                found.setdefault(part.call_id, (message, place))
    return found


def _calls(message: Message) -> tuple[ToolCallPart, ...]:
    return tuple(part for part in message.parts if isinstance(part, ToolCallPart))


def _without_repeated(message: Message, seen: set[str]) -> Message:
    """The message without calls whose id was there before."""
    own: set[str] = set()
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            if part.call_id in seen or part.call_id in own:
                continue
            own.add(part.call_id)
        parts.append(part)
    return message if len(parts) == len(message.parts) else replace(message, parts=tuple(parts))


def _answers(
    reply: Message, calls: Sequence[ToolCallPart], results: dict[str, tuple[Message, int]]
) -> Iterator[Message]:
    """Results of a reply's calls in their order; results that came in one message stay in it where they follow."""
    places = [results.get(call.call_id) for call in calls]
    at = 0
    while at < len(calls):
        held = places[at]
        if held is None:
            part = ToolResultPart(
                call_id=calls[at].call_id, text=NO_RESULT, is_error=True, ended=CallEnd.INTERRUPTED
            )
            missing = f"{reply.id}/{calls[at].call_id}"
            yield Message(id=missing, at=reply.at, role=Role.TOOL, parts=(part,), status=Status.INTERRUPTED)
            at += 1
            continue
        message = held[0]
        run = [held[1]]
        while at + len(run) < len(calls) and (following := places[at + len(run)]) is not None:
            if following[0] is not message:
                break
            run.append(following[1])
        parts = tuple(message.parts[place] for place in run)
        whole = tuple(part for part in message.parts if isinstance(part, ToolResultPart))
        yield message if parts == whole else replace(message, id=f"{message.id}/{run[0]}", parts=parts)
        at += len(run)
