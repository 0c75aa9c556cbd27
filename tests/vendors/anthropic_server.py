"""Anthropic's API on loopback: messages, token counts, the list of models, errors and events in the vendor's shape.

It knows nothing of the program. Caching, its bill and the binding of thinking are the billing engine's.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.vendors.anthropic_batches import AnthropicBatchDesk
from tests.vendors.anthropic_rules import (
    MAX_BODY_BYTES,
    MODELS,
    Model,
    RefusedError,
    check,
)
from tests.vendors.billing.anthropic import AnthropicCache, AnthropicTicket
from tests.vendors.billing.values import Refused
from tests.vendors.loopback import (
    Captured,
    Json,
    LoopbackServer,
    Reply,
    StreamReply,
    count_tokens,
    json_reply,
    pieces,
)

KEY = "sk-ant-api03-loopback-0123456789"


@dataclass(frozen=True, slots=True)
class Said:
    """A reply of the model, as blocks without ids and signatures.

    `{"type": "text", "text": …}`, `{"type": "thinking", "thinking": …}` (with `tokens` where that is a summary of so many), `{"type": "redacted_thinking", "data": …}`,
    `{"type": "tool_use", "name": …, "input": …}`.
    """

    blocks: tuple[Json, ...] = ({"type": "text", "text": "Hello there."},)
    stop_reason: str = "end_turn"
    stop_details: Json | None = None
    usage: Json = field(default_factory=dict)
    piece_chars: int = 5


class AnthropicServer(LoopbackServer):
    """A server with one valid key. `replies` are taken from the left; when there are none it says hello.

    Args:
        clock: seconds since the epoch.
        caches: False for a server that keeps the protocol and has no cache: marks mean nothing, usage does not speak
            of caching, and diagnostics are unknown to it.

    Attributes:
        refuses: words with which it refuses a body, empty for one that it takes; refused: how often it did.
    """

    def __init__(
        self, *, key: str = KEY, clock: Callable[[], float] = time.time, caches: bool = True
    ) -> None:
        super().__init__()
        self.key = key
        self.cache = AnthropicCache(clock)
        self.caches = caches
        self._cache_lock = threading.Lock()
        self.replies: deque[Said] = deque()
        self.page_size = 1000
        self.refuses: Callable[[Json], str] = lambda _: ""
        self.refused = 0
        self.batches = AnthropicBatchDesk(self.url, self._next_reply, self._plain_message, clock)
        self._count = 0

    def answer(self, captured: Captured) -> Reply | StreamReply:
        try:
            return self._answer(captured)
        except (RefusedError, Refused) as error:
            return self.error(error.status, error.kind, str(error))

    def error(self, status: int, kind: str, message: str, **headers: str) -> Reply:
        """An error in the vendor's shape."""
        request_id = self._next_id("req")
        body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}
        return json_reply(status, body, {"request-id": request_id, **headers})

    def bill(self, body: Json, captured: Captured, message_id: str) -> AnthropicTicket:
        """Let a request in to the cache. Raises Refused."""
        betas = frozenset(captured.headers.get("anthropic-beta", "").replace(" ", "").split(","))
        with self._cache_lock:
            return self.cache.begin(
                body if self.caches else _unmarked(body),
                workspace=self.key,
                message_id=message_id,
                betas=betas,
            )

    def begin(self, ticket: AnthropicTicket) -> None:
        """The answer's first byte goes out."""
        with self._cache_lock:
            self.cache.first_byte(ticket)

    def input_tokens(self, body: Json) -> int:
        """Tokens of everything sent."""
        with self._cache_lock:
            return self.cache.count_tokens(body)

    def heard_body(self, captured: Captured) -> Json | None:
        return captured.json if self.caches else None

    def now_s(self) -> float:
        return self.cache.clock()

    def is_faultable(self, captured: Captured) -> bool:
        return captured.path == "/v1/messages"

    def _answer(self, captured: Captured) -> Reply | StreamReply:
        self._check_headers(captured)
        match captured.method, captured.path:
            case "POST", "/v1/messages":
                return self._speak(captured)
            case "POST", "/v1/messages/count_tokens":
                body = _body(captured)
                check(body, counts_only=True)
                return json_reply(200, {"input_tokens": self.input_tokens(body)})
            case _, path if path.startswith("/v1/messages/batches"):
                return self.batches.answer(captured)
            case "GET", "/v1/models":
                return self._models(captured)
            case _:
                raise RefusedError(404, "not_found_error", "Not found")

    def _check_headers(self, captured: Captured) -> None:
        bearer = captured.headers.get("authorization", "").removeprefix("Bearer ")
        given = captured.headers.get("x-api-key") or bearer
        if not given:
            raise RefusedError(401, "authentication_error", "x-api-key header is required")
        if given != self.key:
            raise RefusedError(401, "authentication_error", "invalid x-api-key")
        if not captured.headers.get("anthropic-version"):
            raise RefusedError(400, "invalid_request_error", "anthropic-version: header is required")
        if len(captured.body) > MAX_BODY_BYTES:
            raise RefusedError(413, "request_too_large", "Request exceeds the maximum size")

    def _speak(self, captured: Captured) -> Reply | StreamReply:
        body = _unmanaged(_body(captured), captured)
        model = check(body)
        if words := self.refuses(body):
            self.refused += 1
            raise RefusedError(400, "invalid_request_error", words)
        tokens = self.input_tokens(body)
        if tokens > model.window:
            raise RefusedError(
                400, "invalid_request_error", f"prompt is too long: {tokens} tokens > {model.window} maximum"
            )
        if not self.caches and "diagnostics" in body:
            raise RefusedError(400, "invalid_request_error", "diagnostics: Extra inputs are not permitted")
        message_id = self._next_id("msg")
        ticket = self.bill(body, captured, message_id)
        said = Said((), "max_tokens") if ticket.is_prewarm else self._next_reply()
        message = self._message(body, model, said, ticket)
        headers = {"request-id": self._next_id("req")}
        if not body.get("stream"):
            self.begin(ticket)
            return json_reply(200, message, headers)
        return StreamReply(_events(message, said), headers, on_begin=lambda: self.begin(ticket))

    def _next_reply(self) -> Said:
        with self._lock:
            return self.replies.popleft() if self.replies else Said()

    def _message(self, body: Json, model: Model, said: Said, ticket: AnthropicTicket) -> Json:
        output = sum(count_tokens(json.dumps(block)) for block in said.blocks if "tokens" not in block)
        thought = sum(block.get("tokens", 0) for block in said.blocks)
        told = {"output_tokens_details": {"thinking_tokens": thought}} if thought else {}
        usage = {**ticket.usage(output + thought), **told, **said.usage}
        if not self.caches:
            usage = {name: value for name, value in usage.items() if not name.startswith("cache_")}
        return {
            "id": ticket.message_id,
            "type": "message",
            "role": "assistant",
            "model": model.id,
            "content": [self._block(block, ticket) for block in said.blocks],
            "stop_reason": said.stop_reason,
            "stop_sequence": None,
            "stop_details": said.stop_details,
            "usage": {name: value for name, value in usage.items() if value is not ...},
            **({"diagnostics": ticket.diagnostics} if "diagnostics" in body else {}),
        }

    def _block(self, block: Json, ticket: AnthropicTicket) -> Json:
        match block["type"]:
            case "thinking":
                with self._cache_lock:
                    shown = {name: value for name, value in block.items() if name != "tokens"}
                    return {**shown, "signature": ticket.signer(block["thinking"], block.get("tokens"))}
            case "tool_use":
                return {"id": self._next_id("toolu"), **block}
            case _:
                return block

    def _plain_message(self, body: Json, said: Said) -> Json:
        """A reply to a request of a batch, that reads nothing from a cache. Raises RefusedError."""
        model = check(body)
        output = sum(count_tokens(json.dumps(block)) for block in said.blocks)
        return {
            "id": self._next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": model.id,
            "content": list(said.blocks),
            "stop_reason": said.stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": self.input_tokens(body),
                "output_tokens": output,
                "service_tier": "batch",
                **said.usage,
            },
        }

    def _next_id(self, kind: str) -> str:
        with self._lock:
            self._count += 1
            return f"{kind}_{self._count:08d}"

    def _models(self, captured: Captured) -> Reply:
        limit = min(int(captured.query.get("limit", ("20",))[0]), self.page_size)
        names = list(MODELS)
        after = captured.query.get("after_id", ("",))[0]
        start = names.index(after) + 1 if after else 0
        page = names[start : start + limit]
        data = [_model_info(MODELS[name]) for name in page]
        return json_reply(
            200,
            {
                "data": data,
                "first_id": page[0],
                "last_id": page[-1],
                "has_more": start + limit < len(names),
            },
        )


