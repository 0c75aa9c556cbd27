"""Reading of Claude Code's stream-json lines.

Source: code.claude.com/docs/en/headless, "Stream responses"; seen from 2.1.197 against a loopback server, 2026-11-20.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from core.base.errors import FailureKind, ProviderError
from core.base.json_text import read_json
from core.providers.door import status_of
from core.providers.endings import stop_at
from core.providers.failures import kind_of_status, provider_error
from core.providers.usage import counted_usage, figure, is_absurd, price, total
from core.providers.wire import canonical_json
from core.values.provider import ReasoningDelta, Stopped, StreamItem, TextDelta, UsageUpdate
from core.values.settings import ServerSettings
from core.values.usage import Usage

Json = Mapping[str, Any]

_KIND_OF_ERROR = {
    "authentication_failed": FailureKind.BAD_KEY,
    "billing_error": FailureKind.NO_QUOTA,
    "invalid_request": FailureKind.BAD_REQUEST,
    "model_not_found": FailureKind.UNKNOWN_MODEL,
    "overloaded": FailureKind.OVERLOADED,
    "rate_limit": FailureKind.RATE_LIMITED,
    "server_error": FailureKind.SERVER_FAULT,
}
MAX_CALL_CHARS = 500
"""Of a call that is shown among the reasoning."""

_LOGIN_REMEDY = "Run `claude` in a terminal and log in, or set ANTHROPIC_API_KEY"
_SPENT = re.compile(r"(?i)limit reached|hit your .*limit|usage limit")


def is_known(line: str) -> bool:
    """True if a line is an event of a run, be it one that says nothing of the reply."""
    return isinstance(_object(line).get("type"), str)


class ClaudeReader:
    """Reads line by line. The run is over when `stop` is set; without it the run has failed.

    A call that the CLI itself made of a tool of ours stands in the reasoning, as a line.

    Args:
        has_schema: the reply is the result's structured output, not the text that comes before it.

    Attributes:
        stop: how the reply ended; result: the last line's object where it told of a failure.
    """

    def __init__(self, *, has_schema: bool = False) -> None:
        self.stop: Stopped | None = None
        self.result: Json | None = None
        self.error_word = ""
        self.has_begun = False
        self.request_id = ""
        self._has_schema = has_schema
        self._has_text = False
        self._stop_reason = ""
        self._usage: dict[str, Any] = {}
        self._call = ""

    def read(self, line: str) -> Iterator[StreamItem]:
        """Read a line's events; lines that are no JSON objects are passed over."""
        event = _object(line)
        if event.get("parent_tool_use_id"):
            return
        match event.get("type"):
            case "stream_event":
                yield from self._read_stream(_mapping(event.get("event")))
            case "assistant":
                self.request_id = str(event.get("request_id") or self.request_id)
                self.error_word = str(event.get("error") or self.error_word)
            case "result":
                yield from self._read_result(event)
            case _:
                pass

    def _read_stream(self, event: Json) -> Iterator[StreamItem]:
        match event.get("type"):
            case "content_block_start" if _mapping(event.get("content_block")).get("type") == "text":
                if self._has_text and not self._has_schema:
                    yield TextDelta("\n\n")
            case "content_block_start":
                name = str(_mapping(event.get("content_block")).get("name") or "")
                self._call = f"{name.rpartition('__')[2]} " if name.startswith("mcp__") else ""
            case "content_block_stop" if self._call:
                self.has_begun = True
                yield ReasoningDelta(f"{self._call.rstrip()}\n")
                self._call = ""
            case "content_block_delta":
                yield from self._read_delta(_mapping(event.get("delta")))
            case "message_start":
                self._usage = dict(_mapping(_mapping(event.get("message")).get("usage")))
                self._usage.pop(
                    "output_tokens", None
                )  # a placeholder: the length is not known before the end
                begun = claude_usage(self._usage, None, self.request_id)
                if begun.input_tokens:
                    yield UsageUpdate(begun)
            case "message_delta":
                self._stop_reason = str(_mapping(event.get("delta")).get("stop_reason") or "")
                if self._stop_reason == "max_tokens":
                    # The CLI would ask again and again for the rest, each time at full price.
                    usage = self._usage | dict(_mapping(event.get("usage")))
                    yield UsageUpdate(claude_usage(usage, None, self.request_id))
                    self.stop = stop_at(self._stop_reason)
            case _:
                pass

    def _read_delta(self, delta: Json) -> Iterator[StreamItem]:
        match delta.get("type"):
            case "text_delta" if not self._has_schema:
                self._has_text = self.has_begun = True
                yield TextDelta(delta.get("text", ""))
            case "input_json_delta" if self._call:
                self._call = (self._call + str(delta.get("partial_json", "")))[:MAX_CALL_CHARS]
            case "thinking_delta":
                self.has_begun = True
                yield ReasoningDelta(delta.get("thinking", ""))
            case _:
                pass

    def _read_result(self, event: Json) -> Iterator[StreamItem]:
        cost = event.get("total_cost_usd")
        usage = claude_usage(_mapping(event.get("usage")), cost, self.request_id)
        if usage.input_tokens or usage.cost_usd:
            yield UsageUpdate(usage)
        reason = str(event.get("stop_reason") or self._stop_reason)
        is_failed = event.get("is_error") is True and reason != "refusal"
        if is_failed or not reason or event.get("subtype") != "success":
            self.result = event
            return
        if self._has_schema and reason != "refusal":
            if "structured_output" not in event:
                self.result = event
                return
            output = event["structured_output"]
            yield TextDelta(canonical_json(output))
        self.stop = stop_at(reason)


