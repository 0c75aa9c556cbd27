"""Usage and cost as values: of a call, in one meaning on every provider, and of calls over time, in sums."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import msgspec

from core.kernel.figures import dollars, money
from core.kernel.language import as_sentences, tr

# Usage and cost of a call, in one meaning on every provider.

N = TypeVar("N", int, float)

MOST_TOKENS, MOST_SECONDS, MOST_USD = 10**15, 1e9, 1e9

Tokens = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=MOST_SECONDS)]
Usd = Annotated[float, msgspec.Meta(ge=0, le=MOST_USD)]
"""Figures as they may be read back from a file. A value that is no number must not enter a sum or lift a limit."""

UNTOLD_MISS = "the provider could not tell"
"""The `miss_reason` of a provider that was asked and knows none: it tells of no miss by itself."""


WHOLE_REPLY_S = 0.1
"""Behind the first token, so short a time measures no writing: a server or a proxy held the reply back, and sent it whole."""


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one call, or of many added up.

    `input_tokens` is everything sent; cache reads and writes are parts of it; `output_tokens` includes
    reasoning. None means "not reported", never 0. `cost_usd` None means "price unknown".
    `is_estimate`: the provider did not say all of it (a reply that was cut, a ping that was lost): what it left out is
    our guess, and so is the cost. `is_told`: the provider said the cost.
    """

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    cache_write_5m_tokens: Tokens | None = None
    cache_write_1h_tokens: Tokens | None = None
    reasoning_tokens: Tokens | None = None
    cost_usd: Usd | None = None
    time_to_first_token_s: Seconds | None = None
    duration_s: Seconds | None = None
    request_id: str = ""
    miss_reason: str = ""
    is_estimate: bool = False
    cache_write_12h_tokens: Tokens | None = None
    is_told: bool = False

    @property
    def writing_s(self) -> Seconds | None:
        """Time behind the first token; None where nobody measured it, or the reply arrived whole (`WHOLE_REPLY_S`)."""
        if self.duration_s is None:
            return None
        writing_s = self.duration_s - (self.time_to_first_token_s or 0.0)
        return writing_s if writing_s > WHOLE_REPLY_S else None


class UsageKind(StrEnum):
    """Kind of work that was paid for."""

    TURN = "turn"
    KEEPALIVE = "keepalive"
    """A ping: a prefix read only to keep it."""
    PREWARM = "prewarm"
    """A prefix read ahead, when its discussion was opened."""
    RENT = "rent"
    """A prefix that the provider stores by the hour."""
    COMPACTION = "compaction"
    """A summary of what leaves a model's view."""


UPKEEP_KINDS = frozenset({UsageKind.KEEPALIVE, UsageKind.PREWARM, UsageKind.RENT})
"""Payments of the program by itself: nobody has used the discussion for it."""


class Upkeep(msgspec.Struct, frozen=True):
    """Payments to have prefixes warm, beside the turns. `usage` of it all, added up; `rent_usd` of that."""

    pings: int = 0
    prewarms: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)
    rent_usd: Usd = 0.0

    def with_call(self, kind: UsageKind, usage: Usage) -> Upkeep:
        """Count one more call, unless it belongs to a turn."""
        if kind not in UPKEEP_KINDS:
            return self
        return Upkeep(
            pings=self.pings + (kind is UsageKind.KEEPALIVE),
            prewarms=self.prewarms + (kind is UsageKind.PREWARM),
            usage=add_usage(self.usage, usage),
            rent_usd=min(
                self.rent_usd + ((usage.cost_usd or 0.0) if kind is UsageKind.RENT else 0.0), MOST_USD
            ),
        )


def add_usage(first: Usage, second: Usage) -> Usage:
    """Add two usages of the same discussion.

    Returns:
        Token counts and costs summed; a field that neither reports stays None, one that only one reports is
        that one's figure. Times and ids are dropped: they belong to one call. A sum that holds an estimate is one.
        A sum can be read back like any figure: it grows no further than one may.
    """
    return Usage(
        input_tokens=_sum(first.input_tokens, second.input_tokens, MOST_TOKENS),
        output_tokens=_sum(first.output_tokens, second.output_tokens, MOST_TOKENS),
        cache_read_tokens=_sum(first.cache_read_tokens, second.cache_read_tokens, MOST_TOKENS),
        cache_write_tokens=_sum(first.cache_write_tokens, second.cache_write_tokens, MOST_TOKENS),
        cache_write_5m_tokens=_sum(first.cache_write_5m_tokens, second.cache_write_5m_tokens, MOST_TOKENS),
        cache_write_1h_tokens=_sum(first.cache_write_1h_tokens, second.cache_write_1h_tokens, MOST_TOKENS),
        cache_write_12h_tokens=_sum(first.cache_write_12h_tokens, second.cache_write_12h_tokens, MOST_TOKENS),
        reasoning_tokens=_sum(first.reasoning_tokens, second.reasoning_tokens, MOST_TOKENS),
        cost_usd=_sum(first.cost_usd, second.cost_usd, MOST_USD),
        is_estimate=first.is_estimate or second.is_estimate,
    )


