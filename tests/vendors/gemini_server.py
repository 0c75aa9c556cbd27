"""Gemini's API on loopback: content, token counts, the list of models, errors and chunks in the vendor's shape.

It knows nothing of the program. Caches, stored contents and the bill are the billing engine's.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.vendors.billing.gemini import GeminiCache, GeminiRules, GeminiTicket
from tests.vendors.billing.values import Refused
from tests.vendors.gemini_batches import GeminiBatchDesk
from tests.vendors.gemini_rules import MODELS, VERSION, Model, RefusedError, camel, check, find_model, seal_of
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

KEY = "AIzaSyLoopback0123456789abcdefghijklmno"
_INFO = "type.googleapis.com/google.rpc"


@dataclass(frozen=True, slots=True)
class Said:
    """A reply of the model: parts as they stand on the wire, texts are cut into pieces.

    `usage` overrides fields of `usageMetadata`; `...` takes one away.
    """

    parts: tuple[Json, ...] = ({"text": "Hello there."},)
    finish_reason: str = "STOP"
    block_reason: str = ""
    usage: Json = field(default_factory=dict)
    piece_chars: int = 5


class GeminiServer(LoopbackServer):
    """A server with one valid key. `replies` are taken from the left; when there are none it says hello.

    Args:
        clock: seconds since the epoch.
        rules: of its caches; nothing is read implicitly unless they say so.
        caches: False for a server without `cachedContents`.
    """

    def __init__(
        self,
        *,
        key: str = KEY,
        clock: Callable[[], float] = time.time,
        rules: GeminiRules | None = None,
        caches: bool = True,
    ) -> None:
        super().__init__()
        self.key = key
        self.cache = GeminiCache(clock, rules=rules or GeminiRules(implicit_hit=0.0))
        self.caches = caches
        self._cache_lock = threading.Lock()
        self.replies: deque[Said] = deque()
        self.created: dict[str, Json] = {}
        self.page_size = 1000
        self.batches = GeminiBatchDesk(self._batched, clock)
        self._count = 0

    @property
    def bodies(self) -> list[Json]:
        """As in the base, every field in lowerCamelCase."""
        return [camel(body) for body in super().bodies]

    def answer(self, captured: Captured) -> Reply | StreamReply:
        try:
            return self._answer(captured)
        except RefusedError as error:
            return error_reply(error.code, error.status, str(error), *error.details)
        except Refused as error:
            return error_reply(error.status, error.kind, error.message)

    def bill(self, body: Json, model: Model) -> GeminiTicket:
        """Let a request in to the caches. Raises Refused."""
        with self._cache_lock:
            return self.cache.begin(body, model.id, owner=self.key, version=VERSION)

    def begin(self, ticket: GeminiTicket) -> None:
        """The answer's first byte goes out."""
        with self._cache_lock:
            self.cache.first_byte(ticket)

    def input_tokens(self, body: Json) -> int:
        """Tokens of everything sent."""
        with self._cache_lock:
            return self.cache.count_tokens(body)

    def heard_body(self, captured: Captured) -> Json | None:
        body: Json = camel(captured.json)
        stored = self.created.get(str(body.pop("cachedContent", "")), {})
        contents = [*stored.get("contents", ()), *body.get("contents", ())]
        model = captured.path.removeprefix(f"/{VERSION}/models/").partition(":")[0]
        return {**stored, **body, "contents": contents, "model": model}

    def now_s(self) -> float:
        return self.cache.clock()

    def is_faultable(self, captured: Captured) -> bool:
        return captured.path.endswith((":streamGenerateContent", ":generateContent"))

    def _answer(self, captured: Captured) -> Reply | StreamReply:
        self._check_key(captured)
        prefix = f"/{VERSION}/models"
        if captured.method == "GET" and captured.path == prefix:
            return self._models(captured)
        if self.caches and captured.path.startswith(f"/{VERSION}/cachedContents"):
            with self._cache_lock:
                return json_reply(200, self._contents(captured))
        if captured.path.startswith(f"/{VERSION}/batches") or captured.path.endswith(":batchGenerateContent"):
            return self.batches.answer(captured)
        name, _, action = captured.path.removeprefix(f"{prefix}/").partition(":")
        if captured.method != "POST" or not captured.path.startswith(prefix):
            return Reply(404, b"", {})
        body = _body(captured)
        match action:
            case "streamGenerateContent" | "generateContent":
                return self._speak(body, name, action)
            case "countTokens":
                whole = body.get("generateContentRequest", body)
                check(whole, find_model(name, "countTokens"))
                return json_reply(200, {"totalTokens": self.input_tokens(whole)})
            case _:
                return Reply(404, b"", {})

    def _contents(self, captured: Captured) -> Json:
        """`cachedContents`. Raises Refused."""
        stored = self.cache.stored
        name = captured.path.removeprefix(f"/{VERSION}/")
        match captured.method, name.count("/"):
            case "POST", 0:
                made = stored.create(_body(captured), owner=self.key)
                self.created[made["name"]] = _body(captured)
                return made
            case "GET", 0:
                size = int(captured.query.get("pageSize", ("0",))[0])
                token = captured.query.get("pageToken", ("",))[0]
                return stored.page(page_size=size, page_token=token, owner=self.key)
            case "GET", 1:
                return stored.get(name, owner=self.key)
            case "PATCH", 1:
                return stored.patch(name, _body(captured), owner=self.key)
            case "DELETE", 1:
                return stored.delete(name, owner=self.key)
            case _:
                raise RefusedError(404, "NOT_FOUND", "Not Found")

    def _check_key(self, captured: Captured) -> None:
        given = captured.headers.get("x-goog-api-key")
        if not given:
            raise RefusedError(
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers (callers without established identity).",
            )
        if given != self.key:
            info = {"@type": f"{_INFO}.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
            message = "API key not valid. Please pass a valid API key."
            raise RefusedError(400, "INVALID_ARGUMENT", message, [info])

    def _speak(self, body: Json, name: str, action: str) -> Reply | StreamReply:
        model = find_model(name, "generateContent")
        check(body, model)
        tokens = self.input_tokens(body)
        if tokens > model.window:
            raise RefusedError(
                400,
                "INVALID_ARGUMENT",
                f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({model.window}).",
            )
        ticket = self.bill(body, model)
        with self._lock:
            said = self.replies.popleft() if self.replies else Said()
            self._count += 1
            response_id = f"resp-{self._count}"
        chunks = list(_chunks(said, ticket, model.id, response_id))
        if action == "generateContent":
            self.begin(ticket)
            return json_reply(200, {**chunks[-1], "candidates": [_whole(said)]})
        return StreamReply((data(chunk) for chunk in chunks), on_begin=lambda: self.begin(ticket))

    def _batched(self, body: Json, name: str) -> Json:
        """A response to a request of a batch. Raises RefusedError."""
        model = find_model(name, "generateContent")
        check({key: value for key, value in body.items() if key != "model"}, model)
        ticket = self.bill(body, model)
        with self._lock:
            said = self.replies.popleft() if self.replies else Said()
        return {**list(_chunks(said, ticket, model.id, "resp-batch"))[-1], "candidates": [_whole(said)]}

    def _models(self, captured: Captured) -> Reply:
        size = min(int(captured.query.get("pageSize", ("50",))[0]), self.page_size)
        start = int(captured.query.get("pageToken", ("0",))[0])
        names = list(MODELS)
        page: Json = {"models": [_model_info(MODELS[name]) for name in names[start : start + size]]}
        if start + size < len(names):
            page["nextPageToken"] = str(start + size)
        return json_reply(200, page)


def error_body(code: int, status: str, message: str, *details: Json) -> Json:
    """An error in the vendor's shape."""
    error: Json = {"code": code, "message": message, "status": status}
    return {"error": {**error, "details": list(details)} if details else error}


def error_reply(code: int, status: str, message: str, *details: Json) -> Reply:
    """An answer that is an error."""
    return json_reply(code, error_body(code, status, message, *details))


def retry_info(delay: str) -> Json:
    """The detail that says how long to wait."""
    return {"@type": f"{_INFO}.RetryInfo", "retryDelay": delay}


def quota_failure(quota_id: str, value: str = "") -> Json:
    """The detail that names the quota which is used up."""
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": quota_id,
        "quotaValue": value,
    }
    return {"@type": f"{_INFO}.QuotaFailure", "violations": [violation]}


