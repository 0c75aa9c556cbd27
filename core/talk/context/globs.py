"""Expands a glob by a bounded, deterministic walk under git's ignore rules; the one gate before files that hold keys."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import msgspec
from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.key_files import BY_LINK, HEAD_BYTES, FileMark, content_reasons, linked_keys
from core.kernel.key_names import name_reasons
from core.kernel.language import tr
from core.kernel.patterns import late
from core.talk.context.ignores import Ignores, index_file, tracked

# Expands a glob by a walk that is bounded, deterministic and stays out of what nobody curates.

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
"""Folders that `*` and `**` do not enter, beside those whose name starts with a dot (`.git`, `.venv`)."""

MAX_VISITED = 300_000
"""Entries that one walk looks at before it gives up."""
MAX_WALK_S = 10.0
"""And the time: what a hostile `.gitignore` asks of each entry counts too."""

_ANY_DEPTH = "**"


class GlobFound(msgspec.Struct, frozen=True):
    """Finds of a walk.

    Args:
        paths: absolute, sorted; empty when there were more than allowed.
        is_too_many: the limit was passed and the walk stopped; visited: entries it had looked at.
        ignored: files and folders that matched and were left out; rule_files: whose rules say so, or may.
        rules_passed_over: rules that were not followed.
        folders: absolute, those that were entered, `base` first; unread: those of them whose entries nobody tells.
    """

    paths: tuple[str, ...]
    visited: int
    is_too_many: bool = False
    ignored: int = 0
    rule_files: tuple[str, ...] = ()
    rules_passed_over: int = 0
    folders: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class _Step(msgspec.Struct, frozen=True):
    """One part of a pattern: a name to match, or any number of folders. `takes_any`: it says nothing of most names."""

    name: re.Pattern[str] | None
    is_hidden_asked: bool
    skipped_asked: str
    takes_any: bool = False


def glob_base(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Split a pattern into the folder it starts from and the parts from the first wildcard on."""
    parts = pattern.split("/")
    first = next(i for i, part in enumerate(parts) if any(mark in part for mark in "*?["))
    return "/".join(parts[:first]) or ("/" if pattern.startswith("/") else ""), tuple(parts[first:])


