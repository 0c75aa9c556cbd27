"""Changing a settings file that a person also edits: read the newest, change it, check the result, replace it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.base.errors import ConfigError, StorageError
from core.base.opener import read_start
from core.base.toml import TomlError, read_toml
from core.settings.schema import Value
from core.settings.small_file import replace_file
from core.settings.toml_edit import CannotEditError
from core.settings.toml_text import parse, read_text

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
        "Another program keeps changing the settings file", remedy="Try again in a moment", where=str(path)
    )


def with_value(data: dict[str, Any], place: tuple[str, ...], value: Value) -> dict[str, Any]:
    """The data with a value at a place. Raises ConfigError where something else than a table stands on the way."""
    new = copy.deepcopy(data)
    node = new
    for part in place[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise ConfigError(f"{part} must be a table ([{part}])", remedy="Correct the file")
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
            "The file is laid out so that it cannot be changed safely, and was left as it is",
            remedy="Write its tables as [table] and [table.name], not inline, and try again",
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
