"""Rows of the index on this machine as values: a file that was torn gives figures for texts, and nothing for either."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchFilters, SourceHead
from core.kernel.words import TOKENIZER
from core.retrieval.fusion import ChunkPlace
from core.retrieval.index_file import RowError
from core.retrieval.index_store import Shelf, SourceKey, SourceState, folder_starts, tags_of

_AT_ONCE = 500
"""Rows that one statement asks for."""


def require_dense(db: sqlite3.Connection, shelf: Shelf) -> None:
    """Raise RowError where a row of a shelf is numbered higher than any was: its vector would lie anywhere."""
    most, count = db.execute(f"SELECT max(row), count(*) FROM chunk_{shelf.name}").fetchone()
    free, least = db.execute(f"SELECT count(*), min(row) FROM free_{shelf.name}").fetchone()
    if (most or 0) > count + free or (1 if least is None else least) < 1:
        raise RowError(f"row {most} of {count + free}")


def stored_chunk(kind: ChunkKind, row: Sequence[object]) -> Chunk:
    """A chunk from its columns. Raises RowError."""
    _, _, first, last, heading, text, before, after, date, _ = row
    return Chunk(
        kind=kind,
        lines=LineRange(whole(first), whole(last)),
        text=said(text),
        heading=said(heading),
        before=said(before),
        after=said(after),
        date=said(date),
    )


def stored_head(title: object, tags: object, date: object, description: object) -> SourceHead:
    """Head of a source from its columns. Raises RowError."""
    return SourceHead(
        title=said(title), tags=tags_of(said(tags)), date=said(date), description=said(description)
    )


def stored_state(row: Sequence[object], chunks: int, bare: int) -> SourceState:
    """State of a source from its stamp, its hash, its head and its problem. Raises RowError."""
    stamp, sha256, title, tags, date, description, problem = row
    head = stored_head(title, tags, date, description)
    return SourceState(
        stamp=said(stamp), sha256=said(sha256), head=head, chunks=chunks, bare=bare, problem=said(problem)
    )


def said(value: object) -> str:
    """A text of a row. Raises RowError."""
    if not isinstance(value, str):
        raise RowError(f"a text is {value!r:.40}")
    return value


def whole(value: object) -> int:
    """A whole number of a row. Raises RowError."""
    if not isinstance(value, int):
        raise RowError(f"a number is {value!r:.40}")
    return value


def stored_corpus(value: object) -> Corpus:
    """A corpus by its name in a row. Raises RowError."""
    try:
        return Corpus(said(value))
    except ValueError as error:
        raise RowError(f"a corpus is {value!r:.40}") from error


def places_of(shelf: Shelf, rows: Iterable[tuple[int, int, str, str]]) -> list[ChunkPlace]:
    """Places of rows, each given by row, line, scope and path. A search makes hundreds of them."""
    name, start = shelf.name, SourceKey(corpus=shelf.corpus, scope="", path="").text.removesuffix("\0")
    return [
        ChunkPlace(shelf=name, row=row, path=f"{start}{scope}\0{path}", line=line)
        for row, line, scope, path in rows
    ]


def best_of(scores: dict[ChunkPlace, float], count: int) -> dict[ChunkPlace, float]:
    """The best of some chunks, ties by path and line: all of them as they are where no more are wanted."""
    if len(scores) <= count:
        return scores
    order = sorted(scores, key=lambda one: (-scores[one], one.path, one.line, one.row))
    return {one: scores[one] for one in order[:count]}


def named(db: sqlite3.Connection, shelf: Shelf, rows: Iterable[int]) -> list[ChunkPlace]:
    """Candidates of rows; those that hold no chunk are left out."""
    return places_of(shelf, rows_read(db, shelf, "row, first, scope, path", rows))


def rows_read(
    db: sqlite3.Connection, shelf: Shelf, columns: str, rows: Iterable[int]
) -> list[tuple[Any, ...]]:
    """Columns of chunks and their sources, in the order of the rows; those that hold no chunk are left out."""
    wanted = sorted(rows)
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        found += db.execute(
            f"SELECT {columns} FROM chunk_{shelf.name} AS chunk JOIN source ON source.id = chunk.source"
            f" WHERE row IN ({', '.join('?' * len(part))})",
            part,
        ).fetchall()
    return found


# Filters of a search as SQL of the index on this machine.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _scopes(db: sqlite3.Connection, corpus: Corpus) -> Iterator[str]:
    """The folders that a corpus' sources count in, a look each."""
    scope = ""
    sql = "SELECT min(scope) FROM source WHERE corpus = ? AND scope "
    found = db.execute(f"{sql}>= ?", (corpus.value, scope)).fetchone()[0]
    while found is not None:
        yield (scope := found)
        found = db.execute(f"{sql}> ?", (corpus.value, scope)).fetchone()[0]


