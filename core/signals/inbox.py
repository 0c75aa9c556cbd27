"""The inbox on disk: text files that have come to rest are read, bounded, wait in `waiting`, and end in `taken`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.kernel.frame import clean, flat, one_line
from core.kernel.language import spliced, tr
from core.kernel.opener import OWN_MODE, HeldFolder, OddFileError, held_folder, read_held
from core.kernel.paths import INBOX_DIR, INBOX_TAKEN_DIR, INBOX_WAITING_DIR
from core.kernel.patterns import late
from core.kernel.values.signals import SIGNAL_CHARS
from core.signals.signals_messages import InboxFile, InboxRead

MAX_BYTES = 1_000_000
"""Most of a file in the inbox: over it, it is no message."""
MAX_FILES, MAX_ENTRIES = 100, 1_000
"""Files that are taken at one look, and entries that are opened; the next look takes further ones."""
MAX_NAMES = 100_000
"""Entries whose names are read at one look. What lies beyond is not seen, which is said."""
MAX_SAID, MAX_NAME_CHARS = 20, 200
"""Entries that stay and are said one by one, and characters of a name that are."""
TAKEN_KEPT = 100
"""Files that `taken` keeps, the newest."""
AT_REST = timedelta(seconds=2)
"""Age from which on a file counts as written to its end at the first look."""
UNFINISHED = (".tmp", ".part", ".swp", ".crdownload", "~")
"""Endings of files that a program is still writing; those that begin with a dot are likewise left alone."""
HINT = tr("Put only text files into the inbox, and move this away")

_ODD = (OddFileError, IsADirectoryError, PermissionError, ValueError)
"""Faults of an entry itself: it need not be opened again while it is as it was."""
_Mark = tuple[int, int, int]
"""Size and times of an entry."""
_FOLDERS = frozenset({INBOX_TAKEN_DIR, INBOX_WAITING_DIR})
_CLAIM = late(r"(\d{8}-\d{6}-\d{6})-\d{3}-")
_CLAIM_TIME = "%Y%m%d-%H%M%S-%f"
"""Beginning of the name of a file that waits: when it came, so that they stand in order."""


class Inbox:
    """The folder `inbox` of a home. For one thread of the one program that owns the home.

    A file counts once it has come to rest: it is old enough, or is the same as at the look before. What a program that
    was killed left in `waiting` is told of again.

    Args:
        home: the person's data; clock: UTC.
    """

    def __init__(self, home: Path, clock: Callable[[], datetime]) -> None:
        self._home, self._clock = home, clock
        self._sizes: dict[str, tuple[int, int]] = {}
        self._odd: dict[str, tuple[_Mark, str]] = {}
        self._told: set[str] = set()

    def read(self, *, begins_anew: bool = False, most: int = MAX_FILES) -> InboxRead:
        """Read what is at rest and move it to `waiting`. Raises OSError: the folder cannot be made or opened.

        Args:
            begins_anew: nobody knows any more what waits, so that it is told of again.
            most: files that there is room for. No more than `MAX_FILES` are told of before one of them is put away.
        """
        if begins_anew:
            self._told.clear()
        room = max(0, min(most, MAX_FILES - len(self._told)))
        odd: dict[str, tuple[_Mark, str]] = {}
        sizes: dict[str, tuple[int, int]] = {}
        opened = 0
        with held_folder(os.path.realpath(self._home), (INBOX_DIR,), made_mode=OWN_MODE) as inbox:
            files, said, has_more = self._left_behind(inbox, room)
            names, is_all = _names(inbox)
            for name in names:
                status = _status(inbox, name)
                if status is not None and self._is_still_odd(name, status):
                    odd[name] = self._odd[name]
                elif status is not None and (unrest := self._unrest(name, status)) is not None:
                    sizes[name] = unrest
                elif len(files) >= room or opened == MAX_ENTRIES:
                    sizes[name] = (-1, -1)  # at the next look
                else:
                    opened += 1
                    try:
                        text = _text(inbox, name)
                    except (OSError, ValueError) as error:
                        said[name] = _said(inbox, name, error)
                        if status is not None and isinstance(error, _ODD):
                            odd[name] = _mark(status), said[name]
                        continue
                    try:
                        claim, came_at = _claim(inbox, name, status, self._clock())
                    except OSError as error:
                        said[name] = _said(inbox, name, error)
                        continue
                    self._told.add(claim)
                    files.append(InboxFile(name=_shown(name), text=text, claim=claim, came_at=came_at))
            over = (
                ()
                if is_all
                else (
                    tr(
                        "The inbox has over {MAX_NAMES:,} entries; the program ignores the rest. {HINT}",
                        MAX_NAMES=MAX_NAMES,
                        HINT=HINT,
                    ),
                )
            )
        self._sizes, self._odd = sizes, odd
        said |= {name: sentence for name, (_, sentence) in odd.items()}
        sentences = _bounded([said[name] for name in sorted(said)])
        return InboxRead(files=tuple(files), odd=(*over, *sentences), is_unready=has_more or bool(sizes))

    def put_away(self, claims: Iterable[str]) -> None:
        """Move files that waited to `taken`, as far as they are still there. Raises OSError."""
        with held_folder(os.path.realpath(self._home), (INBOX_DIR,), made_mode=OWN_MODE) as inbox:
            taken = inbox.inside(INBOX_TAKEN_DIR, made_mode=OWN_MODE)
            try:
                for claim in claims:
                    with suppress(FileNotFoundError):
                        inbox.replace(
                            os.path.join(INBOX_WAITING_DIR, claim), os.path.join(INBOX_TAKEN_DIR, claim)
                        )
                    self._told.discard(claim)
                for old in _entries(taken)[:-TAKEN_KEPT]:
                    with suppress(OSError):
                        taken.unlink(old)
            finally:
                taken.close()

    def tell_again(self, claims: Iterable[str]) -> None:
        """Tell of files that wait at a further look: nobody knows of them any more."""
        self._told.difference_update(claims)

    def _left_behind(self, inbox: HeldFolder, room: int) -> tuple[list[InboxFile], dict[str, str], bool]:
        """Files that wait and were not told of, the oldest first, a sentence for each entry that cannot be, and whether
        there are more.
        """
        files: list[InboxFile] = []
        said: dict[str, str] = {}
        has_more = False
        if inbox.status(INBOX_WAITING_DIR) is None:
            return files, said, has_more
        try:
            waiting = inbox.inside(INBOX_WAITING_DIR)
        except OSError as error:
            return files, {INBOX_WAITING_DIR: _said(inbox, INBOX_WAITING_DIR, error)}, has_more
        try:
            for name in _entries(waiting):
                if name in self._told:
                    continue
                if len(files) >= room:
                    has_more = True
                    break
                try:
                    text = _text(waiting, name)
                except (OSError, ValueError) as error:
                    said[name] = _said(waiting, name, error)
                else:
                    self._told.add(name)
                    shown = _shown(_CLAIM.sub("", name, count=1))
                    files.append(InboxFile(name=shown, text=text, claim=name, came_at=_came_at(name)))
        finally:
            waiting.close()
        return files, said, has_more

    def _is_still_odd(self, name: str, status: os.stat_result) -> bool:
        return name in self._odd and self._odd[name][0] == _mark(status)

    def _unrest(self, name: str, status: os.stat_result) -> tuple[int, int] | None:
        """Size and time of a file that may still be written, None for one at rest."""
        mark = status.st_size, status.st_mtime_ns
        age_s = self._clock().timestamp() - status.st_mtime
        return None if age_s >= AT_REST.total_seconds() or self._sizes.get(name) == mark else mark


def _names(inbox: HeldFolder) -> tuple[list[str], bool]:
    """Entries that are no folder of ours and that nobody is writing, sorted, and whether these are all."""
    with os.scandir(inbox.path if inbox.descriptor is None else inbox.descriptor) as entries:
        names = [entry.name for _, entry in zip(range(MAX_NAMES), entries, strict=False)]
        is_all = next(entries, None) is None
    mine = (name for name in names if name not in _FOLDERS and not name.startswith("."))
    return sorted(name for name in mine if not name.endswith(UNFINISHED)), is_all


def _status(inbox: HeldFolder, name: str) -> os.stat_result | None:
    try:
        return inbox.status(name)
    except OSError:
        return None


def _mark(status: os.stat_result) -> _Mark:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _text(inbox: HeldFolder, name: str) -> str:
    """Text of a file, bounded.

    Raises:
        OSError: it is no file, a link, or cannot be read.
        ValueError: it is too large, no text, empty, or has a second name.
    """
    descriptor = inbox.open(name, os.O_RDONLY)
    status = os.fstat(descriptor)
    if status.st_nlink > 1:  # of the token beside the inbox, or of a key
        os.close(descriptor)
        raise ValueError(tr("the file is a hard link, and the program reads no hard links"))
    if status.st_size > MAX_BYTES:
        os.close(descriptor)
        raise ValueError(
            tr(
                "the file has {st_size:,} bytes, more than {MAX_BYTES:,}",
                st_size=status.st_size,
                MAX_BYTES=MAX_BYTES,
            )
        )
    data = read_held(descriptor, MAX_BYTES)
    if b"\0" in data:
        raise ValueError(tr("the file is not text"))
    try:
        text = data[: SIGNAL_CHARS * 8].decode(
            "utf-8-sig", "strict" if len(data) <= SIGNAL_CHARS * 8 else "ignore"
        )
    except UnicodeDecodeError as error:
        raise ValueError(tr("the file is not UTF-8 text")) from error
    text = clean(text)[: SIGNAL_CHARS + 1]
    if not text.strip():
        raise ValueError(tr("the file is empty"))
    return text


def _claim(
    inbox: HeldFolder, name: str, status: os.stat_result | None, now: datetime
) -> tuple[str, datetime]:
    """Move a file that was read to `waiting`, so that it is read once.

    Returns:
        Its name there, and when it came to the inbox: the time of its last change of any kind, which no program can set.

    Raises:
        OSError: it stays.
    """
    came_at = now if status is None else datetime.fromtimestamp(status.st_ctime, UTC)
    waiting = inbox.inside(INBOX_WAITING_DIR, made_mode=OWN_MODE)
    try:
        short = os.fsencode(name)[:180].decode("utf-8", "ignore")
        number = 0
        while waiting.status(claim := f"{came_at:{_CLAIM_TIME}}-{number:03}-{short}") is not None:
            number += 1
        inbox.replace(name, os.path.join(INBOX_WAITING_DIR, claim))
    finally:
        waiting.close()
    return claim, came_at


def _came_at(claim: str) -> datetime | None:
    """Moment at which a file that waits came to the inbox, None where its name does not tell."""
    told = _CLAIM.match(claim)
    try:
        return datetime.strptime(told[1], _CLAIM_TIME).replace(tzinfo=UTC) if told else None
    except ValueError:
        return None


def _entries(folder: HeldFolder) -> list[str]:
    """Names of what stands in a folder of ours, sorted."""
    with os.scandir(folder.path if folder.descriptor is None else folder.descriptor) as entries:
        return sorted(entry.name for _, entry in zip(range(MAX_NAMES), entries, strict=False))


def _said(inbox: HeldFolder, name: str, error: OSError | ValueError) -> str:
    if isinstance(error, IsADirectoryError):
        reason = tr("this is a folder")
    else:  # without its path, whose name is not flat, and without a second remedy
        reason = (error.strerror or "").rstrip(".") if isinstance(error, OSError) else str(error)
    return spliced("{}: {}. {}: {}", _shown(name), reason, HINT, _shown(inbox.path))


def _bounded(odd: list[str]) -> tuple[str, ...]:
    more = len(odd) - MAX_SAID
    return (*odd[:MAX_SAID], tr("and {more:,} more", more=more)) if more > 0 else tuple(odd)


def _shown(name: str) -> str:
    return one_line(flat(os.fsencode(name).decode("utf-8", "replace")), MAX_NAME_CHARS)
