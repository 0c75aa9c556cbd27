"""The list of discussions, quick at any number: a derived index of names, figures and words, safe to delete."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.child_process import start_child
from core.kernel.codecs import read_json
from core.kernel.errors import StorageError
from core.kernel.frame import clean, one_line
from core.kernel.language import as_sentences, tr
from core.kernel.opener import open_file
from core.kernel.search_terms import Term, likest, search_terms
from core.kernel.secrets import scrub
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.records import EditRecord, MessageRecord
from core.kernel.values.state import SearchHits
from core.kernel.values.usage import PaidKind, UsageQuery, UsageReport
from core.services.spending.harvest_costs import harvest_calls, harvest_files
from core.services.spending.pricing import billed_prices
from core.services.spending.usage_table import pack_call
from core.talk.discussion import log as discussion_log
from core.talk.discussion import log_codec, trash
from core.talk.discussion.catalog_entries import (
    EntryKeys,
    PaidCalls,
    folded_word,
    forget,
    index_some,
    keys_of,
    log_key_of,
    parts_text,
    payer_number,
    spaced,
    stored_summary,
)
from core.talk.discussion.catalog_file import CatalogConnection, CatalogFile
from core.talk.discussion.discussion_meta import read_meta
from core.talk.discussion.log_content import together

if TYPE_CHECKING:
    from core.services.spending.usage_table import Payer, UsageTable

# Search over the derived index: any text as a query, discussions best first, a line of context each.

MAX_MATCHES = 4000
"""Messages with a query that are ranked: the newest, where more hold it. Whatever is typed, a search stays quick."""

MAX_QUERY_CHARS = 500
MAX_VOCABULARY = 20_000
"""Words of the index that are compared with one that is not there."""
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

    Words match from their start, in any order, without regard to case and accents; a phrase between quotation marks
    as it stands. One message or name that holds all comes before a discussion that holds them in several. Where nothing is
    found, words that are nearest to those of the query are looked for. A query without letters or digits is looked for
    as it stands in names and previews. Of more than `MAX_MATCHES` messages the newest count, and the answer says so.

    Args:
        query: any text; limit: most discussions to return, at least 1.

    Returns:
        Ids best first: by name, then by the words' weight, then the newest.
    """
    words = search_terms(clean(query[:MAX_QUERY_CHARS]))
    if not words:
        return _literal(db, query, limit)
    look = _Look(db)
    hits = _hits(look, home, query, words, limit)
    if hits.ids:
        return hits
    nearest = _nearest(look, words)
    other = _hits(look, home, query, nearest, limit) if nearest else hits
    return replace(other, instead=" ".join(term.text for term in nearest)) if other.ids else hits


def _hits(look: _Look, home: Path, query: str, words: tuple[Term, ...], limit: int) -> SearchHits:
    best = _best(look.matches(words))
    if len(best) < limit and len(words) > 1:
        best = {**_scattered(look, words), **best}
    ranked = sorted(best.values(), key=lambda m: m.discussion_id, reverse=True)
    ranked = sorted(ranked, key=lambda m: (not m.is_name, round(m.score, 1)))[:limit]
    texts = tuple(term.text for term in words)
    found = {match.discussion_id: _found(home, match, texts) for match in ranked}
    lines = {discussion_id: line for discussion_id, (line, _) in found.items()}
    messages = {discussion_id: message for discussion_id, (_, message) in found.items() if message}
    return SearchHits(
        query=query,
        ids=tuple(match.discussion_id for match in ranked),
        lines=lines,
        messages=messages,
        of_newest=MAX_MATCHES if look.holds_more(words) else 0,
    )


def _nearest(look: _Look, words: tuple[Term, ...]) -> tuple[Term, ...]:
    """The query with the nearest word of the index for each that the index does not have; empty where there is none.

    Words with the same first letter and about as many letters alone are compared: O(those).
    """
    nearest: list[Term] = []
    for term in words:
        if term.is_phrase or look.matches((term,)):
            nearest.append(term)
            continue
        folded = folded_word(term.text)
        names = look.vocabulary(folded)
        if not (places := likest(folded, names, 1)):
            return ()
        nearest.append(Term(names[places[0]]))
    return tuple(nearest) if tuple(nearest) != words else ()


