"""Usage of a call as its provider says, in figures that can be trusted: one rule for every client."""

from __future__ import annotations

import math

from core.values.usage import Usage

MOST_TOKENS = 1_000_000_000
"""Of one call. More is no count of tokens, whatever it is."""

MOST_USD = 1_000_000.0


def figure(value: object) -> int | None:
    """A count of tokens; None, "not reported", for whatever is no whole number from 0 up to a billion."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_TOKENS or value != int(value):
        return None
    return int(value)


def price(value: object) -> float | None:
    """A price in US dollars that a provider says itself; None for whatever is no finite number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST_USD and math.isfinite(value) else None


def is_absurd(value: object) -> bool:
    """True of what stands in the place of a count and is none; None says that nothing was reported."""
    return value is not None and figure(value) is None


def part_of(table: object, name: str) -> object:
    """A field of a vendor's table of parts; what stands in the place of the table is no count, whatever it is."""
    found = getattr(table, name, None)
    return math.nan if table is not None and not hasattr(table, "__dict__") else found


def total(*values: object) -> int | None:
    """The sum of the counts among them; None where there is none, or one is absurd: of what is left nobody can say."""
    known = [count for value in values if (count := figure(value)) is not None]
    return sum(known) if known and not any(map(is_absurd, values)) else None


def counted_usage(
    *,
    input_tokens: object = None,
    output_tokens: object = None,
    cache_read_tokens: object = None,
    cache_write_tokens: object = None,
    cache_write_5m_tokens: object = None,
    cache_write_1h_tokens: object = None,
    cache_write_12h_tokens: object = None,
    reasoning_tokens: object = None,
    cost_usd: object = None,
    request_id: str = "",
    miss_reason: str = "",
) -> Usage:
    """A call's usage from what a vendor's fields held, in our meaning: cache parts inside the input.

    Args:
        input_tokens to reasoning_tokens: anything at all; what is no count is not reported.
        cost_usd: anything; what is no price is not known.

    Returns:
        Figures that do not contradict each other: parts that are larger than their whole, or have none, are not
        reported, for nobody can say which of the two is wrong, and the whole is what is billed. A part of a known
        whole that is absurd, or larger, makes it an estimate, unless the provider says what the call cost.

    Raises:
        Nothing. Total over its inputs.
    """
    sent, reply = figure(input_tokens), figure(output_tokens)
    cached, lifetimes = (
        (cache_read_tokens, cache_write_tokens),
        (cache_write_5m_tokens, cache_write_1h_tokens, cache_write_12h_tokens),
    )
    (read, written), is_cached_odd = _parts(cached, sent)
    (five, hour, half_day), is_split_odd = _parts(lifetimes, written)
    (reasoning,), is_reply_odd = _parts((reasoning_tokens,), reply)
    is_input_odd = sent is not None and (is_cached_odd or is_split_odd)
    said = price(cost_usd)
    return Usage(
        input_tokens=sent,
        output_tokens=reply,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
        cache_write_12h_tokens=half_day,
        reasoning_tokens=reasoning,
        cost_usd=said,
        request_id=request_id,
        miss_reason=miss_reason,
        is_estimate=said is None and (is_input_odd or (reply is not None and is_reply_odd)),
    )


def _parts(values: tuple[object, ...], whole: int | None) -> tuple[list[int | None], bool]:
    """Counts of parts, none where they have no whole or go beyond it; and whether something is wrong with them."""
    counts = [figure(value) for value in values]
    is_beyond = sum(count or 0 for count in counts) > (whole or 0)
    is_odd = is_beyond or any(map(is_absurd, values))
    return ([None] * len(counts) if whole is None or is_beyond else counts), is_odd
