"""The knowledge benchmark measures what it says, at a small size."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.knowledge.knowledge_reader import read_categories
from core.knowledge.ledger import HarvestLedger
from tests.bench import knowledge_store


def test_it_makes_as_many_items_and_entries_as_it_says(tmp_path: Path) -> None:
    knowledge_store.make_items(tmp_path, 50)
    knowledge_store.make_ledger(tmp_path, 20)

    assert sum(len(file.items) for file in read_categories(tmp_path)) == 50
    assert len(list(HarvestLedger(tmp_path).entries())) == 20


def test_its_rows_hold_at_a_small_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_store, "ITEMS", 100)
    monkeypatch.setattr(knowledge_store, "ENTRIES", 100)
    monkeypatch.setattr(knowledge_store, "RUNS", 1)

    rows = knowledge_store.rows()

    assert [row["unit"] for row in rows] == ["ms"] * 6
    assert all(0 < row["value"] < 5_000 for row in rows)
