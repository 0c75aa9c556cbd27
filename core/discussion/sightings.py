"""Last sightings of each discussion on disk by this program: the changes of another program stand out."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.base import paths
from core.base.disk import Appended


class _Marks(msgspec.Struct, frozen=True):
    log_bytes: int
    meta: tuple[int, int, int]


class Seen:
    """Sizes of logs and marks of metas by discussion. One thread; O(1) for each question.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._marks: dict[str, _Marks] = {}

    def look(self, discussion_id: str) -> bool:
        """Remember how it stands now. Whether that differs from what was seen last; True for one never seen."""
        now = _Marks(_log_bytes(self._home, discussion_id), _meta_marks(self._home, discussion_id))
        before = self._marks.get(discussion_id)
        self._marks[discussion_id] = now
        return now != before

    def knows(self, discussion_id: str) -> bool:
        """True if it was seen; one that was not may have come out of the trash."""
        return discussion_id in self._marks

    def wrote_meta(self, discussion_id: str) -> None:
        """This program wrote the meta."""
        if known := self._marks.get(discussion_id):
            self._marks[discussion_id] = replace(known, meta=_meta_marks(self._home, discussion_id))

    def appended(self, discussion_id: str, went: Appended) -> bool:
        """This program appended to the log. Whether another program had appended before, unseen."""
        known = self._marks.get(discussion_id)
        if known is None:
            return False
        self._marks[discussion_id] = replace(known, log_bytes=went.size_bytes)
        return went.offset > known.log_bytes + went.was_torn

    def forget(self, discussion_id: str) -> None:
        """It is not there any more."""
        self._marks.pop(discussion_id, None)


def _log_bytes(home: Path, discussion_id: str) -> int:
    try:
        return paths.log_file(home, discussion_id).stat().st_size
    except OSError:
        return 0


def _meta_marks(home: Path, discussion_id: str) -> tuple[int, int, int]:
    try:
        status = paths.meta_file(home, discussion_id).stat()
    except OSError:
        return 0, 0, 0
    return status.st_size, status.st_mtime_ns, status.st_ino
