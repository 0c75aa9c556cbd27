"""Files of git's own folder: rules of the repository, and its index, whose files no rule leaves out."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from core.kernel.opener import read_start
from core.kernel.patterns import late

MAX_CONFIG_BYTES = 256_000
MAX_INDEX_BYTES = 64_000_000
MAX_NAMES_BYTES = 128_000_000
"""Of all names and folders: those of version 4 share their beginnings, and each name may lie in many folders."""
_HEAD, _FIXED = 12, 62
"""Bytes before the first entry, and before an entry's name, where names of objects are SHA-1."""


def exclude_file(top: str) -> str:
    """The file of a repository's own rules: a linked worktree's are those of the repository that it belongs to, and a
    submodule's lie where its `.git` says.
    """
    return os.path.join(_common_folder(top), "info", "exclude")


def _common_folder(top: str) -> str:
    git = _git_folder(top)
    common = _pointed(os.path.join(git, "commondir"), "")
    return os.path.normpath(os.path.join(git, common)) if common else git


def excludes_file(top: str) -> str:
    """The file of a person's own rules, of all repositories: where their settings say, or those of this one, else in its usual
    place; empty where they say that there is none.

    Files that a configuration includes are not followed. Source: git, git-config, `core.excludesFile` (read 2026-11-30).
    """
    home, environ = os.path.expanduser("~"), os.environ
    folder = os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    own = [os.path.join(home, ".gitconfig"), os.path.join(folder, "config")]
    named = environ.get("GIT_CONFIG_GLOBAL")
    for file in (os.path.join(_common_folder(top), "config"), *(own if named is None else [named])):
        if (said := _setting(file)) is not None:
            return os.path.normpath(os.path.join(top, os.path.expanduser(said))) if said else ""
    return os.path.join(folder, "ignore")


_SECTION = late(r"\s*\[([^\]\n]*)\](.*)", re.DOTALL)
_EXCLUDES = late(r"\s*excludesfile\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = late(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"#;][^"#;]*?))\s*(?:[#;].*)?$', re.DOTALL)


def _setting(file: str) -> str | None:
    """The last `core.excludesFile` of a configuration; None where it has none or cannot be read."""
    try:
        text = read_start(file, MAX_CONFIG_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    section: str = ""
    said: str | None = None
    for line in text.splitlines():
        rest = line
        if (head := _SECTION.match(line)) is not None:
            section, rest = head[1].strip().lower(), head[2]
        if section == "core" and (found := _EXCLUDES.match(rest)) is not None:
            value = _VALUE.match(found[1])
            said = re.sub(r"\\(.)", r"\1", value[1] or value[2] or "") if value is not None else ""
    return None if said is not None and "\0" in said else said


def index_file(top: str) -> str:
    """The file in which a repository, a worktree or a submodule lists what it tracks."""
    return os.path.join(_git_folder(top), "index")


def _git_folder(top: str) -> str:
    git = os.path.join(top, ".git")
    named = _pointed(git, "gitdir:")
    return os.path.normpath(os.path.join(top, named)) if named else git


def _pointed(file: str, begin: str) -> str:
    """Path that a file of git's names, empty where it names no path."""
    try:
        said = (
            read_start(file, 4_096, follows_links=False).decode("utf-8", "surrogateescape").split("\n", 1)[0]
        )
    except OSError:
        return ""
    named = said.removeprefix(begin).strip()
    return named if said.startswith(begin) and "\0" not in named else ""


def tracked(file: str) -> frozenset[bytes]:
    """Paths below the repository that an index names, and the folders above them; none where it cannot be read.

    Source: git, gitformat-index, versions 2 to 4 (read 2026-11-30). What a split index keeps in another file, and an index of
    SHA-256, count as not tracked.
    """
    try:
        at = os.stat(file)
    except OSError:
        return frozenset()
    return _read(file, (at.st_mtime_ns, at.st_size, at.st_ino))


@lru_cache(maxsize=4)
def _read(file: str, stamp: tuple[int, int, int]) -> frozenset[bytes]:
    del stamp  # says when the file is another one
    try:
        data = read_start(file, MAX_INDEX_BYTES, follows_links=False)
        return frozenset(_with_folders(_names(data)))
    except (OSError, ValueError, IndexError):
        return frozenset()


def _names(data: bytes) -> list[bytes]:
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in {2, 3, 4}:
        return []
    names: list[bytes] = []
    at, name, size = _HEAD, b"", 0
    for _ in range(min(count, len(data) // _FIXED)):
        start = at + _FIXED + (2 if version > 2 and data[at + 60] & 0x40 else 0)
        if version == 4:
            shared, start = _number(data, start)
            end = data.index(b"\0", start)
            name = name[: max(0, len(name) - shared)] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at + 8) & ~7
        size += len(name)
        if size > MAX_NAMES_BYTES:
            raise ValueError(size)
        names.append(name)
    return names


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as git packs offsets, and where it ends."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1


def _with_folders(names: list[bytes]) -> set[bytes]:
    found = set(names)
    size = 0
    for name in names:
        above = name.rpartition(b"/")[0]
        while above and above not in found:
            size += len(above)
            if size > MAX_NAMES_BYTES:
                raise ValueError(size)
            found.add(above)
            above = above.rpartition(b"/")[0]
    return found