_ROWS = (
    "SELECT m.number, d.id, e.start, e.size, e.preview, NOT e.is_deleted AND e.aside = '' FROM"
    " (SELECT rowid AS number FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid {order} LIMIT ?) AS m"
    " LEFT JOIN entry AS e ON e.number = m.number LEFT JOIN discussion AS d ON d.number = e.discussion"
)
"""Messages that match; what a person does not see comes along, to be counted, without a true last column."""


class _Look:
    """Looks up the terms of one query, each set of them once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._matches: dict[tuple[Term, ...], list[_Match]] = {}
        self._full: set[tuple[Term, ...]] = set()

    def matches(self, words: tuple[Term, ...]) -> list[_Match]:
        """Names and messages with all these terms that a person sees, the newest first."""
        if words not in self._matches:
            self._matches[words] = [*self._names(words), *self._messages(words)]
        return self._matches[words]

    def holds_more(self, words: tuple[Term, ...]) -> bool:
        """True if more messages than were looked at hold all these terms."""
        return words in self._full

    def vocabulary(self, word: str) -> list[str]:
        """Words of the index with the first letter of a folded word and about its length, the nearest length first."""
        names: list[str] = []
        for size in (len(word) + by for by in (0, -1, 1, -2, 2)):
            rows = self._db.execute(
                "SELECT term FROM vocabulary WHERE initial = ? AND size = ? LIMIT ?",
                (word[:1], size, MAX_VOCABULARY - len(names)),
            )
            names += (str(row[0]) for row in rows)
        return names

    def _names(self, words: tuple[Term, ...]) -> list[_Match]:
        rows = self._db.execute(
            "SELECT d.id, m.score, e.preview FROM"
            " (SELECT rowid AS number, bm25(names) AS score FROM names WHERE names MATCH ?) AS m"
            " JOIN entry AS e ON e.number = m.number JOIN discussion AS d ON d.number = e.discussion",
            (_joined(words, ()),),
        )
        return [
            _Match(discussion_id=row[0], is_name=True, score=row[1] or 0.0, start=0, size=0, preview=row[2])
            for row in rows
        ]

    def _messages(self, words: tuple[Term, ...]) -> list[_Match]:
        """A word that is whole in more messages than are ranked is not also taken as the beginning of longer ones, unless
        too few messages hold the others with it: FTS5 first gathers every message of a beginning.
        """
        common = tuple(
            word
            for word in words
            if _quoted(word) != (whole := _quoted(word, is_whole=True)) and self._is_common(whole)
        )
        narrow, wide = _joined(words, common), _joined(words, ())
        rows = self._newest(narrow)
        if len(rows) < MAX_MATCHES and narrow != wide:
            rows = self._newest(wide)
        if len(rows) >= MAX_MATCHES:
            self._full.add(words)  # each of the terms is in as many
        scores = {} if words in self._full else self._scores(words, common)
        return [
            _Match(
                discussion_id=row[1],
                is_name=False,
                score=scores.get(row[0], 0.0),
                start=row[2],
                size=row[3],
                preview=row[4],
            )
            for row in rows
            if row[5]
        ]

    def _is_common(self, query: str) -> bool:
        found = self._db.execute(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", (query, MAX_MATCHES + 1)
        )
        return int(found.fetchone()[0]) > MAX_MATCHES

    def _newest(self, query: str) -> list[tuple[int, str, int, int, str, int]]:
        """Messages that match, newest first: all, or as many from both ends of the index, which is filled from the newest
        discussion on and then grows by what is new.
        """
        half = MAX_MATCHES // 2
        rows = self._db.execute(_ROWS.format(order="DESC"), (query, 1 << 62, half)).fetchall()
        if len(rows) == half:
            rows += reversed(
                self._db.execute(_ROWS.format(order="ASC"), (query, rows[-1][0], half)).fetchall()
            )
        return rows

    def _scores(self, words: tuple[Term, ...], common: Collection[Term]) -> dict[int, float]:
        """Weight of each message by the terms that few hold: bm25 counts every message of a term, and tells little of
        terms that all hold. A term alone is rare: all of its messages were just looked at.
        """
        others = (word for word in words if word not in common)
        rare = words if len(words) == 1 else tuple(t for t in others if not self._is_common(_quoted(t)))
        if not rare:
            return {}
        query = "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?"
        return dict(self._db.execute(query, (_joined(rare, ()),)).fetchall())


_KEPT_CHARS = 3
"""Beginnings of words up to this length stand in the index by themselves (`prefix` of the table `words`)."""


def _quoted(term: Term, *, is_whole: bool = False) -> str:
    """A term as an FTS5 string, so that no character of it is an operator; a word is found as the start of one."""
    is_start = not term.is_phrase and (not is_whole or len(term.text) <= _KEPT_CHARS)
    return '"' + spaced(term.text).replace('"', '""') + ('"*' if is_start else '"')


def _joined(words: Iterable[Term], whole: Collection[Term]) -> str:
    return " AND ".join(_quoted(word, is_whole=word in whole) for word in words)


def _best(matches: Iterable[_Match]) -> dict[str, _Match]:
    """The best match of each discussion."""
    best: dict[str, _Match] = {}
    for match in matches:
        old = best.get(match.discussion_id)
        if old is None or (not match.is_name, match.score) < (not old.is_name, old.score):
            best[match.discussion_id] = match
    return best


def _scattered(look: _Look, words: tuple[Term, ...]) -> dict[str, _Match]:
    """Discussions that hold every word somewhere; they rank behind all others."""
    found: list[dict[str, _Match]] = []
    for word in words:
        found.append(_best(look.matches((word,))))
        if not found[-1]:
            return {}
    common = set(found[0]).intersection(*found[1:])
    return {i: _behind(found[0][i]) for i in common}


def _behind(match: _Match) -> _Match:
    return replace(match, is_name=False, score=0.0)


def _literal(db: sqlite3.Connection, query: str, limit: int) -> SearchHits:
    wanted = clean(query[:MAX_QUERY_CHARS]).strip()
    if not wanted:
        return SearchHits(query=query)
    rows = db.execute(
        "SELECT d.id, max(e.preview) FROM entry AS e JOIN discussion AS d ON d.number = e.discussion"
        " WHERE instr(e.preview, ?) > 0 AND NOT e.is_deleted AND e.aside = '' GROUP BY d.id ORDER BY d.id DESC LIMIT ?",
        (wanted, limit),
    ).fetchall()
    return SearchHits(query=query, ids=tuple(row[0] for row in rows), lines=dict(rows))


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


# A long refresh of the catalog in a process of its own: parsing gigabytes here would hold up the window.

_CHILD = Path(__file__).with_name("catalog_child.py")


class RefreshStep(msgspec.Struct, frozen=True):
    """Work of the child in one slice: these discussions have new rows in the file, so many are looked at."""

    ids: tuple[str, ...]
    done: int
    total: int


def refresh_apart(home: Path, file: Path) -> Generator[RefreshStep, None, None]:
    """Refresh the index in `file` by a child process.

    The child ends when it is done, when this iterator is closed, or when this process is gone.

    Yields:
        A step for each slice. A child that cannot start or dies yields no more: whoever asked looks after it.
    """
    try:
        child = start_child(_CHILD, str(home.absolute()), str(file.absolute()), stdin=subprocess.DEVNULL)
    except OSError:
        return
    assert child.stdout is not None
    try:
        with closing(child.stdout):
            for line in child.stdout:
                yield _step(line)
    finally:
        child.kill()
        child.wait()


def report(step: RefreshStep) -> None:
    """Tell the parent of a slice. Raises BrokenPipeError when it is gone."""
    sys.stdout.write(json.dumps([step.ids, step.done, step.total]) + "\n")
    sys.stdout.flush()


def _step(line: bytes) -> RefreshStep:
    ids, done, total = read_json(line)
    return RefreshStep(ids=tuple(ids), done=done, total=total)


log = logging.getLogger(__name__)

SLICE_S = 0.05
SLICE_BYTES = 4 * 1024 * 1024
"""One slice reads at most about this much of one log: about 50 ms."""

MUCH_CHANGED = 200
MUCH_BYTES = 8 * 1024 * 1024
"""More discussions or new log bytes than this are left to a child process."""


class Refreshed(msgspec.Struct, frozen=True):
    """Finds of one slice of a refresh.

    Args:
        summaries: rows that are new or changed; removed_ids: discussions that are gone.
        done, total: discussions looked at, of all. The last slice has them equal.
    """

    summaries: tuple[DiscussionSummary, ...] = ()
    removed_ids: tuple[str, ...] = ()
    done: int = 0
    total: int = 0


class Catalog:
    """The index of one home. Used by one thread; other threads and processes make their own on the same file.

    Everything in it is derived from the home: a missing, broken or foreign file is made anew, one that cannot be
    written is kept in memory instead. Nothing here takes a discussion's lock or writes into the home.

    Args:
        home: of the discussions; file: of the index, `paths.catalog_file(home)`; clock: seconds, for slices.
        may_start_child: whether a long refresh is done by a process of its own; now: the day that it is.
    """

    def __init__(
        self,
        home: Path,
        file: Path,
        clock: Callable[[], float] = time.monotonic,
        *,
        may_start_child: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._home = home
        self._clock = clock
        self._file = CatalogFile(file)
        self._paid = PaidBook(home, self._file, now)
        self._may_start_child = may_start_child

    def load_summaries(self) -> tuple[DiscussionSummary, ...]:
        """Rows that the index knew last, newest id first: for a first frame. `refresh` then sets it right."""
        rows = self._file.write(
            lambda db: db.execute(
                "SELECT summary FROM discussion WHERE summary <> '' ORDER BY id DESC"
            ).fetchall()
        )
        found = (stored_summary(row[0]) for row in rows)
        return tuple(summary for summary in found if summary is not None)

    def family(self, discussion_id: str) -> tuple[DiscussionSummary, ...]:
        """Rows of a discussion that is there, of its tasks and its branches, as the index knew them last; none where it knows it
        not. Takes no longer in a home of thousands.
        """
        own = self.rows((discussion_id,))  # first: what is no id is not in it, and has no folder
        if not own or not paths.discussion_dir(self._home, discussion_id).is_dir():
            return ()
        query = "SELECT id FROM discussion WHERE parent = ?1 AND parent <> ''"
        below = self._file.read(lambda db: db.execute(query, (discussion_id,)).fetchall())
        return (*own, *self.rows(row[0] for row in below))

    def refresh(self, slice_s: float = SLICE_S) -> Generator[Refreshed, None, None]:
        """Bring the index up to date with the home, the newest discussion first.

        Each step works for about `slice_s` seconds and is kept: a refresh that is dropped half-way goes on from
        there the next time. Much to parse is done by a child process, so that this one's window stays quick; what
        a child that failed left undone is done here.

        Yields:
            At least one result; the last has `done == total`.
        """
        ids = self._ids()
        removed = tuple(sorted(set(self.known()) - set(ids)))
        if removed:
            self._file.write(lambda db: forget(db, removed))
            yield Refreshed(summaries=(), removed_ids=removed, done=0, total=len(ids))
        yield from self._refresh_apart(ids)
        position, generation = 0, self._file.generation
        while True:
            summaries, position = self._file.write(self._slice(ids, position, slice_s))
            if self._file.generation != generation:  # the index broke and is empty: begin again
                position, generation = 0, self._file.generation
            yield Refreshed(summaries=summaries, removed_ids=(), done=position, total=len(ids))
            if position == len(ids):
                return

    def update(self, discussion_id: str) -> DiscussionSummary | None:
        """Bring one discussion up to date, after an append or a new meta.

        Returns:
            Its row, or None where there is no such discussion.
        """
        directory = paths.discussion_dir(self._home, discussion_id)
        if not directory.is_dir():
            self._file.write(lambda db: forget(db, (discussion_id,)))
            return None
        while True:
            summary, is_done = self._file.write(
                lambda db: self._index(db, discussion_id, keys_of(str(directory)))
            )
            if is_done:
                return summary

    def search(self, query: str, limit: int = 50) -> SearchHits:
        """Find discussions by names and messages, as it is typed. Finds what has been indexed so far.

        Args:
            query: any text; limit: at least 1.

        Returns:
            Ids best first with a line of context each; none for an empty query.
        """
        return self._file.read(lambda db: search(db, self._home, query, limit))

    def usage(self, query: UsageQuery) -> UsageReport:
        """Add up what calls have used and cost, as far as logs have been indexed. Raises StorageError."""
        return self._paid.report(query)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _ids(self) -> list[str]:
        try:
            found = os.listdir(paths.discussions_dir(self._home))
        except OSError:
            return []
        return sorted(filter(paths.is_directory_name, found), reverse=True)

    def known(self) -> dict[str, EntryKeys]:
        """Marks of each discussion's files as they were read into the index, by whatever program."""
        rows = self._file.write(
            lambda db: db.execute("SELECT id, meta_key, log_key FROM discussion").fetchall()
        )
        return {row[0]: EntryKeys(row[1], row[2]) for row in rows}

    def _refresh_apart(self, ids: list[str]) -> Iterator[Refreshed]:
        file = self._file.path
        if file is None or not self._may_start_child or not self._is_much(ids):
            return
        with closing(refresh_apart(self._home, file)) as steps:
            for step in steps:
                yield Refreshed(
                    summaries=self.rows(step.ids),
                    removed_ids=(),
                    done=min(step.done, len(ids) - 1),
                    total=len(ids),
                )

    def _is_much(self, ids: list[str]) -> bool:
        """True if a refresh has a lot to parse; looks at files only as long as it does not know."""
        rows = self._file.read(
            lambda db: db.execute("SELECT id, log_key, read_to FROM discussion").fetchall()
        )
        known = {row[0]: (row[1], row[2]) for row in rows}
        changed = size = 0
        folder = paths.discussions_dir(self._home)
        for discussion_id in ids:
            log_key, read_to = known.get(discussion_id, ("", 0))
            found = log_key_of(f"{folder}{os.sep}{discussion_id}")
            if found != log_key:
                changed += 1
                size += max(0, int(found.partition(":")[0] or 0) - read_to)
            if changed > MUCH_CHANGED or size > MUCH_BYTES:
                return True
        return False

    def rows(self, ids: Iterable[str]) -> tuple[DiscussionSummary, ...]:
        """Rows of these discussions, as the index knows them."""
        query = "SELECT summary FROM discussion WHERE id = ? AND summary <> ''"
        rows = self._file.read(lambda db: [db.execute(query, (i,)).fetchone() for i in ids])
        found = (stored_summary(row[0]) for row in rows if row is not None)
        return tuple(summary for summary in found if summary is not None)

    def _slice(
        self, ids: list[str], position: int, slice_s: float
    ) -> Callable[[CatalogConnection], tuple[tuple[DiscussionSummary, ...], int]]:
        """Work on `ids` from `position` on for a while; returns new rows and where to go on."""

        def work(db: CatalogConnection) -> tuple[tuple[DiscussionSummary, ...], int]:
            end_at = self._clock() + slice_s
            summaries: list[DiscussionSummary] = []
            folder = str(paths.discussions_dir(self._home))
            at = position
            while at < len(ids):
                summary, is_done = self._look(db, folder, ids[at])
                summaries += [summary] if summary is not None else []
                at += is_done
                if self._clock() >= end_at:
                    break
            return tuple(summaries), at

        return work

    def _look(
        self, db: CatalogConnection, folder: str, discussion_id: str
    ) -> tuple[DiscussionSummary | None, bool]:
        keys = keys_of(f"{folder}{os.sep}{discussion_id}")
        row = db.execute("SELECT meta_key, log_key FROM discussion WHERE id = ?", (discussion_id,)).fetchone()
        is_known = row is not None and EntryKeys(row[0], row[1]) == keys
        if keys == EntryKeys("", ""):  # an empty directory is no discussion
            forget(db, (discussion_id,))
            return None, True
        if is_known:
            return None, True
        return self._index(db, discussion_id, keys)

    def _index(
        self, db: CatalogConnection, discussion_id: str, keys: EntryKeys
    ) -> tuple[DiscussionSummary, bool]:
        """A log that cannot be read gives a row that says so, and is tried again at the next refresh.

        Whatever one log does to its reader, the others are listed.
        """
        db.execute("SAVEPOINT one_discussion")
        try:
            found = index_some(db, self._home, discussion_id, keys, SLICE_BYTES)
        except sqlite3.Error:  # the index itself: it heals
            raise
        except StorageError as error:
            problem = as_sentences(error.what, is_closed=True)
        except Exception as error:
            log.exception("The log of %s cannot be read", discussion_id)
            problem = tr(
                "The program cannot read the log: {name}: {error}.",
                name=type(error).__name__,
                error=one_line(str(error), 200),
            )
        else:
            db.execute("RELEASE one_discussion")
            return found
        db.execute("ROLLBACK TO one_discussion")
        db.forget_words()
        db.execute("RELEASE one_discussion")
        read = read_meta(self._home, discussion_id)
        problem = as_sentences(problem, read.problem)
        return DiscussionSummary(meta=read.meta, updated_at=read.meta.created_at, problem=problem), True


