"""Gemini's stream of chunks as items of ours.

Source: google-genai 3.3.0, types.py `GenerateContentResponse`, `FinishReason`; ai.google.dev "Thinking" (read 2026-11).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from core.base.errors import FailureKind, ProviderError
from core.base.json_text import read_json
from core.providers.endings import stop_at
from core.providers.usage import counted_usage, is_absurd, total
from core.providers.wire import canonical_json
from core.values.messages import ToolCallPart
from core.values.provider import (
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.values.usage import Usage

if TYPE_CHECKING:
    from google.genai import types

_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
)
"""Counts of usage that are read."""

_NONE = -1
"""Stands for a figure that is none: the SDK takes it, and no reader does."""


def is_known(chunk: types.GenerateContentResponse) -> bool:
    """True if a chunk belongs to a reply; one without a candidate may only say that the server lives, by its id."""
    return bool(chunk.candidates or chunk.usage_metadata or chunk.prompt_feedback or chunk.response_id)


def sound_chunk(body: str) -> str:
    """A chunk as it came, without figures of usage that are none: the SDK would refuse the words beside them.

    Args:
        body: JSON.
    """
    if '"usageMetadata"' not in body:
        return body
    chunk = read_json(body)
    if not isinstance(chunk, dict) or "usageMetadata" not in chunk:
        return body
    told = chunk.pop("usageMetadata")
    if isinstance(told, dict):
        counts = {name: told[name] for name in _COUNTS if told.get(name) is not None}
        chunk["usageMetadata"] = {
            name: _NONE if is_absurd(count) else count for name, count in counts.items()
        }
    return json.dumps(chunk)


def reply_items(chunks: Iterable[types.GenerateContentResponse]) -> Iterator[StreamItem]:
    """Translate a stream of chunks. Usage stands in each chunk and is cumulative: the last one counts.

    Raises:
        ProviderError: STREAM_DROPPED where it ends without a reason, BAD_REPLY where it never began or broke.
    """
    stop: Stopped | None = None
    usage = Usage()
    calls = 0
    has_begun = False
    for chunk in chunks:
        blocked = _block_reason(chunk)
        has_begun = has_begun or bool(chunk.candidates or blocked)
        for part in _parts(chunk):
            if part.function_call is not None:
                calls += 1
            yield from _items(part, f"{chunk.response_id or 'call'}-{calls}")
        newer = _usage(chunk)
        if newer is not None and newer != usage:
            usage = newer
            yield UsageUpdate(usage)
        stop = blocked or _stopped(chunk, has_calls=calls > 0) or stop
    if stop is None:
        raise ProviderError(
            FailureKind.STREAM_DROPPED if has_begun else FailureKind.BAD_REPLY,
            "it ended without a reason to stop" if has_begun else "no part of a reply came",
        )
    yield stop


def _parts(chunk: types.GenerateContentResponse) -> list[types.Part]:
    candidate = chunk.candidates[0] if chunk.candidates else None
    return (candidate.content.parts or []) if candidate and candidate.content else []


def _items(part: types.Part, unnamed_id: str) -> Iterator[StreamItem]:
    if part.text:
        yield ReasoningDelta(part.text) if part.thought else TextDelta(part.text)
    call = part.function_call
    if call is None:
        return
    call_id = call.id or unnamed_id
    if part.thought_signature:
        seal = base64.b64encode(part.thought_signature).decode("ascii")
        yield ReasoningDelta("", canonical_json({"call_id": call_id, "thought_signature": seal}))
    yield ToolCallReady(ToolCallPart(call_id, call.name or "", canonical_json(call.args or {})))


def _usage(chunk: types.GenerateContentResponse) -> Usage | None:
    reported = chunk.usage_metadata
    if reported is None:
        return None
    return counted_usage(
        input_tokens=total(reported.prompt_token_count, reported.tool_use_prompt_token_count),
        output_tokens=total(reported.candidates_token_count, reported.thoughts_token_count),
        cache_read_tokens=reported.cached_content_token_count,
        reasoning_tokens=reported.thoughts_token_count,
        request_id=chunk.response_id or "",
    )


def _block_reason(chunk: types.GenerateContentResponse) -> Stopped | None:
    feedback = chunk.prompt_feedback
    if feedback is None or feedback.block_reason is None:
        return None
    reason = str(feedback.block_reason.value)
    message = feedback.block_reason_message
    return Stopped(StopKind.REFUSED, f"{reason}: {message}" if message else reason)


def _stopped(chunk: types.GenerateContentResponse, *, has_calls: bool) -> Stopped | None:
    candidate = chunk.candidates[0] if chunk.candidates else None
    if candidate is None or candidate.finish_reason is None:
        return None
    return stop_at(str(candidate.finish_reason.value), has_calls=has_calls)
