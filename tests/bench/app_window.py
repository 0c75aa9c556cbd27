"""Measures the window: its first frame and memory against a bare one, and what a frame costs with 10,000 messages."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.bench.__main__ import Row, row
from tests.bench.child import loop_ms, measured

if TYPE_CHECKING:
    from core.kernel.values.messages import Message
    from core.kernel.values.state import AppState

RUNS = 5
FRAMES = 400
MESSAGES = 10_000
CHUNKS_PER_FRAME = 100 / 60
FIRST_FRAME_BAR = 1.4
MEMORY_BAR_MB = 50.0
MEDIAN_BAR, P99_BAR = 3.0, 9.0
"""Of a loop of the interpreter, `tests.bench.child.loop_ms`."""
WHEEL_PX = 84.0
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
ANSWER = """Keep the slot **immutable** and let the fork *share* the prefix until it diverges:

1. the parent owns the slot and its `expires_at`
2. the fork stores only the anchor index

```python
def touch(slot: Slot, now: float) -> Slot:
    return replace(slot, last_used=now, expires_at=now + 300)
```

> Anything that edits history before the anchor must split the slot first.
"""


def rows() -> Iterator[Row]:
    """Measure, each figure in processes of its own, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen():
        yield from _first_frame()
        yield from _frames("scroll")
        yield from _frames("stream")


def _first_frame() -> list[Row]:
    """Start both programs by turns: a machine that slows down then slows both."""
    pairs = [(_child("bare"), _child("first"), _child("program")) for _ in range(RUNS)]

    def middle(of: Callable[[dict[str, float], dict[str, float]], float], which: int = 1) -> float:
        return statistics.median(of(runs[0], runs[which]) for runs in pairs)

    cpu = middle(lambda bare, first: first["cpu_s"] / bare["cpu_s"])
    return [
        row("window, first frame, processor time / bare", cpu, "times", FIRST_FRAME_BAR, runs=RUNS),
        row("the same over the bare window's empty first frame", middle(lambda bare, first: first["cpu_s"] / bare["empty_s"]), "times", runs=RUNS),
        row("the same, wall clock / bare", middle(lambda bare, first: first["ready_s"] / bare["ready_s"]), "times", runs=RUNS),
        row("window, memory over bare, first frame", middle(lambda bare, first: first["memory_mb"] - bare["memory_mb"]), "MB", MEMORY_BAR_MB, runs=RUNS),
        row("window, memory over bare, all read", middle(lambda bare, whole: whole["memory_mb"] - bare["whole_mb"], 2), "MB", runs=RUNS),
    ]  # fmt: skip


def _frames(what: str) -> list[Row]:
    found = _child(what, GALLIUM_NOOP="1")
    median, p99 = found["median_ms"] / found["loop_ms"], found["p99_ms"] / found["loop_ms"]
    name = f"frame CPU, {MESSAGES:,} messages, {'while scrolling' if what == 'scroll' else 'while streaming'}"
    return [
        row(f"{name}, median", median, "of a loop", MEDIAN_BAR, runs=FRAMES),
        row(f"{name}, 99th percentile", p99, "of a loop", P99_BAR, runs=FRAMES),
        row(f"{name}, median", found["median_ms"], "ms", runs=FRAMES),
    ]


def _child(mode: str, **environment: str) -> dict[str, float]:
    """Measure one thing in a fresh home."""
    with tempfile.TemporaryDirectory() as home:
        started = str(time.time())
        return measured(
            "tests.bench.app_window", mode, started, MANUAL_SLOP_HOME=str(Path(home) / "home"), **environment
        )


def _memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def bare(started: float) -> dict[str, float]:
    """A Dear PyGui window with one line of text, which stands there in its second frame: the first draws no window yet."""
    import dearpygui.dearpygui as dpg

    dpg.create_context()
    dpg.create_viewport(title="bare", width=1440, height=900, vsync=False)
    with dpg.window(tag="window"):
        dpg.add_text("ready")
    dpg.setup_dearpygui()
    dpg.show_viewport()
    dpg.set_primary_window("window", True)
    dpg.render_dearpygui_frame()
    empty = time.process_time()
    dpg.render_dearpygui_frame()
    found = {"empty_s": empty, "cpu_s": time.process_time(), "ready_s": time.time() - started, "memory_mb": _memory_mb()}  # fmt: skip
    for _ in range(30):
        dpg.render_dearpygui_frame()
    return found | {"whole_mb": _memory_mb()}


def first(started: float) -> dict[str, float]:
    """`manual-slop` itself, without arguments, up to its first frame: it draws the whole window."""
    import gc

    from core.front.cli.version import say_at_once

    class Drawn(BaseException):
        """The first frame is there."""

    gc.set_threshold(200_000)
    say_at_once([])
    from gui import main, startup

    def begin(self: startup.Starting) -> None:
        raise Drawn

    startup.Starting.begin = begin  # type: ignore[method-assign]
    with suppress(Drawn):
        main.main([])
    return {"cpu_s": time.process_time(), "ready_s": time.time() - started, "memory_mb": _memory_mb()}