def narrowed(
    db: sqlite3.Connection, shelf: Shelf, scopes: Sequence[str], filters: SearchFilters
) -> tuple[str, list[str]]:
    """SQL that selects the rows of a shelf that may be found, empty where all may.

    A chunk has its own day, as a turn has, else its source's, as a note has.
    """
    table = f"chunk_{shelf.name}"
    sources: list[str] = []
    values: list[str] = []
    if not set(scopes).issuperset(_scopes(db, shelf.corpus)):
        sources, values = [f"scope IN ({', '.join('?' * len(scopes))})"], list(scopes)
    chunks: list[str] = []
    dates: list[str] = []
    if filters.folder.strip("/"):
        below = []
        for scope, start in folder_starts(filters.folder, scopes):
            below.append(f"({'scope = ? AND ' if scope else ''}substr(path, 1, length(?)) = ?)")
            values += [*([scope] if scope else []), start, start]
        sources.append(f"({' OR '.join(below)})")
    if filters.tag:
        sources.append("instr(tags, ?) > 0")
        values.append(f"\n{filters.tag.lower()}\n")
    if filters.but:
        sources.append(f"path NOT IN ({', '.join('?' * len(filters.but))})")
        values += filters.but
    for sign, day in ((">=", filters.after), ("<=", filters.before)):
        if day:
            chunks.append(
                f"({table}.date <> '' AND {table}.date {sign} ? OR {table}.date = '' AND source IN"
                f" (SELECT id FROM source WHERE date <> '' AND date {sign} ?))"
            )
            dates += [day, day]
    if sources:
        chunks.insert(0, f"source IN (SELECT id FROM source WHERE {' AND '.join(sources)})")
    if not chunks:
        return "", []
    where = " AND ".join(chunks)
    return f"SELECT row FROM {table} WHERE {where}", [*values, *dates]


def rows_of(db: sqlite3.Connection, clause: str, values: Sequence[str]) -> NDArray[np.intp]:
    """Rows that a clause of `narrowed` selects, in no order; as one text, which takes less than half as long as row by row."""
    import numpy as np

    listed: str | None = db.execute(f"SELECT group_concat(row) FROM ({clause})", values).fetchone()[0]
    return np.fromstring(listed, np.intp, sep=",") if listed else np.zeros(0, np.intp)


# Tokens as FTS5 makes them (`porter unicode61`), by FTS5 itself: another backend stores and asks for the
# same terms.

_MOST_BYTES = 2_000
"""A longer token stands as its SHA-256: a lexeme of PostgreSQL has at most 2,046 bytes."""


class FtsTokens:
    """Makes tokens of texts. Not thread-safe; to be closed, or used in a `with`."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.execute(f"CREATE VIRTUAL TABLE text USING fts5(words, content='', tokenize={TOKENIZER})")
        self._db.execute("CREATE VIRTUAL TABLE token USING fts5vocab(text, instance)")

    def of(self, text: str) -> list[str]:
        """The tokens of a text, in order. About 2 µs each."""
        self._db.execute("INSERT INTO text(rowid, words) VALUES(1, ?)", (text,))
        rows = self._db.execute("SELECT term FROM token ORDER BY offset").fetchall()
        self._db.execute("INSERT INTO text(text) VALUES('delete-all')")
        return [_bounded(str(term)) for (term,) in rows]

    def close(self) -> None:
        """Let it go."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _bounded(token: str) -> str:
    data = token.encode()
    return token if len(data) <= _MOST_BYTES else hashlib.sha256(data).hexdigest()
