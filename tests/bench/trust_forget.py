"""Measures forgetting: a conversation with 100 items and as many facts, from the first look to the receipt."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from core.app.forgetting.forgetting_run import ForgetRequest, forget
from core.kernel import paths
from core.kernel.ids import make_id
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.facts import Quote
from core.kernel.values.knowledge import (
    Category,
    ForgetTarget,
    HarvestLedgerEntry,
    LedgerStatus,
    NewItem,
    Provenance,
)
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.evidence_rows import EVIDENCE_FILE
from core.knowledge.ledger import hash_source, timestamp
from core.talk.discussion import discussion_store
from tests.bench.__main__ import Row, row

ITEMS, TURNS, OTHERS = 100, 200, 5
RUNS = 5
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def rows() -> list[Row]:
    """Measure in temporary homes. The value is a median; the catalog's rebuild behind it is not in it."""
    taken = [_run() for _ in range(RUNS)]
    return [row(f"forget of a conversation with {ITEMS} items", statistics.median(taken), "s", 1, runs=RUNS)]


def _run() -> float:
    with tempfile.TemporaryDirectory() as folder:
        places = {"XDG_CACHE_HOME": f"{folder}/cache", "XDG_STATE_HOME": f"{folder}/state"}
        with mock.patch.dict(os.environ, places):
            home = Path(folder, "home")
            names = [_harvested(home, number) for number in range(OTHERS + 1)]
            start = time.perf_counter()
            receipt = forget(ForgetRequest(home, ForgetTarget((names[0],)), NOW, "forget"))
            taken = time.perf_counter() - start
            assert (receipt.items, receipt.problems) == (ITEMS, ())
            assert names[0].encode() not in (paths.knowledge_dir(home) / EVIDENCE_FILE).read_bytes()
            return taken


def _harvested(home: Path, number: int) -> str:
    """A conversation whose items are known. Returns its id."""
    name = make_id(NOW, f"talk {number}")
    said = tuple(
        MessageRecord(f"m{turn}", NOW, Role.USER, (TextPart(f"Reading {turn} of gauge {number}."),))
        for turn in range(TURNS)
    )
    discussion_store.create(home, DiscussionMeta(name, f"Gauge {number}", NOW, "local", "m"), said)
    log = paths.log_file(home, name)
    source = hash_source(log)
    entry = HarvestLedgerEntry(
        source.sha256, str(log), LedgerStatus.HARVESTED, timestamp(NOW), size_bytes=source.size_bytes
    )
    items = [
        NewItem(
            Category.FACTS,
            f"Gauge {number} read {turn} centimetres at low water.",
            provenance=Provenance(f"2026-11-23-gauge-{number}", "2026-11-23"),
            quote=Quote((f"m{turn}",), f"Reading {turn} of gauge {number}."),
        )
        for turn in range(ITEMS)
    ]
    with begin_apply(home, NOW, seed=f"apply {number}") as apply:
        apply.append(items, entry)
        finish_apply(apply)
    return name