def program(_: float) -> dict[str, float]:
    """The program as `manual-slop` opens it, up to the frame that shows its window."""
    from core.app.options import OutsideOptions
    from gui.app import LastLook, WindowApp
    from gui.startup import Starting

    home = Path(os.environ["MANUAL_SLOP_HOME"])
    starting = Starting(OutsideOptions(home=home))
    app = WindowApp(LastLook(), lambda: starting.controller)
    app.open()
    app.loop.frame()
    starting.begin()
    end = time.monotonic() + 30
    while (
        not (app.state().config.providers and not app.state().program.is_loading) and time.monotonic() < end
    ):
        app.loop.frame()
        time.sleep(1 / 60)
    for _ in range(60):
        app.loop.frame()
        time.sleep(1 / 60)
    memory = _memory_mb()
    if starting.controller is not None:
        starting.controller.stop()
    return {"memory_mb": memory}


def frames(what: str) -> dict[str, float]:
    """CPU of the frame thread, the full window open on a long discussion."""
    import dearpygui.dearpygui as dpg

    from core.kernel.values.discussion import CallPhase, LiveCall
    from gui.binding import DpgUi
    from gui.elements.lists import VirtualList
    from gui.loop import Loop
    from gui.markdown.document import load
    from gui.metrics import load_theme
    from gui.window import Placement, open_viewport
    from panels.base.ui import Ui
    from panels.base.view import WindowView
    from panels.shell.window import window

    load()
    sys.setswitchinterval(0.001)
    dpg.create_context()
    dpg.configure_app(manual_callback_management=True)
    open_viewport(Placement(0, 0, 1440, 900))
    state, view, revision = long_state(), WindowView(), 0

    def describe(ui: Ui) -> None:
        window(state, view, ui, lambda _: None)

    def fail(error: BaseException) -> None:
        raise error

    loop = Loop(DpgUi(load_theme()), describe, lambda: revision, on_close=lambda: None, on_failure=fail)
    if what == "stream":
        call = LiveCall(
            "c", "d0", f"m{MESSAGES}", "reply", "embedded", "m", NOW, CallPhase.STREAMING, text=""
        )
        state = replace(state, turns=replace(state.turns, calls={"d0": call}))
    for _ in range(10):
        loop.frame()
    box = next(
        e for e in loop.ui.tree.root.walk() if isinstance(e, VirtualList) and len(e.view.keys) >= MESSAGES
    )
    taken, chunks = [], 0.0
    for index in range(FRAMES):
        if what == "scroll":
            box.scroll_by(-WHEEL_PX)
        else:
            chunks += CHUNKS_PER_FRAME
            text = " ".join(["word"] * int(chunks))
            text = f"{ANSWER}\n\n{text}" if index > FRAMES // 2 else text
            state = replace(
                state, turns=replace(state.turns, calls={"d0": replace(state.turns.calls["d0"], text=text)})
            )
            revision += 1
        start = time.thread_time()
        loop.frame()
        taken.append(1000 * (time.thread_time() - start))
    taken.sort()
    figures = {"median_ms": statistics.median(taken), "p99_ms": taken[int(0.99 * len(taken))]}
    return figures | {"loop_ms": loop_ms()}


def long_entries(count: int) -> tuple[Message, ...]:
    """Messages of many lengths."""
    import random

    from core.kernel.values.messages import Message, Role, TextPart
    from tests.gui.gallery_pages import WORDS

    rng = random.Random(7)

    def text(index: int) -> str:
        if index % 5 == 1:
            return ANSWER
        return " ".join(rng.choice(WORDS) for _ in range(int(min(900, rng.lognormvariate(4, 0.9)))))

    return tuple(
        Message(f"m{n}", NOW, Role.ASSISTANT if n % 2 else Role.USER, (TextPart(text(n)),))
        for n in range(count)
    )


def long_state() -> AppState:
    """A discussion of 10,000 messages of many lengths, and 200 others in the list."""
    from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
    from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
    from core.kernel.values.state import AppState, ConfigState, DiscussionsState, ProgramState

    entries = long_entries(MESSAGES)
    metas = [DiscussionMeta(f"d{n}", f"Discussion {n}", NOW, "embedded", "m") for n in range(200)]
    status = ProviderStatus(
        "embedded", ProviderKind.EMBEDDED, "Embedded", KeySource.NOT_NEEDED, is_ready=True
    )
    return AppState(
        now=NOW,
        config=ConfigState(providers={"embedded": status}),
        discussions=DiscussionsState(
            summaries={meta.id: DiscussionSummary(meta, NOW, turns=4) for meta in metas},
            selected_id="d0",
            open={"d0": OpenDiscussion("d0", entries)},
        ),
        program=ProgramState(is_loading=False),
    )


if __name__ == "__main__":
    mode, at = sys.argv[1], float(sys.argv[2])
    starts = {"bare": bare, "first": first, "program": program}
    figures = starts[mode](at) if mode in starts else frames(mode)
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
    os._exit(0)
