"""TOML with places: parses a settings file and says on which line a key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import ConfigError

MAX_FILE_BYTES = 4_000_000
"""A settings file over this is refused: it is not one that a person writes."""

Place = tuple[str | int, ...]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}'
    r'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|#[^\n]*|[\[\]{},=\n]|[^\s\[\]{},=#\"']+",
    re.DOTALL,
)
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


def line_of(text: str, place: Place) -> int | None:
    """The 1-based line where a key, table or item of an array stands, or that of the nearest part around it.

    Args:
        text: TOML that parses; place: keys and 0-based positions (`("presets", "core", "items", 2, "mode")`).
    """
    best: int | None = None
    best_length = 0
    for found, line in _places(text):
        length = len(found)
        if length > best_length and found == place[:length]:
            best, best_length = line, length
            if length == len(place):
                break
    return best


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """Every key, table header and array item of the text with its line, in file order."""
    header: Place = ()
    tables_seen: dict[Place, int] = {}
    for tokens in _statements(text):
        words = [word for word, _ in tokens]
        line = tokens[0][1]
        if words[0] == "[":
            is_array = words[1:2] == ["["] and len(words) > 2
            header = _resolve(_key_path(words), tables_seen)
            if is_array:
                tables_seen[header] = tables_seen.get(header, -1) + 1
                header = (*header, tables_seen[header])
            yield header, line
        elif "=" in words:
            at = words.index("=")
            base = (*header, *_key_path(words[:at]))
            yield base, line
            yield from _value_places(base, tokens[at + 1 :])


def _resolve(path: Place, tables_seen: dict[Place, int]) -> Place:
    """A header below an array of tables belongs to its newest table."""
    resolved: Place = ()
    for part in path[:-1]:
        resolved = (*resolved, part)
        if resolved in tables_seen:
            resolved = (*resolved, tables_seen[resolved])
    return (*resolved, *path[-1:])


def _value_places(base: Place, tokens: list[tuple[str, int]]) -> Iterator[tuple[Place, int]]:
    """Places inside a value: items of arrays and keys of inline tables, at any depth."""
    stack: list[list[Any]] = []  # [is array, position, place, whether an element is due]
    for index, (word, line) in enumerate(tokens):
        top = stack[-1] if stack else None
        place: Place = top[2] if top else base
        if top and top[0] and top[3] and word not in {"]", ","}:
            place = (*top[2], top[1])
            top[3] = False
            yield place, line
        elif top and not top[0] and top[3] and word not in {"}", ","}:
            end = next((i for i in range(index, len(tokens)) if tokens[i][0] == "="), index + 1)
            place = (*top[2], *_key_path([w for w, _ in tokens[index:end]]))
            top[3], top[1] = False, place
            yield place, line
            continue
        elif top and not top[0]:
            place = top[1] if isinstance(top[1], tuple) else top[2]
        if word in {"[", "{"}:
            stack.append([word == "[", 0, place, True])
        elif word in {"]", "}"} and stack:
            stack.pop()
        elif word == "," and top:
            top[3] = True
            if top[0]:
                top[1] += 1


def _statements(text: str) -> Iterator[list[tuple[str, int]]]:
    """The tokens of each header or assignment, with their lines; comments left out."""
    tokens: list[tuple[str, int]] = []
    depth, line, position = 0, 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", position, found.start())
        position = found.start()
        word = found[0]
        if word == "\n":
            if depth <= 0 and tokens:
                yield tokens
                tokens, depth = [], 0
            continue
        if word.startswith("#"):
            continue
        depth += (word in {"[", "{"}) - (word in {"]", "}"})
        tokens.append((word, line))
    if tokens:
        yield tokens


def _key_path(words: list[str]) -> Place:
    """The parts of a dotted key or header, from its tokens."""
    text = "".join(word for word in words if word not in {"[", "]"})
    node: Any
    try:
        node = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(node, dict):
        key = next(iter(node))
        path.append(key)
        node = node[key]
    return tuple(path)
