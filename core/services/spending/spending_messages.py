"""Messages of spending: reserves that other programs on this home see, and what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.kernel.values.usage import Payment, Reservation, SpentElsewhere, UsageKind, UsageQuery, UsageReport


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
    """Reserve for a call where other programs on this home see it; report `ReserveClaimed`.

    `settled`: payments for calls before it that are over, by the key of each, as of `SettleReserve`.
    """

    key: str
    reservation: Reservation
    settled: Mapping[str, Mapping[str, Payment]] = msgspec.field(default_factory=dict)


class SettleReserve(msgspec.Struct, frozen=True):
    """A call is over: it reserves no more.

    Args:
        payments: what was paid for it, by the record's id. None: a ping or a prewarm is not waited for any more. If it has
            not left it reserves no more; else its record ends that.
    """

    key: str
    payments: Mapping[str, Payment] | None


class ReserveClaimed(msgspec.Struct, frozen=True):
    """Other programs see the reserve. `elsewhere`: what they had under way before it, and paid today."""

    key: str
    reservation: Reservation
    elsewhere: SpentElsewhere


class LookAtReserves(msgspec.Struct, frozen=True):
    """Report `PaidElsewhere` where another program began, paid or ended something since the last look."""


class TakeCutUpkeep(msgspec.Struct, frozen=True):
    """Report `UpkeepCut` for each ping, prewarm and summary whose program was killed while it was out, and that no log tells of."""


class UpkeepCut(msgspec.Struct, frozen=True):
    """A ping, a prewarm or a summary of a program that was killed: it is billed, and nobody will say how much.

    This program has its reserve from now on, until the record is written.

    Args:
        id: of the record that tells it, whoever writes it; kind: of the call; usd: as it was expected, above 0; at: when
            it reserved.
    """

    id: str
    kind: UsageKind
    discussion_id: str
    usd: float
    at: datetime


class PaidElsewhere(msgspec.Struct, frozen=True):
    """Another program on this home was at work. `payments`: all that others paid today, by the record's id."""

    payments: Mapping[str, Payment]


class CountUsage(msgspec.Struct, frozen=True):
    """Add up what calls have used and cost, and report `UsageCounted`."""

    query: UsageQuery
    command_id: str = ""


class UsageCounted(msgspec.Struct, frozen=True):
    """The answer to `CountUsage`."""

    report: UsageReport
    command_id: str = ""


SpendingEvent = UsageCounted | SpentCounted | PaymentsSeen | ReserveClaimed | PaidElsewhere | UpkeepCut
"""Events of this room."""

SpendingEffect = ClaimReserve | SettleReserve | LookAtReserves | TakeCutUpkeep
"""The spending worker's, on one thread."""
