"""Servers that speak OpenAI's Chat Completions each in their own way: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter.

They know nothing of the program. What they reuse of earlier prompts is the billing engine's.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.vendors.billing.compatible import CompatibleCache, CompatibleProfile, CompatibleTicket
from tests.vendors.compatible_rules import RefusedError, check
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply, pieces

Json = dict[str, Any]
MODEL = "qwen3:8b"
EMBEDDING_MODEL = "all-minilm"
EMBEDDING_DIMENSION = 64


@dataclass(frozen=True, slots=True)
class Habits:
    """How a server differs from the others.

    Args:
        listing: fields of its entry in `/v1/models`; show: what Ollama's `/api/show` answers.
        refuses: fields that it answers with 400; reports_details: whether usage says what was reused.
        reasoning_name: the delta's field for reasoning; sends_usage: whether it honours `include_usage`.
        window: tokens that fit; too_long: its error for more, with the figures filled in.
    """

    name: str
    listing: Json = field(default_factory=dict)
    show: Json = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    takes_parts: bool = True
    reports_details: bool = False
    sends_usage: bool = True
    reasoning_name: str = "reasoning_content"
    window: int = 32_768
    too_long: Json = field(default_factory=dict)
    no_model: Json = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


VLLM = Habits(
    "vllm",
    listing={"owned_by": "vllm", "max_model_len": 32768},
    reasoning_name="reasoning",
    too_long={
        "error": {
            "message": "This model's maximum context length is {window} tokens. However, your request has {tokens} "
            "input tokens. Please reduce the length of the input messages.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        }
    },
    no_model={
        "error": {
            "message": "The model `{model}` does not exist.",
            "type": "NotFoundError",
            "param": "model",
            "code": 404,
        }
    },
    headers={"server": "uvicorn"},
)
LLAMA_CPP = Habits(
    "llama.cpp",
    listing={"owned_by": "llamacpp", "meta": {"n_ctx": 8192, "n_ctx_train": 32768}},
    reports_details=True,
    too_long={
        "error": {
            "code": 400,
            "message": "request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 0,
            "n_ctx": 0,
        }
    },
    headers={"server": "llama.cpp"},
)
OLLAMA = Habits(
    "ollama",
    listing={"owned_by": "library"},
    show={
        "capabilities": ["completion", "vision", "thinking"],
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
        "parameters": 'stop                           "<|im_end|>"\ntemperature                    0.6',
    },
    reasoning_name="reasoning",
    no_model={
        "error": {
            "message": 'model "{model}" not found, try pulling it first',
            "type": "not_found_error",
            "param": None,
            "code": None,
        }
    },
    too_long={"error": {"message": "prompt is too long", "type": "api_error", "param": None, "code": None}},
)
LM_STUDIO = Habits(
    "lm studio",
    listing={"owned_by": "organization_owner"},
    too_long={
        "error": "The number of tokens to keep from the initial prompt is greater than the context length. Try to load "
        "the model with a larger context length, or provide a shorter input"
    },
    no_model={
        "error": {
            "message": 'Model "{model}" not found',
            "code": "model_not_found",
            "type": "invalid_request_error",
        }
    },
)
OPENROUTER = Habits(
    "openrouter",
    listing={
        "name": "Qwen: Qwen3 8B",
        "context_length": 131072,
        "architecture": {"input_modalities": ["text", "image"]},
        "top_provider": {"context_length": 65536, "max_completion_tokens": 8192},
        "supported_parameters": ["reasoning", "tools"],
    },
    reasoning_name="reasoning",
    reports_details=True,
    too_long={
        "error": {
            "message": "This endpoint's maximum context length is {window} tokens. However, you requested about {tokens}.",
            "code": 400,
        }
    },
)
OLD = Habits(
    "old",
    refuses=frozenset({"stream_options", "reasoning_effort"}),
    takes_parts=False,
    sends_usage=False,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A reply of the model: text, reasoning before it, calls `(name, arguments)`."""

    text: str = "Hello there."
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    usage: Json = field(default_factory=dict)
    piece_chars: int = 5


