"""OpenAI's API on loopback: responses, token counts, the list of models, errors and events in the vendor's shape.

It knows nothing of the program. Caching and its bill are the billing engine's.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.vendors.billing.openai import OpenAICache, OpenAITicket
from tests.vendors.billing.openai_render import error_body
from tests.vendors.billing.values import Refused
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply, pieces
from tests.vendors.openai_batches import OpenAiBatchDesk
from tests.vendors.openai_rules import LISTED, SEAL, Json, Model, RefusedError, check

KEY = "sk-proj-loopback-0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Said:
    """A reply of the model.

    Args:
        items: `{"type": "message", "text": …}` or `"refusal"`, `{"type": "reasoning", "summary": [texts]}`,
            `{"type": "function_call", "name": …, "arguments": …}`.
        incomplete: the reason of a response that is not whole; failed: code and message of one that failed.
        usage: fields over the computed ones; `...` leaves a field out, None as a whole leaves out usage.
    """

    items: tuple[Json, ...] = ({"type": "message", "text": "Hello there."},)
    incomplete: str = ""
    failed: tuple[str, str] | None = None
    usage: Json | None = field(default_factory=dict)
    piece_chars: int = 5


def count_tokens(value: object) -> int:
    """A token for four bytes of the JSON: any fixed rule will do."""
    return (len(json.dumps(value, sort_keys=True).encode()) + 3) // 4


class OpenAiServer(LoopbackServer):
    """A server with one valid key. `replies` are taken from the left; when there are none it says hello.

    Args:
        clock: seconds since the epoch.
        caches: False for a server that keeps the protocol and has no cache: its fields are unknown to it, and usage
            has no details.
    """

    def __init__(
        self, *, key: str = KEY, clock: Callable[[], float] = time.time, caches: bool = True
    ) -> None:
        super().__init__()
        self.key = key
        self.cache = OpenAICache(clock)
        self.caches = caches
        self._cache_lock = threading.Lock()
        self.replies: deque[Said] = deque()
        self.is_verified = True
        self.batches = OpenAiBatchDesk(self._next_reply, self._batched, clock)
        self._count = 0

    def answer(self, captured: Captured) -> Reply | StreamReply:
        try:
            return self._answer(captured)
        except RefusedError as error:
            return json_reply(error.status, error.body, {"x-request-id": self._next_id("req")})
        except Refused as refused:
            return json_reply(refused.status, error_body(refused), {"x-request-id": self._next_id("req")})

    def error(self, status: int, code: str | None, message: str, kind: str = "", **headers: str) -> Reply:
        """An error in the vendor's shape."""
        refused = RefusedError(status, message, code=code, kind=kind or "invalid_request_error")
        return json_reply(status, refused.body, {"x-request-id": self._next_id("req"), **headers})

    def heard_body(self, captured: Captured) -> Json | None:
        return captured.json if self.caches else None

    def now_s(self) -> float:
        return self.cache.clock()

    def is_faultable(self, captured: Captured) -> bool:
        return captured.path == "/v1/responses"

    def bill(self, body: Json, response_id: str) -> OpenAITicket:
        """Let a request in to the cache. Raises Refused."""
        with self._cache_lock:
            return self.cache.begin(body, organisation=self.key, response_id=response_id)

    def begin(self, ticket: OpenAITicket) -> None:
        """The answer's first byte goes out."""
        with self._cache_lock:
            self.cache.first_byte(ticket)

    def input_tokens(self, body: Json) -> int:
        """Tokens of all that the model reads."""
        with self._cache_lock:
            return self.cache.count_tokens(body)

    def _answer(self, captured: Captured) -> Reply | StreamReply:
        given = captured.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            shown = f"{given[:8]}***{given[-4:]}"
            raise RefusedError(401, f"Incorrect API key provided: {shown}.", code="invalid_api_key")
        match captured.method, captured.path:
            case "POST", "/v1/responses":
                return self._respond(captured.json)
            case "POST", "/v1/responses/input_tokens":
                check(captured.json, counts_only=True)
                tokens = self.input_tokens(captured.json)
                return json_reply(200, {"object": "response.input_tokens", "input_tokens": tokens})
            case _, path if path.startswith(("/v1/files", "/v1/batches")):
                return self.batches.answer(captured)
            case "GET", "/v1/models":
                data = [{"id": i, "object": "model", "created": 1, "owned_by": "openai"} for i in LISTED]
                return json_reply(200, {"object": "list", "data": data})
            case _:
                raise RefusedError(404, f"Invalid URL ({captured.method} {captured.path})")

    def _respond(self, body: Json) -> Reply | StreamReply:
        model = check(body)
        if body.get("reasoning", {}).get("summary") and not self.is_verified:
            message = "Your organization must be verified to generate reasoning summaries."
            raise RefusedError(400, message, code="unsupported_value", param="reasoning.summary")
        if self.input_tokens(body) > model.window:
            message = (
                "Your input exceeds the context window of this model. Please adjust your input and try again."
            )
            raise RefusedError(400, message, code="context_length_exceeded", param="input")
        if not self.caches and (unknown := sorted(name for name in body if name.startswith("prompt_cache"))):
            message = f"Unknown parameter: '{unknown[0]}'."
            raise RefusedError(400, message, code="unknown_parameter", param=unknown[0])
        ticket = self.bill(body, self._next_id("resp"))
        said = Said(()) if ticket.is_prewarm else self._next_reply()
        response = self._response(body, model, said, ticket)
        headers = {"x-request-id": self._next_id("req"), "openai-processing-ms": "12"}
        if not body.get("stream"):
            self.begin(ticket)
            return json_reply(200, response, headers)
        return StreamReply(_events(response, said), headers, on_begin=lambda: self.begin(ticket))

    def _batched(self, body: Json, said: Said) -> Json:
        """A response to a request of a batch. Raises RefusedError."""
        if body.get("stream"):
            raise RefusedError(400, "Streaming is not supported in a batch", param="stream")
        ticket = self.bill(body, self._next_id("resp"))
        return self._response(body, check(body), said, ticket)

    def _next_reply(self) -> Said:
        with self._lock:
            return self.replies.popleft() if self.replies else Said()

    def _response(self, body: Json, model: Model, said: Said, ticket: OpenAITicket) -> Json:
        output = [self._item(item) for item in said.items]
        status = "failed" if said.failed else "incomplete" if said.incomplete else "completed"
        reasoning = sum(count_tokens(item) for item in said.items if item["type"] == "reasoning")
        usage = {**ticket.usage(count_tokens(list(said.items)), reasoning), **(said.usage or {})}
        if not self.caches:
            del usage["input_tokens_details"]
        wholes = usage["input_tokens"], usage["output_tokens"]
        usage["total_tokens"] = sum(whole for whole in wholes if isinstance(whole, int))
        failed = said.failed
        return {
            "id": ticket.response[1] or self._next_id("resp"),
            "object": "response",
            "created_at": 1_795_000_000,
            "status": status,
            "error": {"code": failed[0], "message": failed[1]} if failed else None,
            "incomplete_details": {"reason": said.incomplete} if said.incomplete else None,
            "model": model.id,
            "output": output,
            "parallel_tool_calls": True,
            "store": body.get("store", True),
            "tools": body.get("tools", []),
            "prompt_cache_diagnostics": ticket.diagnostics,
            "usage": None
            if said.usage is None or failed
            else {name: value for name, value in usage.items() if value is not ...},
        }

    def _item(self, item: Json) -> Json:
        match item["type"]:
            case "message":
                kind = "refusal" if "refusal" in item else "output_text"
                text = item.get("refusal", item.get("text", ""))
                part: Json = {"type": kind, "refusal" if kind == "refusal" else "text": text}
                if kind == "output_text":
                    part["annotations"] = []
                content = [part]
                return {
                    "id": self._next_id("msg"),
                    "type": "message",
                    "status": "completed",
                    "role": "assistant",
                    "content": content,
                }
            case "reasoning":
                name = self._next_id("rs")
                summary = [{"type": "summary_text", "text": text} for text in item["summary"]]
                return {
                    "id": name,
                    "type": "reasoning",
                    "summary": summary,
                    "encrypted_content": SEAL + name,
                }
            case _:
                return {
                    "id": self._next_id("fc"),
                    "call_id": self._next_id("call"),
                    "status": "completed",
                    **item,
                }

    def _next_id(self, kind: str) -> str:
        with self._lock:
            self._count += 1
            return f"{kind}_{self._count:08d}"


