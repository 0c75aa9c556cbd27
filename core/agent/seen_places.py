"""Places that are seen by what runs without a yes for this very call, and words on those that it missed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from core.agent.toolchains import SYSTEM
from core.talk.context.globs import is_below, is_inside


class ClosedView(msgspec.Struct, frozen=True):
    """Places beyond the project, absolute; all but the home are read-only.

    Args:
        home: the person's own folder, links resolved: empty, and in memory.
        mounts: what is shown, and where; links: places that lead elsewhere, and where to.
        masked: in what is shown, and empty.
    """

    home: str
    mounts: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    masked: tuple[str, ...] = ()

    def shows(self, path: str) -> bool:
        """True for a path, links resolved, that is seen as it is."""
        return is_below(path, [place for _, place in self.mounts]) and not is_below(path, self.masked)


_PATH = re.compile(r"(?<![\w.:/~-])(?:file://)?((?:~|/)[\w.@+~=-]*(?:/[\w.@+~=-]+)+)")
_NO_PROGRAM = re.compile(r"(?:line \d+: |^)([\w.+-]+): (?:command )?not found", re.MULTILINE)
_MOST_NAMED = 3
_OF_SANDBOX = ("/dev", "/proc", "/tmp", "/run", "/sys", "/etc")  # noqa: S108
"""Places that are its own, or of which nothing more is shown."""


def missed_note(output: str, exit_code: int | None, view: ClosedView | None, root: str) -> str:
    """Sentence on what a command that failed may have missed, and how a person shows it; empty where nothing tells.

    Nothing is looked up but programs on the search path: whether a file is there stays unknown to who has none of it.

    Args:
        output: its end, as it wrote it; exit_code: None where it was ended; view: what it saw, None: the whole machine.
    """
    if view is None or not exit_code:
        return ""
    missed = tuple(islice(dict.fromkeys(_missed(output, view, root)), _MOST_NAMED))
    if not missed:
        return ""
    named = ", ".join(missed)
    return (
        f"No person was asked about this command, so it saw the project, the system, toolchains and an empty home, and not {named}. "
        f"A command that names such a place asks the person. They show one to every command here: Settings, Permissions, in the "
        f"folder {root}, Places that are shown (`shown` under [tools.folders] in the user settings)"
    )


def _missed(output: str, view: ClosedView, root: str) -> Iterator[str]:
    for found in _NO_PROGRAM.finditer(output):
        yield from _program_places(found[1], view, root)
    for found in _PATH.finditer(output):
        path = os.path.normpath(
            os.path.join(view.home, found[1][2:]) if found[1].startswith("~/") else found[1]
        )
        if is_inside(path, root) or view.shows(path):
            continue
        is_own = is_below(path, (*SYSTEM, *_OF_SANDBOX)) or not os.path.isdir(f"/{path.split('/')[1]}")
        if is_inside(path, view.home) or not is_own:
            yield path


def _program_places(name: str, view: ClosedView, root: str) -> Iterator[str]:
    for folder in filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep)):
        place = os.path.realpath(os.path.join(folder, name))
        if os.access(place, os.X_OK) and not (view.shows(place) or is_inside(place, root)):
            yield os.path.dirname(place)
