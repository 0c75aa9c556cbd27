"""Measures the Harvest panel with 100,000 conversations and 100,000 proposed items: a frame while the wheel turns."""

from __future__ import annotations

import json
import os
import statistics
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from core.kernel.values.imports import TranscriptKind
from tests.bench.__main__ import Row, row
from tests.bench.child import measured
from tests.bench.knowledge_panel import MEDIAN_BAR_MS, P99_BAR_MS, WHEEL_PX, Bench

if TYPE_CHECKING:
    from core.kernel.values.harvest import Artifact, ArtifactFacts, HarvestPreview
    from core.kernel.values.state import AppState

ROWS = 100_000
PER_CONVERSATION = 10
FRAMES = 400
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
PARTS = {"conversations": "conversations", "preview": "proposed items"}


def rows() -> list[Row]:
    """Measure each part in a process of its own, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen():
        return [row for part in PARTS for row in _rows(part)]


def _rows(part: str) -> list[Row]:
    found = measured("tests.bench.harvest_panel", part, GALLIUM_NOOP="1")
    what = f"frame CPU, {ROWS:,} {PARTS[part]}, while scrolling"
    return [
        row(f"{what}, median", found["median_ms"], "ms", MEDIAN_BAR_MS, runs=FRAMES),
        row(f"{what}, 99th percentile", found["p99_ms"], "ms", P99_BAR_MS, runs=FRAMES),
    ]


def measure(part: str) -> dict[str, float]:
    """Turn the wheel over one part of the panel."""
    import gc

    from gui.elements.lists import VirtualList
    from panels.base.view import WindowView
    from panels.harvest.harvest_room import HarvestView

    view = WindowView(panel="harvest", hub_px=720)
    view.of(HarvestView).tab = "preview" if part == "preview" else "conversations"
    bench = Bench(state(part), view)
    for _ in range(15):
        bench.frame_ms()
    gc.collect()
    gc.freeze()  # the rows are made here and not while the window runs
    lists = [e for e in bench.loop.ui.tree.root.walk() if isinstance(e, VirtualList)]
    box = next(e for e in lists if len(e.view.keys) >= ROWS)
    taken = []
    for _ in range(FRAMES):
        box.scroll_by(WHEEL_PX)
        taken.append(bench.frame_ms())
    taken.sort()
    return {"median_ms": statistics.median(taken), "p99_ms": taken[int(0.99 * len(taken))]}


def state(part: str) -> AppState:
    """A look at many conversations, or a preview of many items."""
    from core.kernel.values.harvest import HarvestLook, HarvestState
    from core.kernel.values.state import AppState, ProgramState

    is_preview = part == "preview"
    look = HarvestLook(conversations(ROWS // PER_CONVERSATION if is_preview else ROWS))
    harvest = HarvestState(looked_at=NOW, look=look, preview=preview(look.artifacts) if is_preview else None)
    return AppState(program=ProgramState(home="/home", is_loading=False), now=NOW, harvest=harvest)


def conversations(count: int) -> tuple[Artifact, ...]:
    """Conversations of every class and many sizes."""
    from core.kernel.values.harvest import Artifact, ArtifactClass

    kinds = tuple(ArtifactClass)
    return tuple(
        Artifact(_facts(n), kinds[n % len(kinds)], "" if n % 3 else "changed recently") for n in range(count)
    )


def preview(artifacts: tuple[Artifact, ...]) -> HarvestPreview:
    """Ten items of each conversation, one in ten of them nearly known."""
    from core.kernel.values.harvest import HarvestItem, HarvestPreview, ProposedItem
    from core.kernel.values.knowledge import Category

    kinds = tuple(Category)
    items = tuple(
        ProposedItem(
            f"{one.facts.sha256[:16]}-{n}",
            HarvestItem(kinds[n % len(kinds)], f"/src/part{n}.py says that slot {n} keeps its prefix", "A reason." * (n % 3)),
            one.facts.name, one.facts.path, one.facts.sha256,
            near=("Nearly the same.",) if n == 7 else (), is_ticked=n % 4 > 0,
        )
        for one in artifacts
        for n in range(PER_CONVERSATION)
    )  # fmt: skip
    return HarvestPreview(tuple(one.facts for one in artifacts), items, calls=len(artifacts))


def _facts(number: int) -> ArtifactFacts:
    from core.kernel.values.harvest import ArtifactFacts

    return ArtifactFacts(
        f"h{number}", f"/h/discussions/h{number}/log.jsonl", f"2026-11-01-talk-{number}", TranscriptKind.DISCUSSION,
        1_000 + number * 7919 % 900_000, NOW - timedelta(minutes=number), f"Talk {number}",
        sha256=f"{number:016x}" * 4, new_bytes=1_000,
    )  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1])) + "\n")
    sys.stdout.flush()
    os._exit(0)
