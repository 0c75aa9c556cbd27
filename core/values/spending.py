"""Spend limits as values: what stands against one, and a send that was refused for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from core.base.figures import dollars
from core.base.offer import OfferedCommand


class Payment(msgspec.Struct, frozen=True):
    """Payment for one call. `is_estimate`: its provider did not say."""

    usd: float
    is_estimate: bool = False


class SpentElsewhere(msgspec.Struct, frozen=True):
    """Money of other programs on this home, when one of this program's calls was about to go out.

    Args:
        reserved_usd: what they have under way; payments: what they paid today, by the record's id.
    """

    reserved_usd: float = 0.0
    payments: Mapping[str, Payment] = msgspec.field(default_factory=dict)


class Reservation(msgspec.Struct, frozen=True):
    """Expected cost of a call while under way. Empty id: of no discussion.

    Args:
        record_id: of the record that will tell what a call cost that no journal tells of; empty where one does.
    """

    usd: float
    discussion_id: str = ""
    record_id: str = ""


class LimitScope(StrEnum):
    """Scope of a limit: whose money it holds together."""

    DISCUSSION = "this discussion"
    DAY = "today"
    UNKNOWN = "unread settings"
    """No limit: whether there is one, and who is to be asked, cannot be read."""
    UNPRICED = "unknown price"
    """A limit that cannot hold: nobody knows what the call costs."""


class ReachedLimit(msgspec.Struct, frozen=True):
    """A limit that is reached, in US dollars.

    Args:
        reserved_usd: what calls under way are expected to cost, on top of `spent_usd`.
        why: of a scope that is not known, and of a price that is not, the whole sentence.
    """

    scope: LimitScope
    limit_usd: float
    spent_usd: float
    reserved_usd: float = 0.0
    why: str = ""

    @property
    def sentence(self) -> str:
        """The limit and the sums, in a sentence."""
        if self.why:
            return self.why
        more = f", about {dollars(self.reserved_usd)} more is under way" if self.reserved_usd else ""
        return (
            f"The limit of {dollars(self.limit_usd)} for {self.scope} is reached:"
            f" {dollars(self.spent_usd)} is spent{more}."
        )


class SpendRefusal(msgspec.Struct, frozen=True):
    """A send that a limit stands against: nothing was written and nothing called.

    Args:
        reached: at least one; confirmed: the same command with the person's yes, of whatever room.
    """

    reached: tuple[ReachedLimit, ...]
    confirmed: OfferedCommand

    @property
    def sentence(self) -> str:
        """Reason, in a sentence."""
        return self.reached[0].sentence

    @property
    def is_unpriced(self) -> bool:
        """True if nothing but an unknown price stands against it: to raise a limit would not help."""
        return all(one.scope is LimitScope.UNPRICED for one in self.reached)


UNPRICED_REMEDY = "Give its price in your models.toml (0 where nobody is paid), or update the prices"
"""Remedy that holds for every call of the model; a yes holds for one."""
