"""Measures the knowledge store: digest of 100,000 items, whole and after one more; a ledger of 100,000 entries."""

from __future__ import annotations

import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from core.kernel import paths
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus
from core.knowledge import categories
from core.knowledge.knowledge_reader import regenerate_digest
from core.knowledge.ledger import HarvestLedger
from core.knowledge.ledger_text import ledger_bytes, to_raw
from tests.bench.__main__ import Row, row

ITEMS = 100_000
ENTRIES = 100_000
RUNS = 7
AT = "2026-11-20T12:00:00.123456+00:00"


def rows() -> list[Row]:
    """Measure in a temporary home. Values are medians."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_items(home, ITEMS)
        whole = _median(lambda: regenerate_digest(home), before=lambda: _digest(home).unlink(missing_ok=True))
        one_more = _median(lambda: regenerate_digest(home), before=lambda: _append(home))
        one_task = _median(lambda: regenerate_digest(home), before=lambda: _append_task(home))
        make_ledger(home, ENTRIES)
        load = _median(lambda: HarvestLedger(home).load())
        ledger = HarvestLedger(home)
        ledger.load()
        add = _median(lambda: ledger.add(entry(time.perf_counter_ns())))
        gate = _median(lambda: ledger.may_reclaim(_key(7)))
    return [
        _row(f"digest of {ITEMS:,} items", whole, 150),
        _row("digest after one appended item", one_more, 10),
        _row("digest after one task more in the middle of tasks.md", one_task, 10),
        _row(f"ledger of {ENTRIES:,} entries, loaded", load, 400),
        _row("ledger, one entry added", add, 20),
        _row("ledger, the gate of reclaim", gate, 1),
    ]


def make_items(home: Path, count: int) -> None:
    """So many items over the five category files, 110 to 120 bytes each."""
    directory = paths.knowledge_dir(home)
    directory.mkdir(parents=True)
    each = count // len(categories.CATEGORY_NAMES)
    for name in categories.CATEGORY_NAMES:
        lines = [
            categories.CategoryLine(_item(n), categories.OPEN if n % 2 else categories.DONE)
            for n in range(each)
        ]
        (directory / name).write_bytes(categories.with_lines(name, categories.new_file(name), lines))


def make_ledger(home: Path, count: int) -> None:
    """A ledger of so many harvests, folded by a last one as the end of a run leaves it."""
    entries = {_key(n): to_raw(entry(n)) for n in range(count - 1)}
    ledger = HarvestLedger(home)
    ledger.path.write_bytes(ledger_bytes({"entries": entries}))
    ledger.add(entry(count - 1))
    ledger.fold()


def entry(number: int) -> HarvestLedgerEntry:
    """One harvest."""
    counts = {category.value: number % 5 for category in Category}
    path = f"discussions/20261120-120000-{number:06}/log.jsonl"
    return HarvestLedgerEntry(
        _key(number), path, LedgerStatus.HARVESTED, AT, deleted=True, size_bytes=9_000, items=counts
    )


def _item(number: int) -> str:
    return f"- item {number} says what stays useful once the talk is gone, such as {number * 7919 % 99_991} [from: 2026-11-20-tides, 2026-11-20]"


def _key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def _digest(home: Path) -> Path:
    return paths.knowledge_dir(home) / "digest.md"


def _append(home: Path) -> None:
    with (paths.knowledge_dir(home) / categories.FACTS).open("ab") as file:
        file.write(_item(time.perf_counter_ns()).encode() + b"\n")


def _append_task(home: Path) -> None:
    path = paths.knowledge_dir(home) / categories.TASKS
    line = categories.CategoryLine(_item(time.perf_counter_ns()), categories.OPEN)
    path.write_bytes(categories.with_lines(categories.TASKS, path.read_bytes(), [line]))


def _median(act: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Milliseconds."""
    taken = []
    for _ in range(RUNS):
        before()
        start = time.perf_counter()
        act()
        taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(taken)


def _row(name: str, value: float, bar_ms: float) -> Row:
    return row(name, value, "ms", bar_ms, runs=RUNS)
