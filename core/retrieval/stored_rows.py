"""Rows of the index on this machine as values: a file that was torn gives figures for texts, and nothing for either."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from core.retrieval.fusion import ChunkPlace
from core.retrieval.index_file import RowError
from core.retrieval.store import Shelf, SourceKey, SourceState, tags_of
from core.values.curation import LineRange
from core.values.retrieval import Chunk, ChunkKind, Corpus, SourceHead

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
        kind,
        LineRange(whole(first), whole(last)),
        said(text),
        said(heading),
        said(before),
        said(after),
        said(date),
    )


def stored_head(title: object, tags: object, date: object, description: object) -> SourceHead:
    """Head of a source from its columns. Raises RowError."""
    return SourceHead(said(title), tags_of(said(tags)), said(date), said(description))


def stored_state(row: Sequence[object], chunks: int, bare: int) -> SourceState:
    """State of a source from its stamp, its hash, its head and its problem. Raises RowError."""
    stamp, sha256, title, tags, date, description, problem = row
    head = stored_head(title, tags, date, description)
    return SourceState(said(stamp), said(sha256), head, chunks, bare, said(problem))


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
    name, start = shelf.name, SourceKey(shelf.corpus, "", "").text.removesuffix("\0")
    return [ChunkPlace(name, row, f"{start}{scope}\0{path}", line) for row, line, scope, path in rows]


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
