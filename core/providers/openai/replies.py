"""A response of OpenAI about itself: what it used, and why it ended."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.providers.door import word_of
from core.providers.endings import stop_at
from core.providers.usage import counted_usage, part_of
from core.values.provider import Stopped
from core.values.usage import Usage


def usage_of(usage: Any, request_id: str, *, has_cache: bool = True) -> Usage:
    """Usage of a response. `input_tokens` already holds cache reads and writes; what is missing is not reported.

    What was read stands there also where nothing was: where it does not, what the input costs is an estimate.

    Args:
        has_cache: False of a server that refused the fields of caching: there is nothing that it would have to say.

    Source: openai types/responses/response_usage.py, 3.51.0; OpenAI "Prompt caching" (read 2026-11-24).
    """
    read = getattr(usage, "input_tokens_details", None)
    written = getattr(usage, "output_tokens_details", None)
    by_ttl = getattr(read, "cache_write_tokens_details", None)
    found = counted_usage(
        input_tokens=getattr(usage, "input_tokens", None),
        output_tokens=getattr(usage, "output_tokens", None),
        cache_read_tokens=part_of(read, "cached_tokens"),
        cache_write_tokens=part_of(read, "cache_write_tokens"),
        cache_write_12h_tokens=part_of(by_ttl, "ttl_12h_tokens"),
        reasoning_tokens=part_of(written, "reasoning_tokens"),
        request_id=request_id,
    )
    is_untold = has_cache and found.input_tokens is not None and found.cache_read_tokens is None
    return replace(found, is_estimate=found.is_estimate or is_untold)


def stop_of(response: Any, *, has_calls: bool, has_refused: bool) -> Stopped:
    """Reason for which a response ended."""
    word = word_of(response.status)
    if word == "incomplete" or response.incomplete_details is not None:
        word = word_of(getattr(response.incomplete_details, "reason", None)) or "incomplete"
    return stop_at(word or "completed", has_calls=has_calls, has_refused=has_refused)
