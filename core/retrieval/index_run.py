"""One indexing run: what is new or changed is read, what is gone is taken out, then vectors are made. Incremental by content."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from core.base.errors import SlopError
from core.base.figures import count
from core.base.paths import project_file
from core.context.ignores import NAME as IGNORE_FILE
from core.context.places import is_inside
from core.retrieval.chunker import embedded_text, parted
from core.retrieval.counts import scopes
from core.retrieval.embedder import (
    Embedder,
    EmbedError,
    EmbedsAway,
    NoVectorError,
    SourceReader,
    sound_vectors,
)
from core.retrieval.local_store import LocalStore
from core.retrieval.source_text import SourceText
from core.retrieval.sources import FoundSources, SourceFile, find_sources, stamp_of
from core.retrieval.store import SourceKey, SourceState
from core.values.retrieval import Corpus, IndexProgress, IndexReport, SearchPlaces

EMBED_BATCH = 32
EMBED_S = 120.0
PLAIN_TEXT = "A plain sentence."
"""Asked for where a passage gets no vector: an embedder that makes none of this makes none at all."""
_KEYS, _SHOWN = "keys", "shown"
"""Beginnings of stamps of files of keys: left out, or in the index because the person said that they hold none."""
AHEAD = 2
"""Files that are read before the one that is being written."""


Progress = Callable[[IndexProgress], None]
"""Told on the way; raising SlopError stops the run between two files, and what is done stays done."""

NotesRead = Callable[[Mapping[str, list[SourceFile]]], Iterable[tuple[str, str]]]
"""Takes the notes of each root once they are read; gives files that could not be written, with the reason."""


class Indexed(NamedTuple):
    """Outcome of a run, and the folders that it looked into."""

    report: IndexReport
    folders: tuple[str, ...]


def index(
    store: LocalStore,
    reader: SourceReader,
    embedder: Embedder | None,
    home: Path,
    places: SearchPlaces,
    on_progress: Progress = lambda _: None,
    on_notes: NotesRead = lambda _: (),
) -> Indexed:
    """Bring the index to what the files say. Files that give nothing stand in the index, with the reason; the report names
    what could not come into it.

    Args:
        embedder: None leaves new chunks without vectors.
        on_notes: called once all files are read, before the vectors, with the notes of each root.

    Raises:
        SlopError: the index cannot be written, or the run was stopped.
    """
    run = _IndexRun(store, reader, on_progress, is_served=isinstance(embedder, EmbedsAway))
    store.mend_vectors()
    notes: dict[str, list[SourceFile]] = {}
    folders: dict[str, None] = {}
    for corpus in places.corpora:
        for found in find_sources(home, places, corpus):
            run.take(corpus, found)
            folders |= dict.fromkeys(found.folders)
            if corpus is Corpus.NOTES:
                notes[found.scope] = found.files
    run.passed_over += on_notes(notes)
    why = run.embed(embedder) if embedder is not None else ""
    report = IndexReport(run.read, run.unchanged, run.removed, run.vectors, tuple(run.passed_over), why)
    return Indexed(report, tuple(folders))


def drop_unnamed(store: LocalStore, places: SearchPlaces, project: str) -> int:
    """Take out what no place names any more: folders of this project that its settings left, and folders that are gone.

    The index is of all projects of a home: what others name outside of this one stays.

    Args:
        project: absolute root, empty for none.

    Returns:
        How many sources went. Raises SlopError: the index cannot be written.
    """
    named = set(scopes(places))
    root = os.path.realpath(project) if project else ""
    gone = [
        (corpus, scope)
        for corpus, scope in store.scopes()
        if scope and (corpus, scope) not in named and (_is_of(scope, root) or not os.path.isdir(scope))
    ]
    keys = [SourceKey(corpus, scope, path) for corpus, scope in gone for path in store.sources(corpus, scope)]
    if not keys:
        return 0
    with store.turn():
        return store.forget(keys)


def _is_of(folder: str, root: str) -> bool:
    """True if a folder lies in a project, and in no other project within that."""
    if not root or not is_inside(folder, root):
        return False
    between = [
        one
        for one in (Path(folder), *Path(folder).parents)
        if one != Path(root) and is_inside(str(one), root)
    ]
    return not any(project_file(one).exists() for one in between)


class _IndexRun:
    """A run.

    Args:
        is_served: vectors come from a server, whose tokenizer nobody here has.
    """

    def __init__(
        self, store: LocalStore, reader: SourceReader, on_progress: Progress, *, is_served: bool
    ) -> None:
        self._store, self._reader, self._tell, self._is_served = store, reader, on_progress, is_served
        self.read = self.unchanged = self.removed = self.vectors = self.looked = self.total = 0
        self.passed_over: list[tuple[str, str]] = []

    def take(self, corpus: Corpus, found: FoundSources) -> None:
        """Read what changed of a corpus, and take out what is gone. A file is read while another is written."""
        files = found.files
        known = self._store.sources(corpus, found.scope)
        self.total += len(files)
        here = {one.key.path for one in files}
        self.removed += self._store.remove(
            SourceKey(corpus, found.scope, path)
            for path in known
            if path not in here and not found.is_unread(path)
        )
        self.passed_over += [
            (_shown(one or found.scope), "this folder cannot be read") for one in found.unread
        ]
        if found.rules_passed_over:
            said = count(found.rules_passed_over, "rule")
            self.passed_over.append(
                (_shown(os.path.join(found.scope, IGNORE_FILE)), f"not followed: {said} of it")
            )
        waiting: deque[tuple[SourceFile, str, Future[SourceText]]] = deque()
        with ThreadPoolExecutor(1, "index-read") as pool:
            try:
                for one in files:
                    self._say(one)
                    if self._is_wanted(one, state := known.get(one.key.path)):
                        sha256 = state.sha256 if state is not None else ""
                        asked = one.key.corpus, one.key.path, one.path, sha256
                        waiting.append((one, sha256, pool.submit(self._reader.read, *asked)))
                    if len(waiting) > AHEAD:
                        self._keep(*waiting.popleft())
                while waiting:
                    self._say(waiting[0][0])
                    self._keep(*waiting.popleft())
            finally:
                for _, _, reading in waiting:
                    reading.cancel()

    def _say(self, one: SourceFile) -> None:
        self._tell(IndexProgress(self.looked, self.total, self.vectors, doing=_shown(one.key.path)))

    def _is_wanted(self, one: SourceFile, known: SourceState | None) -> bool:
        """True if a file must be read. It counts as looked at where it need not."""
        name = _shown(one.key.path)
        if name != one.key.path:
            self.passed_over.append((name, "its name is no text in UTF-8"))
        elif one.keys:
            self._leave(one, known, f"{_KEYS}:{one.stamp}", one.keys)
        elif one.is_too_large:
            self._leave(one, known, f"large:{one.stamp}", f"it has {one.size_bytes:,} bytes")
        elif known is not None and self._is_same(one, known.stamp):
            self.unchanged += 1
        else:
            return True
        self.looked += 1
        return False

    @staticmethod
    def _is_same(one: SourceFile, stamp: str) -> bool:
        """True if a file is as the index knows it, and counts as it did then."""
        return stamp in {one.stamp, f"{_SHOWN if one.is_shown else _KEYS}:{one.stamp}"}

    def _leave(self, one: SourceFile, known: SourceState | None, stamp: str, problem: str) -> None:
        """Note a file that is not to be read, in place of what was read of it."""
        if known is not None and known.stamp == stamp:
            return
        with self._store.turn():
            self._store.put(one.key, SourceState(stamp, "", problem=problem), ())
        self.removed += known is not None and known.chunks > 0

    def _keep(self, one: SourceFile, known_sha256: str, read: Future[SourceText]) -> None:
        """Write what was read, in a turn of its own: a file that changed or went since it was listed is read once more,
        for a forgetting may have come between.
        """
        self.looked += 1
        with self._store.turn():
            try:
                reading = read.result()
                if not _is_as_listed(one):
                    reading = self._reader.read(one.key.corpus, one.key.path, one.path, known_sha256)
            except SlopError as error:
                self.passed_over.append((one.key.path, error.what))
                return
            # A file that may change unseen, or that could not be read, is looked at again by the next run.
            stamp = "" if one.is_young or not reading.sha256 else one.stamp
            if reading.is_known:
                self._store.touch(one.key, stamp)
                self.unchanged += 1
                return
            if reading.keys:  # read again when it is shown, or is no longer
                kind = _SHOWN if one.is_shown else _KEYS
                reading = replace(reading if one.is_shown else SourceText(problem=reading.keys), sha256="")
                stamp = stamp and f"{kind}:{stamp}"
            state = SourceState(stamp, reading.sha256, reading.head, problem=reading.problem)
            chunks = reading.chunks
            if self._is_served:
                chunks = tuple(part for chunk in chunks for part in parted(chunk))
            self._store.put(one.key, state, chunks)
            self.read += 1

    def embed(self, embedder: Embedder) -> str:
        """Give every chunk its vector. Why it ended early, empty where it did not."""
        total = self._store.bare_count()
        if total:
            self._tell(IndexProgress(self.looked, self.total, bare=total))
        refused: list[str] = []
        # A few a turn: what a slow model has made stays, and a forgetting, and who stops the run, wait for no more than that.
        while True:
            with self._store.turn():
                bare = self._store.bare(EMBED_BATCH)
                if not bare:
                    return (
                        f"{count(len(refused), 'passage')} found by words alone: {refused[0]}"
                        if refused
                        else ""
                    )
                texts = [embedded_text(chunk) for _, chunk in bare]
                try:
                    vectors = _made(embedder, texts, refused)
                except EmbedError as error:
                    return error.what
                self._store.give({place: vector for (place, _), vector in zip(bare, vectors, strict=True)})
            self.vectors += len(bare)
            self._tell(IndexProgress(self.looked, self.total, self.vectors, max(total, self.vectors)))


def _made(embedder: Embedder, texts: list[str], refused: list[str]) -> list[bytes]:
    """Vectors of texts. One of which none can be made gets all zeros, which no search finds: asked for again and again, it
    would keep all behind it from theirs.

    Args:
        refused: gets why, for each such text.

    Raises:
        EmbedError: the embedder is away or makes vectors of nothing.
    """
    try:
        return [row.tobytes() for row in sound_vectors(embedder, texts, timeout_s=EMBED_S)]
    except NoVectorError as error:
        if len(texts) > 1:
            middle = len(texts) // 2
            return [*_made(embedder, texts[:middle], refused), *_made(embedder, texts[middle:], refused)]
        sound_vectors(embedder, [PLAIN_TEXT], timeout_s=EMBED_S)
        refused.append(error.what)
        return [bytes(embedder.dimension)]


def _is_as_listed(one: SourceFile) -> bool:
    try:
        return stamp_of(os.stat(one.path)) == one.stamp
    except OSError:
        return False


def _shown(path: str) -> str:
    """A path as text: what is none in it is replaced."""
    return path.encode("utf-8", "replace").decode()
