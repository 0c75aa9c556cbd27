"""Files that an import has read whole, so that the next one passes over what did not change since. Derived: it may be removed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from core import __version__
from core.kernel.decoders import packed_decoder_of
from core.kernel.disk import make_dirs, write_passing
from core.kernel.opener import open_file, read_file
from core.kernel.paths import imports_file

READERS = 1
"""Raised where readers find more in a file than before: then all files are read again."""

MAX_FILES = 200_000
MAX_BYTES = 200_000_000


class RememberedFile(msgspec.Struct, frozen=True):
    """A file as it was read, and what came of it.

    Args:
        changed_ns: since 1970; digest: of its bytes, SHA-256; conversations: in it, 0 for a file that holds none.
        discussion_ids: that they became, or were already.
    """

    size: int
    changed_ns: int
    digest: bytes
    conversations: int = 0
    discussion_ids: tuple[str, ...] = ()


class _Kept(msgspec.Struct, frozen=True):
    version: str
    files: dict[str, RememberedFile]


class ImportMemory:
    """Files that were read before, by a hash of their names: no word of a person stands in it."""

    def __init__(self, home: Path) -> None:
        self._path = imports_file(home)
        self._files = self._loaded()
        self._is_changed = False

    def unchanged(
        self, path: Path, about: os.stat_result, is_there: Callable[[str], bool]
    ) -> RememberedFile | None:
        """A file as it was read, None where it is another now, or a discussion of it is not here any more.

        Args:
            about: of the file; is_there: tells whether a discussion is here.
        """
        kept = self._files.get(_key(path))
        if kept is None or kept.size != about.st_size or not all(map(is_there, kept.discussion_ids)):
            return None
        if kept.changed_ns == about.st_mtime_ns:
            return kept
        if _digest(path) != kept.digest:
            return None
        kept = msgspec.structs.replace(kept, changed_ns=about.st_mtime_ns)
        self._keep(path, kept)
        return kept

    def remember(
        self, path: Path, about: os.stat_result, conversations: int, discussion_ids: tuple[str, ...]
    ) -> None:
        """Keep what came of a file that was read whole, unless it changed meanwhile."""
        digest = _digest(path)
        try:
            now = path.stat()
        except OSError:
            return
        if digest and (now.st_size, now.st_mtime_ns) == (about.st_size, about.st_mtime_ns):
            read = RememberedFile(
                size=about.st_size,
                changed_ns=about.st_mtime_ns,
                digest=digest,
                conversations=conversations,
                discussion_ids=discussion_ids,
            )
            self._keep(path, read)

    def save(self) -> None:
        """Write it, where anything changed. What cannot be written costs the next import its time alone."""
        if self._is_changed:
            newest = dict(list(self._files.items())[-MAX_FILES:])
            make_dirs(self._path.parent)
            write_passing(self._path, msgspec.msgpack.encode(_Kept(version=_VERSION, files=newest)))
            self._is_changed = False

    def _keep(self, path: Path, read: RememberedFile) -> None:
        key = _key(path)
        self._files.pop(key, None)
        self._files[key] = read
        self._is_changed = True

    def _loaded(self) -> dict[str, RememberedFile]:
        try:
            kept = packed_decoder_of(_Kept).decode(read_file(self._path, MAX_BYTES))
        except (OSError, msgspec.DecodeError):
            return {}
        return dict(kept.files) if kept.version == _VERSION else {}


_VERSION = f"{__version__} {READERS}"


def _key(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]


def _digest(path: Path) -> bytes:
    """SHA-256 of a file's bytes, empty where it cannot be read."""
    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b""
