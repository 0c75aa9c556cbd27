"""Usage of a reply, in the words of its card: one line, and every figure for the tooltip. Pure."""

from __future__ import annotations

from core.base import figures as fmt
from core.values.usage import Usage


def usage_line(usage: Usage) -> str:
    """Usage of a reply, in a line: `512 tok · $0.011 · cached 11.9k`."""
    is_exact = not usage.is_estimate
    parts = [
        f"{fmt.tokens_est(usage.output_tokens, is_exact=is_exact)} tok"
        if usage.output_tokens is not None
        else f"usage {fmt.NOT_REPORTED}"
    ]
    parts.append(fmt.money(usage.cost_usd, is_estimate=usage.is_estimate))
    if usage.cache_read_tokens:
        parts.append(f"cached {fmt.tokens(usage.cache_read_tokens)}")
    return " · ".join(parts)


def usage_details(usage: Usage) -> str:
    """Every figure of a reply, one a line, for a tooltip."""
    rows = [
        ("sent", fmt.tokens(usage.input_tokens)),
        ("read from cache", fmt.tokens(usage.cache_read_tokens)),
        ("written to cache", fmt.tokens(usage.cache_write_tokens)),
        ("reply", fmt.tokens(usage.output_tokens)),
        ("of it reasoning", fmt.tokens(usage.reasoning_tokens)),
        ("cost", fmt.money(usage.cost_usd, is_estimate=usage.is_estimate)),
    ]
    if usage.is_estimate:
        rows.append(("estimated", "the provider did not say all that it used"))
    if usage.time_to_first_token_s is not None:
        rows.append(("first token after", fmt.span(usage.time_to_first_token_s)))
    if usage.duration_s is not None:
        rows.append(("whole reply after", fmt.span(usage.duration_s)))
    if usage.request_id:
        rows.append(("request", usage.request_id))
    if usage.miss_reason:
        rows.append(("cache miss", usage.miss_reason))
    return "\n".join(f"{name}: {value}" for name, value in rows)
