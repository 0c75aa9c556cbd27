"""Usage of a chat completion, wherever servers put its parts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from core.kernel.values.usage import Usage
from core.services.providers.door import counted_usage, figure, price

Table = Mapping[str, Any]

_READ = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "prompt_tokens_details.cache_read_tokens",
    "prompt_token_details.cached_tokens",
    "num_cached_tokens",
)
_WRITTEN = (
    "prompt_tokens_details.cache_write_tokens",
    "cache_creation_input_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "prompt_tokens_details.cache_creation_input_tokens",
)
_REASONING = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "reasoning_tokens",
)


def chat_usage(usage: object, request_id: str) -> Usage:
    """Usage of a completion. `prompt_tokens` holds cache reads and writes; what is missing is not reported.

    Source: openai types/completion_usage.py, 3.57.0; DeepSeek API "Context caching"; LiteLLM "Usage"; OpenRouter "Usage
    accounting"; xAI "Reasoning": the total decides where reasoning stands beside the completion (read 2026-11).
    """
    table: Table = _snake(usage) if isinstance(usage, dict) else {}
    sent = _first(table, ("prompt_tokens", "input_tokens"))
    reply = _first(table, ("completion_tokens", "output_tokens"))
    read, written, reasoning = (_first(table, names) for names in (_READ, _WRITTEN, _REASONING))
    whole = figure(table.get("total_tokens")) or None
    if not any(figure(value) for value in (sent, reply, whole)) and None not in (sent, reply):
        return Usage(request_id=request_id, cost_usd=_cost(table) or None)
    sent, reply, is_odd = _settled(
        sent, reply, (figure(read) or 0) + (figure(written) or 0), reasoning, whole
    )
    found = counted_usage(
        input_tokens=sent,
        output_tokens=reply,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
        cost_usd=_cost(table),
        request_id=request_id,
    )
    return replace(found, is_estimate=found.is_estimate or (is_odd and found.cost_usd is None))


def usage_of_timings(timings: object) -> dict[str, Any]:
    """Usage by llama.cpp's `timings`: what was read from its cache and what was not. Source: its server README (read 2026-11)."""
    table: Table = timings if isinstance(timings, dict) else {}
    cached, fresh, written = (figure(table.get(name)) for name in ("cache_n", "prompt_n", "predicted_n"))
    if cached is None or fresh is None or written is None:
        return {}
    return {"prompt_tokens": cached + fresh, "completion_tokens": written, "cached_tokens": cached}


def is_blank(usage: Usage) -> bool:
    """True if a server said nothing by it: zeros close some streams."""
    return usage.input_tokens is None and usage.output_tokens is None and not usage.cost_usd


_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")


def _snake(table: Table) -> Table:
    """The table with names in small letters and figures as figures: some servers send text."""
    return {
        _CAPITAL.sub(r"_\1", str(name)).lower(): _snake(value) if isinstance(value, dict) else _plain(value)
        for name, value in table.items()
    }


def _plain(value: object) -> object:
    if not isinstance(value, str) or len(value) > _MOST_DIGITS:
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


_MOST_DIGITS = 20


def _settled(
    sent: object, reply: object, cached: int, reasoning: object, whole: int | None
) -> tuple[object, object, bool]:
    """Input and output with all their parts inside, by the total, and whether the total contradicts every reading."""
    before, after, thought = figure(sent), figure(reply), figure(reasoning) or 0
    if whole is None or before is None or after is None or whole == before + after:
        return sent, reply, False
    if thought and whole == before + after + thought:
        return sent, after + thought, False
    if cached and whole == before + after + cached:
        return before + cached, reply, False
    if thought > after and whole > before:
        return sent, whole - before, False
    return sent, reply, True


_COSTS = ("cost", "total_cost", "estimated_cost", "cost_usd")
"""OpenRouter and Perplexity, gateways, DeepInfra, gateways."""

_TICKS = 10_000_000_000
"""Of a dollar. Source: xAI API, `cost_in_usd_ticks` (read 2026-11)."""


def _cost(table: Table) -> float | None:
    """Dollars that the call cost by the server's own words. With a key of the person's own, the upstream's are added.

    Source: OpenRouter "Usage accounting", `cost`, `is_byok`, `cost_details` (read 2026-11).
    """
    told = next((table[name] for name in _COSTS if table.get(name) is not None), None)
    if isinstance(told, dict):
        told = told.get("total_cost")
    own = price(told)
    ticks = table.get("cost_in_usd_ticks")
    if own is None and isinstance(ticks, int) and not isinstance(ticks, bool):
        return price(ticks / _TICKS)
    details = table.get("cost_details")
    if own is None or table.get("is_byok") is not True or not isinstance(details, dict):
        return own
    upstream = price(details.get("upstream_inference_cost"))
    return None if upstream is None else own + upstream


def _first(table: Table, names: tuple[str, ...]) -> object:
    """The first of these that the server reports; what stands in the place of a table of parts is no count."""
    for name in names:
        outer, _, inner = name.rpartition(".")
        place: object = table.get(outer) if outer else table
        if place is not None and not isinstance(place, dict):
            return math.nan
        if isinstance(place, dict) and place.get(inner) is not None:
            return place[inner]
    return None
