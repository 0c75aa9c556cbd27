"""Columns of tables, ruled or parted by commas or tabs: what stands below a word for a secret."""

from __future__ import annotations

import re

from core.base.secret_values import is_said_value, is_sure_value

_LINE_CHARS = 2_000
_MOST_ROWS = 200
_MOST_IDLE_ROWS = 8
"""Rows without a secret, behind which no more are looked at."""

_PARTS = "|│┃║\t;,"
"""Signs between cells, the surest first."""

_DRESS = " \t\r*_`\"'"
_RULED = re.compile(r"[\s|:+=│┃║┼├┤─━═-]*")
_TITLE = re.compile(r"[^\W\d][\w .#/-]{0,40}")


def column_places(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Places of the secrets in the column under a heading, in order.

    Args:
        start, end: place of a word for a secret.
    """
    line_start = text.rfind("\n", max(0, start - _LINE_CHARS), start) + 1
    line_end = text.find("\n", end, end + _LINE_CHARS)
    if line_end < 0:
        return []
    line = text[line_start:line_end]
    part = next((sign for sign in _PARTS if sign in line), "")
    if not part:
        return []
    cells = line.split(part)
    index = line.count(part, 0, start - line_start)
    if not cells[index].strip(_DRESS).endswith(text[start:end]):
        return []
    titles = [cell.strip(_DRESS) for cell in cells]
    if not _are_titles(titles):
        return []
    return _cells(text, line_end + 1, part, index, titles)


def _are_titles(titles: list[str]) -> bool:
    told = [title for title in titles if title]
    return len(told) >= 2 and all(_TITLE.fullmatch(title) for title in told)


def _cells(text: str, at: int, part: str, index: int, titles: list[str]) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    idle = 0
    for _ in range(_MOST_ROWS):
        end = text.find("\n", at, at + _LINE_CHARS)
        line = text[at:] if end < 0 else text[at:end]
        if len(line) > _LINE_CHARS:
            break
        if not _RULED.fullmatch(line):
            cells = line.split(part)
            if (
                len(cells) != len(titles)
                or cells[index].strip(_DRESS) == titles[index]
                or idle > _MOST_IDLE_ROWS
            ):
                break
            idle += 1
            cell = cells[index].strip(_DRESS)
            if is_sure_value(cell, is_hex_too=True) or (part not in ",;" and _is_word(cell)):
                start = at + sum(map(len, cells[:index])) + index + cells[index].index(cell)
                places.append((start, start + len(cell)))
                idle = 0
        elif not line.strip():
            break
        if end < 0:
            break
        at = end + 1
    return places


def _is_word(cell: str) -> bool:
    return is_said_value(cell) and not any(char.isspace() for char in cell)
