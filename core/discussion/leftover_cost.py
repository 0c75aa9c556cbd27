"""Cost of a reply whose program was killed while it arrived: booked by the request that the log holds."""

from __future__ import annotations

from collections.abc import Iterable

from core.base.ids import make_id
from core.base.tokens import estimate_tokens
from core.discussion.reply_journal import LeftoverReply
from core.spending.estimates import booked, reply_texts
from core.spending.pricing import cost
from core.values.records import Record, RequestRecord, UsageRecord
from core.values.usage import Usage


def paid_for(left: LeftoverReply, records: Iterable[Record]) -> tuple[UsageRecord, ...]:
    """The usage of a reply that was arriving, at its estimate; none where it is not known what was sent, or no price is.

    Args:
        records: of the discussion's log. The reply answers the last request before it.
    """
    head = left.head
    sent = [record for record in records if isinstance(record, RequestRecord) and record.at <= head.at]
    if not sent or (sent[-1].provider, sent[-1].model) != (head.provider, head.model):
        return ()
    expected = sent[-1].estimate
    if expected is None:
        return ()
    length = sum(estimate_tokens(len(text.encode("utf-8", "replace"))) for text in reply_texts(left.parts))
    usage = booked(
        Usage(),
        expected,
        length,
        lambda used: cost(head.provider, head.model, used, head.at),
        is_whole=False,
    )
    if not usage.is_estimate:
        return ()
    return (UsageRecord(make_id(head.at, f"{head.reply_id}/usage"), head.at, head.reply_id, usage),)