def usage_data(usage: Usage) -> dict[str, Any]:
    """Usage as the plain data that the CLI prints and the Hook API answers with; None: not reported or not known."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.cost_usd,
        "is_estimate": usage.is_estimate,
        "time_to_first_token_s": usage.time_to_first_token_s,
        "duration_s": usage.duration_s,
    }


def upkeep_data(upkeep: Upkeep) -> dict[str, Any]:
    """Pings and prewarms as the plain data that the CLI prints and the Hook API answers with."""
    return {
        "pings": upkeep.pings,
        "prewarms": upkeep.prewarms,
        "rent_usd": upkeep.rent_usd,
        "usage": usage_data(upkeep.usage),
    }


def _sum(first: N | None, second: N | None, most: N) -> N | None:
    if first is None:
        return second
    if second is None:
        return first
    return min(first + second, most)


# Offers that a value may carry for a person to say yes to.


class OfferedCommand(msgspec.Struct, frozen=True):
    """A command that a notice or a refusal offers, of whatever room: rooms that carry it need not know the room."""


# Spend limits as values: what stands against one, and a send that was refused for it.


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


_SCOPE_WORDS = {
    LimitScope.DISCUSSION: tr("this discussion"),
    LimitScope.DAY: tr("today"),
    LimitScope.UNKNOWN: tr("unread settings"),
    LimitScope.UNPRICED: tr("unknown price"),
}
"""The words for each scope of a limit."""


class ReachedLimit(msgspec.Struct, frozen=True):
    """A limit that is reached, in US dollars.

    Args:
        reserved_usd: what calls under way are expected to cost, on top of `spent_usd`.
        is_estimate: of some of `spent_usd` the provider did not say what it cost.
        why: of a scope that is not known, and of a price that is not, the whole sentence.
    """

    scope: LimitScope
    limit_usd: float
    spent_usd: float
    reserved_usd: float = 0.0
    is_estimate: bool = False
    why: str = ""

    @property
    def spent(self) -> str:
        """An amount that is spent, as every place that names it writes it."""
        return money(self.spent_usd, is_estimate=self.is_estimate)

    @property
    def sentence(self) -> str:
        """The limit and the sums, in a sentence."""
        if self.why:
            return self.why
        more = (
            tr("Running requests may add about {reserved_usd}.", reserved_usd=dollars(self.reserved_usd))
            if self.reserved_usd
            else ""
        )
        said = tr(
            "You have reached the limit of {limit_usd} for {scope}: {spent_usd} spent.",
            limit_usd=dollars(self.limit_usd),
            scope=_SCOPE_WORDS[self.scope],
            spent_usd=self.spent,
        )
        return as_sentences(said, more)


class SpendRefusal(msgspec.Struct, frozen=True):
    """A send that a limit refused: the program wrote nothing and called nobody.

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


UNPRICED_REMEDY = tr("Give the model's price in your models.toml (0 if free), or update the prices")
"""Remedy that holds for every call of the model; a yes holds for one."""


# Usage and cost of calls over time: the question, and the answer in sums.


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
        told_input_tokens: input of the calls whose provider told how much of it a cache gave.
        unpriced: calls whose price nobody knows; estimates: calls of which a part is our guess.
        saved_usd: what reading from caches saved over sending anew, less what writing and upkeep took, at today's prices.
        unsaved: calls that read or wrote a cache at prices that nobody knows.
        first_token_s: mean time to the first token; tokens_per_s: output by the time behind it; None where never told.
    """

    calls: int = 0
    input_tokens: int = 0
    told_input_tokens: int = 0
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
        """Share of the input that was read from a cache; None where no provider told of it."""
        return self.cache_read_tokens / self.told_input_tokens if self.told_input_tokens else None

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
