"""Measures the Knowledge panel with 100,000 items: a frame while scrolling, a typed letter of the filter, a change."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.bench.__main__ import Row, row
from tests.bench.child import measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.kernel.values.knowledge import Category, CategoryFile, KnowledgeState
    from core.kernel.values.state import AppState
    from panels.base.view import WindowView

ITEMS = 100_000
FRAMES = 400
WHEEL_PX = 84.0
MEDIAN_BAR_MS = 3.0
P99_BAR_MS = 8.0
QUERIES = ("s", "sl", "slot", "slot 9", "slot 97", "zzz", "")
CHANGES = 7
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)


def rows() -> list[Row]:
    """Measure in a process of its own, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen():
        found = measured("tests.bench.knowledge_panel", GALLIUM_NOOP="1")
    median, p99 = found["scroll_median_ms"], found["scroll_p99_ms"]
    what = f"{ITEMS:,} items"
    return [
        row(f"frame CPU, {what}, while scrolling, median", median, "ms", MEDIAN_BAR_MS, runs=FRAMES),
        row(f"frame CPU, {what}, while scrolling, 99th percentile", p99, "ms", P99_BAR_MS, runs=FRAMES),
        row(f"frame after a letter of the filter, {what}, worst", found["filter_ms"], "ms", runs=len(QUERIES)),
        row(f"frame after a change, {what}, newest listed", found["change_ms"], "ms", runs=CHANGES),
        row(f"frame after a change, {what}, all listed", found["change_all_ms"], "ms", runs=CHANGES),
    ]  # fmt: skip


class Bench:
    """The window on a state and a view that change."""

    def __init__(self, state: AppState, view: WindowView) -> None:
        import dearpygui.dearpygui as dpg

        from gui.binding import DpgUi
        from gui.loop import Loop
        from gui.markdown.document import load
        from gui.metrics import load_theme
        from gui.window import Placement, open_viewport
        from panels.shell.window import window

        load()
        sys.setswitchinterval(0.001)
        dpg.create_context()
        dpg.configure_app(manual_callback_management=True)
        open_viewport(Placement(0, 0, 1440, 900))
        self.state, self.view, self.revision = state, view, 0

        def fail(error: BaseException) -> None:
            raise error

        self.loop = Loop(
            DpgUi(load_theme()),
            lambda ui: window(self.state, self.view, ui, lambda _: None),
            lambda: self.revision,
            on_close=lambda: None,
            on_failure=fail,
        )

    def frame_ms(self) -> float:
        """CPU of one frame on this thread."""
        start = time.thread_time()
        self.loop.frame()
        return 1000 * (time.thread_time() - start)

    def add(self) -> None:
        """Another fact is known."""
        self.state = with_one_more(self.state)

    def after_ms(self, act: Callable[[], None]) -> float:
        """The worst frame after something changed."""
        act()
        self.revision += 1
        return max(self.frame_ms() for _ in range(4))

    def scroll_ms(self) -> list[float]:
        """Frames while the wheel turns over the list."""
        from gui.elements.lists import VirtualList

        lists = (e for e in self.loop.ui.tree.root.walk() if isinstance(e, VirtualList))
        box = next(e for e in lists if e.key == "knowledge rows")
        taken = []
        for _ in range(FRAMES):
            box.scroll_by(WHEEL_PX)
            taken.append(self.frame_ms())
        return taken


def measure() -> dict[str, float]:
    """Scroll, type and change."""
    import gc

    from core.kernel.values.knowledge import Category
    from core.kernel.values.state import AppState, ProgramState
    from panels.base.view import WindowView
    from panels.knowledge.knowledge_room import KnowledgeView

    view = WindowView(panel="knowledge")
    bench = Bench(
        AppState(program=ProgramState(home="/home", is_loading=False), now=NOW, knowledge=known()), view
    )
    for _ in range(15):
        bench.frame_ms()
    gc.collect()
    gc.freeze()  # the items are made here and not while the window runs
    change = [bench.after_ms(bench.add) for _ in range(CHANGES)]
    own = view.of(KnowledgeView)
    typed = [bench.after_ms(lambda query=query: setattr(own, "query", query)) for query in QUERIES]  # type: ignore[misc]
    own.closed, own.shown = set(), {category.value: ITEMS for category in Category}
    own.shape += 1
    bench.after_ms(lambda: None)
    taken = sorted(bench.scroll_ms())
    all_listed = [bench.after_ms(bench.add) for _ in range(CHANGES)]
    return {
        "scroll_median_ms": statistics.median(taken),
        "scroll_p99_ms": taken[int(0.99 * len(taken))],
        "filter_ms": max(typed),
        "change_ms": statistics.median(change),
        "change_all_ms": statistics.median(all_listed),
    }


def known() -> KnowledgeState:
    """Items of all categories, one in three with code, four in five from a conversation."""
    from core.kernel.values.knowledge import Category, DigestSwitch, KnowledgeState
    from core.knowledge.categories import CATEGORY_NAMES

    shares = {
        "tasks.md": (Category.TASKS_OPEN, 20),
        "questions.md": (Category.QUESTIONS, 10),
        "decisions.md": (Category.DECISIONS, 20),
        "facts.md": (Category.FACTS, 45),
        "playbooks.md": (Category.PLAYBOOKS, 5),
    }
    files = tuple(_file(name, *shares[name]) for name in CATEGORY_NAMES)
    return KnowledgeState(files, digest="# Knowledge digest\n", digest_bytes=19, switch=DigestSwitch.ON)


def _file(name: str, category: Category, share: int) -> CategoryFile:
    from core.kernel.values.knowledge import CategoryFile, Item, Provenance

    items = []
    for n in range(ITEMS * share // 100):
        code = "prefix" if n % 3 else "`prefix`"
        text = (
            f"The {category.value} number {n} says that slot {n % 977} keeps its {code} for {n % 61} minutes"
        )
        tag = Provenance(f"2026-11-{n % 28 + 1:02d}-talk-{n % 500}", "2026-11-20") if n % 5 else None
        items.append(Item(category, name, text, tag, "", n + 3, n + 3))
    return CategoryFile(name, b"", tuple(items))


def with_one_more(state: AppState) -> AppState:
    """One more fact: the file was read anew, so all its items are new objects."""
    knowledge = state.knowledge
    facts = next(file for file in knowledge.categories if file.name == "facts.md")
    line = facts.items[-1].last_line + 1
    more = replace(facts.items[-1], text=f"Fact {line}", first_line=line, last_line=line)
    items = (*(replace(item) for item in facts.items), more)
    files = tuple(replace(f, items=items) if f is facts else f for f in knowledge.categories)
    return replace(state, knowledge=replace(knowledge, categories=files))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure()) + "\n")
    sys.stdout.flush()
    os._exit(0)
