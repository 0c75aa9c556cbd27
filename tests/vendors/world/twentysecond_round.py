"""Reports of the twenty-second round, written down before a try, and tables beside a reply that are not its usage."""

from __future__ import annotations

from typing import Any

from tests.vendors.world.table import COMPATIBLE, Row, U, chunk, frames

_BIG = {"input_tokens": 50_000, "output_tokens": 9_000}
_CHAT = {"prompt_tokens": 50_000, "completion_tokens": 9_000}


def _beside(name: str, source: str, **table: Any) -> Row:
    """Usage of the call, and a table of other figures in the last chunk: only the first is booked."""
    last = {**chunk({}, "stop"), **table}
    right = {"input_tokens": 300, "output_tokens": 20, "cache_read_tokens": None, "reasoning_tokens": None}
    return Row(
        name,
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), {"id": "c", "choices": [], "usage": U}, last),
        source,
        usage=right,
    )


def _within(name: str, source: str, right: dict[str, Any], **more: Any) -> Row:
    """A figure within usage that is no part of it."""
    last = {"id": "c", "choices": [], "usage": {**U, **more}}
    none = {"cache_read_tokens": None, "cache_write_tokens": None, "reasoning_tokens": None, "cost_usd": None}
    return Row(
        name,
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), chunk({}, "stop"), last),
        source,
        usage={"input_tokens": 300, "output_tokens": 20, **none, **right},
    )


# fmt: off
TWENTY_SECOND: dict[str, list[Row]] = {
    "usage": [
        *(
            _beside(f"beside-{name}", "gateways that tell more than a call", **{name: table})
            for name, table in {
                "limits": _BIG, "rate_limit": _BIG, "quota": _BIG, "session": {"id": "s", "usage": _CHAT}, "account": {"usage": _CHAT},
                "cumulative_usage": _CHAT, "monthly_usage": _CHAT, "previous_usage": _CHAT, "model_info": _BIG, "pricing": _CHAT, "capabilities": _BIG,
            }.items()
        ),
        *(
            _within(f"within-{name}", "gateways that tell more than a call", {}, **{name: 9})
            for name in ("max_thinking_tokens", "cache_read_limit", "cache_hits", "session_cached_tokens", "remaining_reasoning_tokens", "prompt_cache_read_time_ms", "cache_creation_ms", "tool_cache")
        ),
        _within("models-of-other-calls", "gateways that tell more than a call", {}, budget={"thinking_tokens": 9}, model_usage={"a": {"cached_tokens": 200}}),
        _within("cost-in-yuan", "gateways of China", {}, cost=0.5, currency="CNY"),
        _within("cost-in-credits", "gateways that sell credits", {}, cost=120, cost_unit="credits"),
        _within("cost-of-euros-inside", "gateways of Europe", {}, cost={"total_cost": 0.5, "currency": "EUR"}),
        _within("cost-in-dollars", "what must stay right", {"cost_usd": 0.5}, cost=0.5, currency="USD"),
    ],
}
# fmt: on
"""Rows by their class, as `table.CLASSES`."""
