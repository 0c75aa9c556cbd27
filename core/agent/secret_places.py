"""Files of a project that may hold keys or passwords, shut to a command that no person said yes to, and to MCP servers.

A rule lets a command line go by its first words, and a policy whatever it says: neither tells which files it reads. A yes to
a server is one to what it is, and not to what it reads.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

import msgspec

from core.agent.guarded_places import PASSED_OVER
from core.kernel.figures import size
from core.kernel.key_files import KeyContents
from core.kernel.key_names import KEY_FOLDERS, folded, is_key_name
from core.talk.context.globs import is_below, is_inside

MOST_LOOKED_AT = 200_000
"""Entries of a project among which they are looked for, but for folders of what was fetched or built."""
MOST_SHUT = 300
MOST_READ_BYTES = 1_000_000_000
"""Of the beginnings of a project's files that are looked through for keys at once; what was read before counts for nothing."""
NAME_THEM = "Name a file of keys in the command (`.env`), and a person is asked"
_MOST_NAMED = 3
_SETTLED_NS = 100_000_000
"""Age of a change from which on another one cannot bear the same time."""

_CODE = (
    ".py", ".pyi", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".go", ".rs", ".java", ".kt", ".scala", ".rb", ".php",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".exs", ".md", ".html",
)  # fmt: skip
"""Ends of names such as `credentials.*` that are a program's own text; what stands in it is looked at as in any other."""
_KEYS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore")
_TESTS = frozenset(
    {
        "test",
        "tests",
        "testing",
        "testdata",
        "test_data",
        "__tests__",
        "spec",
        "specs",
        "fixture",
        "fixtures",
        "examples",
    }
)
"""Folders whose keys are made for tests, which fail without them."""


class _Folder(msgspec.Struct, frozen=True, gc=False):
    """Content of a folder: `stamp`: device, number and time of change, None where another change may follow within it."""

    stamp: tuple[int, int, int] | None
    is_of_tests: bool
    count: int
    folders: tuple[str, ...]
    secrets: tuple[str, ...]
    files: tuple[str, ...]


class SecretPlaces:
    """Looks for secrets of projects. It remembers each folder as long as nothing came or went in it. Thread-safe.

    Args:
        remedy: sentence without a full stop for a project in which there are too many.
    """

    def __init__(self, remedy: str = NAME_THEM) -> None:
        self._remedy = remedy
        self._known: dict[str, dict[str, _Folder]] = {}
        self._contents = KeyContents()

    def below(self, root: str, shown: Collection[str] = ()) -> tuple[str, ...]:
        """Files and folders that may hold secrets by name or content, absolute, links resolved; those that a link leads to
        elsewhere among them, and every other name of the same file (a hard link) in the project.

        Args:
            shown: places that a person showed to what runs there, absolute, links resolved: they are none.

        Raises:
            PermissionError: there are more of them than are shut, or more in the project than is looked at: whoever asks
                for a command may have put it there.
        """
        found: dict[str, None] = {}
        before, seen = self._known.get(root, {}), dict[str, _Folder]()
        waiting, left = deque([(root, False)]), MOST_LOOKED_AT
        most_bytes = self._contents.read_bytes + MOST_READ_BYTES
        while waiting:
            folder, is_of_tests = waiting.popleft()
            if (known := _read(folder, before.get(folder), is_of_tests=is_of_tests)) is None:
                continue
            seen[folder] = known
            left -= known.count
            secrets = (*known.secrets, *filter(self._contents.reasons, known.files))
            found |= {path: None for path in map(os.path.realpath, secrets) if not is_below(path, shown)}
            if left < 0 or len(found) > MOST_SHUT or self._contents.read_bytes > most_bytes:
                raise self._too_many(left)
            waiting += (
                (path, is_of_tests or folded(os.path.basename(path)) in _TESTS) for path in known.folders
            )
        self._known[root] = seen
        found |= dict.fromkeys(_other_names(root, tuple(found), lambda: self._too_many(-1)))
        if len(found) > MOST_SHUT:
            raise self._too_many(left)
        return tuple(
            path for path in found if os.path.exists(path) and path != root and not is_inside(root, path)
        )

    def _too_many(self, left: int) -> PermissionError:
        what = (
            f"more than {MOST_LOOKED_AT:,} files are here"
            if left < 0
            else f"more than {MOST_SHUT} files here may hold keys or passwords, or {size(MOST_READ_BYTES)} would have to be looked through"
        )
        return PermissionError(
            f"{what}, too many to shut those with secrets to what nobody said yes to. {self._remedy}"
        )


