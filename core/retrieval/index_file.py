"""The index as files: where they are, the schema, opening them, starting over, and taking every word out."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import make_dirs, take_lock
from core.kernel.errors import SlopError, StorageError
from core.kernel.language import tr
from core.kernel.opener import create_missing, require_file
from core.kernel.words import TOKENIZER
from core.retrieval.index_store import SHELVES

SCHEMA_VERSION = 8
FILE_NAME = "index.sqlite"
LOCK_NAME, NEXT_NAME, WANTED_NAME = ".turn.lock", ".next.lock", ".wanted"
"""Lock of who reads and writes, of who is next, and the sign that somebody is."""
TORN_NAME = ".torn"
"""Sign that a search met bytes that make no sense: a run may pass them by for ever."""
BUSY_S = 10.0
UNUSED_S = 30 * 24 * 3600.0
"""Age of the last writing from which on an index of a model on a server is held for given up."""


_UNWRITABLE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR})
"""Errors of SQLite where a file, or its folder, takes nothing."""

_TORN = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
    }
)
"""Errors of SQLite where what it reads makes no sense. A table that is missing is `SQLITE_ERROR`."""


class IndexFaultError(SlopError):
    """The index cannot be read or written. It can be deleted at any time: it is made anew from the files."""

    @property
    def is_torn(self) -> bool:
        """True if its bytes make no sense any more: only making it anew helps."""
        cause = self.__cause__
        if isinstance(cause, sqlite3.ProgrammingError):  # closed meanwhile
            return False
        if isinstance(cause, sqlite3.Error):
            return _code(cause) in _TORN
        return isinstance(cause, RowError)


def _code(error: sqlite3.Error) -> int:
    """SQLite's code of an error; Python's own error, about bytes that are no text, has no code."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


class RowError(ValueError):
    """A row holds a value that the program never writes."""


_SOURCES = """
CREATE TABLE source(
    id INTEGER PRIMARY KEY,
    corpus TEXT NOT NULL,
    scope TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL,
    date TEXT NOT NULL,
    description TEXT NOT NULL,
    problem TEXT NOT NULL,
    UNIQUE(corpus, scope, path));
"""

# A shelf's words are looked for in a table that keeps no text of its own; `free` are rows that may be used again.
# `embedded` is the mark of a chunk's vector in the flat file, 0 where it has none.
_SHELF = """
CREATE TABLE chunk_{name}(
    row INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    date TEXT NOT NULL,
    speaker TEXT NOT NULL,
    embedded INTEGER NOT NULL);
CREATE INDEX source_of_{name} ON chunk_{name}(source, embedded);
CREATE INDEX bare_of_{name} ON chunk_{name}(row) WHERE embedded = 0;
CREATE TABLE free_{name}(row INTEGER PRIMARY KEY);
CREATE VIRTUAL TABLE words_{name} USING fts5(words, content='', tokenize={tokenizer});
"""


def open_index(folder: Path, model: str) -> sqlite3.Connection:
    """Open the index in a folder, made anew where it is of another version or model, or broken.

    One that is whole on a disk that takes nothing is read all the same; what writes in it fails.

    Args:
        folder: private to the index; model: name and dimension of what made its vectors.

    Raises:
        IndexFaultError: it cannot be opened, and cannot be made anew.
    """
    for is_last in (False, True):
        try:
            if (folder / TORN_NAME).exists():
                delete_index(folder)
            db = _connect(folder)
            if _is_ours(db, model):
                return db
            db.close()
            delete_index(folder)
        except (sqlite3.OperationalError, OSError, StorageError) as error:
            if (read := _read_only(folder, model, error)) is not None:
                return read
            raise fault_of(folder, error) from error
        except sqlite3.DatabaseError as error:
            if is_last:
                raise fault_of(folder, error) from error
            delete_index(folder)
    return _made(folder, model)


def note_torn(folder: Path, fault: IndexFaultError) -> None:
    """Have who opens the index next make it anew, where a search could not read it. What was asked wrongly tears nothing."""
    cause = fault.__cause__
    if fault.is_torn and not (isinstance(cause, sqlite3.Error) and _code(cause) == sqlite3.SQLITE_ERROR):
        with suppress(OSError):
            create_missing(folder / TORN_NAME)


