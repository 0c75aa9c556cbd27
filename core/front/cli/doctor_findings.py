"""Findings of `doctor`, and repairs, each of which says what it would do and moves aside what it replaces."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec

from core.app import peek
from core.kernel import paths
from core.kernel.disk import free_name, make_dirs
from core.kernel.errors import SlopError
from core.kernel.figures import count
from core.kernel.language import tr
from core.talk.discussion.repairs import mend_log, mend_meta

CLOSED = tr("Run `manual-slop doctor --repair` with all windows closed")
"""Remedy for what a program that has it open would undo."""


class Verdict(StrEnum):
    """Verdict of a check. `WARN`: something does not work that a person may not need."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Repair(msgspec.Struct, frozen=True):
    """One repair of `doctor --repair`. `what`: said before the question; `run`: does it, and gives what it did.

    `run` raises SlopError or OSError where it cannot. `word`: typed as the yes to what nothing brings back, else empty.
    """

    what: str
    run: Callable[[], str]
    word: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One line of the report.

    Args:
        subject: what was looked at; text: what was found; remedy: what to do, empty where nothing is; repair: the same done
            by the program, None where only a person can.
    """

    subject: str
    verdict: Verdict
    text: str
    remedy: str = ""
    repair: Repair | None = None


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding(subject=subject, verdict=Verdict.OK, text=text)


def warn(subject: str, text: str, remedy: str = "", repair: Repair | None = None) -> Finding:
    """Something does not work that a person may not need."""
    return Finding(subject=subject, verdict=Verdict.WARN, text=text, remedy=remedy, repair=repair)


def fail(subject: str, text: str, remedy: str, repair: Repair | None = None) -> Finding:
    """The program cannot do its work."""
    return Finding(subject=subject, verdict=Verdict.FAIL, text=text, remedy=remedy, repair=repair)


Check = Callable[[], Iterable[Finding]]


_OWN = stat.S_IRWXU


def put_aside(path: Path, *, makes_folder: bool = False, into: Path | None = None) -> Repair:
    """Move what stands at a path aside, where it stays; and make a folder in its place. `into`: beside it where None."""
    what = (
        tr("Move {path} aside and make a folder in its place", path=path)
        if makes_folder
        else tr("Move {path} aside", path=path)
    )

    def run() -> str:
        if into is not None:
            make_dirs(into)
        target = free_name(path if into is None else into / path.name, datetime.now(UTC))
        path.rename(target)
        if makes_folder:
            make_dirs(path)
        return _moved(target)

    return Repair(what=what, run=run)


def mend_settings(home: Path, discussion_id: str) -> Repair:
    """Write a discussion's `meta.toml` anew from what can be read."""
    path = paths.meta_file(home, discussion_id)
    return Repair(
        what=tr("Keep a copy of {path}, and write it anew from what can be read", path=path),
        run=lambda: _mended(path, home, lambda now: mend_meta(home, discussion_id, now), _moved),
    )


def mend_end(home: Path, discussion_id: str) -> Repair:
    """Take the cut-off record from the end of a discussion's log."""
    path = paths.log_file(home, discussion_id)
    return Repair(
        what=tr("Move the cut-off end of {path} to a file beside it", path=path),
        run=lambda: _mended(path, home, lambda now: mend_log(home, discussion_id, now), _cut),
    )


def _mended(
    path: Path, home: Path, mend: Callable[[datetime], Path | None], told: Callable[[Path], str]
) -> str:
    """Mend a file. Raises SlopError where a program was started between the look and the yes."""
    if peek.is_owned(home):
        raise SlopError(tr("Another program uses the data folder"), remedy=CLOSED, where=str(home))
    kept = mend(datetime.now(UTC))
    return tr("{path} is whole again", path=path) if kept is None else told(kept)


def _moved(target: Path) -> str:
    return tr("The former content is now in {target}", target=target)


def _cut(target: Path) -> str:
    return tr("The cut-off end is now in {target}", target=target)


def let_write(folder: Path) -> Repair | None:
    """Make a folder that is missing, or let its owner write; None where only somebody else could."""
    if not folder.exists():
        return Repair(what=tr("Make the folder {folder}", folder=folder), run=lambda: _made(folder))
    if not folder.is_dir() or folder.is_symlink() or folder.stat().st_uid != os.getuid():
        return None
    return Repair(
        what=tr("Give yourself permission to write in {folder}", folder=folder), run=lambda: _opened(folder)
    )


def remove_reports(reports: Sequence[Path]) -> Repair:
    """Remove reports of crashes that were read."""
    removed = count(len(reports), tr("report"), tr("reports"))

    def run() -> str:
        for path in reports:
            path.unlink(missing_ok=True)
        return tr("{reports} removed", reports=removed)

    return Repair(what=tr("Remove {reports} of crashes", reports=removed), run=run, word="remove")


def _made(folder: Path) -> str:
    make_dirs(folder)
    return tr("the program made the folder {folder}", folder=folder)


def _opened(folder: Path) -> str:
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) | _OWN)
    return tr("You can write in {folder}", folder=folder)