def claude_usage(usage: Json, cost: object, request_id: str) -> Usage:
    """Usage in our one meaning: the CLI reports Anthropic's, whose `input_tokens` leaves out what was cached.

    Writes by TTL are taken only where they account for all writes: the CLI also reports them as zeros. Where a part
    is absurd, nobody knows how much was sent.
    """
    parts = [usage.get(f"cache_{name}_input_tokens") for name in ("read", "creation")]
    read, written = map(figure, parts)
    by_ttl = _mapping(usage.get("cache_creation"))
    lives = [by_ttl.get(f"ephemeral_{name}_input_tokens") for name in ("5m", "1h")]
    accounts = written is not None and sum(figure(one) or 0 for one in lives) == written
    five, hour = lives if accounts else [one if is_absurd(one) else None for one in lives]
    said = counted_usage(
        input_tokens=total(usage.get("input_tokens"), *parts)
        if figure(usage.get("input_tokens")) is not None
        else None,
        output_tokens=usage.get("output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
        request_id=request_id,
    )
    # The CLI's own sum is a guess: it books a model that it does not know at another one's price.
    guess = None if said.is_estimate else price(cost)
    return said if guess is None else replace(said, cost_usd=guess, is_estimate=True)


def claude_failure(
    server: ServerSettings, reader: ClaudeReader, ending: str, *, model: str, key: str | None
) -> ProviderError:
    """Reason why a run gave no whole reply: what its result said, or how the process ended."""
    if reader.result is None:
        remedy = "Update Claude Code (`claude update`)" if "unknown option" in ending else ""
        kind = FailureKind.STREAM_DROPPED if reader.has_begun else FailureKind.SERVER_FAULT
        detail = f"the process ended with {ending}"
        return provider_error(kind, server, detail=detail, remedy=remedy, model=model, key=key)
    told = reader.result.get("result") or reader.result.get("subtype")
    detail = str(told) if reader.result.get("is_error") or reader.result.get("subtype") != "success" else ""
    status = status_of(reader.result.get("api_error_status"))
    kind = _kind(reader, detail, status)
    is_login = kind in {FailureKind.NO_KEY, FailureKind.BAD_KEY}
    return provider_error(
        kind,
        server,
        model=model,
        detail=detail,
        remedy=_LOGIN_REMEDY if is_login else "",
        key=key,
        status=status,
        request_id=reader.request_id,
    )


def _kind(reader: ClaudeReader, detail: str, status: int | None) -> FailureKind:
    result = reader.result or {}
    if not result.get("is_error") and result.get("subtype") == "success":
        return FailureKind.STREAM_DROPPED if reader.has_begun else FailureKind.BAD_REPLY
    if result.get("terminal_reason") == "prompt_too_long" or detail.lower().startswith("prompt is too long"):
        return FailureKind.CONTEXT_TOO_LONG
    if "not logged in" in detail.lower():
        return FailureKind.NO_KEY
    if reader.error_word == "rate_limit" and _SPENT.search(detail):
        return FailureKind.NO_QUOTA
    if status in {503, 529}:
        return FailureKind.OVERLOADED
    known = _KIND_OF_ERROR.get(reader.error_word)
    if known is not None:
        return known
    if status is not None:
        return kind_of_status(status)
    is_connection = re.search(r"(?i)connection error|unable to connect|ECONNREFUSED|ENOTFOUND", detail)
    return FailureKind.NO_NETWORK if is_connection else FailureKind.SERVER_FAULT


def _object(line: str) -> Json:
    try:
        value = read_json(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}
