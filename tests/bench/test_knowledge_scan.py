"""The benchmark of the scan reads what it says, at a small size."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel import paths
from tests.bench import knowledge_scan


def test_it_makes_so_many_conversations_of_so_many_bytes_no_two_the_same(tmp_path: Path) -> None:
    knowledge_scan.make_conversations(tmp_path, 30, 30 * 40_000)

    logs = list(paths.discussions_dir(tmp_path).glob("*/log.jsonl"))
    found = knowledge_scan.look(tmp_path)
    assert len(logs) == len(found) == len({one.facts.sha256 for one in found}) == 30
    assert sum(path.stat().st_size for path in logs) == pytest.approx(30 * 40_000, rel=0.01)


def test_its_rows_hold_at_a_small_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_scan, "CONVERSATIONS", 20)
    monkeypatch.setattr(knowledge_scan, "BYTES", 20 * 20_000)
    monkeypatch.setattr(knowledge_scan, "OTHER_ENTRIES", 50)
    monkeypatch.setattr(knowledge_scan, "RUNS", 1)

    rows = knowledge_scan.rows()

    assert [row["unit"] for row in rows] == ["ms", "ms", "times", "ms"]
    assert all(0 < row["value"] < 60_000 for row in rows)
