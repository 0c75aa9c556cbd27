"""Measures what a reply of 50 MB costs in memory: a program of its own takes it from a server on loopback, whole."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.__main__ import Row, row
from bench.child import measured
from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.discussion.messages import CreateDiscussion
from core.turn.messages import SendPrompt
from core.values.state import AppState
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply

REPLY_BYTES = 50_000_000
PIECE_CHARS = 2_000
BAR_MB = 200.0
WAIT_S = 240.0
_WORDS = "the moon pulls the sea, and every word of this is one of many; "


class Talker(LoopbackServer):
    """A compatible server that says one word, and to the second prompt as much as is to be measured."""

    def answer(self, captured: Captured) -> Reply | StreamReply:
        """The list of models, or a reply."""
        if captured.method == "GET":
            return json_reply(200, {"object": "list", "data": [{"id": "m", "owned_by": "bench"}]})
        is_long = "much" in json.dumps(captured.json["messages"])
        return StreamReply(_said(REPLY_BYTES if is_long else 1))


def rows() -> list[Row]:
    """Measure in a process of its own."""
    with Talker() as server:
        found = measured("bench.sound_reply", f"{server.url}/v1")
    cost = found["more_mb"]
    name = f"memory for a reply of {REPLY_BYTES // 1_000_000} MB, at its peak"
    return [
        row(name, cost, "MB more", BAR_MB),
        row("the same, until it is on disk", found["seconds"], "s"),
    ]


def child() -> dict[str, float]:
    """Take a short reply, then the long one. Returns megabytes of its peak over that of the first, and seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = OutsideOptions(home=folder / "home", start=folder, watches=False)
        controller = AppController(LocalOutside(options))
        controller.start()
        _until(controller, lambda s: bool(s.config.project.root) and not s.program.is_loading)
        controller.send(CreateDiscussion("talk"))
        chosen = _until(controller, lambda s: bool(s.discussions.open)).discussions.selected_id
        _say(controller, chosen, "little", 1)
        before, began = _peak_mb(), time.monotonic()
        _say(controller, chosen, "much", REPLY_BYTES)
        figures = {"more_mb": _peak_mb() - before, "seconds": time.monotonic() - began}
        controller.stop()
    return figures


def _say(controller: AppController, chosen: str, text: str, size: int) -> None:
    controller.send(SendPrompt(chosen, text))
    _until(controller, lambda s: chosen in s.turns.calls)
    state = _until(controller, lambda s: chosen not in s.turns.calls)
    assert len(state.discussions.open[chosen].messages[-1].text) >= size, state.discussions.open[
        chosen
    ].failure


def _until(controller: AppController, predicate: Callable[[AppState], bool]) -> AppState:
    state = controller.wait_for(predicate, WAIT_S)
    assert state is not None, controller.snapshot().program.notices
    return state


def _peak_mb() -> float:
    return (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    )


def _said(size: int) -> Iterator[bytes]:
    left = size
    text = (_WORDS * (PIECE_CHARS // len(_WORDS) + 1))[:PIECE_CHARS]
    while left > 0:
        yield _chunk({"delta": {"content": text[:left]}})
        left -= PIECE_CHARS
    yield _chunk({"delta": {}, "finish_reason": "stop"})
    yield b"data: [DONE]\n\n"


def _chunk(choice: dict[str, object]) -> bytes:
    return f"data: {json.dumps({'id': 'c', 'choices': [{'index': 0, **choice}]})}\n\n".encode()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        for variable, place in (
            ("MANUAL_SLOP_CONFIG", "config.toml"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "c"),
        ):
            os.environ[variable] = str(Path(home) / place)
        Path(os.environ["MANUAL_SLOP_CONFIG"]).write_text(
            f'[providers.local]\nkind = "compatible"\nbase_url = "{sys.argv[1]}"\n'
            '[ai_settings]\nprovider = "local"\nmodel = "m"\n'
        )
        print(json.dumps(child()))