def expand(
    base: str,
    parts: tuple[str, ...],
    limit: int,
    ignores: Ignores | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> GlobFound:
    """Find the files under `base` that match.

    As in a shell, names that start with a dot match only a part that does; `**` is any number of folders.
    Links to folders are not followed, and only files are found. `SKIPPED_FOLDERS`, and folders that `ignores` leaves out, are entered only
    where a part names them.

    Args:
        base: absolute folder, links resolved; parts: as `glob_base` gives them; limit: files, at least 1.
        ignores: the rules above `base`; None takes what git would leave out, too. clock: seconds.
    """
    end = clock() + MAX_WALK_S
    walk = _Walk(steps=tuple(_step(part) for part in parts), limit=limit)
    walk.waiting.append((base, _closed({0}, walk.steps), ignores))
    while walk.waiting:
        folder, places, rules = walk.waiting.pop()
        walk.entered.append(folder)
        if rules is not None:
            rules = rules.inside(folder)
            walk.rule_files.update(rules.files)
            walk.rules_passed_over = max(walk.rules_passed_over, rules.passed_over)
        for entry in _entries(folder, walk.unread):
            walk.look_at(entry, places, rules)
            if len(walk.found) > limit or walk.visited >= MAX_VISITED or clock() > end:
                return walk.result(is_too_many=True)
    return walk.result(is_too_many=False)


@dataclass(slots=True)
class _Walk:
    """One walk: the folders still to enter, each with its places in the pattern and its rules, and what was found."""

    steps: tuple[_Step, ...]
    limit: int
    closed: dict[frozenset[int], frozenset[int]] = field(default_factory=dict)
    usual: dict[frozenset[int], frozenset[int]] = field(default_factory=dict)
    waiting: list[tuple[str, frozenset[int], Ignores | None]] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    entered: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    rule_files: set[str] = field(default_factory=set)
    visited: int = 0
    ignored: int = 0
    rules_passed_over: int = 0
    tracked: dict[str, frozenset[bytes]] = field(default_factory=dict)

    def result(self, *, is_too_many: bool) -> GlobFound:
        """Result of the walk, nothing where it gave up."""
        return GlobFound(
            paths=() if is_too_many else tuple(sorted(self.found)),
            visited=self.visited,
            is_too_many=is_too_many,
            ignored=0 if is_too_many else self.ignored,
            rule_files=tuple(sorted(self.rule_files)),
            rules_passed_over=self.rules_passed_over,
            folders=tuple(self.entered),
            unread=tuple(sorted(self.unread)),
        )

    def look_at(self, entry: os.DirEntry[str], places: frozenset[int], rules: Ignores | None) -> None:
        """Take an entry, leave it out, or note it as a folder to enter."""
        self.visited += 1
        after = self._after(entry.name, places)
        if not after:
            return
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and (len(self.steps) not in after or _is_no_file(entry)):
            return
        if rules is not None and rules.leaves_out(entry.path, is_folder=is_folder):
            named = _named(entry.name, places, self.steps) if is_folder else frozenset()
            if not named and not self._is_tracked(entry.path, rules.top):
                self.ignored += 1
                return
            after = named or after
            rules = Ignores() if named else replace(rules, is_left_out=is_folder)
        if is_folder:
            self.waiting.append((entry.path, after, rules))
        else:
            self.found.append(entry.path)

    def _is_tracked(self, path: str, top: str) -> bool:
        """True for a file that the repository tracks though a rule names it, and for the folders above such a file."""
        if (names := self.tracked.get(top)) is None:
            index = index_file(top)
            names = self.tracked[top] = tracked(index) if top else frozenset()
            self.rule_files.add(index)  # a file that is added to it comes into view
        if not names:
            return False
        inner = path[len(top.rstrip(os.sep)) + 1 :]
        return os.fsencode(inner.replace(os.sep, "/") if os.sep != "/" else inner) in names

    def _after(self, name: str, places: frozenset[int]) -> frozenset[int]:
        """Places in the pattern where it may stand after a name. Of `**` and `*` that is the same for most names."""
        is_usual = not name.startswith(".") and name not in SKIPPED_FOLDERS
        if is_usual and (usual := self.usual.get(places)) is not None:
            return usual
        after = _advanced(name, places, self.steps)
        if (closed := self.closed.get(after)) is None:
            closed = self.closed[after] = _closed(after, self.steps)
        if is_usual and all(at == len(self.steps) or self.steps[at].takes_any for at in places):
            self.usual[places] = closed
        return closed


def _step(part: str) -> _Step:
    if part == _ANY_DEPTH:
        return _Step(name=None, is_hidden_asked=False, skipped_asked="", takes_any=True)
    pattern = re.compile(fnmatch.translate(part))
    return _Step(
        name=pattern, is_hidden_asked=part.startswith("."), skipped_asked=part, takes_any=part == "*"
    )


def _entries(folder: str, unread: list[str]) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder; one that cannot be read is noted. One that is gone by now has none."""
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except FileNotFoundError:
        return
    except OSError:
        unread.append(folder)


def _is_no_file(entry: os.DirEntry[str]) -> bool:
    """True for a pipe, a device, a socket, and a link to one or to a folder; a link to nothing is told where it is read."""
    try:
        return not entry.is_file() and bool(entry.stat())
    except OSError:
        return False


def _closed(places: Collection[int], steps: tuple[_Step, ...]) -> frozenset[int]:
    """Places in the pattern, those after a `**` that stands for no folder included."""
    closed = set(places)
    for place in sorted(places):
        at = place
        while at < len(steps) and steps[at].name is None:
            at += 1
            closed.add(at)
    return frozenset(closed)


def _advanced(name: str, places: frozenset[int], steps: tuple[_Step, ...]) -> frozenset[int]:
    """Places in the pattern where it may stand after a name, without those behind a `**` that stands for no folder."""
    is_hidden = name.startswith(".")
    after = set()
    for place in places:
        if place == len(steps):
            continue
        step = steps[place]
        if step.name is None:
            if not is_hidden and name not in SKIPPED_FOLDERS:
                after.add(place)
        elif step.name.match(name) and _is_asked(step, name, is_hidden=is_hidden):
            after.add(place + 1)
    return frozenset(after)


def _named(name: str, places: frozenset[int], steps: tuple[_Step, ...]) -> frozenset[int]:
    """Places in the pattern where it may stand after a folder that a part of it names outright."""
    at = {place for place in places if place < len(steps) and steps[place].skipped_asked == name}
    return _closed({place + 1 for place in at}, steps)


def _is_asked(step: _Step, name: str, *, is_hidden: bool) -> bool:
    if is_hidden:
        return step.is_hidden_asked
    return name not in SKIPPED_FOLDERS or step.skipped_asked == name


# Places of files: paths resolved before they are judged, and how they are shown.

_PLAIN = late(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*") if os.sep == "/" else re.compile("(?!)")
"""Relative paths that need no folding: most of them, and folding takes longer than reading."""


class Places:
    """The folders that items may read: the project's root and folders that the person allowed.

    Symbolic links are resolved before a path is judged. Folders that were resolved are remembered, so one
    instance serves one reading and is then dropped.

    Args:
        root: the project's root, absolute; allowed_roots: absolute folders outside it.
    """

    def __init__(self, root: str, allowed_roots: Sequence[str] = ()) -> None:
        self.root = os.path.realpath(root)
        self._allowed = tuple(os.path.realpath(folder) for folder in (root, *allowed_roots))
        self._shown_root = os.path.abspath(root)
        self._folders: dict[str, str] = {}

    def absolute(self, path: str) -> str:
        """An item's path as an absolute one, `..` folded, links not yet resolved."""
        if _PLAIN.fullmatch(path):
            return f"{self.root}{os.sep}{path}"
        return os.path.normpath(os.path.join(self.root, os.path.expanduser(path)))

    def resolve(self, absolute: str) -> tuple[str, os.stat_result | None]:
        """The path with links resolved, and its status (None where nothing is there).

        Raises:
            OSError: it cannot be asked for (permission, a loop of links), FileNotFoundError apart.
        """
        folder, name = os.path.split(absolute)
        resolved = self._folders.get(folder)
        if resolved is None:
            resolved = self._folders[folder] = os.path.realpath(folder)
        path = os.path.join(resolved, name)
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                path = os.path.realpath(path)
                status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return path, None
        return path, status

    def is_allowed(self, resolved: str) -> bool:
        """True if a resolved path lies in the project or in an allowed folder."""
        return any(is_inside(resolved, folder) for folder in self._allowed)

    def root_of(self, resolved: str) -> str:
        """The readable folder that contains a resolved path, or the path itself if there is none."""
        return next((folder for folder in self._allowed if is_inside(resolved, folder)), resolved)

    def shown(self, absolute: str) -> str:
        """The path as it is shown and sent: POSIX, relative to the project's root where it lies inside."""
        for root in (self.root, self._shown_root):
            if is_inside(absolute, root):
                return clean(absolute[len(root) :].lstrip(os.sep).replace(os.sep, "/")) or "."
        return clean(absolute.replace(os.sep, "/"))


def is_inside(path: str, folder: str) -> bool:
    """True if `path` is `folder` or lies in it. Both absolute and normal."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_below(path: str, places: Collection[str]) -> bool:
    """True if a path is one of some places, or lies in one."""
    return any(is_inside(path, place) for place in places)


# The one gate before files of a project: those that hold keys are asked about by tools, and go into no
# index and no request.

MOST_FOLDERS = 20_000
"""Folders of a project that are searched for files of keys which links give another name."""
REMEDY = tr(
    "If the file holds no API keys or passwords: add the file to “Readable places” in Settings, Permissions"
)
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})


class KeyGate:
    """Judges files of one folder. One instance serves one reading and is then dropped: links are looked for once.

    Args:
        root: absolute, links resolved; shown: places that a person said hold no keys, absolute, links resolved.
        folders: absolute, in which other names of a file are looked for; None: all below the root.
    """

    def __init__(self, root: str, shown: Collection[str] = (), folders: Iterable[str] | None = None) -> None:
        self._root, self._shown = root, shown
        self._folders = folders

    def place_reasons(self, path: str, mark: FileMark) -> tuple[str, ...]:
        """Reasons to keep a file out that need no look into it, a sentence each: its name, or that of another name of it.

        Args:
            path: absolute, links resolved.
        """
        if reasons := self.name_reasons(path):
            return reasons
        is_linked = mark.links > 1 and not self.is_shown(path) and mark.identity in self._linked
        return (BY_LINK,) if is_linked else ()

    def name_reasons(self, path: str) -> tuple[str, ...]:
        """Reasons to keep a file out by its name alone. Args as above."""
        if self.is_shown(path):
            return ()
        inside = os.path.relpath(path, self._root) if is_inside(path, self._root) else path
        return name_reasons(inside.replace(os.sep, "/"))

    def reasons(self, path: str, mark: FileMark, data: bytes) -> tuple[str, ...]:
        """As `place_reasons`, and by what stands in the file. `data`: all of it, or more than `HEAD_BYTES` of its beginning."""
        if found := self.place_reasons(path, mark):
            return found
        if self.is_shown(path):
            return ()
        return content_reasons(os.path.basename(path), data[: HEAD_BYTES + 1])

    def is_shown(self, path: str) -> bool:
        """True for a file that a person marked as free of keys."""
        return is_below(path, self._shown)

    @cached_property
    def _linked(self) -> frozenset[tuple[int, int]]:
        return linked_keys(
            islice(_below(self._root) if self._folders is None else self._folders, MOST_FOLDERS)
        )


def _below(root: str) -> Iterator[str]:
    for folder, folders, _ in os.walk(root):
        folders[:] = [name for name in folders if name not in _PASSED_OVER]
        yield folder
