"""Usage and cost of calls over time: the question, and the answer in sums."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class UsageBy(StrEnum):
    """Difference that the rows of a report tell apart."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    PROVIDER = "provider"
    MODEL = "model"
    DISCUSSION = "discussion"
    KIND = "kind"


PERIODS = (UsageBy.DAY, UsageBy.WEEK, UsageBy.MONTH)


class PaidKind(StrEnum):
    """Kind of work that a call was made for."""

    CHAT = "chat"
    TOOLS = "tools"
    """A call that asks for tools, or reads what they gave."""
    HARVEST = "harvest"
    DELEGATION = "delegation"
    """A call of a discussion that a model was given as a task."""
    UPKEEP = "upkeep"
    """A ping, a prewarm or the rent of a cache."""
    SUMMARY = "summary"
    """A summary of what leaves a model's view."""


class UsageQuery(msgspec.Struct, frozen=True):
    """Question for what was used.

    Args:
        by: what the rows tell apart; per: the periods of the series: day, week or month.
        since, until: first and last day, `2026-11-29`, where the person is; empty for all.
    """

    by: UsageBy = UsageBy.MODEL
    per: UsageBy = UsageBy.DAY
    since: str = ""
    until: str = ""


class UsageSum(msgspec.Struct, frozen=True, gc=False):
    """Calls added up. What a provider did not say, or nobody has a price for, adds nothing and is counted.

    Args:
        unpriced: calls whose price nobody knows; estimates: calls of which a part is our guess.
        saved_usd: what reading from caches saved over sending anew, less what writing and upkeep took, at today's prices.
        unsaved: calls that read or wrote a cache at prices that nobody knows.
        first_token_s: mean time to the first token; tokens_per_s: output by the time behind it; None where never told.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    estimates: int = 0
    saved_usd: float = 0.0
    unsaved: int = 0
    first_token_s: float | None = None
    tokens_per_s: float | None = None

    @property
    def hit_rate(self) -> float | None:
        """Share of the input that was read from a cache; None without input."""
        return self.cache_read_tokens / self.input_tokens if self.input_tokens else None

    @property
    def known_cost_usd(self) -> float | None:
        """Cost as far as it is known; None where no price of any call is."""
        return None if self.calls and self.unpriced == self.calls else self.cost_usd


class MonthSpent(msgspec.Struct, frozen=True):
    """Cost of a month. `start`: its first day, `2026-11-01`; `usd`: None while it is being added up."""

    start: str
    usd: float | None = None
    unpriced: int = 0


class UsageRow(msgspec.Struct, frozen=True, gc=False):
    """Sum of one day, model, discussion … `key`: as stored; `label`: as a person reads it. Both empty: no usable date."""

    key: str
    label: str
    sum: UsageSum


class UsageReport(msgspec.Struct, frozen=True):
    """Answer to a question.

    Args:
        rows: by cost, the dearest first; periods in their order. series: a row each period, in order.
        odd_dates: calls whose time is before 2015 or after tomorrow: they are in the sums and in no period.
    """

    query: UsageQuery
    total: UsageSum = msgspec.field(default_factory=UsageSum)
    rows: tuple[UsageRow, ...] = ()
    series: tuple[UsageRow, ...] = ()
    odd_dates: int = 0
