"""Settings files as text and as data: read whole, bounded, and refused with a line and a reason."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from core.base.errors import ConfigError

MAX_FILE_BYTES = 4_000_000
"""A settings file over this is refused: it is not one that a person writes."""

_ERROR_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)$")


def read_text(path: Path) -> str | None:
    """Read a settings file as text.

    Returns:
        Its text without a byte order mark, line ends as they are; None where there is no such file.

    Raises:
        ConfigError: it cannot be read, is not UTF-8, or is over `MAX_FILE_BYTES`.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
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
            f"Line {line} is not UTF-8", remedy="Save the file as UTF-8", where=str(path), line=line
        ) from error


def parse(text: str, path: Path) -> dict[str, Any]:
    """Parse TOML.

    Args:
        text: the file's text; path: only for the message.

    Raises:
        ConfigError: the text is not TOML; carries the line and the parser's reason.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, reason = _error_place(str(error), text)
        raise ConfigError(
            f"Line {line}: {reason}", remedy="Correct that line", where=str(path), line=line
        ) from error
    except RecursionError as error:
        raise ConfigError("It is nested too deeply", remedy="Write it flatter", where=str(path)) from error


def _error_place(message: str, text: str) -> tuple[int, str]:
    found = _ERROR_PLACE.search(message)
    if found is not None:
        return int(found[1]), message[: found.start()]
    return max(1, len(text.rstrip().splitlines())), message.removesuffix(" (at end of document)")
