"""What a call used and cost, in one meaning on every provider."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

N = TypeVar("N", int, float)


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one call, or of many added up.

    `input_tokens` is everything sent; cache reads and writes are parts of it; `output_tokens` includes
    reasoning. None means "not reported", never 0. `cost_usd` None means "price unknown".
    Source: 20-caching.md, "Usage".
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    time_to_first_token_s: float | None = None
    duration_s: float | None = None
    request_id: str = ""
    miss_reason: str = ""


def add_usage(first: Usage, second: Usage) -> Usage:
    """Add two usages of the same discussion.

    Returns:
        Token counts and costs summed; a field that neither reports stays None, one that only one reports is
        that one's figure. Times and ids are dropped: they belong to one call.
    """
    return Usage(
        input_tokens=_sum(first.input_tokens, second.input_tokens),
        output_tokens=_sum(first.output_tokens, second.output_tokens),
        cache_read_tokens=_sum(first.cache_read_tokens, second.cache_read_tokens),
        cache_write_tokens=_sum(first.cache_write_tokens, second.cache_write_tokens),
        cache_write_5m_tokens=_sum(first.cache_write_5m_tokens, second.cache_write_5m_tokens),
        cache_write_1h_tokens=_sum(first.cache_write_1h_tokens, second.cache_write_1h_tokens),
        reasoning_tokens=_sum(first.reasoning_tokens, second.reasoning_tokens),
        cost_usd=_sum(first.cost_usd, second.cost_usd),
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
        "time_to_first_token_s": usage.time_to_first_token_s,
        "duration_s": usage.duration_s,
    }


def _sum(first: N | None, second: N | None) -> N | None:
    if first is None:
        return second
    if second is None:
        return first
    return first + second
