"""Rows of the index on this machine as values: a file that was torn gives figures for texts, and nothing for either."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from core.retrieval.index_file import RowError
from core.retrieval.store import Shelf, SourceState, tags_of
from core.values.curation import LineRange
from core.values.retrieval import Chunk, ChunkKind, Corpus, SourceHead


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