# What calls have used and cost, over all that is kept.

_TRASH_FROM = 2_000_000_000
"""Numbers of discussions in the trash, which the index has none for."""


class PaidBook:
    """The table of all calls: of logs by the index, of logs in the trash, and of harvests. For one thread.

    Args:
        home: of the discussions; file: of the index; clock: UTC.
    """

    def __init__(self, home: Path, file: CatalogFile, clock: Callable[[], datetime]) -> None:
        self._home, self._file, self._clock = home, file, clock
        self._table: UsageTable | None = None
        self._read: tuple[object, ...] = ()
        self._last = self._count = 0
        self._in_trash: dict[int, tuple[str, str]] = {}

    def report(self, query: UsageQuery) -> UsageReport:
        """Answer a question. Raises StorageError."""
        beside = (self._file.generation, self._trash_logs(), harvest_files(self._home))
        new, whole, names, payers = self._file.read(self._look)
        if self._table is None or beside != self._read or whole != self._count + len(new):
            self._begin_anew(beside)
            new, whole, names, payers = self._file.read(self._look)
        table = self._table
        assert table is not None
        table.payers |= payers
        for number, calls in new:
            table.add(calls)
            self._last = number
        self._count = whole
        return table.report(query, {**names, **self._in_trash}, self._clock())

    def _look(
        self, db: sqlite3.Connection
    ) -> tuple[list[tuple[int, bytes]], int, dict[int, tuple[str, str]], dict[int, Payer]]:
        """Calls behind the last that was read, how many rows there are, and the names of what they tell of."""
        from core.services.spending.usage_table import Payer

        new = db.execute(
            "SELECT number, calls FROM paid WHERE number > ? ORDER BY number", (self._last,)
        ).fetchall()
        (whole,) = db.execute("SELECT count(*) FROM paid").fetchone()
        named = db.execute("SELECT number, id, name FROM discussion").fetchall()
        payers = db.execute("SELECT number, provider, model FROM payer").fetchall()
        return (
            new,
            whole,
            {number: (name_id, name or name_id) for number, name_id, name in named},
            {number: Payer(provider, model) for number, provider, model in payers},
        )

    def _begin_anew(self, beside: tuple[object, ...]) -> None:
        from core.services.spending.usage_table import UsageTable

        now = self._clock()
        self._table = UsageTable(lambda payer: billed_prices(payer.provider, payer.model, now))
        self._last, self._count, self._in_trash = 0, 0, {}
        packed = self._file.write(lambda db: [*self._of_trash(db), *self._of_harvests(db)])
        self._table.payers = self._file.read(self._look)[3]
        self._table.add(b"".join(packed))
        self._read = beside

    def _trash_logs(self) -> tuple[tuple[str, int], ...]:
        """Logs in the trash, with the size of each."""
        found = []
        for item in trash.items(self._home):
            with suppress(OSError):
                found.append((item.path, (Path(item.path) / paths.LOG_FILE).stat().st_size))
        return tuple(found)

    def _of_trash(self, db: sqlite3.Connection) -> Iterator[bytes]:
        for place, item in enumerate(trash.items(self._home)):
            number = _TRASH_FROM + place
            self._in_trash[number] = item.discussion_id, tr("{name} (in the trash)", name=item.name)
            calls = PaidCalls(number, 0, partial(payer_number, db), is_task=False)
            with suppress(StorageError):
                for line in discussion_log.scan(Path(item.path) / paths.LOG_FILE):
                    if not isinstance(line.content, log_codec.ForeignLine):
                        calls.take(line.content)
            yield calls.packed()

    def _of_harvests(self, db: sqlite3.Connection) -> Iterator[bytes]:
        for path, _ in harvest_files(self._home):
            for call in harvest_calls(path):
                payer = payer_number(db, call.provider, call.model)
                yield pack_call(call.at, payer, 0, PaidKind.HARVEST, call.usage)
