"""Anthropic's stream of events as items of ours.

Source: anthropic 2.10.0, types/raw_message_stream_event.py; platform.claude.com "Streaming messages" (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from core.base.errors import FailureKind, ProviderError
from core.providers.endings import stop_at
from core.providers.usage import counted_usage, figure, is_absurd, part_of
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
from core.values.usage import UNTOLD_MISS, Usage

_MISSES: Mapping[str, str] = {
    "model_changed": "the model changed",
    "system_changed": "the system prompt changed",
    "tools_changed": "the tools changed",
    "messages_changed": "earlier messages changed",
    "previous_message_not_found": "the provider no longer knows the last request",
    "unavailable": UNTOLD_MISS,
}
"""Source: anthropic 2.10.0, types/cache_miss_*.py; "Cache diagnostics" (read 2026-11)."""


_KNOWN = frozenset(
    {
        "ping",
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)


@dataclass(slots=True)
class _Block:
    """A content block that is being received."""

    kind: str
    call_id: str = ""
    name: str = ""
    text: str = ""
    signature: str = ""


def is_known(event: object) -> bool:
    """True if an event belongs to a reply; a ping does."""
    kind = getattr(event, "type", None)
    return isinstance(kind, str) and kind in _KNOWN


def reply_items(
    events: Iterable[object], request_id: str, on_id: Callable[[str], None] = lambda _: None
) -> Iterator[StreamItem]:
    """Translate a stream of events.

    Args:
        events: the SDK's, or anything with their attributes; a part that is missing is taken as not reported.
        on_id: told the message's id when it begins.

    Raises:
        ProviderError: STREAM_DROPPED where it ends without `message_stop`, BAD_REPLY where it never began.
    """
    blocks: dict[int, _Block] = {}
    usage = Usage(request_id=request_id)
    stop: Stopped | None = None
    has_begun = False
    for event in events:
        match getattr(event, "type", None):
            case "message_start":
                has_begun = True
                on_id(_string(_get(event, "message"), "id"))
                usage = merge_usage(usage, _get(event, "message", "usage"), has_reply=False)
                missed = miss_reason(_get(event, "message", "diagnostics"))
                usage = replace(usage, miss_reason=missed)
                yield UsageUpdate(usage)
            case "content_block_start":
                block = _start(_get(event, "content_block"))
                blocks[_index(event)] = block
                yield from _opening(block)
            case "content_block_delta":
                yield from _delta(blocks.get(_index(event)), _get(event, "delta"))
            case "content_block_stop":
                yield from _stop(blocks.pop(_index(event), None))
            case "message_delta":
                usage = merge_usage(usage, _get(event, "usage"))
                stop = _stopped(_get(event, "delta"))
                yield UsageUpdate(usage)
            case "message_stop":
                yield stop or stop_at("")
                return
            case _:
                pass  # ping, and what later versions add
    raise ProviderError(
        FailureKind.STREAM_DROPPED if has_begun else FailureKind.BAD_REPLY,
        "it ended without its last event" if has_begun else "no event of a message came",
    )


def merge_usage(before: Usage, reported: object, *, has_reply: bool = True) -> Usage:
    """Take in a usage object of the wire. Its figures are cumulative: they replace the ones before.

    `input_tokens` of the wire counts only what follows the last mark; ours is everything sent, so the cache's reads
    and writes are added: where one of these is absurd, nobody knows how much was sent. A write is the larger of the total
    and the sum by TTL: the vendor has been seen to leave the total at 0. Where a reply begins (`has_reply` False) what stands there of it is a placeholder: its length is not known
    before its end. Source: caching-facts A3; anthropic 2.10.0, types/usage.py.
    """
    by_ttl = _get(reported, "cache_creation")
    write_5m = _either(_number(by_ttl, "ephemeral_5m_input_tokens"), before.cache_write_5m_tokens)
    write_1h = _either(_number(by_ttl, "ephemeral_1h_input_tokens"), before.cache_write_1h_tokens)
    parts = [n for n in (write_5m, write_1h) if n is not None]
    total = _either(_number(reported, "cache_creation_input_tokens"), before.cache_write_tokens)
    write = max(total or 0, sum(parts)) if parts or total is not None else None
    read = _either(_number(reported, "cache_read_input_tokens"), before.cache_read_tokens)
    rest = _number(reported, "input_tokens")
    if rest is None and before.input_tokens is not None:
        rest = before.input_tokens - (before.cache_read_tokens or 0) - (before.cache_write_tokens or 0)
    details = _get(reported, "output_tokens_details")
    is_part_absurd = (read is None and is_absurd(_get(reported, "cache_read_input_tokens"))) or (
        write is None and is_absurd(_get(reported, "cache_creation_input_tokens"))
    )
    usage = counted_usage(
        input_tokens=None if rest is None or is_part_absurd else rest + (read or 0) + (write or 0),
        output_tokens=_either(_number(reported, "output_tokens"), before.output_tokens)
        if has_reply
        else None,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_write_5m_tokens=_told(by_ttl, "ephemeral_5m_input_tokens", before.cache_write_5m_tokens),
        cache_write_1h_tokens=_told(by_ttl, "ephemeral_1h_input_tokens", before.cache_write_1h_tokens),
        reasoning_tokens=_told(details, "thinking_tokens", before.reasoning_tokens) if has_reply else None,
        request_id=before.request_id,
        miss_reason=before.miss_reason,
    )
    return replace(usage, is_estimate=usage.is_estimate or before.is_estimate)


def miss_reason(diagnostics: object) -> str:
    """Reason why less was read from the cache than the last request left there, empty where none is reported.

    Source: platform.claude.com "Cache diagnostics": absent, null, pending, or an object with a type (read 2026-11).
    """
    reason = _get(diagnostics, "cache_miss_reason")
    kind = _string(reason, "type")
    if not kind:
        return ""
    words = _MISSES.get(kind, kind.replace("_", " "))
    missed = _number(reason, "cache_missed_input_tokens")
    return f"{words}, {missed:,} tokens not read" if missed else words


def stop_of(message: object) -> StopKind:
    """Reason for which a whole message ended."""
    return _stopped(message).kind


def _start(block: object) -> _Block:
    return _Block(
        kind=_string(block, "type"),
        call_id=_string(block, "id"),
        name=_string(block, "name"),
        text=_string(block, "text") or _string(block, "thinking"),
        signature=_string(block, "signature") or _string(block, "data"),
    )


def _opening(block: _Block) -> Iterator[StreamItem]:
    match block:
        case _Block(kind="text", text=text) if text:
            yield TextDelta(text)
        case _Block(kind="thinking", text=text) if text:
            yield ReasoningDelta(text)
        case _:
            pass


def _delta(block: _Block | None, delta: object) -> Iterator[StreamItem]:
    if block is None:
        return
    match getattr(delta, "type", None):
        case "text_delta":
            if text := _string(delta, "text"):
                yield TextDelta(text)
        case "thinking_delta":
            if text := _string(delta, "thinking"):
                block.text += text
                yield ReasoningDelta(text)
        case "signature_delta":
            block.signature += _string(delta, "signature")
        case "input_json_delta":
            block.text += _string(delta, "partial_json")
        case _:
            pass


def _stop(block: _Block | None) -> Iterator[StreamItem]:
    match block:
        case _Block(kind="thinking"):
            sent_back = {"type": "thinking", "thinking": block.text, "signature": block.signature}
            yield ReasoningDelta("", canonical_json(sent_back))
        case _Block(kind="redacted_thinking"):
            yield ReasoningDelta("", canonical_json({"type": "redacted_thinking", "data": block.signature}))
        case _Block(kind="tool_use"):
            yield ToolCallReady(ToolCallPart(block.call_id, block.name, block.text or "{}"))
        case _:
            pass


def _stopped(delta: object) -> Stopped:
    explanation = _string(_get(delta, "stop_details"), "explanation")
    return stop_at(_string(delta, "stop_reason"), explanation=explanation)


def _get(value: object, *path: str) -> object:
    for name in path:
        value = getattr(value, name, None)
    return value


def _string(value: object, name: str) -> str:
    found = getattr(value, name, None)
    return found if isinstance(found, str) else ""


def _number(value: object, name: str) -> int | None:
    found = getattr(value, name, None)
    return figure(found)


def _index(event: object) -> int:
    return _number(event, "index") or 0


def _told(table: object, name: str, before: int | None) -> object:
    """A part of the newer usage as it stands there, or the one before where it holds no count."""
    newer = part_of(table, name)
    return newer if before is None or not (newer is None or is_absurd(newer)) else before


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
