"""One indexing run: what is new or changed is read, what is gone is taken out, then vectors are made. Incremental by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from core.base.errors import SlopError
from core.retrieval.chunker import embedded_text
from core.retrieval.embedder import Embedder, EmbedError, SourceReader
from core.retrieval.local_store import LocalStore
from core.retrieval.sources import SourceFile, find_sources
from core.retrieval.store import SourceKey, SourceState
from core.values.retrieval import Corpus, IndexProgress, IndexReport, SearchPlaces

EMBED_BATCH = 32
EMBED_S = 120.0


Progress = Callable[[IndexProgress], None]
"""Told on the way; raising SlopError stops the run between two files, and what is done stays done."""

NotesRead = Callable[[Mapping[str, list[SourceFile]]], Iterable[tuple[str, str]]]
"""Takes the notes of each root once they are read; gives files that could not be written, with the reason."""


def index(
    store: LocalStore,
    reader: SourceReader,
    embedder: Embedder | None,
    home: Path,
    places: SearchPlaces,
    on_progress: Progress = lambda _: None,
    on_notes: NotesRead = lambda _: (),
) -> IndexReport:
    """Bring the index to what the files say.

    Args:
        on_notes: called once all files are read, before the vectors, with the notes of each root.

    Raises:
        SlopError: the index cannot be written, or the run was stopped.
    """
    run = _IndexRun(store, reader, on_progress)
    notes: dict[str, list[SourceFile]] = {}
    for corpus in places.corpora:
        for scope, files in find_sources(home, places, corpus):
            run.take(corpus, scope, files)
            if corpus is Corpus.NOTES:
                notes[scope] = files
    run.passed_over += on_notes(notes)
    why = run.embed(embedder) if embedder is not None else ""
    return IndexReport(run.read, run.unchanged, run.removed, run.vectors, tuple(run.passed_over), why)


class _IndexRun:
    def __init__(self, store: LocalStore, reader: SourceReader, on_progress: Progress) -> None:
        self._store, self._reader, self._tell = store, reader, on_progress
        self.read = self.unchanged = self.removed = self.vectors = self.looked = self.total = 0
        self.passed_over: list[tuple[str, str]] = []

    def take(self, corpus: Corpus, scope: str, files: list[SourceFile]) -> None:
        """Read what changed of a corpus, and take out what is gone."""
        known = self._store.sources(corpus, scope)
        self.total += len(files)
        here = {one.key.path for one in files}
        self.removed += self._store.remove(
            SourceKey(corpus, scope, path) for path in known if path not in here
        )
        for one in files:
            self._tell(IndexProgress(self.looked, self.total, self.vectors, doing=one.key.path))
            self._look(one, known.get(one.key.path))
            self.looked += 1

    def _look(self, one: SourceFile, known: SourceState | None) -> None:
        if known is not None and known.stamp == one.stamp:
            self.unchanged += 1
            return
        if one.is_too_large:
            self.passed_over.append((one.key.path, f"it has {one.size_bytes:,} bytes"))
            return
        with self._store.turn():
            self._read(one, known.sha256 if known is not None else "")

    def _read(self, one: SourceFile, known_sha256: str) -> None:
        try:
            reading = self._reader.read(one.key.corpus, one.key.path, one.path, known_sha256)
        except SlopError as error:
            self.passed_over.append((one.key.path, error.what))
            return
        if reading.is_known:
            self._store.touch(one.key, one.stamp)
            self.unchanged += 1
            return
        if reading.problem:
            self.passed_over.append((one.key.path, reading.problem))
        state = SourceState(one.stamp, reading.sha256, reading.head)
        self._store.put(one.key, state, reading.chunks)
        self.read += 1

    def embed(self, embedder: Embedder) -> str:
        """Give every chunk its vector. Why it ended early, empty where it did not."""
        while True:
            with self._store.turn():
                bare = self._store.bare(EMBED_BATCH * 8)
                if not bare:
                    return ""
                try:
                    vectors = embedder.embed([embedded_text(chunk) for _, chunk in bare], timeout_s=EMBED_S)
                except EmbedError as error:
                    return error.what
                self._store.give(
                    {candidate: row.tobytes() for (candidate, _), row in zip(bare, vectors, strict=True)}
                )
            self.vectors += len(bare)
            self._tell(IndexProgress(self.looked, self.total, self.vectors))
