"""The suite of retrieval makes each of its rows, at a size that takes a moment and says nothing of speed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.kernel.values.retrieval import Corpus
from core.retrieval.embedders import MODEL_NAME
from core.retrieval.embedding import DIMENSION
from core.retrieval.front_matter import FieldNames
from core.retrieval.sources import SourceText, read_file_source
from tests.bench import (
    retrieval_corpus,
    retrieval_index,
    retrieval_memory,
    retrieval_quality,
    retrieval_search,
)
from tests.bench.__main__ import SUITES
from tests.core.retrieval.test_quality import OwnModel, loaded


class InThisProcess(OwnModel):
    """The model and the reading without a process of their own."""

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        measure = self.model.tokens.starts
        return read_file_source(
            corpus,
            path,
            str(file),
            measure,
            known_sha256=known_sha256,
            fields=FieldNames(),
            tells_language=tells_language,
        )

    def close(self) -> None: ...


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_index, "RUNS", 1)
    monkeypatch.setattr(retrieval_index, "MiniLM", loaded)
    monkeypatch.setattr(retrieval_search, "MiniLM", loaded)
    monkeypatch.setattr(retrieval_index, "LocalEmbedder", InThisProcess)
    monkeypatch.setattr(retrieval_search, "LocalEmbedder", InThisProcess)


def test_the_suite_names_its_modules() -> None:
    assert SUITES["retrieval"] == tuple(
        f"tests.bench.retrieval_{name}" for name in ("search", "index", "quality")
    )
    asked = retrieval_corpus.sizes(["--chunks", "5,6", "--cosqa", "x"])
    assert (asked.chunks, asked.cosqa) == ((5, 6), "x")


def test_the_rows_of_a_search_come_with_their_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(module: str, *arguments: str) -> dict[str, float]:
        assert module == retrieval_memory.__name__
        retrieval_memory.main(*arguments)
        found: dict[str, float] = json.loads(capsys.readouterr().out)
        return found

    monkeypatch.setattr(retrieval_search, "measured", measured)
    rows = {row["name"]: row for row in retrieval_search.rows(["--small"])}
    assert len(rows) == 10
    assert rows["search / its parts alone, 500 chunks"]["bar"] == "at most 1.3"
    assert all(row["value"] > 0 for row in rows.values())
    assert rows["vectors on disk, 500 chunks"]["value"] == pytest.approx(500 * DIMENSION / 1e6)


def test_the_rows_of_indexing_come() -> None:
    rows = retrieval_index.rows(["--small"])
    assert [row["bar"] for row in rows if row["bar"]] == ["at least 0.7", "at least 0.85"]
    assert len(rows) == 8
    assert all(row["value"] > 0 for row in rows)
    assert InThisProcess.name == MODEL_NAME


def test_the_rows_of_navigation_come_beside_those_of_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval_quality, "BUDGETS", (1_000,))
    monkeypatch.setattr(retrieval_quality, "MiniLM", loaded)
    rows = {
        row["name"]: row["value"]
        for row in retrieval_quality._navigation(tmp_path, retrieval_quality._Model())
    }
    assert len(rows) == 8
    found = {name: value for name, value in rows.items() if name.endswith("notes found")}
    assert (
        0
        < found["navigation, paraphrased: notes found"]
        < found["navigation, by its words: notes found"]
        <= 1
    )
    assert all(value > 100 for name, value in rows.items() if name.endswith("tokens"))
