"""Search over the derived index: any text as a query, discussions best first, a line of context each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import msgspec

from core.base import paths
from core.base.opener import open_file
from core.base.secrets import scrub
from core.base.text import clean, one_line
from core.discussion import log_codec
from core.discussion.catalog_entries import parts_text, spaced
from core.discussion.word_places import together
from core.values.records import EditRecord, MessageRecord
from core.values.state import SearchHits

MAX_MATCHES = 4000
"""Of one query, newest first: enough to rank, and bounded while a single letter is typed."""

MAX_QUERY_CHARS = 500
CONTEXT_CHARS = 160

_BEFORE_CHARS = 40
_AROUND_CHARS = 16_384
"""On each side of what was found, that are freed of secrets: far more than are shown."""


class _Match(msgspec.Struct, frozen=True):
    """An entry that matches. `score` as bm25: lower is better."""

    discussion_id: str
    is_name: bool
    score: float
    start: int
    size: int
    preview: str


def search(db: sqlite3.Connection, home: Path, query: str, limit: int) -> SearchHits:
    """Find discussions by their names and messages.

    Words match from their start, in any order, without regard to case and accents; one message or name that holds
    all comes before a discussion that holds them in several. A query without letters or digits is looked for as it
    stands in names and previews.

    Args:
        query: any text; limit: most discussions to return, at least 1.

    Returns:
        Ids best first: by name, then by the words' weight, then the newest.
    """
    words = _words(query)
    if not words:
        return _literal(db, query, limit)
    best = _best(_matches(db, words))
    if len(best) < limit and len(words) > 1:
        best = {**_scattered(db, words), **best}
    ranked = sorted(best.values(), key=lambda m: m.discussion_id, reverse=True)
    ranked = sorted(ranked, key=lambda m: (not m.is_name, round(m.score, 1)))[:limit]
    found = {match.discussion_id: _found(home, match, words) for match in ranked}
    lines = {discussion_id: line for discussion_id, (line, _) in found.items()}
    messages = {discussion_id: message for discussion_id, (_, message) in found.items() if message}
    return SearchHits(query, tuple(match.discussion_id for match in ranked), lines, messages=messages)


def _words(query: str) -> tuple[str, ...]:
    """The query cut at blanks, without chunks that hold no letter or digit: those match nothing."""
    chunks = clean(query[:MAX_QUERY_CHARS]).split()
    return tuple(dict.fromkeys(chunk for chunk in chunks if any(map(str.isalnum, chunk))))


def _quoted(word: str) -> str:
    """A word as an FTS5 string, so that no character of it is an operator; found as the start of a word."""
    return '"' + spaced(word).replace('"', '""') + '"*'


def _matches(db: sqlite3.Connection, words: Iterable[str]) -> list[_Match]:
    rows = db.execute(
        "SELECT d.id, e.position = 0, m.score, e.start, e.size, e.preview FROM"
        " (SELECT rowid AS number, bm25(words) AS score FROM words WHERE words MATCH ?"
        "  ORDER BY rowid DESC LIMIT ?) AS m"
        " JOIN entry AS e ON e.number = m.number JOIN discussion AS d ON d.number = e.discussion"
        " WHERE NOT e.is_deleted AND e.aside = ''",
        (" AND ".join(map(_quoted, words)), MAX_MATCHES),
    )
    return [_Match(row[0], bool(row[1]), row[2] or 0.0, row[3], row[4], row[5]) for row in rows]


def _best(matches: Iterable[_Match]) -> dict[str, _Match]:
    """The best match of each discussion."""
    best: dict[str, _Match] = {}
    for match in matches:
        old = best.get(match.discussion_id)
        if old is None or (not match.is_name, match.score) < (not old.is_name, old.score):
            best[match.discussion_id] = match
    return best


def _scattered(db: sqlite3.Connection, words: tuple[str, ...]) -> dict[str, _Match]:
    """Discussions that hold every word somewhere; they rank behind all others."""
    found = [_best(_matches(db, (word,))) for word in words]
    common = set(found[0]).intersection(*found[1:])
    return {i: _behind(found[0][i]) for i in common}


def _behind(match: _Match) -> _Match:
    return _Match(match.discussion_id, False, 0.0, match.start, match.size, match.preview)


def _literal(db: sqlite3.Connection, query: str, limit: int) -> SearchHits:
    wanted = clean(query[:MAX_QUERY_CHARS]).strip()
    if not wanted:
        return SearchHits(query)
    rows = db.execute(
        "SELECT d.id, max(e.preview) FROM entry AS e JOIN discussion AS d ON d.number = e.discussion"
        " WHERE instr(e.preview, ?) > 0 AND NOT e.is_deleted AND e.aside = '' GROUP BY d.id ORDER BY d.id DESC LIMIT ?",
        (wanted, limit),
    ).fetchall()
    return SearchHits(query, tuple(row[0] for row in rows), dict(rows))


def _found(home: Path, match: _Match, words: tuple[str, ...]) -> tuple[str, str]:
    """The words around what was found, and the id of its message, from the log itself; the entry's start and no
    message where the log does not tell.
    """
    if match.size == 0:
        return match.preview, ""
    text, message_id = _text_at(paths.log_file(home, match.discussion_id), match)
    return _line(text, match, words), message_id


def _line(text: str, match: _Match, words: tuple[str, ...]) -> str:
    best = together(text, words)
    start = max(0, best[0] - _AROUND_CHARS) if best else 0
    text = scrub(text[start : start + 2 * _AROUND_CHARS])
    found = together(text, words)
    if found is None or found[0] <= _BEFORE_CHARS:
        return one_line(text, CONTEXT_CHARS) or match.preview
    start = text.rfind(" ", 0, found[0] - _BEFORE_CHARS // 2)
    start = max(start + 1, found[0] - _BEFORE_CHARS)
    return "…" + one_line(text[start:], CONTEXT_CHARS - 1)


def _text_at(path: Path, match: _Match) -> tuple[str, str]:
    try:
        with open_file(path) as stream:
            stream.seek(match.start)
            record = log_codec.decode(stream.read(match.size), 0)
    except OSError:
        return "", ""
    match record:
        case MessageRecord():
            return parts_text(record.parts), record.id
        case EditRecord():
            return parts_text(record.parts), record.target_id
        case _:
            return "", ""
