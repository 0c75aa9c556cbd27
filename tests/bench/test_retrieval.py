"""The suite of retrieval makes each of its rows, at a size that takes a moment and says nothing of speed."""

from __future__ import annotations

import pytest

from bench import retrieval_corpus, retrieval_index, retrieval_quality, retrieval_search
from bench.__main__ import SUITES


def test_the_suite_names_its_modules() -> None:
    assert SUITES["retrieval"] == tuple(
        module.__name__ for module in (retrieval_search, retrieval_index, retrieval_quality)
    )
    assert retrieval_corpus.sizes(["--chunks", "5,6", "--cosqa", "x"]).chunks == (5, 6)


def test_the_rows_of_a_search_come_with_their_parts() -> None:
    rows = {row["name"]: row for row in retrieval_search.rows(["--small", "--chunks", "500"])}
    assert len(rows) == 10
    assert rows["search / its parts alone, 500 chunks"]["bar"] == "at most 1.3"
    assert all(row["value"] > 0 for row in rows.values())


def test_the_rows_of_indexing_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_index, "RUNS", 1)
    rows = retrieval_index.rows(["--small"])
    assert [row["bar"] for row in rows if row["bar"]] == ["at least 0.7", "at least 0.85"]
    assert len(rows) == 8
    assert all(row["value"] > 0 for row in rows)
