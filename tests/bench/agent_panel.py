"""Measures the Agent panel with 1,000 tool events: a frame while the wheel turns, and the frame after one more event."""

from __future__ import annotations

import json
import os
import statistics
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.bench.__main__ import Row, row
from tests.bench.child import measured
from tests.bench.knowledge_panel import WHEEL_PX, Bench

if TYPE_CHECKING:
    from core.kernel.values.agent import ToolCall
    from core.kernel.values.state import AppState

EVENTS = 1_000
FRAMES = 400
CHANGES = 60
BUDGET_MS = 16.7
"""Of a frame, 60 a second."""
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
KINDS = (
    ("read_file", '{{"path": "src/part{n}.py"}}'),
    ("grep", '{{"pattern": "slot {n}"}}'),
    ("bash", '{{"command": "python -m pytest -q tests/test_{n}.py"}}'),
)


def rows() -> list[Row]:
    """Measure in a process of its own, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen():
        found = measured("tests.bench.agent_panel", GALLIUM_NOOP="1")
    what = f"{EVENTS:,} tool events"
    return [
        row(f"frame CPU, {what}, while scrolling, median", found["median_ms"], "ms", runs=FRAMES),
        row(f"frame CPU, {what}, while scrolling, 99th percentile", found["p99_ms"], "ms", BUDGET_MS, runs=FRAMES),
        row(f"frame CPU, {what}, after one more and its output, 99th percentile", found["change_ms"], "ms", BUDGET_MS, runs=CHANGES),
    ]  # fmt: skip


def measure() -> dict[str, float]:
    """Turn the wheel over the activity; then let events come."""
    import gc

    from gui.elements.lists import VirtualList
    from panels.base.view import WindowView

    bench = Bench(state(EVENTS), WindowView(panel="agent"))
    for _ in range(15):
        bench.frame_ms()
    gc.collect()
    gc.freeze()  # the events are made here and not while the window runs
    lists = (e for e in bench.loop.ui.tree.root.walk() if isinstance(e, VirtualList))
    box = next(e for e in lists if len(e.view.keys) >= EVENTS)
    box.scroll_by(-WHEEL_PX * FRAMES)
    taken = []
    for _ in range(FRAMES):
        box.scroll_by(WHEEL_PX)
        taken.append(bench.frame_ms())
    changed = []
    for number in range(CHANGES):
        bench.state = state(EVENTS + number)
        changed.append(bench.after_ms(lambda: None))
    taken.sort()
    changed.sort()
    return {
        "median_ms": statistics.median(taken),
        "p99_ms": taken[int(0.99 * len(taken))],
        "change_ms": changed[int(0.99 * len(changed))],
    }


def state(count: int) -> AppState:
    """A discussion with so many calls behind it, the last of which writes."""
    from msgspec.structs import replace

    from core.kernel.values.agent import AgentPage, AgentState, AgentTurn, CallState
    from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
    from core.kernel.values.state import AppState, DiscussionsState, ProgramState

    calls = tuple(map(_call, range(count)))
    tail = "\n".join(f"test {n} passed" for n in range(count % 50))
    live = replace(calls[-1], name="bash", state=CallState.RUNNING, ended_at=None, tail=tail)
    meta = DiscussionMeta("d", "Slots", NOW, "embedded", "model", has_tools=True)
    return AppState(
        program=ProgramState(home="/home", is_loading=False),
        now=NOW,
        discussions=DiscussionsState({"d": DiscussionSummary(meta, NOW)}, "d", {"d": OpenDiscussion("d")}),
        agent=AgentState({"d": AgentTurn("d", "m", 1, (live,))}, {"d": AgentPage((*calls[:-1], live))}),
    )


def _call(number: int) -> ToolCall:
    from core.kernel.values.agent import CallState, ToolCall

    name, arguments = KINDS[number % len(KINDS)]
    return ToolCall(
        f"c{number}", name, arguments.format(n=number), CallState.FAILED if number % 9 == 0 else CallState.DONE,
        started_at=NOW, ended_at=NOW, result="It is done.\n" * (number % 20),
    )  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure()) + "\n")
    sys.stdout.flush()
    os._exit(0)
