"""A response of OpenAI about itself: what it used, and why it ended."""

from __future__ import annotations

from typing import Any

from core.providers.usage import counted_usage, part_of
from core.values.provider import StopKind, Stopped
from core.values.usage import Usage


def usage_of(usage: Any, request_id: str) -> Usage:
    """Usage of a response. `input_tokens` already holds cache reads and writes; what is missing is not reported.

    Source: openai types/responses/response_usage.py, 3.51.0; OpenAI "Prompt caching" (read 2026-11-20).
    """
    read = getattr(usage, "input_tokens_details", None)
    written = getattr(usage, "output_tokens_details", None)
    by_ttl = getattr(read, "cache_write_tokens_details", None)
    return counted_usage(
        input_tokens=getattr(usage, "input_tokens", None),
        output_tokens=getattr(usage, "output_tokens", None),
        cache_read_tokens=part_of(read, "cached_tokens"),
        cache_write_tokens=part_of(read, "cache_write_tokens"),
        cache_write_12h_tokens=part_of(by_ttl, "ttl_12h_tokens"),
        reasoning_tokens=part_of(written, "reasoning_tokens"),
        request_id=request_id,
    )


def stop_of(response: Any, *, has_calls: bool, has_refused: bool) -> Stopped:
    """Reason for which a whole response ended."""
    if response.status == "incomplete" or response.incomplete_details is not None:
        reason = getattr(response.incomplete_details, "reason", None) or "incomplete"
        kind = StopKind.REFUSED if reason == "content_filter" else StopKind.TRUNCATED
        return Stopped(kind, reason)
    if has_refused:
        return Stopped(StopKind.REFUSED, "refusal")
    if has_calls:
        return Stopped(StopKind.TOOL_CALLS, "completed")
    return Stopped(StopKind.COMPLETED, "completed")
