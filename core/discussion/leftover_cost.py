"""Cost of a call whose program was killed under way: booked at what its journal says of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.base.ids import make_id
from core.base.tokens import count_tokens, scaled
from core.discussion.reply_journal import LeftoverReply
from core.spending.estimates import booked, reply_texts, with_lost
from core.spending.pricing import cost
from core.values.records import MessageRecord, Record, UsageRecord
from core.values.usage import Usage


def unlogged(left: Sequence[LeftoverReply], records: Iterable[Record]) -> tuple[LeftoverReply, ...]:
    """Replies that a log does not hold: a program may be killed between the log's write and the journal's end.

    Args:
        records: of the discussion's log.
    """
    if not left:
        return ()
    known: set[str] = set()
    for record in records:
        if isinstance(record, MessageRecord):
            known.add(record.id)
        elif isinstance(record, UsageRecord):
            known.add(record.message_id)
    return tuple(reply for reply in left if known.isdisjoint({reply.head.reply_id, reply.head.call_id}))


def paid_for(left: LeftoverReply) -> tuple[UsageRecord, ...]:
    """The usage of a call that was under way, at its estimate; none where nothing had left, or no price is known.

    Input as it was expected unless the provider had said it, and the words that had come by the same count and factor
    as those of any reply.
    """
    head, expected = left.head, left.head.expected
    if expected is None:
        return ()

    def price(usage: Usage) -> float | None:
        return cost(head.provider, head.model, usage, head.at)

    usage = Usage()
    if left.is_out or left.parts:
        length = sum(map(count_tokens, reply_texts(left.parts)))
        usage = booked(left.reported, expected, scaled(length, head.factor), price, is_whole=False)
    usage = with_lost(usage, expected, left.lost, price)
    if not usage.is_estimate:
        return ()
    return (UsageRecord(make_id(head.at, f"{head.reply_id}/usage"), head.at, head.reply_id, usage),)
