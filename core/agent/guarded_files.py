"""Files of a discussion's tools: resolved, judged, then opened name by name, so that nothing can be swapped in between."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

import msgspec

from core.agent.tool import ToolPlaces
from core.agent.tool_policy import (
    IN_REPOSITORY,
    PARTS_OF_REPOSITORY,
    is_repository,
    reasons_to_ask_before_writing,
)
from core.kernel import paths
from core.kernel.disk import write_held
from core.kernel.frame import clean
from core.kernel.key_files import FileMark, mark_of
from core.kernel.language import tr
from core.kernel.opener import SHARED_MODE, HeldFolder, OddFileError, held_folder, read_held
from core.talk.context.globs import KeyGate, Places, is_inside

MAX_FILE_BYTES = 16_000_000
"""Most of a file that is read or written; a larger one is for `grep` and commands."""
_SYSTEM = ("/proc", "/sys", "/dev")


class ToolPath(msgspec.Struct, frozen=True):
    """A path that was judged.

    Args:
        path: absolute, links resolved; root: the folder of the tools that it is in; shown: as people and models see it.
        problem: why it may not be reached, a sentence; empty where it may.
    """

    path: str
    root: str = ""
    shown: str = ""
    problem: str = ""

    @property
    def relative(self) -> str:
        """Path below the root, with `/`; `.` for the root itself."""
        return self.path[len(self.root) :].lstrip(os.sep).replace(os.sep, "/") or "."

    @property
    def folders(self) -> tuple[str, ...]:
        """Names of the folders between the root and the file."""
        return tuple(self.relative.split("/")[:-1])

    @property
    def name(self) -> str:
        """Its last name."""
        return os.path.basename(self.path)

    @property
    def write_reasons(self) -> tuple[str, ...]:
        """Reasons to ask before it is written, whatever was granted."""
        reasons = reasons_to_ask_before_writing(self.relative)
        return (*reasons, IN_REPOSITORY) if not reasons and self._is_in_repository() else reasons

    def _is_in_repository(self) -> bool:
        """True if a folder of its way, named as it may be, is a repository of git."""
        names = self.folders
        return any(_holds_repository(os.path.join(self.root, *names[:at])) for at in range(len(names) + 1))


class GuardedBytes(msgspec.Struct, frozen=True):
    """Bytes of a file with what tells it apart.

    Args:
        data: None where there is no file; mode: permission bits; mark: of the file as it was opened.
        problem: why it could not be read, a sentence.
    """

    data: bytes | None = None
    mode: int = 0
    mark: FileMark | None = None
    problem: str = ""

    @property
    def sha256(self) -> str:
        """Of the bytes (hex), empty where there is no file."""
        return "" if self.data is None else hashlib.sha256(self.data).hexdigest()

    @property
    def has_other_names(self) -> bool:
        """True if it has hard links."""
        return self.mark is not None and self.mark.links > 1


def key_reasons(place: ToolPath, found: GuardedBytes, gate: KeyGate) -> tuple[str, ...]:
    """Reasons to ask before a file that was read is shown, whatever was granted."""
    if found.data is None or found.mark is None:
        return ()
    return gate.reasons(place.path, found.mark, found.data)


class Fence:
    """The folders that tools may reach and the forbidden ones, resolved once. `core.agent.tool_policy` judges trust.

    One instance serves one call and is then dropped: links may lead elsewhere by the next.
    """

    def __init__(self, places: ToolPlaces) -> None:
        self._folders = Places(places.root, places.allowed_roots)
        self._has_root = os.path.isabs(
            places.root
        )  # an empty one would be the folder that the program stands in
        self._closed = (*_SYSTEM, *_own_folders(places))

    def judge(self, path: str) -> ToolPath:
        """Resolve a path as a model gave it, and judge it. Total.

        Args:
            path: relative to the project's root, or absolute.
        """
        if not self._has_root:
            return ToolPath(path="", problem="No project is open: there are no files to work with.")
        if not path.strip() or "\0" in path or len(path) > 4_000:
            return ToolPath(path="", problem="The path is empty or holds characters that no path has.")
        try:
            resolved = os.path.realpath(self._folders.absolute(path))
        except (OSError, ValueError) as error:
            return ToolPath(path="", problem=f"The path {path[:200]!r} cannot be followed: {error}.")
        if not _is_utf8(resolved):
            return ToolPath(path="", problem="The path is not UTF-8.")
        if not self._folders.is_allowed(resolved):
            return ToolPath(path=resolved, problem=f"{clean(path)!r} is outside the project, links resolved.")
        return self.entry(resolved)

    def entry(self, path: str) -> ToolPath:
        """Judge a path below a folder that was judged. Where it is a link by now, it is not followed."""
        shown = self._folders.shown(path)
        if any(is_inside(path, folder) for folder in self._closed):
            return ToolPath(path=path, problem=f"{shown!r} belongs to the system or to this program itself.")
        return ToolPath(path=path, root=self._folders.root_of(path), shown=shown)


def judge_path(path: str, places: ToolPlaces) -> ToolPath:
    """Resolve a path as a model gave it, and judge it, as `Fence.judge`."""
    return Fence(places).judge(path)


def read_guarded(place: ToolPath, most_bytes: int = MAX_FILE_BYTES) -> GuardedBytes:
    """Read a file whole, by its judged path, following no link. Total: what is wrong with it is its `problem`."""
    try:
        with held_folder(place.root, place.folders) as folder:
            return _read_in(folder, place, most_bytes)
    except FileNotFoundError:
        return GuardedBytes()
    except OSError as error:
        return GuardedBytes(problem=f"{place.shown} cannot be read: {_reason(error)}.")


def write_guarded(place: ToolPath, data: bytes, base_sha256: str) -> str:
    """Write a file whole, atomically, if it is still as it was judged. Folders that are missing are made.

    Args:
        base_sha256: of the bytes that must stand there; empty: no file may.

    Returns:
        Why it was not written, a sentence; empty where it was.
    """
    try:
        with held_folder(place.root, place.folders, made_mode=None if base_sha256 else SHARED_MODE) as folder:
            before = folder.status(place.name)
            old = _read_in(folder, place, MAX_FILE_BYTES)
            if old.problem:
                return old.problem

            def is_unchanged() -> bool:
                return _marks(folder.status(place.name)) == _marks(before)

            mode = None if old.data is None else old.mode
            if old.sha256 == base_sha256 and write_held(folder, place.name, data, is_unchanged, mode=mode):
                return ""
    except OSError as error:
        return f"{place.shown} cannot be written: {_reason(error)}."
    return f"{place.shown} has changed since it was judged: nothing was written. Read it again."


def remove_guarded(place: ToolPath, base_sha256: str) -> str:
    """Remove a file that still has these bytes. Returns why it was not, a sentence; empty where it was."""
    try:
        with held_folder(place.root, place.folders) as folder:
            if _read_in(folder, place, MAX_FILE_BYTES).sha256 != base_sha256:
                return tr("{shown} has changed: the program did not remove the file.", shown=place.shown)
            folder.unlink(place.name)
    except OSError as error:
        return tr("The program cannot remove {shown}: {error}.", shown=place.shown, error=_reason(error))
    return ""


def remove_empty_folder(place: ToolPath) -> None:
    """Remove a folder, by its judged path, following no link; one that holds anything, or is none, stays. Total."""
    with suppress(OSError), held_folder(place.root, place.folders) as folder:
        folder.remove_folder(place.name)


def _read_in(folder: HeldFolder, place: ToolPath, most_bytes: int) -> GuardedBytes:
    try:
        descriptor = folder.open(place.name, os.O_RDONLY)
    except FileNotFoundError:
        return GuardedBytes()
    status = os.fstat(descriptor)
    if status.st_size > most_bytes:
        os.close(descriptor)
        return GuardedBytes(problem=_too_large(place, status.st_size, most_bytes))
    data = read_held(descriptor, most_bytes)
    if len(data) > most_bytes:  # it grew
        return GuardedBytes(problem=_too_large(place, len(data), most_bytes))
    return GuardedBytes(data=data, mode=stat.S_IMODE(status.st_mode), mark=mark_of(status))


def _holds_repository(folder: str) -> bool:
    return is_repository(name for name in PARTS_OF_REPOSITORY if os.path.lexists(os.path.join(folder, name)))


def _too_large(place: ToolPath, size_bytes: int, most_bytes: int) -> str:
    return f"{place.shown} has {size_bytes:,} bytes; at most {most_bytes:,} are read."


def _marks(status: os.stat_result | None) -> tuple[int, ...] | None:
    if status is None:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode


def _own_folders(places: ToolPlaces) -> tuple[str, ...]:
    """Folders of this program, which no tool reaches wherever the project stands."""
    own = [Path(places.home)] if places.home else []
    with suppress(RuntimeError):  # no home of the person is known
        own += [paths.config_dir(), paths.cache_dir(), paths.log_dir()]
    return tuple(os.path.realpath(folder) for folder in own)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: OSError) -> str:
    if isinstance(error, OddFileError):
        return str(error.strerror)
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return "a folder on its path is a link or no folder"
    if error.errno == errno.EISDIR:
        return "it is a folder; glob lists what is in it"
    return error.strerror or type(error).__name__
