"""Measures what a reply of 50 MB costs in memory, of words and of emoji: a program of its own takes it from loopback, whole."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.bench.__main__ import Row, row
from tests.bench.child import compatible_settings, measured
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply

REPLY_BYTES = 50_000_000
PIECE_CHARS = 2_000
BAR_MB = 200.0
WAIT_S = 240.0
_WORDS = "the moon pulls the sea, and every word of this is one of many; "
_EMOJI = "\U0001f319\U0001f30a"
_TEXTS = {"little": (_WORDS, 1), "words": (_WORDS, REPLY_BYTES), "emoji": (_EMOJI, REPLY_BYTES)}
"""Texts of replies by the prompt that asks for each, and their bytes as UTF-8."""


class Talker(LoopbackServer):
    """A compatible server that says as much of a text as a prompt of the talk asks for."""

    def answer(self, captured: Captured) -> Reply | StreamReply:
        """The list of models, or a reply."""
        if captured.method == "GET":
            return json_reply(200, {"object": "list", "data": [{"id": "m", "owned_by": "bench"}]})
        asked = json.dumps(captured.json["messages"])
        return StreamReply(_said(*next(_TEXTS[name] for name in reversed(_TEXTS) if name in asked)))


def rows() -> list[Row]:
    """Measure each in a process of its own."""
    return [*_measured("words"), *_measured("emoji")]


def _measured(text: str) -> list[Row]:
    with Talker() as server:
        found = measured("tests.bench.sound_reply", f"{server.url}/v1", text)
    name = f"a reply of {REPLY_BYTES // 1_000_000} MB of {text}"
    return [
        row(f"memory for {name}, at its peak", found["more_mb"], "MB more", BAR_MB),
        row(f"{name}, until it is on disk", found["seconds"], "s"),
    ]


def child(text: str) -> dict[str, float]:
    """Take a short reply, then a long one. Returns megabytes of its peak over that of the first, and seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = OutsideOptions(home=folder / "home", start=folder, watches=False)
        controller = AppController(LocalOutside(options))
        controller.start()
        _until(controller, lambda s: bool(s.config.project.root) and not s.program.is_loading)
        controller.send(CreateDiscussion("talk"))
        chosen = _until(controller, lambda s: bool(s.discussions.open)).discussions.selected_id
        _say(controller, chosen, "little")
        before, began = _peak_mb(), time.monotonic()
        _say(controller, chosen, text)
        seconds = time.monotonic() - began
        controller.stop()  # also the list has taken it in
        return {"more_mb": _peak_mb() - before, "seconds": seconds}


def _say(controller: AppController, chosen: str, text: str) -> None:
    controller.send(SendPrompt(chosen, text))
    _until(controller, lambda s: chosen in s.turns.calls)
    state = _until(controller, lambda s: chosen not in s.turns.calls)
    opened, (text, size) = state.discussions.open[chosen], _TEXTS[text]
    assert len(opened.messages[-1].text) >= size // len(text[0].encode()), opened.failure


def _until(controller: AppController, predicate: Callable[[AppState], bool]) -> AppState:
    state = controller.wait_for(predicate, WAIT_S)
    assert state is not None, controller.snapshot().program.notices
    return state


def _peak_mb() -> float:
    return (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    )


def _said(text: str, size: int) -> Iterator[bytes]:
    left = -(-size // len(text[0].encode()))
    piece = (text * (PIECE_CHARS // len(text) + 1))[:PIECE_CHARS]
    while left > 0:
        yield _chunk({"delta": {"content": piece[:left]}})
        left -= PIECE_CHARS
    yield _chunk({"delta": {}, "finish_reason": "stop"})
    yield b"data: [DONE]\n\n"


def _chunk(choice: dict[str, object]) -> bytes:
    return f"data: {json.dumps({'id': 'c', 'choices': [{'index': 0, **choice}]})}\n\n".encode()


if __name__ == "__main__":
    with compatible_settings(sys.argv[1]):
        print(json.dumps(child(sys.argv[2])))
