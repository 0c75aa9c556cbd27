"""A model that says what is written down for it: a server of the tour's own on loopback, where the built-in one is too small."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

MODEL = "scripted"
PIECE_CHARS = 24


class Line(msgspec.Struct, frozen=True):
    """A reply. `calls`: of tools, each with its name and arguments."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, object]]] = ()


@contextmanager
def scripted_model(script: Sequence[Line], model: str = MODEL) -> Iterator[str]:
    """Serve a script in OpenAI's form, a reply for each request, until the block ends. Yields the base address.

    Args:
        model: its name; of two servers, one is chosen by it.
    """
    left = deque(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            entry = {
                "id": model,
                "object": "model",
                "created": 1,
                "owned_by": "tour",
                "max_model_len": 32_768,
            }
            self._say("application/json", json.dumps({"object": "list", "data": [entry]}).encode())

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            line = left.popleft() if left else Line("There is nothing more in the script.")
            self._say(
                "text/event-stream",
                b"".join(_events(line, model, len(json.dumps([asked["messages"], asked.get("tools")])) // 4)),
            )

        def _say(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet: what it answers stands in the conversation."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _events(line: Line, model: str, prompt_tokens: int) -> Iterator[bytes]:
    """Source: OpenAI API reference, Chat completion chunk (read 2026-11)."""
    for start in range(0, len(line.text), PIECE_CHARS):
        yield _event(model, {"content": line.text[start : start + PIECE_CHARS]})
    for index, (name, given) in enumerate(line.calls):
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        yield _event(model, {"tool_calls": [call]})
    yield _event(model, {}, finish="tool_calls" if line.calls else "stop")
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(line.text) // 4 + 1}
    yield _data(model, {"choices": [], "usage": {**usage, "total_tokens": sum(usage.values())}})
    yield b"data: [DONE]\n\n"


def _event(model: str, delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _data(model, {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(model: str, value: dict[str, Any]) -> bytes:
    head = {"id": "tour", "object": "chat.completion.chunk", "created": 1, "model": model}
    return f"data: {json.dumps({**head, **value})}\n\n".encode()
