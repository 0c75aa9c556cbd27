"""The derived index as a SQLite file: its tables, opening it, and starting over when it is broken."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core.kernel.disk import make_dirs
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.opener import create_missing, require_file
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.usage import Upkeep, Usage
from core.services.spending.usage_table import CALL

T = TypeVar("T")

# `first` names the first version of a reply, the message itself where it is that; `aside` the version with which an
# entry was put aside, empty where it is seen; `start` where its newest words stand, `began` where it was said. A row of `words`, or of `names` at position 0, has the number of its `entry`; neither keeps a text (content=''), the log
# does. An entry that goes leaves its words behind, matched by nothing: numbers are never used twice (AUTOINCREMENT).
# `vocabulary` has each word once: the one that FTS5 makes of its index (fts5vocab) reads every place of each word.
_SCHEMA = """
CREATE TABLE discussion(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    meta_key TEXT NOT NULL DEFAULT '',
    log_key TEXT NOT NULL DEFAULT '',
    read_to INTEGER NOT NULL DEFAULT 0,
    tail TEXT NOT NULL DEFAULT '',
    updated_at TEXT NOT NULL DEFAULT '',
    upkept_at TEXT NOT NULL DEFAULT '',
    usage TEXT NOT NULL DEFAULT '',
    upkeep TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '',
    parent TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT '',
    paid_mark INTEGER NOT NULL DEFAULT 0,
    summary TEXT NOT NULL DEFAULT '');
CREATE INDEX discussion_of_parent ON discussion(parent) WHERE parent <> '';
CREATE TABLE entry(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    discussion INTEGER NOT NULL,
    position INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    role TEXT NOT NULL,
    is_deleted INTEGER NOT NULL,
    first TEXT NOT NULL,
    aside TEXT NOT NULL DEFAULT '',
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    began INTEGER NOT NULL,
    preview TEXT NOT NULL);
