"""The list of discussions, quick at any number: a derived index of names, figures and words, safe to delete."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from core.base import paths
from core.base.errors import StorageError
from core.base.text import one_line
from core.discussion.catalog_entries import EntryKeys, forget, index_some, keys_of, stored_summary
from core.discussion.catalog_file import CatalogFile
from core.discussion.catalog_refresh import refresh_apart
from core.discussion.catalog_search import search
from core.discussion.meta import read_meta
from core.values.discussion import DiscussionSummary
from core.values.state import SearchHits

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
        may_start_child: whether a long refresh is done by a process of its own.
    """

    def __init__(
        self,
        home: Path,
        file: Path,
        clock: Callable[[], float] = time.monotonic,
        *,
        may_start_child: bool = True,
    ) -> None:
        self._home = home
        self._clock = clock
        self._file = CatalogFile(file)
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
            yield Refreshed((), removed, 0, len(ids))
        yield from self._refresh_apart(ids)
        position, generation = 0, self._file.generation
        while True:
            summaries, position = self._file.write(self._slice(ids, position, slice_s))
            if self._file.generation != generation:  # the index broke and is empty: begin again
                position, generation = 0, self._file.generation
            yield Refreshed(summaries, (), position, len(ids))
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
            summary, is_done = self._file.write(lambda db: self._index(db, discussion_id, keys_of(directory)))
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

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _ids(self) -> list[str]:
        try:
            found = [path.name for path in paths.discussions_dir(self._home).iterdir()]
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
                yield Refreshed(self.rows(step.ids), (), min(step.done, len(ids) - 1), len(ids))

    def _is_much(self, ids: list[str]) -> bool:
        """True if a refresh has a lot to parse; looks at files only as long as it does not know."""
        rows = self._file.read(
            lambda db: db.execute("SELECT id, log_key, read_to FROM discussion").fetchall()
        )
        known = {row[0]: (row[1], row[2]) for row in rows}
        changed = size = 0
        for discussion_id in ids:
            log_key, read_to = known.get(discussion_id, ("", 0))
            found = keys_of(paths.discussion_dir(self._home, discussion_id)).log
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
    ) -> Callable[[sqlite3.Connection], tuple[tuple[DiscussionSummary, ...], int]]:
        """Work on `ids` from `position` on for a while; returns new rows and where to go on."""

        def work(db: sqlite3.Connection) -> tuple[tuple[DiscussionSummary, ...], int]:
            end_at = self._clock() + slice_s
            summaries: list[DiscussionSummary] = []
            at = position
            while at < len(ids):
                summary, is_done = self._look(db, ids[at])
                summaries += [summary] if summary is not None else []
                at += is_done
                if self._clock() >= end_at:
                    break
            return tuple(summaries), at

        return work

    def _look(self, db: sqlite3.Connection, discussion_id: str) -> tuple[DiscussionSummary | None, bool]:
        keys = keys_of(paths.discussion_dir(self._home, discussion_id))
        row = db.execute("SELECT meta_key, log_key FROM discussion WHERE id = ?", (discussion_id,)).fetchone()
        is_known = row is not None and EntryKeys(row[0], row[1]) == keys
        if keys == EntryKeys("", ""):  # an empty directory is no discussion
            forget(db, (discussion_id,))
            return None, True
        if is_known:
            return None, True
        return self._index(db, discussion_id, keys)

    def _index(
        self, db: sqlite3.Connection, discussion_id: str, keys: EntryKeys
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
            problem = f"{error.what}."
        except Exception as error:
            log.exception("The log of %s cannot be read", discussion_id)
            problem = f"The log cannot be read: {type(error).__name__}: {one_line(str(error), 200)}."
        else:
            db.execute("RELEASE one_discussion")
            return found
        db.execute("ROLLBACK TO one_discussion")
        db.execute("RELEASE one_discussion")
        read = read_meta(self._home, discussion_id)
        problem = " ".join(filter(None, (problem, read.problem)))
        return DiscussionSummary(read.meta, read.meta.created_at, problem=problem), True
