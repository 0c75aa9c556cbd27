"""Tokens as FTS5 makes them (`porter unicode61`), by FTS5 itself: another backend stores and asks for the same terms."""

from __future__ import annotations

import hashlib
import sqlite3
from types import TracebackType
from typing import Self

TOKENIZER = "porter unicode61 remove_diacritics 2"

_MOST_BYTES = 2_000
"""A longer token stands as its SHA-256: a lexeme of PostgreSQL has at most 2,046 bytes."""


class FtsTokens:
    """Makes tokens of texts. Not thread-safe; to be closed, or used in a `with`."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.execute(f"CREATE VIRTUAL TABLE text USING fts5(words, content='', tokenize='{TOKENIZER}')")
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
