"""Settings files as text and as data: read whole, bounded, and refused with a line and a reason."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.base.errors import ConfigError
from core.base.opener import SETTINGS_BYTES, OddFileError, read_start
from core.base.toml import MAX_MARKS, TomlError, read_toml

MAX_FILE_BYTES = SETTINGS_BYTES
"""A settings file over this is refused: it is not one that a person writes."""

_AT_END = " (at end of document)"
_ERROR_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)$")


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
            f"The settings file cannot be read: {error.strerror}", remedy=error.remedy, where=str(path)
        ) from error
    except OSError as error:
        raise ConfigError(
            f"The settings file cannot be read ({error.strerror})",
            remedy="Check that it is a file and that you may read it",
            where=str(path),
        ) from error
    if len(raw) > MAX_FILE_BYTES:
        raise ConfigError(
            f"The settings file is over {MAX_FILE_BYTES:,} bytes", remedy="Make it smaller", where=str(path)
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "The text is not UTF-8", remedy="Save the file as UTF-8", where=str(path), line=line
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
            raise ConfigError(reason, remedy="Write it shorter and flatter", where=str(path)) from error
        raise ConfigError(reason, remedy="Correct that line", where=str(path), line=line) from error


def _error_place(message: str, text: str) -> tuple[int | None, str]:
    """The line of a fault, None where the whole file is meant, and what is wrong there."""
    found = _ERROR_PLACE.search(message)
    if found is not None:
        return int(found[1]), message[: found.start()]
    if not message.endswith(_AT_END):
        return None, message
    return max(1, len(text.rstrip().splitlines())), message.removesuffix(_AT_END)
