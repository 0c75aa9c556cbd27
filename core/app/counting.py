"""Services of the worker process to the program: token counts, remembered; outlines; conversations and PDFs read."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from core.app.crunch import Crunch, CrunchClosedError, CrunchError
from core.kernel.disk import make_dirs, write_passing
from core.kernel.errors import SlopError
from core.kernel.frame import size_bytes
from core.kernel.opener import open_descriptor, read_file
from core.kernel.tokens import estimate_tokens
from core.kernel.values.curation import Symbol
from core.kernel.values.harvest import ArtifactKind
from core.knowledge.harvest.transcript import Said
from core.talk.discussion.pdf_text import Found

# Token counts kept across runs: a line of hash and count each, in the cache's folder. Safe to delete.

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


MOST_COUNTS = 200_000
"""Counts kept; past it all are forgotten and made anew, which costs time and no money."""

BATCH_BYTES = 2_000_000
PDF_TIMEOUT_S, PAGE_TIMEOUT_S = 30.0, 20.0


class Counting:
    """Thread-safe. `known` is one mapping that grows; callers only read it.

    Args:
        crunch: the worker process; this closes it.
        kept: file of the counts of earlier runs, read when they are first asked for; None keeps none.
    """

    def __init__(self, crunch: Crunch | None = None, kept: Path | None = None) -> None:
        self._crunch = crunch or Crunch()
        self._kept = None if kept is None else CountFile(kept)
        self._lock = threading.Lock()
        self._counts: dict[str, int] | None = None

    def known(self) -> Mapping[str, int]:
        """o200k tokens by sha256, of everything counted so far."""
        counts = self._counts
        if counts is not None:
            return counts
        with self._lock:
            return self._all()

    def _all(self) -> dict[str, int]:
        """The counts, those of earlier runs among them; the lock is held."""
        if self._counts is None:
            self._counts = self._kept.load() if self._kept is not None else {}
        return self._counts

    def count(self, texts: Mapping[str, str]) -> None:
        """Count texts by their sha256 and remember them; returns when done, at once where all of them are known.

        A text whose count fails keeps its estimate: a figure in a view is no reason to stop.
        """
        known = self.known()
        for batch in _batches({name: text for name, text in texts.items() if name not in known}):
            is_exact = True
            try:
                found = self._crunch.count(batch).result()
                counted = {
                    name: found[name] for name in batch if name in found
                }  # the names that are held already
            except CrunchError as error:
                _say("tokens are estimated: %s", error)
                counted = {name: estimate_tokens(size_bytes(text)) for name, text in batch.items()}
                is_exact = False
            with self._lock:
                before = self._all()
                self._counts = {**(before if len(before) < MOST_COUNTS else {}), **counted}
                if is_exact and self._kept is not None:
                    self._kept.add({name: n for name, n in counted.items() if name not in before})

    def outline(self, path: str, text: str) -> tuple[Symbol, ...]:
        """The outline of a file; none when the worker process fails at it."""
        try:
            return self._crunch.outline(path, text).result()
        except CrunchError as error:
            _say(f"no outline of {path}: %s", error)
            return ()

    def messages(self, kind: ArtifactKind, data: bytes, new_bytes: int) -> tuple[Said, ...]:
        """The part of a conversation that a harvest may read.

        Raises:
            ValueError: it cannot be read. CrunchError: the worker process failed at it.
        """
        return self._crunch.messages(kind, data, new_bytes).result()

    def pdf(self, data: bytes) -> Found:
        """Pages and text of a PDF, in a process that ends with it: it may take all memory that it is given.

        Raises:
            CrunchError: it ended over the file, or took too long.
        """
        reader = Crunch(PDF_TIMEOUT_S, attempts=1)
        try:
            return reader.pdf(data).result()
        finally:
            reader.close()

    def close(self) -> None:
        """End the worker process."""
        self._crunch.close()


def read_page(data: bytes, charset: str, on_cancel: Callable[[Callable[[], None]], None]) -> str:
    """Text of an HTML page, in a process that ends with it: a hostile one takes a minute of a core and more.

    Args:
        on_cancel: takes what ends the reading.

    Raises:
        CrunchError: it cannot be read, took too long, or was cancelled.
    """
    reader = Crunch(PAGE_TIMEOUT_S, attempts=1)
    try:
        read = reader.page(data, charset)
        on_cancel(reader.close)
        return read.result()
    finally:
        reader.close()


def _batches(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Cut into batches of a few megabytes, so that no job holds the process for long."""
    batches: list[dict[str, str]] = []
    size = BATCH_BYTES
    for name, text in texts.items():
        if size >= BATCH_BYTES:
            batches.append({})
            size = 0
        batches[-1][name] = text
        size += len(text)
    return batches


def _say(text: str, error: CrunchError) -> None:
    """Warn of a job that failed; not of one that the end of the program cut off."""
    log.log(logging.DEBUG if isinstance(error, CrunchClosedError) else logging.WARNING, text, error)