def delete_index(folder: Path) -> None:
    """Delete the index with its vectors. Nothing is lost by it but time.

    Another program that lets go of it takes files of its own away meanwhile: the rest goes all the same.
    """
    while folder.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)


def drop_unused(home: Path, kept: Path) -> None:
    """Delete indexes that no run has written in for a long time: of models on servers that are asked no more.

    Args:
        kept: the one that is in use now.
    """
    for folder in paths.index_dirs(home):
        if folder not in {kept, paths.index_dir(home)}:
            with suppress(OSError):
                written = max(one.stat().st_mtime for one in folder.iterdir())
                if time.time() - written > UNUSED_S:
                    delete_index(folder)


def identity_of(path: Path) -> tuple[int, int] | None:
    """Device and number of a file, by which it is told from another that takes its place; None where none is there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def stored_model(folder: Path) -> tuple[str, int] | None:
    """The model whose vectors an index holds, with its dimension; None where there is no index of ours.

    Raises:
        sqlite3.Error: it cannot be read. IndexFaultError: something else stands in its place.
    """
    if not (folder / FILE_NAME).exists():
        return None
    try:
        db = _connect(folder)
    except (OSError, StorageError) as error:
        raise fault_of(folder, error) from error
    with closing(db):
        if int(db.execute("PRAGMA user_version").fetchone()[0]) != SCHEMA_VERSION:
            return None
        row = db.execute("SELECT name FROM model").fetchone()
    name, _, dimension = str(row[0] if row else "").rpartition("/")
    return (name, int(dimension)) if name and dimension.isdigit() else None


def note_reading(db: sqlite3.Connection, how: str) -> None:
    """Note how files of a person's are read. Where it was another way, each is read once more; its vectors stay."""
    mark = zlib.crc32(how.encode()) & 0x7FFF_FFFF
    if db.execute("PRAGMA application_id").fetchone()[0] != mark:
        db.execute(
            "UPDATE source SET stamp = '', sha256 = '' WHERE corpus IN ('knowledge', 'notes', 'project')"
        )
        db.execute(f"PRAGMA application_id = {mark}")


def erase_words(db: sqlite3.Connection) -> None:
    """Have no word of what was taken out stay in the files: full-text search keeps them in its segments otherwise.

    Raises:
        IndexFaultError: another program reads in it, so that the log of its writing could not be emptied.
        sqlite3.Error: it cannot be written.
    """
    for shelf in SHELVES:
        db.execute(f"INSERT INTO words_{shelf.name}(words_{shelf.name}) VALUES('optimize')")
    db.execute("VACUUM")
    if db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        raise IndexFaultError(tr("The search index is in use"), remedy=tr("Try again"))


def _made(folder: Path, model: str) -> sqlite3.Connection:
    try:
        db = _connect(folder)
        if not _is_ours(db, model):
            raise IndexFaultError(tr("The program cannot make the search index"), where=str(folder))
    except (OSError, StorageError, sqlite3.Error) as error:
        raise fault_of(folder, error) from error
    return db


def _connect(folder: Path) -> sqlite3.Connection:
    make_dirs(folder)
    path = folder / FILE_NAME
    for one in _files(path):
        require_file(one)
    create_missing(path)
    for one in _files(path):
        with suppress(FileNotFoundError):
            one.chmod(0o600)
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")
    return db


def _read_only(folder: Path, model: str, why: Exception) -> sqlite3.Connection | None:
    """The index of this model where it can be read and not written; None where that is not so, or would not help."""
    if isinstance(why, sqlite3.OperationalError) and why.sqlite_errorcode & 0xFF not in _UNWRITABLE:
        return None
    path = folder / FILE_NAME
    with suppress(OSError, StorageError, sqlite3.Error):
        for one in _files(path):
            require_file(one)
        wal = path.with_name(f"{path.name}-wal")
        is_open = wal.exists() and wal.stat().st_size > 0
        address = f"{path.absolute().as_uri()}?mode=ro{'' if is_open else '&immutable=1'}"
        db = sqlite3.connect(address, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=True)
        with suppress(sqlite3.Error):
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version == SCHEMA_VERSION and _is_ours(db, model):
                return db
        db.close()
    return None


