"""The one opener of files: regular files only, never waiting, links judged, bounded in size."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader

from core.kernel.language import spliced, tr

TYPE_CHECKING = False  # `pathlib` takes longer to load than `--help` may
if TYPE_CHECKING:
    from pathlib import Path

SETTINGS_BYTES = 4_000_000
"""Most of a file that a person writes or that says how things are set: over it, nobody wrote it."""
BOOK_BYTES = 512_000_000
"""Most of a file that grows with use and is read whole: ledgers, journals, texts that wait."""

OWN_MODE, SHARED_MODE = 0o700, 0o777
"""Modes of a folder that is ours, and of one in a project, of which the umask takes away."""

_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_OWN_DESCRIPTORS = "/proc/self/fd"
_FOLDER_FLAGS = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_IS_LINK = frozenset({errno.ELOOP, getattr(errno, "EMLINK", errno.ELOOP)})
"""Errors of `O_NOFOLLOW` at a link; the second is FreeBSD's."""
_SYSTEM_FOLDERS = ("/dev", "/proc", "/sys")
"""Folders whose entries are no regular files: terminals, endless zeros, the memory of processes."""
_NODES = (
    (stat.S_ISFIFO, tr("a named pipe")),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_PIECE = 1 << 20
_HOLLOW_BYTES, _HOLLOW_SHARE = 1_000_000_000, 64
"""Size from which on, and share under which, a file is one of holes: its zeros cost time and memory for ever. File
systems that compress stay far from that share."""


class OddFileError(OSError):
    """A path stands for no file that can be read or written: `strerror` names what is there, `remedy` what to do."""

    def __init__(self, what: str, remedy: str, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, what, os.fspath(path))
        self.remedy = remedy

    def __str__(self) -> str:
        return spliced("{}. {}: {}", self.strerror, self.remedy, self.filename)


def open_descriptor(
    path: str | os.PathLike[str], flags: int, mode: int = 0o600, *, follows_links: bool = True
) -> int:
    """Open a regular file for bytes, without ever waiting for whoever holds the other end of something else.

    Args:
        path: the file; flags, mode: as `os.open` takes them.
        follows_links: a link at the path counts; one that leads into the system's own folders never does.

    Returns:
        A descriptor of a regular file, to be closed.

    Raises:
        OddFileError: what stands there is no file (a pipe, a socket, a device, a link that may not be followed).
        OSError: as `os.open`; `IsADirectoryError` for a folder.
    """
    return _opened(path, flags, mode, follows_links=follows_links)[0]


def create_missing(path: str | os.PathLike[str]) -> None:
    """Have a file for a database be there, for the person alone: mode 0600, which SQLite takes over for those beside it.

    One that is there is not opened: POSIX takes from a process all its locks on a file when it closes any descriptor of
    it. Another program would then hold itself for the last one, and delete the log that SQLite writes here.
    Source: "How To Corrupt An SQLite Database File", 2.2 (read 2026-11-24).

    Raises:
        OSError: it is not there, and cannot be made.
    """
    with suppress(FileExistsError):
        os.close(open_descriptor(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))


def open_whole(path: str | os.PathLike[str], *, follows_links: bool = True) -> int:
    """Open a file to be read to its end, of any size. Returns a descriptor, to be closed.

    Raises:
        OddFileError: it is no file, or one of holes. OSError: it cannot be opened.
    """
    descriptor, status = _opened(path, os.O_RDONLY, 0, follows_links=follows_links)
    try:
        _check_holes(status, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_file(
    path: str | os.PathLike[str], *, follows_links: bool = True, buffering: int = -1
) -> BufferedReader:
    """As `open_whole`, as a stream that is read in pieces. `buffering`: bytes of a piece, -1 for the usual."""
    stream = open(open_whole(path, follows_links=follows_links), "rb", buffering=buffering)  # noqa: SIM115  the caller's
    assert isinstance(stream, BufferedReader)
    return stream


def read_file(
    path: str | os.PathLike[str], most_bytes: int | None = SETTINGS_BYTES, *, follows_links: bool = True
) -> bytes:
    """Read a file whole.

    Args:
        most_bytes: a larger file is refused unread; None for logs and category files, which a person may let grow.
        follows_links: see `open_descriptor`.

    Raises:
        OddFileError: it is no file, too large, or one of holes. OSError: it cannot be opened or read.
    """
    descriptor, status = _opened(path, os.O_RDONLY, 0, follows_links=follows_links)
    try:
        if most_bytes is None:
            _check_holes(status, path)
        elif status.st_size > most_bytes:
            raise too_large(path, status.st_size, most_bytes)
        data = _read(descriptor, status.st_size, most_bytes)
    finally:
        os.close(descriptor)
    if most_bytes is not None and len(data) > most_bytes:
        raise too_large(path, len(data), most_bytes)
    return data


def read_start(path: str | os.PathLike[str], most_bytes: int, *, follows_links: bool = True) -> bytes:
    """Read the first bytes of a file, at most so many, whatever its size. Raises as `open_descriptor`."""
    descriptor = open_descriptor(path, os.O_RDONLY, follows_links=follows_links)
    try:
        return _read(descriptor, most_bytes - 1, most_bytes)[:most_bytes]
    finally:
        os.close(descriptor)


def make_folder(path: str | os.PathLike[str], mode: int = OWN_MODE, *, above: int | None = None) -> None:
    """Make one folder, the only way in which the program does.

    Args:
        path: of it, or its name where `above` is given, a descriptor of the folder that it comes to lie in.
        mode: for the person alone, or `SHARED_MODE` where it is not ours: in a project the umask says who else enters.

    Raises:
        OSError: as `os.mkdir`.
    """
    os.mkdir(path, mode, dir_fd=above)


class HeldFolder:
    """A folder that is held open: its entries are reached through it, whatever its path leads to meanwhile.

    No link is followed. Where the system cannot reach entries through a folder (Windows), they are reached by path.

    Args:
        path: as it was opened; descriptor: of the folder, None where there is none to have.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a regular file in it. Returns a descriptor, to be closed.

        Raises:
            OddFileError: it is no file, or a link. OSError: as `os.open`.
        """
        shown = os.path.join(self.path, name)
        if self.descriptor is None:
            return open_descriptor(shown, flags, mode, follows_links=False)
        try:
            descriptor = os.open(name, flags | _FLAGS | _NO_LINK, mode, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in _IS_LINK:
                raise _not_followed(shown) from error
            if error.errno == errno.ENXIO:
                raise _odd(tr("not a file"), shown) from error
            raise
        try:
            _check(os.fstat(descriptor).st_mode, shown)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def open_nameless(self, mode: int) -> int | None:
        """Open a new file in it for writing that has no name until `link`: a kill leaves nothing of it.

        Returns:
            A descriptor, to be closed; None where the system or the file system has no such files.

        Source: open(2), `O_TMPFILE` (read 2026-11-24).
        """
        if self.descriptor is None or not _NAMELESS or not os.path.isdir(_OWN_DESCRIPTORS):
            return None
        try:
            return os.open(".", _NAMELESS | os.O_WRONLY | _FLAGS, mode, dir_fd=self.descriptor)
        except OSError:  # why no file can be made there at all, `open` says
            return None

    def link(self, descriptor: int, name: str) -> None:
        """Give a file without a name one that nothing has. Raises OSError."""
        source = f"{_OWN_DESCRIPTORS}/{descriptor}"
        os.link(source, name, dst_dir_fd=self.descriptor, follow_symlinks=True)

    def status(self, name: str) -> os.stat_result | None:
        """Status of an entry, of a link itself; None where there is none. Raises OSError."""
        try:
            if self.descriptor is None:
                return os.lstat(os.path.join(self.path, name))
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def replace(self, source: str, target: str) -> None:
        """Rename an entry over another. Raises OSError."""
        if self.descriptor is None:
            os.replace(os.path.join(self.path, source), os.path.join(self.path, target))
        else:
            os.replace(source, target, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def unlink(self, name: str) -> None:
        """Remove an entry that is no folder. Raises OSError."""
        if self.descriptor is None:
            os.unlink(os.path.join(self.path, name))
        else:
            os.unlink(name, dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in this one. Raises OSError: it is not empty, or no folder."""
        if self.descriptor is None:
            os.rmdir(os.path.join(self.path, name))
        else:
            os.rmdir(name, dir_fd=self.descriptor)

    def inside(self, name: str, *, made_mode: int | None = None) -> HeldFolder:
        """A folder in it, held too. `made_mode`: with which it is made where nothing has its name. Raises OSError."""
        path = os.path.join(self.path, name)
        if made_mode is not None and self.status(name) is None:
            if self.descriptor is None:
                make_folder(path, made_mode)
            else:
                make_folder(name, made_mode, above=self.descriptor)
        if self.descriptor is None:
            return _folder_by_path(path)
        return HeldFolder(path, os.open(name, _FOLDER_FLAGS, dir_fd=self.descriptor))

    def close(self) -> None:
        """Let it go."""
        if self.descriptor is not None:
            os.close(self.descriptor)


@contextmanager
def held_folder(
    root: str, names: Sequence[str] = (), *, made_mode: int | None = None
) -> Iterator[HeldFolder]:
    """Folder below a root that was judged, reached name by name without following a link.

    Args:
        root: absolute, links resolved; names: of the folders below it; made_mode: with which those that are missing are
            made, None where they are not.

    Raises:
        OSError: one is not there, is no folder, or is a link (`ELOOP`, `ENOTDIR`).
    """
    can_hold = os.open in os.supports_dir_fd and bool(_NO_LINK)
    held = HeldFolder(root, os.open(root, _FOLDER_FLAGS)) if can_hold else _folder_by_path(root)
    try:
        for name in names:
            if name in {"", ".", ".."} or os.sep in name:
                raise NotADirectoryError(errno.ENOTDIR, tr("this is not a folder name"), name)
            above = held
            held = above.inside(name, made_mode=made_mode)
            above.close()
        yield held
    finally:
        held.close()


def read_held(descriptor: int, most_bytes: int) -> bytes:
    """Read an open file whole, or one piece more than `most_bytes`, and close it. Raises OSError."""
    try:
        return _read(descriptor, min(os.fstat(descriptor).st_size, most_bytes), most_bytes)
    finally:
        os.close(descriptor)


def _folder_by_path(path: str) -> HeldFolder:
    if os.path.realpath(path) != path or not os.path.isdir(path):
        raise NotADirectoryError(errno.ENOTDIR, tr("this is a link, or not a folder"), path)
    return HeldFolder(path, None)


def write_target(path: Path) -> Path:
    """Path of the file that a write to `path` replaces: its own, or where its link leads.

    Raises:
        OddFileError: a link that leads to no file, or round in a loop.
    """
    if not path.is_symlink():
        return path
    target = type(path)(_judged_target(path))
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISLNK(mode):
        raise _looped(path)
    _check(mode, path)
    return target


def require_file(path: Path) -> None:
    """Raise OddFileError or IsADirectoryError if something else than a regular file, such as a link, stands at a path."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise _not_followed(path)
    _check(mode, path)


def reason_of(error: OSError) -> str:
    """Reason of a file that could not be opened or read, with what to do about it where that is known. No full stop."""
    if isinstance(error, OddFileError):
        return str(error)
    return error.strerror or str(error)


def oddity(path: Path) -> str:
    """Sentence about a path at which something stands that is no file, with the remedy; empty where all is well.

    A missing file, or one that may not be read, counts as not regular.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode):
            return ""
        os.close(open_descriptor(path, os.O_RDONLY))
    except OddFileError as error:
        return tr("{name} was skipped: {error}", name=path.name, error=error)
    except IsADirectoryError:
        return tr(
            "{name} is skipped: this is a folder, not a file. Move the folder away: {path}",
            name=path.name,
            path=path,
        )
    except OSError:
        return ""
    return ""


def oddities(folder: Path, names: Iterable[str]) -> tuple[str, ...]:
    """As `oddity`, of some names in a folder; those where all is well are left out."""
    return tuple(said for name in names if (said := oddity(folder / name)))


def too_large(path: str | os.PathLike[str], size_bytes: int, most_bytes: int) -> OddFileError:
    """Failure that says by how much a file is over its bound."""
    what = tr(
        "the file has {size_bytes:,} bytes, more than the allowed {most_bytes:,}",
        size_bytes=size_bytes,
        most_bytes=most_bytes,
    )
    return OddFileError(what, tr("Move the file away, or make the file smaller"), path)


def _opened(
    path: str | os.PathLike[str], flags: int, mode: int, *, follows_links: bool
) -> tuple[int, os.stat_result]:
    try:
        descriptor = _open(path, flags, mode, follows_links=follows_links)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a pipe that nobody reads
            raise _odd(_node_at(path), path) from error
        raise
    try:
        status = os.fstat(descriptor)
        _check(status.st_mode, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


def _open(path: str | os.PathLike[str], flags: int, mode: int, *, follows_links: bool) -> int:
    if not _NO_LINK and os.path.islink(path):  # Windows has no flag for it
        return _open_link(path, flags, mode, follows_links=follows_links)
    try:
        return os.open(path, flags | _FLAGS | _NO_LINK, mode)
    except OSError as error:
        if error.errno not in _IS_LINK or not os.path.islink(path):
            raise
    return _open_link(path, flags, mode, follows_links=follows_links)


def _open_link(path: str | os.PathLike[str], flags: int, mode: int, *, follows_links: bool) -> int:
    if not follows_links:
        raise _not_followed(path)
    try:
        return os.open(_judged_target(path), flags | _FLAGS | _NO_LINK, mode)
    except OSError as error:
        if error.errno in _IS_LINK:
            raise _looped(path) from error
        raise


def _judged_target(path: str | os.PathLike[str]) -> str:
    target = os.path.realpath(path)
    if any(target == folder or target.startswith(f"{folder}/") for folder in _SYSTEM_FOLDERS):
        raise OddFileError(
            tr("the file is a link to {target}, a place of the system", target=target),
            tr("Remove the link"),
            path,
        )
    return target


def _check(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise _odd(_node(mode), path)


def _check_holes(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if status.st_size < _HOLLOW_BYTES or sys.platform == "win32":
        return
    if status.st_blocks * 512 * _HOLLOW_SHARE < status.st_size:
        what = tr("the file claims {st_size:,} bytes, but hardly any of them exist", st_size=status.st_size)
        raise OddFileError(what, tr("Move this away"), path)


def _read(descriptor: int, expected: int, most: int | None) -> bytes:
    """The whole file in one read where it did not grow; at most a piece over its bound."""
    data = os.read(descriptor, expected + 1)
    if len(data) == expected:
        return data
    parts, size = [data], len(data)
    while parts[-1] and (most is None or size <= most):
        parts.append(os.read(descriptor, _PIECE))
        size += len(parts[-1])
    return b"".join(parts)


def _node_at(path: str | os.PathLike[str]) -> str:
    try:
        return _node(os.stat(path).st_mode)
    except OSError:
        return tr("not a file")


def _node(mode: int) -> str:
    return next((name for is_node, name in _NODES if is_node(mode)), tr("not a file"))


def _odd(node: str, path: str | os.PathLike[str]) -> OddFileError:
    return OddFileError(tr("this is {kind}, not a file", kind=node), tr("Move this away"), path)


def _not_followed(path: str | os.PathLike[str]) -> OddFileError:
    return OddFileError(
        tr("this is a link, which the program does not follow here"),
        tr("Put a file there in place of the link"),
        path,
    )


def _looped(path: str | os.PathLike[str]) -> OddFileError:
    return OddFileError(tr("this link leads in a circle"), tr("Remove the link"), path)
