"""Changing a settings file that a person also edits: read the newest, change it, check the result, replace it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.kernel.codecs import MAX_MARKS, TomlError, read_toml
from core.kernel.disk import LOCK_WAIT_S, make_dirs, take_lock, write_file
from core.kernel.errors import ConfigError, LockedError, StorageError
from core.kernel.language import tr
from core.kernel.opener import SETTINGS_BYTES, OddFileError, read_start
from core.kernel.patterns import late
from core.services.settings.settings_schema import Value
from core.services.settings.toml_document import CannotEditError

# Small settings files: replaced whole, and changed under a lock across processes.


def replace_file(path: Path, data: bytes, *, new_mode: int = 0o600) -> None:
    """Write a settings file; any crash leaves the old or the new content. Its folder is made.

    Args:
        new_mode: permission bits of a file that is not there yet; one that is keeps its own.

    Raises:
        StorageError: it could not be written; nothing was changed.
    """
    make_dirs(path.parent)
    write_file(path, data, mode=None if path.exists() else new_mode)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a settings file (`<name>.lock` beside it) while it is read, changed and written.

    Raises:
        LockedError: another process kept it too long. StorageError: the lock could not be made.
    """
    make_dirs(path.parent)
    lock = take_lock(path.with_name(f"{path.name}.lock"), wait_s=LOCK_WAIT_S)
    if lock is None:
        raise LockedError(
            tr("Another program is writing this settings file"), remedy=tr("Try again"), where=str(path)
        )
    try:
        yield
    finally:
        lock.release()


# Settings files as text and as data: read whole, bounded, and refused with a line and a reason.

MAX_FILE_BYTES = SETTINGS_BYTES
"""A settings file over this is refused: it is not one that a person writes."""

_AT_END = " (at end of document)"
_ERROR_PLACE = late(r"\s*\(at line (\d+), column \d+\)$")


def read_text(path: Path) -> str | None:
    """Read a settings file as text.

    Returns:
        Its text without a byte order mark, line ends as they are; None where there is no such file.

    Raises:
        ConfigError: it cannot be read, is not UTF-8, or is over `MAX_FILE_BYTES`.
    """
    try:
        raw = read_start(path, MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OddFileError as error:
        raise ConfigError(
            tr("The program cannot read the settings file: {strerror}", strerror=error.strerror),
            remedy=error.remedy,
            where=str(path),
        ) from error
    except OSError as error:
        raise ConfigError(
            tr("The program cannot read the settings file ({strerror})", strerror=error.strerror),
            remedy=tr("Check that this is a file and that you may read this file"),
            where=str(path),
        ) from error
    if len(raw) > MAX_FILE_BYTES:
        raise ConfigError(
            tr("The settings file has more than {MAX_FILE_BYTES:,} bytes", MAX_FILE_BYTES=MAX_FILE_BYTES),
            remedy=tr("Make the file smaller"),
            where=str(path),
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            tr("The text is not UTF-8"), remedy=tr("Save the file as UTF-8"), where=str(path), line=line
        ) from error


def parse(text: str, path: Path, most_marks: int | None = MAX_MARKS) -> dict[str, Any]:
    """Parse TOML.

    Args:
        text: the file's text; path: only for the message; most_marks: as in `read_toml`.

    Raises:
        ConfigError: the text is not TOML; carries the line and the parser's reason.
    """
    try:
        return read_toml(text, most_marks, names_paths=True)
    except TomlError as error:
        line, reason = _error_place(str(error), text)
        if line is None:
            raise ConfigError(
                reason, remedy=tr("Shorten the file, and nest fewer tables"), where=str(path)
            ) from error
        raise ConfigError(reason, remedy=tr("Correct that line"), where=str(path), line=line) from error


def _error_place(message: str, text: str) -> tuple[int | None, str]:
    """The line of a fault, None where the whole file is meant, and what is wrong there."""
    found = _ERROR_PLACE.search(message)
    if found is not None:
        return int(found[1]), message[: found.start()]
    if not message.endswith(_AT_END):
        return None, message
    return max(1, len(text.rstrip().splitlines())), message.removesuffix(_AT_END)


MAX_ATTEMPTS = 5

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def edit_file(
    path: Path,
    change: Callable[[str], str],
    expect: Callable[[dict[str, Any]], dict[str, Any]],
    *,
    head: str = "",
    new_mode: int = 0o600,
) -> bool:
    """Change a TOML file in place.

    Args:
        path: made where it is missing.
        change: edits the text, line ends LF.
        expect: the same change on plain data; the new text must parse to exactly that, or nothing is written.
        head: text at the head of a file that is made; new_mode: its permission bits.

    Returns:
        Whether the file was made by this call.

    Raises:
        ConfigError: the file is broken (with its line), or it has no safe place for the change.
        StorageError: it could not be read or written, or somebody else keeps changing it. Nothing was written.
    """
    for _ in range(MAX_ATTEMPTS):
        before = _stamp(path)
        text = read_text(path)
        new = _changed(head if text is None else text, path, change, expect)
        if new == text:
            return False
        data = (_BYTE_ORDER_MARK if text is not None and _has_mark(path) else b"") + new.encode()
        if _stamp(path) == before:
            replace_file(path, data, new_mode=new_mode)
            return text is None
    raise StorageError(
        tr("The settings file changes while the program writes"),
        remedy=tr("Try again in a moment"),
        where=str(path),
    )


def with_value(data: dict[str, Any], place: tuple[str, ...], value: Value) -> dict[str, Any]:
    """The data with a value at a place. Raises ConfigError where something else than a table stands on the way."""
    new = copy.deepcopy(data)
    node = new
    for part in place[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise ConfigError(
                tr("{part} must be a table ([{part}])", part=part), remedy=tr("Correct the file")
            )
    node[place[-1]] = list(value) if isinstance(value, tuple) else value
    return new


def _changed(
    text: str, path: Path, change: Callable[[str], str], expect: Callable[[dict[str, Any]], dict[str, Any]]
) -> str:
    expected = expect(parse(text, path))
    is_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    try:
        new = change(text.replace("\r\n", "\n"))
        is_as_meant = read_toml(new) == expected
    except (CannotEditError, TomlError):
        is_as_meant, new = False, ""
    if not is_as_meant:
        raise ConfigError(
            tr("The program cannot change the file safely because of its layout. The file is unchanged"),
            remedy=tr("Write the tables as [table] and [table.name], not inline, and try again"),
            where=str(path),
        )
    return new.replace("\n", "\r\n") if is_crlf else new


def _has_mark(path: Path) -> bool:
    return read_start(path, 3) == _BYTE_ORDER_MARK


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Stamp that changes when somebody writes the file: inode, size, time."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
