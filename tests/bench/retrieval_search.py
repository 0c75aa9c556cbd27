"""Measures one search of an index against its parts alone: FTS5, the scan of the vectors, the query's embedding."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable, Sequence
from itertools import cycle, permutations
from pathlib import Path

import numpy as np
import simsimd

from core.app.crunch import LocalEmbedder
from core.kernel.values.retrieval import Corpus, SearchFilters
from core.kernel.words import fts_expression, query_terms
from core.retrieval.embedders import MiniLM
from core.retrieval.embedding import DIMENSION
from core.retrieval.index_file import FILE_NAME, open_index
from core.retrieval.local_store import LocalStore
from core.retrieval.search import SearchRequest, search
from tests.bench.__main__ import Row, row
from tests.bench.child import measured
from tests.bench.retrieval_corpus import MODEL, SCOPE, SHELF, Sizes, fill, questions, sizes, timed_ms

WHOLE_MS, RATIO, SCAN_MS, MEMORY_MB, DISK_MB = 30.0, 1.3, 40.0, 150.0, 450.0
SMALLER, LARGER = 100_000, 1_000_000
_CANDIDATES = 100
_WARM = 3


def rows(options: Sequence[str] = ()) -> list[Row]:
    """Measure in a temporary folder, an index a size."""
    asked = sizes(options)
    found: list[Row] = []
    embedder = LocalEmbedder()
    try:
        for count in asked.chunks:
            with tempfile.TemporaryDirectory() as passing:
                folder = Path(asked.kept or passing) / f"{count}"
                found += _of_size(folder, count, asked, embedder)
    finally:
        embedder.close()
    return found


def _of_size(folder: Path, count: int, asked: Sizes, embedder: LocalEmbedder) -> list[Row]:
    """Each of the three is in the state in which a question finds it.

    Each has connection and mapping of its own, so that none finds pages that another read for the same question. None has
    asked anything of the model since the question before. Whoever asks first reads from memory what the others find in
    the processor's cache: over six questions each order comes once.
    """
    store, within = fill(folder, count), LocalStore(folder, MODEL, DIMENSION)
    wanted = questions(asked.queries + _WARM)
    parts = _Parts(folder, store)
    figures: list[tuple[float, ...]] = []
    orders = cycle(permutations(range(3)))
    for number, (question, order) in enumerate(zip(wanted, orders, strict=False)):
        measures: list[Callable[[], tuple[float, ...]]] = [
            lambda: (timed_ms(lambda: _search(store, embedder, question)),),  # noqa: B023
            lambda: (timed_ms(lambda: _search(within, embedder, question, folder="3")),),  # noqa: B023
            lambda: parts.measure(question),  # noqa: B023
        ]
        taken = {at: measures[at]() for at in order}
        if number >= _WARM:
            figures.append((*taken[0], *taken[1], *taken[2]))
    whole, narrowed, fts, scan, embedding = (
        statistics.median(column) for column in zip(*figures, strict=True)
    )
    ratio = statistics.median(one[0] / sum(one[2:]) for one in figures)
    narrowing = statistics.median(one[1] / one[0] for one in figures)
    of = f"{count:,} chunks"
    is_smaller, is_larger = count == SMALLER, count == LARGER
    found = [
        row(f"search of {of}, p50", whole, "ms", WHOLE_MS if is_smaller else None, runs=asked.queries),
        row(f"FTS5 alone, {of}", fts, "ms", runs=asked.queries),
        row(f"scan alone, {of}", scan, "ms", SCAN_MS if is_larger else None, runs=asked.queries),
        row(f"embedding of the query alone, {of}", embedding, "ms", runs=asked.queries),
        row(f"search / its parts alone, {of}", ratio, "times", RATIO, runs=asked.queries),
        row(f"search in a tenth of {of}, p50", narrowed, "ms", runs=asked.queries),
        row(f"search in a tenth / in all, {of}", narrowing, "times", 1.0, runs=asked.queries),
    ]
    for one in (store, within, parts):
        one.close()
    memory = measured("tests.bench.retrieval_memory", str(folder), json.dumps(wanted[:5]))
    found += [
        row(f"private memory, {of}", memory["private_mb"], "MB", MEMORY_MB if is_larger else None),
        row(
            f"vectors on disk, {of}",
            (folder / f"{SHELF.name}.i8").stat().st_size / 1e6,
            "MB",
            DISK_MB if is_larger else None,
        ),
        row(f"index on disk, {of}", (folder / FILE_NAME).stat().st_size / 1e6, "MB"),
    ]
    return found


def _search(store: LocalStore, embedder: LocalEmbedder, question: str, folder: str = "") -> None:
    request = SearchRequest(question, (Corpus.NOTES,), (SCOPE,), filters=SearchFilters(folder=folder))
    answer = search(store, embedder, request)
    if answer.degraded or not answer.hits:
        raise AssertionError(answer.reason or "nothing was found")


class _Parts:
    """The libraries alone, on the same files."""

    def __init__(self, folder: Path, store: LocalStore) -> None:
        self._db = open_index(folder, f"bench/{DIMENSION}")
        self._model = MiniLM()
        self._vectors = np.memmap(folder / f"{SHELF.name}.i8", np.int8, "r").reshape(-1, DIMENSION)
        if len(self._vectors) != store.count(SHELF):
            raise AssertionError("a vector is missing")

    def measure(self, question: str) -> tuple[float, float, float]:
        """Milliseconds of FTS5, the scan, the embedding, in the order of a search: each is as cold as the search's own."""
        words = f"words_{SHELF.name}"
        sql = (
            f"SELECT rowid, bm25({words}) AS score FROM {words} WHERE {words} MATCH ? ORDER BY score LIMIT ?"
        )
        asked = fts_expression(query_terms(question)), _CANDIDATES
        vectors: list[np.ndarray[tuple[int], np.dtype[np.int8]]] = []
        embedding = timed_ms(lambda: vectors.extend(self._model.embed([question])))
        fts = timed_ms(lambda: self._db.execute(sql, asked).fetchall())
        scan = timed_ms(lambda: self._scan(vectors[0]))
        return fts, scan, embedding

    def close(self) -> None:
        """Let the files go."""
        self._db.close()

    def _scan(self, query: np.ndarray[tuple[int], np.dtype[np.int8]]) -> None:
        dots = np.asarray(simsimd.dot(self._vectors, query)).ravel()
        best = min(_CANDIDATES, len(dots) - 1)
        np.argpartition(dots, len(dots) - best)[-best:]
