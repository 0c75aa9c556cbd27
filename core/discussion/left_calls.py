"""Tool calls of a log that have no result: what a start writes of them, and which are asked about again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from core.base.ids import make_id
from core.discussion.messages import ReplyToken, WriteToken
from core.values.messages import CallEnd, Role, Status, ToolCallPart, ToolResultPart
from core.values.records import MessageRecord, Record, StartRecord

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
        part = ToolResultPart(call_id, words, is_error=True, ended=CallEnd.INTERRUPTED)
        record_id = make_id(now, f"left/{reply.id}/{call_id}")
        results.append(MessageRecord(record_id, now, Role.TOOL, (part,), Status.INTERRUPTED))
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
