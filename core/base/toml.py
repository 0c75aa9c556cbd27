"""Reading of TOML that anybody may have written: in bounded time and depth, every fault of one kind. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 64
"""Tables and arrays inside each other. Everything behind the parser may walk that deep by calling itself."""

MAX_MARKS = 100_000
"""Line ends, commas, points, brackets, braces and equals signs in a file that anybody may have written. The parser's time,
and that of all behind it, grows with them: 4 MB of nothing else took 15 s. A preset of 10,000 files has 50,000."""
_MARKS = "\n,.[{="

TomlError = tomllib.TOMLDecodeError

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_PATH = re.compile(rf"(?<![\w.-])(?:{_PART}){{{MAX_DEPTH}}}", re.ASCII)
"""A key of so many parts: the parser's time grows with the square of their number."""
_LONG_NUMBER = re.compile(r"\d[\d_]{4299}")
"""Digits that Python turns into no number: their time grows with the square, too."""
_ZERO = re.compile(r"\\u0000|\\U00000000")
"""A zero character in a text. The system's names end at it: to look for a path with one is a ValueError, not an OSError."""


def read_toml(text: str, most_marks: int | None = MAX_MARKS, *, names_paths: bool = False) -> dict[str, Any]:
    """Parse TOML.

    Args:
        most_marks: see `MAX_MARKS`; None for a file that this program alone writes, which may grow.
        names_paths: its texts are taken for paths, programs and names: none may hold a zero character.

    Raises:
        TomlError: the text is not TOML, or longer, deeper or with longer numbers than anybody writes. Where it can be
            said, the message ends as the parser's own do: `(at line 3, column 1)`.
    """
    marks = sum(map(text.count, _MARKS))
    if most_marks is not None and marks > most_marks:
        raise TomlError(
            f"{marks:,} lines, points, commas, brackets and equals signs, more than the {most_marks:,} that are read"
        )
    points = text.count(".")
    if points >= MAX_DEPTH and (long := _LONG_PATH.search(text)):
        raise TomlError(_at(text, long.start(), f"A key of more than {MAX_DEPTH} parts"))
    try:
        data = tomllib.loads(text)
    except TomlError:
        raise
    except ValueError as error:  # a number of more digits than Python reads
        number = _LONG_NUMBER.search(text)
        message = "A number of more than 4,300 digits"
        raise TomlError(message if number is None else _at(text, number.start(), message)) from error
    except RecursionError:
        raise TomlError(_too_deep()) from None
    if names_paths and (zero := _ZERO.search(text)) is not None and _holds_zero(data):
        raise TomlError(_at(text, zero.start(), "A zero character, which no path and no name may hold"))
    # Each table or array inside another takes a point or a bracket.
    if points + text.count("[") + text.count("{") >= MAX_DEPTH - 1 and _is_deep(data):
        raise TomlError(_too_deep())
    return data


def decode_toml(data: bytes, most_marks: int | None = MAX_MARKS) -> dict[str, Any]:
    """Parse the bytes of a TOML file; `most_marks` as in `read_toml`. Raises TomlError, UnicodeDecodeError."""
    return read_toml(data.decode(), most_marks)


def _too_deep() -> str:
    return f"Tables or arrays are nested more than {MAX_DEPTH} deep"


def _at(text: str, place: int, message: str) -> str:
    line = text.count("\n", 0, place) + 1
    return f"{message} (at line {line}, column {place - text.rfind(chr(10), 0, place)})"


def _is_deep(data: dict[str, Any]) -> bool:
    """True if tables and arrays lie deeper inside each other than `MAX_DEPTH`; level by level, so at any depth."""
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [inner for node in level for inner in _inner(node) if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def _holds_zero(data: dict[str, Any]) -> bool:
    """True if a text or a name holds a zero character; level by level, so at any depth."""
    level: list[Any] = [data]
    while level:
        texts = (*level, *(name for node in level if isinstance(node, dict) for name in node))
        if any(isinstance(text, str) and "\0" in text for text in texts):
            return True
        level = [inner for node in level if isinstance(node, (dict, list)) for inner in _inner(node)]
    return False


def _inner(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node
