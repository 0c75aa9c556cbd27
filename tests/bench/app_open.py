"""Measures reading in a long discussion: opening it at its end and at a search's hit, and a selection dragged over it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from tests.bench.__main__ import Row, row
from tests.bench.child import measured

RUNS = 3
FRAMES = 400
MESSAGES = 10_000
LONG = "20261120-070000-aaaaaa"
OTHER = "20261121-070000-bbbbbb"
AT = datetime(2026, 11, 20, 7, tzinfo=UTC)
NEEDLE = "quokka"
MODEL = "gpt-4.1"
"""Its tokens are those of the offline tokenizer, so its report says when all of them are counted; nothing is sent to it."""
HIT_AT = 3_001
FRAME_BAR_MS, PROCESS_BAR_MS = 150.0, 400.0
DRAG_BAR_MS = 16.0
"""A frame at 60 a second."""


def rows() -> Iterator[Row]:
    """Measure, each figure in a process of its own, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen():
        yield from _opened("end", "at its end")
        yield from _opened("hit", "at a search's hit")
        yield from _dragged()


def _child(mode: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:
        return measured(
            "tests.bench.app_open", mode, MANUAL_SLOP_HOME=str(Path(home) / "home"), GALLIUM_NOOP="1"
        )


def _opened(mode: str, where: str) -> list[Row]:
    found = [_child(mode) for _ in range(RUNS)]
    name = f"{MESSAGES:,} messages, opened {where}, processor time"
    return [
        row(f"{name}, frame thread", median(one["frame_ms"] for one in found), "ms", FRAME_BAR_MS, runs=RUNS),
        row(f"{name}, process", median(one["process_ms"] for one in found), "ms", PROCESS_BAR_MS, runs=RUNS),
    ]


def _dragged() -> list[Row]:
    found = _child("drag")
    name = f"frame CPU, selection dragged over {MESSAGES:,} messages"
    return [
        row(f"{name}, median", found["median_ms"], "ms", DRAG_BAR_MS, runs=FRAMES),
        row(f"{name}, 99th percentile", found["p99_ms"], "ms", DRAG_BAR_MS, runs=FRAMES),
        row(f"{name}, then copied", found["copy_ms"], "ms"),
    ]


def make_home(home: Path) -> None:
    """A long discussion, a needle in one of its messages, and a short one that is newer."""
    from core.kernel.values.discussion import DiscussionMeta
    from core.kernel.values.messages import Role, TextPart
    from core.kernel.values.records import MessageRecord
    from core.talk.discussion import discussion_store
    from tests.bench.app_window import long_entries

    texts = [entry.text for entry in long_entries(MESSAGES)]
    texts[HIT_AT] += f"\n\nand a {NEEDLE} at the end"
    records = [
        MessageRecord(f"m{n:05}", AT, Role.ASSISTANT if n % 2 else Role.USER, (TextPart(text),))
        for n, text in enumerate(texts)
    ]
    discussion_store.create(home, DiscussionMeta(LONG, "A long one", AT, "openai", MODEL), records)
    discussion_store.create(home, DiscussionMeta(OTHER, "Another", AT, "openai", MODEL), records[:2])


def opening(mode: str) -> dict[str, float]:
    """Processor time from the click on a discussion until it stands on the screen and nothing is left to do: layers
    built, tokens counted (the counting itself in the worker process), the next request planned.
    """
    from core.app.options import OutsideOptions
    from core.talk.discussion.discussion_messages import SearchDiscussions, SelectDiscussion
    from gui.app import LastLook, WindowApp
    from gui.elements.lists import VirtualList
    from gui.elements.prose import Markdown
    from gui.markdown.document import load
    from gui.startup import Starting
    from panels.discussion.find_bar import open_hit
    from panels.discussion.view import DiscussionView

    home = Path(os.environ["MANUAL_SLOP_HOME"])
    make_home(home)
    load()
    starting = Starting(OutsideOptions(home=home))
    app = WindowApp(LastLook(), lambda: starting.controller)
    app.open()
    starting.begin()

    def frames(holds: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < end, "the window does not get there"
            app.loop.frame()
            time.sleep(1 / 60)

    frames(lambda: len(app.state().discussions.summaries) == 2 and not app.state().program.is_loading)
    app.send(SelectDiscussion(OTHER))
    frames(lambda: OTHER in app.state().discussions.open)

    def is_counted(discussion_id: str) -> bool:
        report = app.state().context.reports.get(discussion_id)
        return report is not None and report.is_exact

    if mode == "hit":
        app.send(SearchDiscussions(NEEDLE))
        frames(lambda: app.state().discussions.search.messages.get(LONG) == f"m{HIT_AT:05}")
    frames(lambda: is_counted(OTHER))
    settled = time.monotonic() + 2
    frames(lambda: time.monotonic() > settled)
    own = app.view.of(DiscussionView)
    if mode == "hit":
        own.search_text = NEEDLE
        open_hit(app.state(), own, LONG)

    def shows() -> bool:
        lists = [one for one in app.ui.tree.root.walk() if isinstance(one, VirtualList)]
        talk = next((one for one in lists if len(one.view.keys) >= MESSAGES), None)
        texts = [one for one in talk.walk() if isinstance(one, Markdown)] if talk is not None else []
        if mode == "hit":
            return any(NEEDLE in one.label() and one.found_at() >= 0 for one in texts)
        return talk is not None and bool(texts) and talk.view.scroll >= talk.view.most - 1

    thread, process = time.thread_time(), time.process_time()
    app.send(SelectDiscussion(LONG))
    frames(shows)
    _until(lambda: is_counted(LONG))
    for _ in range(4):
        app.loop.frame()
    figures = {
        "frame_ms": 1000 * (time.thread_time() - thread),
        "process_ms": 1000 * (time.process_time() - process),
    }
    starting.stop()
    return figures


def _until(holds: Callable[[], bool]) -> None:
    """Wait without a frame."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "the program does not get there"
        time.sleep(0.05)


def drag() -> dict[str, float]:
    """CPU of the frame thread while a selection that begins at the last message is drawn on over the first ones:
    the mouse rests at the list's upper edge, which scrolls it.
    """
    import dearpygui.dearpygui as dpg

    from gui.binding import DpgUi
    from gui.driver import Driver
    from gui.elements.lists import VirtualList
    from gui.elements.popups import anchor_of
    from gui.loop import Loop
    from gui.markdown.document import load
    from gui.metrics import load_theme
    from gui.window import Placement, open_viewport
    from panels.base.view import WindowView
    from panels.shell.window import window
    from tests.bench.app_window import long_state

    load()
    sys.setswitchinterval(0.001)
    dpg.create_context()
    dpg.configure_app(manual_callback_management=True)
    open_viewport(Placement(0, 0, 1440, 900))
    state, view = long_state(), WindowView()

    def fail(error: BaseException) -> None:
        raise error

    ui = DpgUi(load_theme())
    loop = Loop(
        ui,
        lambda on: window(state, view, on, lambda _: None),
        lambda: 0,
        on_close=lambda: None,
        on_failure=fail,
    )
    person = Driver(ui.tree, loop.frame)
    person.step(10)
    talk = next(e for e in ui.tree.root.walk() if isinstance(e, VirtualList) and len(e.view.keys) >= MESSAGES)
    x, y, w, h = map(round, anchor_of(talk))
    person.move(x + w // 2, y + h - 60)
    person.press()
    talk.scroll_by(60.0 * FRAMES - talk.view.most)
    person.move(x + w // 2, y + 4)
    person.step(4)
    taken = []
    for _ in range(FRAMES):
        start = time.thread_time()
        loop.frame()
        taken.append(1000 * (time.thread_time() - start))
    span = ui.tree.prose.span()
    assert span is not None
    assert span[1].row - span[0].row > 0.9 * MESSAGES, "the selection does not reach over the messages"
    start = time.thread_time()
    text = ui.tree.prose.text()
    copy_ms = 1000 * (time.thread_time() - start)
    assert len(text) > 100 * MESSAGES
    taken.sort()
    return {"median_ms": median(taken), "p99_ms": taken[int(0.99 * len(taken))], "copy_ms": copy_ms}


if __name__ == "__main__":
    figures = drag() if sys.argv[1] == "drag" else opening(sys.argv[1])
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
    os._exit(0)
