"""One indexing run: what is new or changed is read, what is gone is taken out, then vectors are made. Incremental by content."""

from __future__ import annotations

import hashlib
import os
import socket
import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import from_json, to_json
from core.kernel.disk import OS_DISK, Disk, make_dirs, remove_file, write_file
from core.kernel.errors import SlopError
from core.kernel.figures import count
from core.kernel.language import english, tr
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.paths import project_file
from core.kernel.values.retrieval import Corpus, IndexProgress, IndexReport, SearchPlaces
from core.retrieval.chunker import embedded_text, parted
from core.retrieval.embedding import instruction_of
from core.retrieval.index_file import FILE_NAME, IndexFaultError, delete_index, stored_model
from core.retrieval.index_store import HOME_CORPORA, ServerFaultError, SourceKey, SourceState, VectorStore
from core.retrieval.local_store import LocalStore
from core.retrieval.nearness import MINILM, OWN, Scale, measured
from core.retrieval.postgres_connection import ServerAddress, index_schemas
from core.retrieval.postgres_store import PostgresStore
from core.retrieval.remote_embedder import (
    Embedder,
    EmbedError,
    EmbedsAway,
    NoVectorError,
    SourceReader,
    sound_vectors,
)
from core.retrieval.sources import FoundSources, SourceFile, SourceText, find_sources, scopes, stamp_of
from core.services.providers.key_names import SERVER_KEY
from core.services.providers.keys import KeyStore
from core.talk.context.globs import is_inside
from core.talk.context.ignores import NAME as IGNORE_FILE

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
    """Outcome of a run, the folders that it looked into, and whether it read another language than English."""

    report: IndexReport
    folders: tuple[str, ...]
    is_foreign: bool = False


def index(
    store: LocalStore,
    reader: SourceReader,
    embedder: Embedder | None,
    home: Path,
    places: SearchPlaces,
    on_progress: Progress = lambda _: None,
    on_notes: NotesRead = lambda _: (),
    *,
    tells_language: bool = False,
    leaves_foreign: bool = False,
) -> Indexed:
    """Bring the index to what the files say. Files that give nothing stand in the index, with the reason; the report names
    what could not come into it.

    Args:
        embedder: None leaves new chunks without vectors.
        tells_language: whether the answer's `is_foreign` is told.
        leaves_foreign: give no chunk its vector once another language than English was read; wants `tells_language`.
        on_notes: called once all files are read, before the vectors, with the notes of each root.

    Raises:
        SlopError: the index cannot be written, or the run was stopped.
    """
    run = _IndexRun(
        store,
        reader,
        on_progress,
        is_served=isinstance(embedder, EmbedsAway),
        tells_language=tells_language,
    )
    store.mend_vectors()
    notes: dict[str, list[SourceFile]] = {}
    folders: dict[str, None] = {}
    left_out: Counter[str] = Counter()
    for corpus in places.corpora:
        for found in find_sources(home, places, corpus):
            run.take(corpus, found)
            folders |= dict.fromkeys(found.folders)
            if corpus is Corpus.NOTES:
                notes[found.scope] = found.files
                left_out.update(found.left_out)
    run.passed_over += on_notes(notes)
    is_left = run.is_foreign and leaves_foreign
    why = run.embed(embedder) if embedder is not None and not is_left else ""
    report = IndexReport(
        read=run.read,
        unchanged=run.unchanged,
        removed=run.removed,
        vectors=run.vectors,
        passed_over=tuple(run.passed_over),
        no_vectors=why,
        left_out=tuple(left_out.most_common()) if Corpus.NOTES in places.corpora else None,
    )
    return Indexed(report=report, folders=tuple(folders), is_foreign=run.is_foreign)


def note_scale(store: LocalStore, embedder: Embedder) -> None:
    """Measure how a model's cosines are to be read, where nobody knows it yet. Until it answers, they count as they are."""
    if embedder.name not in OWN and store.scale() is None:
        with suppress(EmbedError):
            store.note_scale(measured(embedder, timeout_s=EMBED_S))