def event(kind: str, number: int, **fields: Any) -> bytes:
    """One event of a stream."""
    data = json.dumps(
        {"type": kind, "sequence_number": number, **fields}, separators=(",", ":"), ensure_ascii=False
    )
    return f"event: {kind}\ndata: {data}\n\n".encode()


def error_event(code: str | None, message: str) -> bytes:
    """An error in the middle of a stream, which the vendor's SDK yields instead of raising."""
    return event("error", 99, code=code, message=message, param=None)


def _events(response: Json, said: Said) -> Iterator[bytes]:
    opened = {**response, "status": "in_progress", "output": [], "usage": None, "error": None}
    opened["incomplete_details"] = None
    bodies: list[tuple[str, Json]] = [
        ("response.created", {"response": opened}),
        ("response.in_progress", {"response": opened}),
    ]
    for index, item in enumerate(response["output"]):
        bodies += _item_events(index, item, said.piece_chars)
    bodies.append((f"response.{response['status']}", {"response": response}))
    for number, (kind, fields) in enumerate(bodies):
        yield event(kind, number, **fields)


def _item_events(index: int, item: Json, size: int) -> Iterator[tuple[str, Json]]:
    at: Json = {"output_index": index, "item_id": item["id"]}
    yield "response.output_item.added", {"output_index": index, "item": _opened(item)}
    match item["type"]:
        case "message":
            yield from _part_events(at, item["content"][0], size)
        case "reasoning":
            for place, part in enumerate(item["summary"]):
                yield from _summary_events({**at, "summary_index": place}, part, size)
        case _:
            for piece in pieces(item["arguments"], size):
                yield "response.function_call_arguments.delta", {**at, "delta": piece}
            done = {**at, "arguments": item["arguments"], "name": item["name"]}
            yield "response.function_call_arguments.done", done
    yield "response.output_item.done", {"output_index": index, "item": item}


def _opened(item: Json) -> Json:
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "reasoning":
            return {**item, "summary": [], "encrypted_content": SEAL + "not yet"}
        case _:
            return {**item, "status": "in_progress", "arguments": ""}


def _part_events(at: Json, part: Json, size: int) -> Iterator[tuple[str, Json]]:
    at = {**at, "content_index": 0}
    kind = part["type"]
    name = "refusal" if kind == "refusal" else "text"
    yield "response.content_part.added", {**at, "part": {**part, name: ""}}
    for piece in pieces(part[name], size):
        yield f"response.{kind}.delta", {**at, "delta": piece}
    yield f"response.{kind}.done", {**at, name: part[name]}
    yield "response.content_part.done", {**at, "part": part}


def _summary_events(at: Json, part: Json, size: int) -> Iterator[tuple[str, Json]]:
    yield "response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"], size):
        yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
    yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
    yield "response.reasoning_summary_part.done", {**at, "part": part}