def _is_ours(db: sqlite3.Connection, model: str) -> bool:
    """True if the file has our tables for this model; an empty one gets them."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version == 0:
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'source'").fetchone():
            for statement in (
                _SOURCES,
                *(_SHELF.format(name=shelf.name, tokenizer=TOKENIZER) for shelf in SHELVES),
            ):
                for one in statement.split(";"):
                    db.execute(one)
            db.execute("CREATE TABLE model(name TEXT NOT NULL, is_whole INTEGER NOT NULL)")
            db.execute("INSERT INTO model VALUES(?, 0)", (model,))
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")
        return True
    if version != SCHEMA_VERSION:
        return False
    return bool(db.execute("SELECT 1 FROM model WHERE name = ?", (model,)).fetchone())


def _files(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + ending) for ending in ("", "-wal", "-shm", "-journal"))


def fault_of(folder: Path, error: Exception) -> IndexFaultError:
    """The fault of an index as a person is told it: what can be done depends on what its disk said."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in {errno.ENOSPC, errno.EDQUOT}:
        what, remedy = (
            tr("The disk of the search index is full"),
            tr("Make room on that disk; indexing then goes on"),
        )
    elif code == sqlite3.SQLITE_READONLY:
        what = tr("The disk of the search index is full or read-only")
        remedy = tr("Make room on that disk, or make it writable; indexing then goes on")
    else:
        what, remedy = (
            tr("The program cannot use the search index: {error}", error=error),
            tr("Delete the folder of the index; the program rebuilds it from the files"),
        )
    return IndexFaultError(what, remedy=remedy, where=str(folder))


# Connections to one SQLite file: one thread's at a time, and no more than threads ever asked at once.


class Connections:
    """Lends connections, and keeps what comes back for the next who asks: threads come and go. Thread-safe.

    Args:
        open_another: gives a new connection, which any thread may use.
    """

    def __init__(self, open_another: Callable[[], sqlite3.Connection]) -> None:
        self._open_another = open_another
        self._lock = threading.Lock()
        self._own = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._free: list[sqlite3.Connection] = []

    @contextmanager
    def lent(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile: the one that this thread has already, a free one, or another.

        Raises what `open_another` does.
        """
        own: sqlite3.Connection | None = getattr(self._own, "db", None)
        if own is not None:
            yield own
            return
        db = self._free_one() or self._another()
        self._own.db = db
        try:
            yield db
        finally:
            self._own.db = None
            with self._lock:
                if db in self._opened:  # it was not closed meanwhile
                    self._free.append(db)

    def close(self) -> None:
        """Close them all, also those that are lent: who uses one then fails with an error of SQLite."""
        with self._lock:
            opened, self._opened, self._free = self._opened, [], []
            self._own = threading.local()
        for db in opened:
            db.close()

    def _free_one(self) -> sqlite3.Connection | None:
        with self._lock:
            return self._free.pop() if self._free else None

    def _another(self) -> sqlite3.Connection:
        db = self._open_another()
        with self._lock:
            self._opened.append(db)
        return db


# Turns at an index on this machine, between programs: a run reads and writes in its own, and gives way to
# who asks for one.


@contextmanager
def taken_turn(folder: Path, wait_s: float | None = None) -> Iterator[None]:
    """Have the files of an index to oneself, from the reading of a source until it is written: what is forgotten between
    the two would stand there anew otherwise.

    Args:
        wait_s: longest wait for another's turn, which is the next one then; None for a run, which gives way.

    Raises:
        IndexFaultError: it took longer.
    """
    with ExitStack() as held:
        if wait_s is not None:
            _take(held, folder / NEXT_NAME, wait_s)
            held.callback((folder / WANTED_NAME).unlink, missing_ok=True)
            create_missing(folder / WANTED_NAME)
        elif (folder / WANTED_NAME).exists():
            with ExitStack() as next_one:
                _take(next_one, folder / NEXT_NAME, -1)
                (folder / WANTED_NAME).unlink(missing_ok=True)  # who wanted it had it, or was killed
        _take(held, folder / LOCK_NAME, -1 if wait_s is None else wait_s)
        yield


def _take(held: ExitStack, path: Path, wait_s: float) -> None:
    lock = take_lock(path, wait_s=wait_s)
    if lock is None:
        raise IndexFaultError(tr("Another program is using the search index"), where=str(path.parent))
    held.callback(lock.release)