def event(kind: str, **fields: Any) -> bytes:
    """One event of a stream."""
    data = json.dumps({"type": kind, **fields}, separators=(",", ":"), ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    return event("error", error={"type": kind, "message": message})


def _events(message: Json, said: Said) -> Iterator[bytes]:
    usage = message["usage"]
    opened = {**usage, "output_tokens": min(1, usage.get("output_tokens", 0))}
    start = {**message, "content": [], "stop_reason": None, "stop_details": None, "usage": opened}
    yield event("message_start", message=start)
    yield event("ping")
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block, said.piece_chars)
    hidden = {"cache_creation", "service_tier", "inference_geo"}
    total = {name: value for name, value in usage.items() if name not in hidden}
    stop = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield event("message_delta", delta=stop, usage=total)
    yield event("message_stop")


def _block_events(index: int, block: Json, size: int) -> Iterator[bytes]:
    opening: Json = block
    deltas: list[Json] = []
    match block["type"]:
        case "text":
            opening = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], size)]
        case "thinking":
            opening = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"], size)
            ]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use":
            opening = {**block, "input": {}}
            text = json.dumps(block["input"])
            deltas = [
                {"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces(text, size))
            ]
        case _:
            pass
    yield event("content_block_start", index=index, content_block=opening)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def _unmarked(value: Any) -> Any:
    """A body without its marks."""
    if isinstance(value, dict):
        return {name: _unmarked(item) for name, item in value.items() if name != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _body(captured: Captured) -> Json:
    try:
        body = json.loads(captured.body)
    except ValueError as error:
        raise RefusedError(400, "invalid_request_error", "The request body is not valid JSON") from error
    if not isinstance(body, dict):
        raise RefusedError(400, "invalid_request_error", "Input should be an object")
    return body


def _unmanaged(body: Json, captured: Captured) -> Json:
    """The request without `context_management`, which a beta allows: keeping all thinking changes nothing.

    Raises RefusedError for anything else of it. Source: Anthropic, "Context editing" (seen from Claude Code 2.1.197).
    """
    if "context-management-2025-06-27" not in captured.headers.get("anthropic-beta", ""):
        return body
    managed = body.get("context_management", {"edits": []})
    if any(edit != {"type": "clear_thinking_20251015", "keep": "all"} for edit in managed["edits"]):
        raise RefusedError(400, "invalid_request_error", "context_management: only keep: all is known here")
    return {name: value for name, value in body.items() if name != "context_management"}


def _model_info(model: Model) -> Json:
    def support(yes: bool) -> Json:
        return {"supported": yes}

    efforts = {level: support(level in model.efforts) for level in ("low", "medium", "high", "xhigh", "max")}
    kinds = ("adaptive", "enabled", "disabled", "between_tools")
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": "2026-09-22T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": model.window,
        "max_tokens": model.max_output,
        "capabilities": {
            "image_input": support(yes=True),
            "pdf_input": support(yes=True),
            "effort": {**support(bool(model.efforts)), **efforts},
            "thinking": {
                **support(bool(model.thinking)),
                "types": {kind: support(kind in model.thinking) for kind in kinds},
            },
        },
    }
