"""Files that were read out of the inbox: which of them conversations were told, and which hold words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from core.base import paths
from core.base.disk import Disk, remove_file
from core.base.opener import read_file
from core.base.text import clean
from core.forgetting.words import MIN_NEEDLE, Words, forms, holds
from core.values.signals import SIGNAL_CHARS

MOST_BYTES = 1_000_000
"""Of a file of the inbox: a larger one was never taken."""


def taken_told(home: Path, logs: Iterable[Path]) -> Iterator[str]:
    """Names of the files whose words stand in one of these logs. O(files x logs), in C."""
    told = []
    for path in logs:
        with suppress(OSError):
            told.append(read_file(path, None))
    for path, data in _files(home):
        needle = _needle(data)
        if needle and any(form in log for log in told for form in forms(needle)):
            yield path.name


def drop_taken(home: Path, words: Words, *, disk: Disk) -> int:
    """Remove the files that were told to what goes, and those that hold the words.

    Returns:
        How many there were.

    Raises:
        StorageError: one is still there.
    """
    gone = [path for path, data in _files(home) if path.name in words.taken or holds(data, words)]
    for path in gone:
        remove_file(path, disk=disk)
    return len(gone)


def _needle(data: bytes) -> str:
    """The longest line of what was told of a file; all of it where it is short. Empty for a file of blanks."""
    text = clean(data.decode("utf-8-sig", "ignore")).strip()[:SIGNAL_CHARS]
    longest = max((line.strip() for line in text.split("\n")), key=len)
    return longest if len(longest) >= MIN_NEEDLE else text


def _files(home: Path) -> Iterator[tuple[Path, bytes]]:
    """Regular files with their bytes, by name; what cannot be read is passed over."""
    for folder in (paths.inbox_dir(home) / name for name in (paths.INBOX_TAKEN_DIR, paths.INBOX_WAITING_DIR)):
        with suppress(OSError), os.scandir(folder) as entries:
            for name in sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False)):
                with suppress(OSError):
                    yield folder / name, read_file(folder / name, MOST_BYTES)
