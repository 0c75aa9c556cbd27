"""Edits of TOML text that leave every other byte as it was. Pure; the caller parses the result to be sure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from core.settings.toml_places import Place, Statement, statements

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Marks that a text over many lines cannot hold as they are; a line end stays."""


class CannotEditError(ValueError):
    """The text is laid out so that the edit has no safe place (an inline table, a dotted parent)."""


def inline(value: Any) -> str:
    """A value as TOML on one line. Strings are written with escapes, so that any text fits."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{ " + ", ".join(f"{bare(key)} = {inline(inner)}" for key, inner in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(inline(inner) for inner in value) + "]"
        case int() | float():
            return repr(value)
        case _:
            return str(value.isoformat())


def text_value(text: str) -> str:
    """A text as TOML: over as many lines as it has, so that a person can read and edit it there."""
    if "\n" not in text:
        return inline(text)
    shown = text.replace("\\", "\\\\").replace('"""', '""\\"')
    shown = _CONTROL.sub(lambda mark: f"\\u{ord(mark[0]):04x}", shown)
    return '"""\n' + (shown[:-1] + '\\"' if shown.endswith('"') else shown) + '"""'


def bare(key: str) -> str:
    """A key as TOML: bare where it may be, else in quotes."""
    is_bare = key != "" and all(mark.isascii() and (mark.isalnum() or mark in "-_") for mark in key)
    return key if is_bare else inline(key)


def dotted(place: Place) -> str:
    """A place as a header or a dotted key writes it; positions are left out."""
    return ".".join(bare(part) for part in place if isinstance(part, str))


def line_start(text: str, at: int) -> int:
    """Offset of the start of the line that holds offset `at`."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Offset behind the line end of the line that holds offset `at`."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def set_value(text: str, place: Place, value: str) -> str:
    """Give a key a value.

    Args:
        text: TOML that parses; place: of the key; value: TOML of the value, over many lines or on one.

    Returns:
        The text with the value replaced where the key stands, else with the key behind its table's last one,
        else with a new table at the end.

    Raises:
        CannotEditError: the key lies inside an inline table.
    """
    found = list(statements(text))
    for statement in found:
        if not statement.is_header and statement.place == place:
            start = statement.value_tokens[0].start
            return text[:start] + value + text[statement.end :]
        if not statement.is_header and statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    return _insert(text, found, place, value)


def _insert(text: str, found: list[Statement], place: Place, value: str) -> str:
    parent = place[:-1]
    beside = [
        s
        for s in found
        if (s.place[:-1] == parent and not s.is_header) or (s.is_header and s.place == parent)
    ]
    if beside:
        last = beside[-1]
        at = line_end(text, last.end)
        return _put_line(text, at, f"{dotted(place[len(last.table) :])} = {value}\n")
    if parent:
        return append_block(text, f"[{dotted(parent)}]\n{dotted(place[-1:])} = {value}\n")
    first_header = next((s for s in found if s.is_header), None)
    at = len(text) if first_header is None else _above_comments(text, first_header.start)
    gap = "" if first_header is None else "\n"
    return _put_line(text, at, f"{dotted(place)} = {value}\n{gap}")


def append_block(text: str, block: str) -> str:
    """Put a block at the end, behind an empty line."""
    if not text:
        return block
    end = text if text.endswith("\n") else text + "\n"
    return end + ("" if end.endswith("\n\n") else "\n") + block


def _put_line(text: str, at: int, line: str) -> str:
    before = text[:at]
    return (before if not before or before.endswith("\n") else before + "\n") + line + text[at:]


def _above_comments(text: str, at: int) -> int:
    """The start of the run of comment lines right above the line of `at`."""
    start = line_start(text, at)
    while start > 0:
        above = line_start(text, start - 1)
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def remove_key(text: str, place: Place) -> str:
    """Take a key out with its line; one that is not there is no error. Raises CannotEditError."""
    for statement in statements(text):
        if statement.is_header:
            continue
        if statement.place == place:
            return text[: line_start(text, statement.start)] + text[line_end(text, statement.end) :]
        if statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    return text


def remove_table(text: str, place: Place) -> str:
    """Take a table out with everything below it. Comments behind its last key stay, as do those above its header.

    Raises:
        CannotEditError: it lies inside an inline table.
    """
    size = len(place)
    cuts: list[tuple[int, int]] = []
    found = list(statements(text))
    for statement in found:
        if statement.place[:size] == place:
            cuts.append((line_start(text, statement.start), line_end(text, statement.end)))
        elif not statement.is_header and statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    return _cut(text, _joined(text, cuts))


def _joined(text: str, cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cuts with nothing but comments and empty lines between them are one: those lines belong to the table."""
    joined: list[tuple[int, int]] = []
    for start, end in cuts:
        between = text[joined[-1][1] : start] if joined else ""
        if joined and not any(
            line.strip() and not line.lstrip().startswith("#") for line in between.splitlines()
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in reversed(cuts):
        before, behind = text[:start], text[end:]
        if (not before or before.endswith("\n\n")) and behind.startswith("\n"):
            behind = behind[1:]
        text = before + behind
    return text


def rename_table(text: str, place: Place, name: str) -> str:
    """Give a table another last name, wherever it and what is below it are written. Raises CannotEditError."""
    size = len(place)
    edits: list[tuple[int, int, str]] = []
    for statement in statements(text):
        if statement.place[:size] == place and (statement.is_header or len(statement.table) < size):
            renamed = (*place[:-1], name, *statement.place[size:])
            edits.append(_renamed(statement, renamed))
        elif not statement.is_header and statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


def _renamed(statement: Statement, place: Place) -> tuple[int, int, str]:
    if statement.equals is None:
        is_array = statement.tokens[1].word == "["
        return statement.start, statement.end, f"[[{dotted(place)}]]" if is_array else f"[{dotted(place)}]"
    last = statement.tokens[statement.equals - 1]
    return statement.start, last.start + len(last.word), dotted(place[len(statement.table) :])
