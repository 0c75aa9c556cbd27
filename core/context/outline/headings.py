"""Headings of a Markdown file, outside of its code and front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.base.text import atx_heading, one_line
from core.context.outline.limits import MAX_SYMBOLS, SIGNATURE_BYTES, SIGNATURE_CHARS
from core.values.curation import LineRange, Symbol

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_MARKED = re.compile(r" {0,3}[#=`~-]")
"""Begin of a line that may be any of these: most lines are none."""


def headings(text: str) -> tuple[Symbol, ...]:
    """The headings of a text with LF line ends, each up to the next one of its level or above."""
    lines = text.split("\n")
    count = len(lines) - 1 if text.endswith("\n") else len(lines)
    found = list(_heads(lines))[:MAX_SYMBOLS]
    symbols: list[Symbol] = []
    around: list[tuple[int, str]] = []
    ends = _heading_ends(found, count)
    for (line, level, title), last in zip(found, ends, strict=True):
        while around and around[-1][0] >= level:
            around.pop()
        name = f"{around[-1][1]}.{title}" if around else title
        around.append((level, name))
        head = one_line(f"{'#' * level} {title}", SIGNATURE_CHARS)
        symbols.append(Symbol(name, "heading", LineRange(line, last), head, len(around) - 1))
    return tuple(symbols)


def first_heading(text: str) -> str:
    """The first heading of a text with LF line ends, without its marks; empty where there is none."""
    return next((one_line(title, SIGNATURE_CHARS) for _, _, title in _heads(text.split("\n"))), "")


def _heading_ends(found: list[tuple[int, int, str]], count: int) -> list[int]:
    """For each heading the last line before the next one of its level or above. O(n)."""
    next_at = [count + 1] * 8
    ends: list[int] = []
    for line, level, _ in reversed(found):
        ends.append(max(line, min(next_at[1 : level + 1]) - 1))
        next_at[level] = line
    return ends[::-1]


def _heads(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line, level and title of each heading outside of fenced code and front matter."""
    fence = ""
    start = _after_front_matter(lines)
    for index in range(start, len(lines)):
        line = lines[index]
        if not _MARKED.match(line):
            continue
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif len(line) <= SIGNATURE_BYTES and (head := _head(lines, index, start)):
            yield head


def _head(lines: list[str], index: int, start: int) -> tuple[int, int, str] | None:
    if (atx := atx_heading(lines[index])) is not None:
        level, title = atx[0], atx[1].strip()
        return (index + 1, level, title) if title else None
    above = lines[index - 1].strip() if index > start else ""
    is_text = bool(above) and not above.startswith(("#", ">", "-", "*", "+", "|", "`", "~"))
    under = _SETEXT.match(lines[index]) if is_text else None
    return (index, 1 if under[1][0] == "=" else 2, one_line(above, SIGNATURE_CHARS)) if under else None


def _after_front_matter(lines: list[str]) -> int:
    if lines[0] != "---":
        return 0
    return next((i + 1 for i, line in enumerate(lines[1:400], 1) if line in {"---", "..."}), 0)
