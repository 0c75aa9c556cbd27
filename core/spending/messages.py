"""What was counted of money."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.values.spending import Payment


class SpentCounted(msgspec.Struct, frozen=True):
    """What all logged calls since the person's midnight have cost. `day_start`: that midnight, UTC.

    Args:
        has_estimate: of some of it the provider did not say; ids: of the payments in it, so that none counts twice.
    """

    day_start: datetime
    usd: float
    has_estimate: bool = False
    ids: frozenset[str] = frozenset()


class PaymentsSeen(msgspec.Struct, frozen=True):
    """What a log holds of payments since the person's midnight, by the record's id: another program wrote to it."""

    payments: Mapping[str, Payment]


SpendingEvent = SpentCounted | PaymentsSeen
"""What has happened in this room."""
