"""Messages of spending: events of what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.values.spending import Payment


class SpentCounted(msgspec.Struct, frozen=True):
    """Costs of all logged calls since the person's midnight were counted. `day_start`: that midnight, UTC.

    Args:
        has_estimate: of some of it the provider did not say; ids: of the payments in it, so that none counts twice.
    """

    day_start: datetime
    usd: float
    has_estimate: bool = False
    ids: frozenset[str] = frozenset()


class PaymentsSeen(msgspec.Struct, frozen=True):
    """Payments since the person's midnight were in a log, by the record's id: another program wrote to it."""

    payments: Mapping[str, Payment]


SpendingEvent = SpentCounted | PaymentsSeen
"""Events of this room."""