class CompatibleServer(LoopbackServer):
    """A server with one model and these habits.

    Args:
        key: None asks for none.

    Attributes:
        message_fields: those that a message may have, None for any.
    """

    def __init__(self, habits: Habits = VLLM, *, key: str | None = None) -> None:
        super().__init__()
        self.habits = habits
        self.key = key
        self.replies: deque[Said] = deque()
        self.message_fields: frozenset[str] | None = None
        self.vector_of: Callable[[str], list[float]] = word_vector
        self.cache = CompatibleCache(profile=CompatibleProfile(reports_details=habits.reports_details))
        self._cache_lock = threading.Lock()

    def heard_body(self, captured: Captured) -> Json | None:
        return captured.json if captured.path == "/v1/chat/completions" else None

    def is_faultable(self, captured: Captured) -> bool:
        return captured.path in {"/v1/chat/completions", "/v1/embeddings"}

    def answer(self, captured: Captured) -> Reply | StreamReply:
        if self.key is not None and captured.headers.get("authorization") != f"Bearer {self.key}":
            error = {"message": "Invalid API Key", "type": "authentication_error", "code": 401}
            return self._reply(401, {"error": error})
        match captured.method, captured.path:
            case "POST", "/v1/chat/completions":
                return self._complete(captured.json)
            case "POST", "/v1/chat/completions/input_tokens" if self.habits.name == "llama.cpp":
                return self._reply(200, {"input_tokens": prompt_tokens(captured.json)})
            case "POST", "/v1/embeddings":
                return self._embed(captured.json)
            case "GET", "/v1/models":
                entry = {"id": MODEL, "object": "model", "created": 1, **self.habits.listing}
                return self._reply(200, {"object": "list", "data": [entry]})
            case "POST", "/api/show" if self.habits.show and captured.json.get("model") == MODEL:
                return self._reply(200, self.habits.show)
            case _:
                return Reply(404, b"404 page not found", {"content-type": "text/plain"})

    def _reply(self, status: int, body: object) -> Reply:
        return json_reply(status, body, self.habits.headers)

    def _complete(self, body: Json) -> Reply | StreamReply:
        if (fault := self._refusal(body)) is not None:
            return fault
        with self._lock:
            said = self.replies.popleft() if self.replies else Said()
        with self._cache_lock:
            ticket = self.cache.send(self._known(body))
        wants_usage = bool(body.get("stream_options", {}).get("include_usage"))
        usage = self._usage(ticket, said) if wants_usage and self.habits.sends_usage else None
        return StreamReply(self._chunks(body, said, usage, ticket), self.habits.headers)

    def _embed(self, body: Json) -> Reply:
        """Source: OpenAI API reference, Create embeddings; Ollama's and vLLM's own answers (read 2026-11)."""
        if body.get("model") != EMBEDDING_MODEL and self.habits.no_model:
            return self._filled(404, self.habits.no_model, model=body.get("model"))
        texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
        if not texts or len(texts) > 2_048 or not all(isinstance(text, str) and text for text in texts):
            return self._reply(400, {"error": {"message": "invalid input", "type": "invalid_request_error"}})
        if "dimensions" in body:
            message = f"Model {EMBEDDING_MODEL!r} does not support matryoshka representation"
            return self._reply(400, {"error": {"message": message, "type": "BadRequestError", "code": 400}})
        rows = [
            {"object": "embedding", "index": index, "embedding": self.vector_of(text)}
            for index, text in enumerate(texts)
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return self._reply(200, {"object": "list", "data": rows, "model": EMBEDDING_MODEL, "usage": usage})

    def _known(self, body: Json) -> Json:
        """The body as the server reads it: only llama.cpp knows `cache_prompt`."""
        return body if self.habits.name == "llama.cpp" else {**body, "cache_prompt": True}

    def _refusal(self, body: Json) -> Reply | None:
        habits = self.habits
        for name in sorted(habits.refuses & body.keys()):
            return self._reply(400, {"error": {"message": f"Unrecognized request argument: {name}"}})
        if body.get("model") != MODEL and habits.no_model:
            return self._filled(404, habits.no_model, model=body.get("model"))
        for message in body["messages"]:
            for name in sorted(message.keys() - (self.message_fields or message.keys())):
                return self._reply(422, {"detail": f"messages.{name}: Extra inputs are not permitted"})
            content = message.get("content")
            if isinstance(content, list) and (not habits.takes_parts or not _has_picture(content)):
                return self._reply(422, {"detail": "messages.content: Input should be a valid string"})
        try:
            check(body["messages"])
        except RefusedError as error:
            return self._reply(400, {"error": {"message": str(error), "type": "invalid_request_error"}})
        if (tokens := prompt_tokens(body)) > habits.window:
            return self._filled(400, habits.too_long, window=habits.window, tokens=tokens)
        return None

    def _filled(self, status: int, error: Json, **figures: object) -> Reply:
        text = json.dumps(error)
        for name, figure in figures.items():
            text = text.replace(f"{{{name}}}", str(figure))
        return self._reply(status, json.loads(text))

    def _usage(self, ticket: CompatibleTicket, said: Said) -> Json:
        return {**ticket.chat_usage((len(said.text) + len(said.reasoning) + 3) // 4), **said.usage}

    def _chunks(
        self, body: Json, said: Said, usage: Json | None, ticket: CompatibleTicket
    ) -> Iterator[bytes]:
        yield chunk(body, {"role": "assistant", "content": ""})
        for piece in pieces(said.reasoning, said.piece_chars):
            yield chunk(body, {self.habits.reasoning_name: piece})
        for piece in pieces(said.text, said.piece_chars):
            yield chunk(body, {"content": piece})
        for index, (name, arguments) in enumerate(said.calls):
            head = {"index": index, "id": f"call_{index}x", "type": "function"}
            yield chunk(body, {"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
            for piece in pieces(arguments, said.piece_chars):
                yield chunk(body, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk(body, {}, finish=said.finish)
        if usage is not None:
            yield data({**_head(body), "choices": [], "usage": usage})
        with self._cache_lock:
            self.cache.finish(ticket, said.text)
        yield b"data: [DONE]\n\n"


def word_vector(text: str) -> list[float]:
    """A vector by the words of a text; the first letters of each alone count, so that its forms are near."""
    found = [0.0] * EMBEDDING_DIMENSION
    for word in text.lower().split():
        found[int.from_bytes(hashlib.sha256(word[:4].encode()).digest()[:2]) % EMBEDDING_DIMENSION] += 1.0
    return found


def chunk(body: Json, delta: Json, finish: str | None = None) -> bytes:
    """One chunk of a stream."""
    return data({**_head(body), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def data(value: object) -> bytes:
    """One event."""
    return f"data: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}\n\n".encode()


def prompt_tokens(body: Json) -> int:
    """A token for four bytes of the messages: any fixed rule will do."""
    return (len(json.dumps(body.get("messages"), ensure_ascii=False).encode()) + 3) // 4


def _head(body: Json) -> Json:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}


def _has_picture(content: list[Json]) -> bool:
    return any(part["type"] == "image_url" for part in content)
