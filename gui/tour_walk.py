"""One walk of the guided tour: waiting, pictures, questions, and what is said of them."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec

from core.kernel.disk import reported
from core.kernel.errors import SlopError
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from gui.app import WindowApp
from gui.driver import Driver, NotFoundError
from gui.screen import screenshot

ANSWER_S = 240.0
STEP_S = 30.0
CALM_S = 0.1
"""Pause between frames while nothing moves: drawing in software must not take the cores from the model."""


class TourError(SlopError):
    """A step of the tour did not come to its end."""


@dataclass(slots=True)
class Tour:
    """One walk through the program. Prints what it does, with times.

    Args:
        app: the window; out: where pictures go; say: prints a line.
    """

    app: WindowApp
    out: Path
    say: Callable[[str], None]
    driver: Driver = field(init=False)
    pictures: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.driver = Driver(self.app.ui.tree, self.app.loop.frame)

    @property
    def state(self) -> AppState:
        """The state now."""
        return self.app.state()

    def wait(self, holds: Callable[[AppState], object], what: str, timeout_s: float = STEP_S) -> float:
        """Render frames until something holds. Returns the seconds it took.

        Raises:
            TourError: it did not in time.
        """
        start = time.monotonic()
        while not holds(self.state):
            if time.monotonic() - start > timeout_s:
                raise TourError(
                    f"The tour waited {timeout_s:.0f} s for: {what}", remedy="See the last picture"
                )
            is_busy = self.app.loop.frame()
            time.sleep(0.01 if is_busy else CALM_S)
        return time.monotonic() - start

    def shot(self, name: str) -> None:
        """Keep a picture, once each answer on it takes a click: a guarded button looks off until then."""
        self.driver.until(self.driver.is_answerable, "buttons that work")
        file = self.out / f"{len(self.pictures) + 1:02}-{name}.png"
        with reported("write", file):
            screenshot(file, self.app.loop.frame)
        self.pictures.append(file)
        self.say(f"          picture {file}")

    def dismiss_notices(self) -> None:
        """Read and dismiss the notices in view: they float over the page, and what is below them takes no click."""
        for _ in self.state.program.notices:
            try:
                notice = self.driver.find("Dismiss")
            except NotFoundError:
                return
            self.driver.click(notice)

    def chosen(self) -> str:
        """Id of the discussion that is shown."""
        return self.state.discussions.selected_id


def new_discussion(tour: Tour) -> None:
    """Begin another discussion with the keyboard."""
    before = tour.chosen()
    tour.driver.key("Ctrl+n")
    took = tour.wait(
        lambda s: s.discussions.selected_id != before and s.discussions.selected_id in s.discussions.open,
        "a new discussion",
    )
    tour.say(f"{took:7.2f} s  new discussion (Ctrl+N)")


def without_preset(tour: Tour) -> None:
    """Send no files with this discussion: one question on one thing is what so small a model answers."""
    chosen = tour.chosen()
    if not tour.state.discussions.summaries[chosen].meta.preset:
        return
    tour.driver.click("Presets")
    tour.driver.until(lambda: tour.driver.has("No preset"), "the presets")
    tour.driver.click("No preset")
    tour.wait(lambda s: not s.discussions.summaries[chosen].meta.preset, "no preset")


def ask(tour: Tour, question: str, name: str) -> Usage:
    """Type a question, send it with the keyboard, and watch the reply arrive."""
    driver, chosen = tour.driver, tour.chosen()
    driver.click("Write a message")
    driver.type(question)
    count = len(tour.state.discussions.open[chosen].messages)
    driver.key("Ctrl+Enter")
    tour.wait(
        lambda s: chosen in s.turns.calls or len(s.discussions.open[chosen].messages) > count + 1, "the call"
    )
    tour.wait(lambda s: chosen not in s.turns.calls or s.turns.calls[chosen].text, "the first word", ANSWER_S)
    if chosen in tour.state.turns.calls:
        tour.shot(f"{name}-streaming")
    tour.wait(lambda s: chosen not in s.turns.calls, "the whole reply", ANSWER_S)
    opened = tour.state.discussions.open[chosen]
    if opened.failure is not None:
        raise TourError(opened.failure.what, remedy=opened.failure.remedy)
    reply = opened.messages[-1]
    usage = reply.usage or Usage()
    tour.say(f"{usage.duration_s or 0:7.2f} s  {question}")
    tour.say(f"          first word after {usage.time_to_first_token_s or 0:.2f} s; {_tokens(usage)}")
    tour.say(f"          {reply.text.strip()[:160]!r}")
    tour.shot(name)
    return usage


def _tokens(usage: Usage) -> str:
    cached = (
        "cached: not reported"
        if usage.cache_read_tokens is None
        else f"{usage.cache_read_tokens:,} of them cached"
    )
    return f"{usage.input_tokens:,} tokens sent, {cached}, {usage.output_tokens:,} received"


# A model that says what is written down for it: a server of the tour's own on loopback, where the built-in
# one is too small.

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
            """Print nothing: the conversation shows the answers."""

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