def _other_names(root: str, secrets: Sequence[str], too_many: Callable[[], PermissionError]) -> Iterator[str]:
    """Names in a project of files that may hold secrets and have more names than one, in what was fetched or built too.

    Raises:
        PermissionError: more is there than is looked at, and names are missing still.
    """
    files = (file for place in secrets for file in (place, *_files_below(place)))
    missing = {
        (status.st_dev, status.st_ino): status.st_nlink for status in _statuses(files) if status.st_nlink > 1
    }
    numbers = {number for _, number in missing}
    waiting, left = deque([root]), MOST_LOOKED_AT
    while waiting and any(missing.values()):
        try:
            entries = list(os.scandir(waiting.popleft()))
        except OSError:
            continue
        left -= len(entries)
        if left < 0:
            raise too_many()
        waiting += (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        for path in (entry.path for entry in entries if entry.inode() in numbers):
            for status in _statuses([path]):
                if (key := (status.st_dev, status.st_ino)) in missing:
                    missing[key] -= 1
                    yield path


def _files_below(place: str) -> Iterator[str]:
    if not os.path.isdir(place):
        return iter(())
    files = (os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
    return islice(files, MOST_LOOKED_AT)


def _statuses(files: Iterable[str]) -> Iterator[os.stat_result]:
    """States of those that are files."""
    for file in files:
        with suppress(OSError):
            status = os.stat(file, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                yield status


def shut_note(shut: Sequence[str], root: str) -> str:
    """Sentence on what was shut to a command, for its result; empty where nothing was."""
    if not shut:
        return ""
    them = "it" if len(shut) == 1 else "them"
    return (
        f"{_named(shut, root)} to this command, which a rule let run, as it began; what is made or replaced meanwhile is open to "
        f"it. A command that names {them} asks the person"
    )


def server_note(shut: Sequence[str], root: str) -> str:
    """Sentence on what is shut to an MCP server, for the result of a call; empty where nothing is."""
    if not shut:
        return ""
    them = "it" if len(shut) == 1 else "them"
    return f"{_named(shut, root)} to this server since it started: the yes to it does not name {them}."


def _named(shut: Sequence[str], root: str) -> str:
    names = [os.path.relpath(path, root) if is_inside(path, root) else path for path in shut]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    were = "was" if len(names) == 1 else "were"
    return f"{', '.join(names[:_MOST_NAMED])}{more} may hold keys or passwords and {were} shut"


def _read(folder: str, known: _Folder | None, *, is_of_tests: bool) -> _Folder | None:
    """Content of a folder, None where it cannot be read. `known`: as it was read before."""
    try:
        status = os.stat(folder, follow_symlinks=False)
        stamp = status.st_dev, status.st_ino, status.st_mtime_ns
        if known is not None and known.stamp == stamp and known.is_of_tests is is_of_tests:
            return known
        is_settled = time.time_ns() - status.st_mtime_ns > _SETTLED_NS
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return None
    folders, secrets, files = _sorted(entries, is_of_tests=is_of_tests)
    return _Folder(
        stamp=stamp if is_settled else None,
        is_of_tests=is_of_tests,
        count=len(entries),
        folders=folders,
        secrets=secrets,
        files=files,
    )


def _sorted(
    entries: Iterable[os.DirEntry[str]], *, is_of_tests: bool
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Folders to be looked into, places that may hold secrets by their names, and files of which the content tells."""
    folders, secrets, files = [], [], []
    for entry in entries:
        name = folded(entry.name)
        if entry.is_dir(follow_symlinks=False):
            if name in KEY_FOLDERS:
                secrets.append(entry.path)
            elif name != ".git" and name not in PASSED_OVER:
                folders.append(entry.path)
        elif is_key_name(name) and not _is_harmless(name, is_of_tests=is_of_tests):
            secrets.append(entry.path)
        elif not is_of_tests and entry.is_file(follow_symlinks=False):
            files.append(entry.path)
    return tuple(folders), tuple(secrets), tuple(files)


def _is_harmless(name: str, *, is_of_tests: bool) -> bool:
    return name.endswith(_CODE) or (is_of_tests and name.endswith(_KEYS))