def known_scale(store: LocalStore) -> Scale:
    """The scale of an index's model; cosines as they are where it was not measured, or cannot be read."""
    with suppress(IndexFaultError):
        return store.scale() or MINILM
    return MINILM


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
    keys = [
        SourceKey(corpus=corpus, scope=scope, path=path)
        for corpus, scope in gone
        for path in store.sources(corpus, scope)
    ]
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
        tells_language: whether it is told that another language than English was read, which takes a model of its own.
    """

    def __init__(
        self,
        store: LocalStore,
        reader: SourceReader,
        on_progress: Progress,
        *,
        is_served: bool,
        tells_language: bool,
    ) -> None:
        self._store, self._tell, self._is_served = store, on_progress, is_served
        self._read = partial(reader.read, tells_language=tells_language)
        self.read = self.unchanged = self.removed = self.vectors = self.looked = self.total = 0
        self.passed_over: list[tuple[str, str]] = []
        self.is_foreign = False

    def take(self, corpus: Corpus, found: FoundSources) -> None:
        """Read what changed of a corpus, and take out what is gone. A file is read while another is written."""
        files = found.files
        known = self._store.sources(corpus, found.scope)
        self.total += len(files)
        here = {one.key.path for one in files}
        self.removed += self._store.remove(
            SourceKey(corpus=corpus, scope=found.scope, path=path)
            for path in known
            if path not in here and not found.is_unread(path)
        )
        self.passed_over += [
            (_shown(one or found.scope), tr("this folder cannot be read")) for one in found.unread
        ]
        if found.rules_passed_over:
            said = count(found.rules_passed_over, tr("rule"), tr("rules"))
            self.passed_over.append(
                (
                    _shown(os.path.join(found.scope, IGNORE_FILE)),
                    tr(
                        "the program does not understand {rules} of this file and does not apply them",
                        rules=said,
                    ),
                )
            )
        waiting: deque[tuple[SourceFile, str, Future[SourceText]]] = deque()
        with ThreadPoolExecutor(1, "index-read") as pool:
            try:
                for one in files:
                    self._say(one)
                    if self._is_wanted(one, state := known.get(one.key.path)):
                        sha256 = state.sha256 if state is not None else ""
                        asked = one.key.corpus, one.key.path, one.path, sha256
                        waiting.append((one, sha256, pool.submit(self._read, *asked)))
                    if len(waiting) > AHEAD:
                        self._keep(*waiting.popleft())
                while waiting:
                    self._say(waiting[0][0])
                    self._keep(*waiting.popleft())
            finally:
                for _, _, reading in waiting:
                    reading.cancel()

    def _say(self, one: SourceFile) -> None:
        self._tell(
            IndexProgress(
                files=self.looked, total=self.total, vectors=self.vectors, doing=_shown(one.key.path)
            )
        )

    def _is_wanted(self, one: SourceFile, known: SourceState | None) -> bool:
        """True if a file must be read. It counts as looked at where it need not."""
        name = _shown(one.key.path)
        if name != one.key.path:
            self.passed_over.append((name, tr("the file's name is not UTF-8 text")))
        elif one.keys:
            self._leave(one, known, f"{_KEYS}:{one.stamp}", one.keys)
        elif one.is_too_large:
            self._leave(
                one,
                known,
                f"large:{one.stamp}",
                tr("the file has {size_bytes:,} bytes", size_bytes=one.size_bytes),
            )
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
            self._store.put(one.key, SourceState(stamp=stamp, sha256="", problem=english(problem)), ())
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
                    reading = self._read(one.key.corpus, one.key.path, one.path, known_sha256)
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
            state = SourceState(
                stamp=stamp, sha256=reading.sha256, head=reading.head, problem=english(reading.problem)
            )
            chunks = reading.chunks
            if self._is_served:
                chunks = tuple(part for chunk in chunks for part in parted(chunk))
            self._store.put(one.key, state, chunks)
            self.read += 1
            self.is_foreign |= reading.is_foreign

    def embed(self, embedder: Embedder) -> str:
        """Give every chunk its vector. Why it ended early, empty where it did not."""
        total = self._store.bare_count()
        if total:
            self._tell(IndexProgress(files=self.looked, total=self.total, bare=total))
        refused: list[str] = []
        before = instruction_of(embedder.name).passage
        # A few a turn: what a slow model has made stays, and a forgetting, and who stops the run, wait for no more than that.
        while True:
            with self._store.turn():
                bare = self._store.bare(EMBED_BATCH)
                if not bare:
                    return (
                        tr(
                            "{refused} can be found only by keywords: {refused2}",
                            refused=count(len(refused), tr("passage"), tr("passages")),
                            refused2=refused[0],
                        )
                        if refused
                        else ""
                    )
                texts = [before + embedded_text(chunk) for _, chunk in bare]
                try:
                    vectors = _made(embedder, texts, refused)
                except EmbedError as error:
                    return error.what
                self._store.give({place: vector for (place, _), vector in zip(bare, vectors, strict=True)})
            self.vectors += len(bare)
            self._tell(
                IndexProgress(
                    files=self.looked, total=self.total, vectors=self.vectors, bare=max(total, self.vectors)
                )
            )


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
    """A path as text: bytes that are no text are replaced."""
    return path.encode("utf-8", "replace").decode()


# The index on a server brought to what the one on this machine says: nothing is read or embedded a second
# time.

_MUCH = 10
"""Share of the sources, one in so many, from which on what was written is counted anew by the server."""


def server_store(home: Path, url: str, model: str, dimension: int) -> PostgresStore:
    """The index on a server, its password from the keyring. Nothing is reached yet."""
    return PostgresStore(_address(home, url), model, dimension, owner=_owner(home))


def stores_of_home(home: Path, url: str) -> Iterator[PostgresStore]:
    """Every index that a server has of a home, one for each model that was ever in use. Raises ServerFaultError."""
    for schema in index_schemas(_address(home, url)):
        yield PostgresStore.of_schema(_address(home, url), schema, _owner(home))


def _address(home: Path, url: str) -> ServerAddress:
    def find() -> str:
        return KeyStore(home).find(SERVER_KEY, ()).value

    return ServerAddress(url, find)


def _owner(home: Path) -> str:
    return hashlib.sha256(f"{socket.gethostname()}\0{home.resolve()}".encode()).hexdigest()[:16]


def mirror(
    here: LocalStore,
    server: PostgresStore,
    places: SearchPlaces,
    on_progress: Callable[[IndexProgress], None] = lambda _: None,
    *,
    is_anew: bool = False,
) -> str:
    """Bring the server to what this machine's index says. Why it could not be, empty where it could.

    Args:
        is_anew: also what the server has already.

    Raises:
        SlopError: the index here cannot be read, or `on_progress` stopped it; what is done stays done.
    """
    try:
        for corpus, scope in scopes(places):
            ours, theirs = here.sources(corpus, scope), server.sources(corpus, scope)
            server.remove(
                SourceKey(corpus=corpus, scope=scope, path=path) for path in theirs.keys() - ours.keys()
            )
            written = 0
            for done, (path, state) in enumerate(sorted(ours.items())):
                if not is_anew and _is_same(state, theirs.get(path)):
                    continue
                on_progress(IndexProgress(files=done, total=len(ours), doing=path))
                key = SourceKey(corpus=corpus, scope=scope, path=path)
                with here.turn():  # what is forgotten meanwhile does not follow the word that it is
                    chunks = here.chunks(key)
                    if chunks or not state.chunks:
                        vectors = {
                            embedded_text(chunk): vector for chunk, vector in chunks if vector is not None
                        }
                        server.put(key, state, [chunk for chunk, _ in chunks], vectors)
                        written += 1
            if written * _MUCH >= len(ours) > 0:
                server.analyse(corpus)
    except ServerFaultError as error:
        return error.what
    return ""


def _is_same(ours: SourceState, theirs: SourceState | None) -> bool:
    return theirs is not None and (ours.sha256, ours.head, ours.chunks, ours.bare) == (
        theirs.sha256,
        theirs.head,
        theirs.chunks,
        theirs.bare,
    )


# Words of a home leave its index: in place where that can be seen done, else with the whole index; and
# leave a server.

TURN_S = 150.0
"""Longest wait for a run that reads a file, or has its passages embedded (`EMBED_S` at most)."""

_DEBTS, _DEBT = "forgetting", ".server.json"


class ServerDebt(msgspec.Struct, frozen=True):
    """A forgetting that a server was not told of yet. It holds no words.

    Args:
        id: of the forgetting; url: of the server; discussion_ids: conversations that went.
    """

    id: str
    url: str
    discussion_ids: tuple[str, ...] = ()


def erase_in_index(home: Path, discussion_ids: Collection[str]) -> tuple[int, bool]:
    """Take conversations that went, and knowledge as it stood before, out of each index on this machine, words and vectors.

    A run under way waits meanwhile: what it has read is not written afterwards. An index in which that cannot be done is
    deleted whole, and made anew from the files.

    Returns:
        How many sources went, and whether a whole index did.

    Raises:
        OSError: it could be neither erased nor deleted.
    """
    each = [_erase_in(folder, home, discussion_ids) for folder in paths.index_dirs(home)]
    return sum(count for count, _ in each), any(is_whole for _, is_whole in each)


def _erase_in(folder: Path, home: Path, discussion_ids: Collection[str]) -> tuple[int, bool]:
    try:
        model = stored_model(folder)
        if model is not None:
            store = LocalStore(folder, *model)
            with closing(store), store.turn(TURN_S):
                return store.forget(gone_keys(home, _states(store), discussion_ids)), False
    except (IndexFaultError, sqlite3.Error):
        pass  # it goes whole
    count = sum(1 for path in folder.iterdir() if path.name == FILE_NAME or path.suffix == ".i8")
    delete_index(folder)
    return count, True


def gone_keys(
    home: Path, known: Iterable[tuple[SourceKey, SourceState]], discussion_ids: Collection[str]
) -> list[SourceKey]:
    """Sources of a home that an index holds, and that are not there any more as it read them.

    A log only grows: of one that is there nothing is gone, unless it is named.
    """
    places = SearchPlaces(corpora=HOME_CORPORA)
    now = {
        file.key: file.stamp
        for corpus in HOME_CORPORA
        for found in find_sources(home, places, corpus)
        for file in found.files
    }
    return [
        key
        for key, state in known
        if key not in now
        or (key.path in discussion_ids if key.corpus is Corpus.DISCUSSIONS else now[key] != state.stamp)
    ]


def tell_server(home: Path, debt: ServerDebt, *, disk: Disk = OS_DISK) -> tuple[int, str]:
    """Take what went out of a server's tables; what cannot be done now is owed until it is, over restarts too.

    Returns:
        How many sources went, and why the server is told later, empty where it was told.

    Raises:
        StorageError: it was not told, and that could not be noted.
    """
    path = _path(home, debt)
    if not path.exists():
        make_dirs(path.parent, disk=disk)
        write_file(path, to_json(debt), disk=disk)
    count = 0
    try:
        for store in stores_of_home(home, debt.url):
            with closing(store):
                count += store.forget(gone_keys(home, _states(store), debt.discussion_ids), HOME_CORPORA)
    except ServerFaultError as error:
        return 0, error.what
    remove_file(path, disk=disk)
    return count, ""


def owed(home: Path) -> Iterator[ServerDebt]:
    """Forgettings that a server was not told of yet."""
    for path in sorted((home / _DEBTS).glob(f"*{_DEBT}")):
        with suppress(OSError, msgspec.MsgspecError):
            yield from_json(read_file(path, BOOK_BYTES), ServerDebt)


def pay(home: Path, *, disk: Disk = OS_DISK) -> tuple[str, ...]:
    """Tell servers what they were not told yet. Returns the forgettings that they know now, by id. Raises StorageError."""
    paid, away = [], set[str]()
    for debt in owed(home):
        if debt.url not in away:
            _, why = tell_server(home, debt, disk=disk)
            if why:
                away.add(debt.url)
            else:
                paid.append(debt.id)
    return tuple(paid)


def _states(store: VectorStore) -> Iterator[tuple[SourceKey, SourceState]]:
    for corpus in HOME_CORPORA:
        for path, state in store.sources(corpus, "").items():
            yield SourceKey(corpus=corpus, scope="", path=path), state


def _path(home: Path, debt: ServerDebt) -> Path:
    return home / _DEBTS / f"{debt.id}{_DEBT}"
