"""Messages of spending: reserves that other programs on this home see, and events of what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.values.spending import Payment, Reservation, SpentElsewhere


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


class ClaimReserve(msgspec.Struct, frozen=True):
    """Reserve for a call where other programs on this home see it; report `ReserveClaimed`."""

    key: str
    reservation: Reservation


class SettleReserve(msgspec.Struct, frozen=True):
    """A call is over: it reserves no more. `payments`: what was paid for it, by the record's id."""

    key: str
    payments: Mapping[str, Payment]


class ReserveClaimed(msgspec.Struct, frozen=True):
    """Other programs see the reserve. `elsewhere`: what they had under way before it, and paid today."""

    key: str
    reservation: Reservation
    elsewhere: SpentElsewhere


SpendingEvent = SpentCounted | PaymentsSeen | ReserveClaimed
"""Events of this room."""

SpendingEffect = ClaimReserve | SettleReserve
"""The spending worker's, on one thread."""