def data(chunk: Json) -> bytes:
    """One chunk of a stream."""
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\r\n\r\n"


def _chunks(said: Said, billed: GeminiTicket, model: str, response_id: str) -> Iterator[Json]:
    shared = {"modelVersion": model, "responseId": response_id}
    if said.block_reason:
        yield {
            "promptFeedback": {"blockReason": said.block_reason},
            "usageMetadata": _usage(billed, [], said),
            **shared,
        }
        return
    parts = [piece for part in said.parts for piece in _pieces(part, said.piece_chars)]
    for number, piece in enumerate(parts, start=1):
        candidate: Json = {"content": {"role": "model", "parts": [piece]}, "index": 0}
        if number == len(parts):
            candidate["finishReason"] = said.finish_reason
            if said.finish_reason == "CONTINUATION":
                candidate["continuationToken"] = "Z28gb24="
        yield {
            "candidates": [candidate],
            "usageMetadata": _usage(billed, parts[:number], said),
            **shared,
        }


def _usage(billed: GeminiTicket, parts: list[Json], said: Said) -> Json:
    """Cumulative: each chunk counts all that was said so far."""
    thought = sum(count_tokens(piece["text"]) for piece in parts if piece.get("thought"))
    spoken = sum(count_tokens(json.dumps(piece)) for piece in parts if not piece.get("thought"))
    usage = {"candidatesTokenCount": spoken, **billed.usage(spoken, thought)}
    return {name: value for name, value in {**usage, **said.usage}.items() if value is not ...}


def _pieces(part: Json, size: int) -> list[Json]:
    if "functionCall" in part:
        return [{**part, "thoughtSignature": seal_of(part["functionCall"])}]
    return [{**part, "text": piece} for piece in pieces(part["text"], size)]


def _whole(said: Said) -> Json:
    content = {"role": "model", "parts": list(said.parts)}
    return {"content": content, "finishReason": said.finish_reason, "index": 0}


def _body(captured: Captured) -> Json:
    try:
        body = json.loads(captured.body)
    except ValueError as error:
        raise RefusedError(400, "INVALID_ARGUMENT", "Invalid JSON payload received.") from error
    if not isinstance(body, dict):
        raise RefusedError(400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
    folded: Json = camel(body)
    return folded


def _model_info(model: Model) -> Json:
    return {
        "name": f"models/{model.id}",
        "version": "001",
        "displayName": model.name,
        "inputTokenLimit": model.window,
        "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": list(model.actions),
        "thinking": bool(model.levels or model.budget),
    }
