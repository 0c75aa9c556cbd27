"""Token counts kept across runs: a line of hash and count each, in the cache's folder. Safe to delete."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from core.base.disk import make_dirs, write_passing
from core.base.errors import SlopError
from core.base.opener import open_descriptor, read_file

MOST_KEPT = 20_000
"""Counts kept, the newest; the file is cut to them when it is read."""

_MAX_BYTES = 20_000_000
_LINE = re.compile(rb"^([0-9a-f]{64}) ([0-9]{1,9})$", re.MULTILINE)

log = logging.getLogger(__name__)


class CountFile:
    """The counts by sha256 of the text, which holds no words. One thread at a time; other programs may append too.

    Args:
        file: made when something is kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> dict[str, int]:
        """Counts as they were kept, the newest last. Never fails: what cannot be read is counted anew."""
        try:
            data = read_file(self._file, _MAX_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            log.warning("token counts are made anew: %s", error)
            self._replace({})
            return {}
        lines = _LINE.findall(data[: data.rfind(b"\n") + 1])
        newest = {key.decode("ascii"): int(count) for key, count in lines[-MOST_KEPT:]}
        if len(lines) > 2 * MOST_KEPT:
            self._replace(newest)
        return newest

    def add(self, counts: Mapping[str, int]) -> None:
        """Keep more counts, behind the others. A failure is logged."""
        try:
            make_dirs(self._file.parent)
            descriptor = open_descriptor(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            with os.fdopen(descriptor, "rb+") as file:
                file.write(b"\n" * _is_torn(file) + _lines(counts))
        except (OSError, SlopError) as error:
            log.warning("token counts were not kept: %s", error)

    def _replace(self, counts: Mapping[str, int]) -> None:
        try:
            write_passing(self._file, _lines(counts))
        except SlopError as error:
            log.warning("token counts were not kept: %s", error)


def _lines(counts: Mapping[str, int]) -> bytes:
    """Rows of what is the hash of a text; other keys are of this run alone."""
    rows = (f"{key} {count}\n".encode("ascii", "replace") for key, count in counts.items())
    return b"".join(row for row in rows if _LINE.match(row.rstrip(b"\n")))


def _is_torn(file: BinaryIO) -> bool:
    """True if the last line was cut off by a kill, so that the next one must not join it."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return False
    file.seek(size - 1)
    return file.read(1) != b"\n"
