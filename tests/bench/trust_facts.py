"""Measures structured facts: 100,000 checked and synced, one file edited, nothing changed; an apply with them and without."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.values.facts import Fact, FactCategory, Quote
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus, NewItem, Provenance
from core.knowledge.apply import Apply, begin_apply, finish_apply
from core.knowledge.fact_store import sync_facts
from core.knowledge.facts.fact_checks import new_file, place_of
from core.knowledge.facts.fact_sync import validate
from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.ledger import timestamp
from tests.bench.__main__ import Row, row
from tests.core.knowledge.harvest.harvests import OLD, Harvest, Model, add_discussion

FILES, EACH = 200, 500
CONVERSATIONS, ITEMS = 20, 500
RUNS, HARVESTS = 5, 3
KINDS = (Category.FACTS, Category.DECISIONS, Category.QUESTIONS, Category.FACTS)
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def rows() -> list[Row]:
    """Measure in temporary homes. Values are medians."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_facts(home)
        first = _median(lambda: (validate(home), sync_facts(home, NOW)), before=lambda: _forget(home))
        edited = _median(lambda: sync_facts(home, NOW), before=lambda: _edit(home))
        before = _bytes(home)
        same = _median(lambda: sync_facts(home, NOW))
        assert _bytes(home) == before, "a sync when nothing changed changed bytes"
    plain, whole = _in_turn(_harvest, HARVESTS)
    bare, full = _in_turn(_apply, RUNS)
    total = f"{FILES * EACH:,}"
    what = f"{CONVERSATIONS} conversations, {CONVERSATIONS * ITEMS:,} items"
    return [
        row(f"first validate and sync of {total} facts in {FILES} files", first, "s", 6, runs=RUNS),
        row(f"one file of {EACH} edited by hand, then sync of {total}", edited, "s", 1, runs=RUNS),
        row(f"sync of {total} facts when nothing changed", same * 1e3, "ms", 200, runs=RUNS),
        row(f"apply of a harvest of {what}, scripted model", plain, "s", runs=HARVESTS),
        row("the same with facts and evidence, times as long", whole / plain, "×", 1.5, runs=HARVESTS),
        row(f"its transaction alone, {what}", bare, "s", runs=RUNS),
        row("the same with facts and evidence, times as long", full / bare, "×", runs=RUNS),
    ]


def make_facts(home: Path) -> None:
    """Files as the program writes them, 500 facts each."""
    folder = paths.knowledge_dir(home) / "repos"
    folder.mkdir(parents=True)
    for number in range(FILES):
        place = place_of(f"repos/repository-{number}.yaml")
        assert place is not None
        items = "".join(item_text(_fact(place.domain, n)) for n in range(1, EACH + 1))
        text = f"{new_file(place, '2026-11-23')}\n## Facts\n\n{items}"
        (folder / f"repository-{number}.yaml").write_text(text, encoding="utf-8")


def _fact(domain: str, number: int) -> Fact:
    text = f"The build of part {number} is made with make {number * 7919 % 9973}, and it runs on every machine of ours."
    return Fact(
        f"{domain}:fact:{number:03d}", text, FactCategory.FACT, domain, 0.7, ("build", "make"), 2,
        "2026-10-01", "2026-11-01",
    )  # fmt: skip


def _forget(home: Path) -> None:
    paths.facts_file(home).unlink(missing_ok=True)
    for name in ("index.json", "events.jsonl"):
        (paths.knowledge_dir(home) / name).unlink(missing_ok=True)


def _edit(home: Path) -> None:
    """Other words in every item of one file, as an editor saves it."""
    path = paths.knowledge_dir(home) / "repos" / "repository-7.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("is made with", f"is made at {time.perf_counter_ns()} with"), encoding="utf-8"
    )


def _bytes(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


def _in_turn(run: Callable[[], float], runs: int) -> tuple[float, float]:
    """Seconds of an apply without parts beside the lines, and with them; the two in turn."""
    plain, whole = [], []
    for _ in range(runs):
        with mock.patch.object(Apply, "_parts", return_value=()):
            plain.append(run())
        whole.append(run())
    return statistics.median(plain), statistics.median(whole)


def _harvest() -> float:
    """Seconds of an apply from the first look to the report: read, distilled by a script, quotes found, written."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        answers: dict[str, str | SlopError] = {}
        for number in range(CONVERSATIONS):
            words = [_words(number, n) for n in range(ITEMS)]
            at = OLD + timedelta(days=number)
            ask = f"What of talk {number}?"
            add_discussion(home, f"Talk {number}", ask, ". ".join(words), at=at, folder="/srv/tides")
            answers[ask] = _reply(words)
        harvest = Harvest(home, Model(answers))
        start = time.perf_counter()
        report = harvest.apply()
        taken = time.perf_counter() - start
        assert (sum(dict(report.items).values()), report.unfound) == (CONVERSATIONS * ITEMS, 0), report
        return taken


def _reply(words: list[str]) -> str:
    found: dict[str, list[dict[str, str]]] = {}
    for n, said in enumerate(words):
        row_of = {"statement": said, "detail": "", "message": "m2", "quote": said[said.index("what ") :]}
        found.setdefault(KINDS[n % len(KINDS)].value, []).append(row_of)
    return json.dumps(found)


def _words(talk: int, number: int) -> str:
    return f"Part {number} of talk {talk} says what stays useful, such as {number * 7919 % 99_991}"


def _apply() -> float:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        batches = [_items(number) for number in range(CONVERSATIONS)]
        start = time.perf_counter()
        with begin_apply(home, NOW, seed="bench") as apply:
            for number, items in enumerate(batches):
                apply.append(items, _entry(number))
            finish_apply(apply)
        return time.perf_counter() - start


def _items(number: int) -> list[NewItem]:
    origin = Provenance(f"2026-11-{number + 1:02}-talk", "2026-11-23")
    return [
        NewItem(
            KINDS[n % len(KINDS)],
            _words(number, n),
            provenance=origin,
            quote=Quote((f"m{n}",), f"what stays useful, such as {n}"),
        )
        for n in range(ITEMS)
    ]


def _entry(number: int) -> HarvestLedgerEntry:
    return HarvestLedgerEntry(
        f"{number:064x}", f"talks/{number}.jsonl", LedgerStatus.HARVESTED, timestamp(NOW), size_bytes=9_000,
        domains=("tides",),
    )  # fmt: skip


def _median(act: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Seconds."""
    taken = []
    for _ in range(RUNS):
        before()
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)
