"""Reading of a Chat Completions stream, in all the shapes that servers give it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.providers.compatible.reasoning_spellings import ReasoningReader
from core.providers.endings import stop_at
from core.providers.usage import counted_usage, part_of
from core.providers.wire import canonical_json
from core.values.messages import ToolCallPart
from core.values.provider import (
    ReasoningDelta,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.values.usage import Usage


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


DONE = "[DONE]"
"""Last line of a stream."""


@cache
def done_stream() -> Any:
    """The SDK's stream of chunks, which keeps whether its last line came: `is_done`. The SDK is imported here."""
    import openai
    from openai.types.chat import ChatCompletionChunk

    class DoneStream(openai.Stream[ChatCompletionChunk]):
        is_done = False

        def _iter_events(self) -> Iterator[Any]:
            for event in super()._iter_events():
                self.is_done |= event.data.startswith(DONE)
                yield event

    return DoneStream


def is_known(chunk: Any) -> bool:
    """True if a chunk belongs to a reply; one without a choice may only say that the server lives, by its id."""
    return bool(
        getattr(chunk, "choices", None) or getattr(chunk, "usage", None) or getattr(chunk, "id", None)
    )


class ChatReader:
    """Reads chunks as the SDK gives them; the last items come from `end`, since usage follows the stop.

    Attributes:
        has_begun: whether any chunk came; has_stopped: whether the server said that the reply ended.
    """

    def __init__(self, request_id: str = "") -> None:
        self.has_begun = False
        self._request_id = request_id
        self._finish = ""
        self._calls: list[_Call] = []
        self._slots: dict[int, _Call] = {}
        self._reasoning = ReasoningReader()
        self._has_refused = False

    @property
    def has_stopped(self) -> bool:
        """True if a finish reason came, or the stream's own end. Without either it broke off."""
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

    def end(self, *, is_done: bool = False) -> Iterator[StreamItem]:
        """Tool calls and the stop, nothing where the stream broke off. `is_done`: its own end came, as some send it alone."""
        if is_done and self.has_begun:
            self._finish = self._finish or DONE
        if not self._finish:
            return
        yield from self._end_reasoning()
        calls = [call for call in self._calls if call.call_id or call.name or call.arguments]
        for call in calls:
            call_id = call.call_id or _new_id()
            yield ToolCallReady(ToolCallPart(call_id, call.name, call.arguments or "{}"))
        yield stop_at(self._finish, has_calls=bool(calls), has_refused=self._has_refused)

    def _read_delta(self, delta: Any) -> Iterator[StreamItem]:
        if reasoning := self._reasoning.read(delta):
            yield ReasoningDelta(reasoning)
        if delta.content:
            yield from self._end_reasoning()
            yield TextDelta(delta.content)
        if getattr(delta, "refusal", None):
            self._has_refused = True
            yield TextDelta(delta.refusal)
        for part in delta.tool_calls or ():
            self._add_call(part)

    def _end_reasoning(self) -> Iterator[StreamItem]:
        if sealed := self._reasoning.sealed():
            yield ReasoningDelta("", sealed)

    def _add_call(self, part: Any) -> None:
        """Add a piece of a call.

        Servers that send whole calls may leave out the index, or the id, give all calls the index 0, and repeat the
        name: a piece with a new id, or one without an index that begins a function, begins a call.
        """
        call_id, name = _string(part, "id"), _string(part.function, "name")
        index = part.index if isinstance(part.index, int) else None
        known = self._calls[-1] if index is None and self._calls else self._slots.get(index or 0)
        is_other = known is not None and bool(call_id and known.call_id and call_id != known.call_id)
        is_next = index is None and known is not None and bool(name and not call_id)
        if known is None or is_other or is_next:
            known = _Call()
            self._calls.append(known)
        if index is not None:
            self._slots[index] = known
        known.call_id = known.call_id or call_id
        known.name = known.name or name
        given = getattr(part.function, "arguments", None)
        known.arguments += given if isinstance(given, str) else canonical_json(given) if given else ""


def _new_id() -> str:
    """An id for a call that came without one: 9 letters and digits, which the strictest servers ask for."""
    return f"c{secrets.token_hex(4)}"


def _string(value: object, name: str) -> str:
    found = getattr(value, name, None)
    return found if isinstance(found, str) else ""


def chat_usage(usage: Any, request_id: str) -> Usage:
    """Usage of a completion. `prompt_tokens` holds cache reads and writes; what is missing is not reported.

    Source: openai types/completion_usage.py, 3.51.0; `prompt_cache_hit_tokens`: DeepSeek API, "Context caching"
    (read 2026-11-20).
    """
    read = getattr(usage, "prompt_tokens_details", None)
    written = getattr(usage, "completion_tokens_details", None)
    cached = part_of(read, "cached_tokens")
    return counted_usage(
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        cache_read_tokens=getattr(usage, "prompt_cache_hit_tokens", None) if cached is None else cached,
        cache_write_tokens=part_of(read, "cache_write_tokens"),
        reasoning_tokens=part_of(written, "reasoning_tokens"),
        request_id=request_id,
    )