CREATE INDEX entry_of_message ON entry(discussion, message_id);
CREATE INDEX entry_in_order ON entry(discussion, position);
CREATE TABLE payer(number INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, UNIQUE(provider, model));
CREATE TABLE paid(number INTEGER PRIMARY KEY AUTOINCREMENT, discussion INTEGER NOT NULL, calls BLOB NOT NULL);
CREATE INDEX paid_of ON paid(discussion);
CREATE VIRTUAL TABLE words USING fts5(text, content='', prefix='1 2 3', tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE names USING fts5(text, content='', prefix='1 2 3', tokenize='unicode61 remove_diacritics 2');
CREATE TABLE vocabulary(
    initial TEXT NOT NULL, size INTEGER NOT NULL, term TEXT NOT NULL, PRIMARY KEY(initial, size, term)) WITHOUT ROWID;
"""


def schema_number(schema: str, *kept: type[msgspec.Struct]) -> int:
    """Number of a layout, another one for other tables, and for other fields of the values that are kept in them."""
    fields = (name for value in kept for name in (value.__name__, *value.__struct_fields__))
    return zlib.crc32("\n".join((schema, *fields)).encode()) & 0x7FFFFFFF


SCHEMA_VERSION = schema_number(_SCHEMA + CALL.format, DiscussionSummary, DiscussionMeta, Usage, Upkeep)
"""Version of the index: one of another version is made anew."""


MAX_KNOWN_WORDS = 100_000
"""Words that one connection remembers, at most."""


class CatalogConnection(sqlite3.Connection):
    """A connection that remembers words which it has seen in the table `vocabulary`, so that they are not sent again.

    It forgets them whenever the table may hold fewer: after a rollback, and where another connection wrote.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._words: set[str] = set()
        self._data_version = -1

    def heed_others(self) -> None:
        """Forget the words where another connection wrote since the last call; to be called within a transaction."""
        version = int(self.execute("PRAGMA data_version").fetchone()[0])
        if version != self._data_version:
            self._data_version = version
            self._words.clear()

    def new_words(self, words: set[str]) -> set[str]:
        """Those of the words that the table is not known to hold."""
        return words - self._words

    def note_words(self, words: set[str]) -> None:
        """Remember words that the table holds now, at most `MAX_KNOWN_WORDS` in all."""
        if len(self._words) + len(words) > MAX_KNOWN_WORDS:
            self._words.clear()
        if len(words) <= MAX_KNOWN_WORDS:
            self._words |= words

    def forget_words(self) -> None:
        """Know of no word; to be called after each rollback."""
        self._words.clear()


class CatalogFile:
    """A connection that heals itself: a broken file is deleted and made anew, an unwritable one replaced by memory.

    Opened at the first use, by the thread that uses it, and by no other.
    """

    def __init__(self, path: Path) -> None:
        self._path: Path | None = path
        self._db: CatalogConnection | None = None
        self._generation = 0

    @property
    def path(self) -> Path | None:
        """Path of the index, None while it is only in memory."""
        return self._path

    @property
    def generation(self) -> int:
        """Grows whenever the index starts over empty."""
        return self._generation

    def read(self, work: Callable[[CatalogConnection], T]) -> T:
        """Do `work`, which changes nothing, beside a writer in another process. Heals as `write`."""
        return self._healed(work, "BEGIN")

    def write(self, work: Callable[[CatalogConnection], T]) -> T:
        """Do `work` in one transaction.

        Returns:
            What it returns. Where the file was broken or could not be written, `work` was done on an empty one.
        """
        result = self._healed(work, "BEGIN IMMEDIATE")
        # pages are read again faster than a day's growth is looked for
        self._open().execute("PRAGMA shrink_memory")
        return result

    def _healed(self, work: Callable[[CatalogConnection], T], begin: str) -> T:
        try:
            return self._transact(work, begin)
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.OperationalError:
            self.close()
            self._path = None
        except sqlite3.DatabaseError:
            self.delete()
        self._generation += 1
        return self._transact(work, begin)

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _transact(self, work: Callable[[CatalogConnection], T], begin: str) -> T:
        db = self._open()
        db.execute(begin)
        try:
            db.heed_others()
            result = work(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            db.forget_words()
            raise
        return result

    def _open(self) -> CatalogConnection:
        if self._db is None:
            self._db, self._path = _connect(self._path)
            if _version(self._db) not in {0, SCHEMA_VERSION}:
                self.delete()
                self._db, self._path = _connect(self._path)
            _make_tables(self._db)
        return self._db

    def delete(self) -> None:
        """Remove the file; where that cannot be done, work in memory."""
        self.close()
        if self._path is None:
            return
        try:
            for one in _files(self._path):
                one.unlink(missing_ok=True)
        except OSError:
            self._path = None


def wipe_catalog(file: Path) -> bool:
    """Have an index that holds nothing, not even words of deleted rows; others may have it open. A refresh fills it.

    Full-text search keeps the words of rows that went, so all is dropped, overwritten and packed. A broken one is
    deleted.

    Returns:
        Whether there was one.

    Raises:
        StorageError: another program is reading it all the time; ask again.
    """
    if not file.exists():
        return False
    try:
        with closing(_configured(_connected(file))) as db:
            _empty(db)
    except sqlite3.OperationalError as error:
        raise StorageError(
            tr("The search index is in use: {error}", error=error),
            remedy=tr("Close other windows and try again"),
            where=str(file),
        ) from error
    except sqlite3.DatabaseError:
        CatalogFile(file).delete()
    return True


def _connect(path: Path | None) -> tuple[CatalogConnection, Path | None]:
    """Open the file, or memory where it cannot be; returns where it is."""
    if path is not None:
        try:
            make_dirs(path.parent)
            for one in _files(path):
                require_file(one)
            _keep_private(path)
            return _configured(_connected(path)), path
        except (OSError, StorageError, sqlite3.OperationalError):
            pass
    return _configured(_connected(":memory:")), None


def _keep_private(path: Path) -> None:
    """Only the person may read what they said."""
    create_missing(path)
    for one in _files(path):
        with suppress(FileNotFoundError):
            one.chmod(0o600)


def _files(path: Path) -> tuple[Path, ...]:
    """The index and the files that SQLite keeps beside it. It follows links and waits at pipes at all of these names."""
    return tuple(path.with_name(path.name + ending) for ending in ("", "-wal", "-shm", "-journal"))


def _connected(place: Path | str) -> CatalogConnection:
    return sqlite3.connect(place, timeout=10.0, isolation_level=None, factory=CatalogConnection)


def _configured(db: CatalogConnection) -> CatalogConnection:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _make_tables(db: sqlite3.Connection) -> None:
    """Two processes may come at once: the second finds the tables made."""
    db.execute("BEGIN IMMEDIATE")
    if _version(db) == 0:
        _carry_out_schema(db)
    db.execute("COMMIT")


def _carry_out_schema(db: sqlite3.Connection) -> None:
    for statement in (*_SCHEMA.split(";\n"), f"PRAGMA user_version = {SCHEMA_VERSION}"):
        if statement.strip():
            db.execute(statement)


def _empty(db: sqlite3.Connection) -> None:
    """Drop every table with its pages and make new ones, then pack the file and cut the journal beside it."""
    db.execute("PRAGMA secure_delete = ON")
    db.execute("BEGIN IMMEDIATE")
    for kind in (
        "sql LIKE 'CREATE VIRTUAL%'",
        "name NOT LIKE 'sqlite%'",
    ):  # the first take tables of theirs along
        found = db.execute(f"SELECT name FROM sqlite_master WHERE type = 'table' AND {kind}")  # noqa: S608
        for (name,) in found.fetchall():
            db.execute(f'DROP TABLE "{name}"')
    _carry_out_schema(db)
    db.execute("COMMIT")
    db.execute("VACUUM")
    busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("database is locked")
