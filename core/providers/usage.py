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


def total(*values: object) -> int | None:
    """The sum of the counts among them; None where there is none."""
    known = [count for value in values if (count := figure(value)) is not None]
    return sum(known) if known else None


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
        reported, for nobody can say which of the two is wrong, and the whole is what is billed.

    Raises:
        Nothing. Total over its inputs.
    """
    sent, reply = figure(input_tokens), figure(output_tokens)
    read, written = figure(cache_read_tokens), figure(cache_write_tokens)
    five, hour = figure(cache_write_5m_tokens), figure(cache_write_1h_tokens)
    half_day = figure(cache_write_12h_tokens)
    reasoning = figure(reasoning_tokens)
    if sent is None or (read or 0) + (written or 0) > sent:
        read = written = None
    if written is None or (five or 0) + (hour or 0) + (half_day or 0) > written:
        five = hour = half_day = None
    if reply is None or (reasoning or 0) > reply:
        reasoning = None
    return Usage(
        input_tokens=sent,
        output_tokens=reply,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
        cache_write_12h_tokens=half_day,
        reasoning_tokens=reasoning,
        cost_usd=price(cost_usd),
        request_id=request_id,
        miss_reason=miss_reason,
    )
