"""Measures a key in the composer with a long text in it, under a long discussion: frames until it is drawn, and their cost."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.bench.__main__ import Row, row
from tests.bench.app_window import MESSAGES, NOW, long_state
from tests.bench.child import measured

if TYPE_CHECKING:
    from gui.elements.editor import Editor
    from gui.loop import Loop

TEXT_CHARS = 200_000
KEYS = 300
MEDIAN_BAR_FRAMES = 1
P99_BAR_FRAMES = 2
FRAME_BAR_MS = 4.0
MOST_FRAMES = 60


def rows() -> list[Row]:
    """Measure in a process of its own, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen():
        got = measured("tests.bench.app_keys", GALLIUM_NOOP="1")
    name = f"key in the composer, 200 KB in it, {MESSAGES:,} messages above"
    return [
        row(
            f"{name}, frames until drawn, median",
            got["median_frames"],
            "frames",
            MEDIAN_BAR_FRAMES,
            runs=KEYS,
        ),
        row(
            f"{name}, frames until drawn, 99th percentile",
            got["p99_frames"],
            "frames",
            P99_BAR_FRAMES,
            runs=KEYS,
        ),
        row(f"{name}, frame CPU, median", got["median_ms"], "ms", FRAME_BAR_MS, runs=KEYS),
        row(f"{name}, frame CPU, 99th percentile", got["p99_ms"], "ms", None, runs=KEYS),
    ]


def typing() -> dict[str, float]:
    """Type at the end of the text and, for the second half, in its middle."""
    from gui.driver import Driver
    from gui.elements.editor import Editor

    loop = _long_window()
    person = Driver(loop.ui.tree, loop.frame)
    person.step(20)
    editor = person.find("Write a message", kind=Editor)
    assert isinstance(editor, Editor)
    person.until(lambda: editor.is_active, "the keyboard")
    assert len(editor.text) > 0.9 * TEXT_CHARS
    waits: list[int] = []
    taken: list[float] = []
    for index in range(KEYS):
        if index == KEYS // 2:
            person.key("Ctrl+Home")
            for _ in range(20):
                person.key("PageDown")
        person.strike("abcd "[index % 5])
        waits.append(_frames_until_drawn(loop, editor, taken))
        loop.frame()
    waits.sort()
    taken.sort()
    return {
        "median_frames": statistics.median(waits),
        "p99_frames": waits[int(0.99 * len(waits))],
        "median_ms": statistics.median(taken),
        "p99_ms": taken[int(0.99 * len(taken))],
    }


def _frames_until_drawn(loop: Loop, editor: Editor, taken: list[float]) -> int:
    """Frames from the one that reads the key, 0, to the one that shows it. Notes what each costs."""
    before, drawn, read_at = len(editor.text), editor.prims, 0
    for frame in range(1, MOST_FRAMES):
        start = time.thread_time()
        loop.frame()
        cost_ms = 1000 * (time.thread_time() - start)
        read_at = read_at or (frame if len(editor.text) > before else 0)
        if read_at:
            taken.append(cost_ms)
            if editor.prims is not drawn:
                return frame + 1 - read_at
    return MOST_FRAMES


def _long_window() -> Loop:
    """The full window on a long discussion with a long text in its composer."""
    import dearpygui.dearpygui as dpg

    from gui.binding import DpgUi
    from gui.loop import Loop
    from gui.metrics import load_theme
    from gui.window import Placement, open_viewport
    from panels.base.ui import Ui
    from panels.base.view import WindowView
    from panels.shell.window import window

    sys.setswitchinterval(0.001)
    dpg.create_context()
    dpg.configure_app(manual_callback_management=True)
    open_viewport(Placement(0, 0, 1440, 900))
    state, view = long_state(), WindowView()
    opened = state.discussions.open["d0"]
    words = "some words that a person pasted, long enough to be wrapped; " * 20
    text = f"{words}\n" * (TEXT_CHARS // (len(words) + 1))
    opened = replace(opened, draft=replace(opened.draft, text=text))
    state = replace(state, discussions=replace(state.discussions, open={"d0": opened}))

    def describe(ui: Ui) -> None:
        window(state, view, ui, lambda _: None)

    def fail(error: BaseException) -> None:
        raise error

    return Loop(DpgUi(load_theme()), describe, lambda: NOW, on_close=lambda: None, on_failure=fail)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(typing()) + "\n")
    sys.stdout.flush()
    os._exit(0)
