"""Reading of a Chat Completions stream, in all the shapes that servers give it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.providers.usage import counted_usage
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

_STOPS = {
    "stop": StopKind.COMPLETED,
    "length": StopKind.TRUNCATED,
    "content_filter": StopKind.REFUSED,
    "tool_calls": StopKind.TOOL_CALLS,
    "function_call": StopKind.TOOL_CALLS,
}
_REASONING_NAMES = ("reasoning_content", "reasoning")
"""DeepSeek, llama.cpp and LM Studio; Ollama, OpenRouter and newer vLLM. Tags in the text stay text."""


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


def is_known(chunk: Any) -> bool:
    """True if a chunk belongs to a reply; one without a choice may only say that the server lives, by its id."""
    return bool(
        getattr(chunk, "choices", None) or getattr(chunk, "usage", None) or getattr(chunk, "id", None)
    )


class ChatReader:
    """Reads chunks as the SDK gives them; the last items come from `end`, since usage follows the stop.

    Attributes:
        has_begun: whether any chunk came; has_stopped: whether the server said how the reply ended.
    """

    def __init__(self, request_id: str = "") -> None:
        self.has_begun = False
        self._request_id = request_id
        self._finish = ""
        self._calls: dict[int, _Call] = {}
        self._has_refused = False

    @property
    def has_stopped(self) -> bool:
        """True if a finish reason came. Without one the stream broke off."""
        return bool(self._finish)

    def read(self, chunk: Any) -> Iterator[StreamItem]:
        """Read a chunk: text, reasoning, usage."""
        self.has_begun = True
        for choice in chunk.choices or ():
            if choice.index:
                continue
            if choice.delta is not None:
                yield from self._read_delta(choice.delta)
            self._finish = choice.finish_reason or self._finish
        if chunk.usage is not None:
            yield UsageUpdate(chat_usage(chunk.usage, self._request_id or str(chunk.id or "")))

    def end(self) -> Iterator[StreamItem]:
        """Tool calls and the stop, nothing where the stream broke off."""
        if not self._finish:
            return
        for index, call in sorted(self._calls.items()):
            call_id = call.call_id or f"call_{index}"
            yield ToolCallReady(ToolCallPart(call_id, call.name, call.arguments or "{}"))
        kind = _STOPS.get(self._finish, StopKind.COMPLETED)
        if self._calls and kind is StopKind.COMPLETED:
            kind = StopKind.TOOL_CALLS  # some servers say "stop" after a call
        if self._has_refused and kind is StopKind.COMPLETED:
            kind = StopKind.REFUSED
        yield Stopped(kind, self._finish)

    def _read_delta(self, delta: Any) -> Iterator[StreamItem]:
        reasoning = next((text for name in _REASONING_NAMES if (text := getattr(delta, name, None))), None)
        if isinstance(reasoning, str):
            yield ReasoningDelta(reasoning)
        if delta.content:
            yield TextDelta(delta.content)
        if getattr(delta, "refusal", None):
            self._has_refused = True
            yield TextDelta(delta.refusal)
        for part in delta.tool_calls or ():
            self._add_call(part)

    def _add_call(self, part: Any) -> None:
        """Add a piece of a call. Servers that send whole calls may leave out the index, and repeat the name."""
        index = part.index if part.index is not None else len(self._calls)
        call = self._calls.setdefault(index, _Call())
        call.call_id = call.call_id or part.id or ""
        if part.function is not None:
            call.name = call.name or part.function.name or ""
            call.arguments += part.function.arguments or ""


def chat_usage(usage: Any, request_id: str) -> Usage:
    """Usage of a completion. `prompt_tokens` holds cache reads and writes; what is missing is not reported.

    Source: openai types/completion_usage.py, 3.51.0; `prompt_cache_hit_tokens`: DeepSeek API, "Context caching"
    (read 2026-11-20).
    """
    read = getattr(usage, "prompt_tokens_details", None)
    written = getattr(usage, "completion_tokens_details", None)
    cached = getattr(read, "cached_tokens", None)
    return counted_usage(
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        cache_read_tokens=getattr(usage, "prompt_cache_hit_tokens", None) if cached is None else cached,
        cache_write_tokens=getattr(read, "cache_write_tokens", None),
        reasoning_tokens=getattr(written, "reasoning_tokens", None),
        request_id=request_id,
    )
