"""OpenAI's prompt cache in requests and replies: options, breakpoints, prewarming, and why less was read.

Source: openai 3.51.0, types/responses/response_create_params.py and response.py; OpenAI "Prompt caching" (read
2026-11-20).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.providers.abilities import has_openai_breakpoints
from core.providers.marks import Blocks, marks_of
from core.values.provider import ProviderRequest
from core.values.usage import UNTOLD_MISS

Json = dict[str, Any]

BREAKPOINT = "prompt_cache_breakpoint"
OPTIONS = "prompt_cache_options"
LONG_TTL_S = 12 * 3600
"""Lifetimes on offer: 30 minutes and 12 hours."""

_MISSES: Mapping[str, str] = {
    "model_changed": "the model changed",
    "prompt_cache_key_changed": "the cache key changed",
    "tools_changed": "the tools changed",
    "text_format_changed": "the format asked for changed",
    "reasoning_effort_changed": "the effort changed",
    "verbosity_changed": "the verbosity changed",
    "service_tier_changed": "the service tier changed",
    "context_compacted": "the context was compacted",
    "input_changed": "earlier messages or the system prompt changed",
}


def takes_breakpoints(request: ProviderRequest) -> bool:
    """True if a request speaks of caching at all, to a model that lets itself be told."""
    return request.cache is not None and has_openai_breakpoints(request.model)


def add_cache_fields(body: Json, request: ProviderRequest, blocks: Blocks) -> None:
    """Put a request's plan into its body: the key, the options, and the breakpoints on their blocks.

    Explicit mode without a breakpoint turns caching off. Models before GPT-5.6 take only the key. What an earlier
    request wrote is found only where this one has a breakpoint too: the plan has one at what is to be read.
    """
    plan = request.cache
    if plan is None:
        return
    if plan.is_enabled and plan.prompt_cache_key:
        body["prompt_cache_key"] = plan.prompt_cache_key
    if not has_openai_breakpoints(request.model):
        return
    for block, ttl_s in blocks.marked(marks_of(plan)):
        block[BREAKPOINT] = {"mode": "explicit", "ttl": "12h" if ttl_s >= LONG_TTL_S else "30m"}
    body[OPTIONS] = {"mode": (plan.openai_mode or "explicit") if plan.is_enabled else "explicit"}


def without_cache_fields(body: Json) -> None:
    """Take options and breakpoints out again, for a server that refuses them."""
    body.pop(OPTIONS, None)
    for item in body["input"]:
        for part in _parts(item):
            part.pop(BREAKPOINT, None)


def prewarm_body(body: Json) -> Json | None:
    """The same request up to its last breakpoint, asking for no reply; None where it has none.

    Tools, format, effort and key stay, since they are part of the prefix. Answers of one round of calls stay together.
    """
    items = body["input"]
    for number in reversed(range(len(items))):
        parts = _parts(items[number])
        marked = [place for place, part in enumerate(parts) if BREAKPOINT in part]
        if marked:
            end = number + 1
            while end < len(items) and items[end]["type"] == items[number]["type"] == "function_call_output":
                end += 1
            field = "output" if items[number]["type"] == "function_call_output" else "content"
            cut = {**items[number], field: parts[: marked[-1] + 1]}
            options = {**body[OPTIONS], "prewarm": True}
            kept = [*items[:number], cut, *items[number + 1 : end]]
            return {**body, "input": kept, "stream": False, OPTIONS: options}
    return None


def miss_reason(diagnostics: object) -> str:
    """Reason why less was read than the reply compared with left there, empty for a hit or nothing said."""
    kind = getattr(diagnostics, "type", None)
    if kind == "comparison_response_not_found":
        return "the provider no longer knows the last request"
    if kind == "unavailable":
        return UNTOLD_MISS
    if kind != "cache_miss":
        return ""
    reason = str(getattr(diagnostics, "reason", ""))
    words = _MISSES.get(reason, reason.replace("_", " "))
    missed = getattr(diagnostics, "cache_missed_tokens", None)
    return f"{words}, {missed:,} tokens not read" if isinstance(missed, int) and missed else words


def _parts(item: Json) -> list[Json]:
    """The parts of an item that may bear a breakpoint; a string has none."""
    found = item.get("output" if item.get("type") == "function_call_output" else "content")
    return found if isinstance(found, list) else []
