"""Measures indexing against the libraries that do its work, and a run over a tree in which nothing changed."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from core.app.crunch import LocalEmbedder
from core.kernel.secrets import named_secrets
from core.kernel.values.retrieval import Chunk, Corpus, SearchPlaces
from core.kernel.words import TOKENIZER
from core.retrieval.chunker import embedded_text, keyword_text
from core.retrieval.embedders import MODEL_NAME, MiniLM
from core.retrieval.front_matter import FieldNames
from core.retrieval.index_run import EMBED_BATCH, index
from core.retrieval.index_store import SourceKey
from core.retrieval.local_store import LocalStore
from core.retrieval.navigation_files import write_navigation
from core.retrieval.remote_embedder import Embedder
from core.retrieval.sources import find_sources
from tests.bench.__main__ import Row, row
from tests.bench.retrieval_corpus import FOLDERS, Sizes, emptied, sizes, timed_ms, write_notes

WITH, WITHOUT, UNCHANGED_MS = 0.85, 0.7, 1_000.0
RUNS = 3


def rows(options: Sequence[str] = ()) -> list[Row]:
    """Measure in a temporary folder."""
    asked = sizes(options)
    reader = LocalEmbedder()
    try:
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder)
            return [
                *_without_vectors(base, asked, reader),
                *_with_vectors(base, asked, reader),
                *_unchanged(base, asked, reader),
                _listed(base, asked),
            ]
    finally:
        reader.close()


def _without_vectors(base: Path, asked: Sizes, reader: LocalEmbedder) -> list[Row]:
    places = _noted(base / "plain", asked.text_mb)
    _run(base, places, reader, None)  # warms the process and the cache of pages
    ours = min(timed_ms(partial(_run, base, places, reader, None)) for _ in range(RUNS))
    chunks = _chunks(base)
    theirs = min(_libraries_ms(base, chunks) for _ in range(RUNS))
    megabytes = sum(len(chunk.text) for chunk in chunks) / 1e6
    return [
        row(f"index of {megabytes:.1f} MB without vectors", ours, "ms", runs=RUNS),
        row("tokenizer, secrets, FTS5 on its chunks, in sequence", theirs, "ms", runs=RUNS),
        row("without vectors: theirs / ours", theirs / ours, "times", least=WITHOUT, runs=RUNS),
    ]


def _libraries_ms(base: Path, chunks: Sequence[Chunk]) -> float:
    tokens = MiniLM().tokens
    tokens.starts("warm")
    path = base / "fts.sqlite"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"CREATE VIRTUAL TABLE said USING fts5(words, content='', tokenize={TOKENIZER})")

    def work() -> None:
        for chunk in chunks:
            tokens.starts(chunk.text)
        for chunk in chunks:
            named_secrets(chunk.text)
        db.execute("BEGIN")
        db.executemany("INSERT INTO said(words) VALUES(?)", [(keyword_text(chunk),) for chunk in chunks])
        db.execute("COMMIT")

    took = timed_ms(work)
    db.close()
    return took


def _with_vectors(base: Path, asked: Sizes, reader: LocalEmbedder) -> list[Row]:
    places = _noted(base / "embedded", asked.embedded_mb)
    reader.embed(["warm"], timeout_s=60.0)
    ours = timed_ms(lambda: _run(base, places, reader, reader))
    texts = [embedded_text(chunk) for chunk in _chunks(base)]
    model = MiniLM()
    model.embed(["warm"])
    size = EMBED_BATCH
    batches = [texts[start : start + size] for start in range(0, len(texts), size)]
    theirs = timed_ms(lambda: [model.embed(batch) for batch in batches])
    return [
        row("chunks indexed with vectors, a second", len(texts) / ours * 1e3, "chunks"),
        row("chunks embedded by the model alone, a second", len(texts) / theirs * 1e3, "chunks"),
        row("with vectors: ours / the model alone", theirs / ours, "times", least=WITH),
    ]


def _unchanged(base: Path, asked: Sizes, reader: LocalEmbedder) -> list[Row]:
    folder = base / "many"
    _scatter(folder, asked.files)
    places = SearchPlaces((str(folder.resolve()),), corpora=(Corpus.NOTES,))
    store = LocalStore(emptied(base / "index"), MODEL_NAME)

    def run() -> int:
        return index(
            store,
            reader,
            None,
            base / "home",
            places,
            on_notes=lambda notes: write_navigation(store, notes, FieldNames()),
        ).report.unchanged

    run()
    took = min(timed_ms(run) for _ in range(RUNS))
    if run() != asked.files:
        raise AssertionError("a file that did not change was read")
    store.close()
    bar = UNCHANGED_MS if asked.files >= Sizes().files else None
    return [
        row(f"run over {asked.files:,} unchanged notes, their index files too", took, "ms", bar, runs=RUNS)
    ]


def _listed(base: Path, asked: Sizes) -> Row:
    folder = base / "most"
    _scatter(folder, asked.listed)
    places = SearchPlaces((str(folder.resolve()),), corpora=(Corpus.NOTES,))
    took = timed_ms(lambda: list(find_sources(base / "home", places, Corpus.NOTES)))
    return row(f"listing of {asked.listed:,} notes", took, "ms")


def _scatter(folder: Path, count: int) -> None:
    for number in range(count):
        path = folder / f"{number % FOLDERS}" / f"{number // 1_000}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\nA sentence about the number {number}.\n", "utf-8")


def _noted(folder: Path, megabytes: float) -> SearchPlaces:
    write_notes(folder, megabytes)
    return SearchPlaces((str(folder.resolve()),), corpora=(Corpus.NOTES,))


def _run(base: Path, places: SearchPlaces, reader: LocalEmbedder, embedder: Embedder | None) -> None:
    store = LocalStore(emptied(base / "index"), MODEL_NAME)
    report = index(store, reader, embedder, base / "home", places).report
    store.close()
    if report.passed_over or report.no_vectors:
        raise AssertionError((report.passed_over[:1], report.no_vectors))


def _chunks(base: Path) -> list[Chunk]:
    """All that the last run indexed."""
    store = LocalStore(base / "index", MODEL_NAME)
    found: list[Chunk] = []
    for folder in ("plain", "embedded"):
        scope = str((base / folder).resolve())
        for path in store.sources(Corpus.NOTES, scope):
            found += [chunk for chunk, _ in store.chunks(SourceKey(Corpus.NOTES, scope, path))]
    store.close()
    return found
