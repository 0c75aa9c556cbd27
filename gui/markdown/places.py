"""Places in a laid out text: what is under a point, what a range covers, words, lines, occurrences. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from gui.markdown.blocks import MarkdownBlock
from gui.markdown.laid import LEADING, Laid, Op, TextMeasure

Box = tuple[float, float, float, float]
"""Left, top, width and height."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def offset_at(op: Op, m: TextMeasure, x: float) -> int:
    """The place in a block's text that is nearest to `x`, in an operation's text."""
    if op.text == "\n":
        return op.at
    if op.size != len(op.text):
        return op.at + (op.size if x > op.x + op.w / 2 else 0)
    used = op.x
    for index, char in enumerate(op.text):
        width = m.width(char, op.style)
        if x < used + width / 2:
            return op.at + index
        used += width
    return op.at + op.size


def x_at(op: Op, m: TextMeasure, offset: int) -> float:
    """Left edge of a place of a block's text in an operation."""
    if offset <= op.at:
        return op.x
    if offset >= op.at + op.size:
        return op.x + op.w
    return op.x + sum(m.width(char, op.style) for char in op.text[: offset - op.at])


def place_in(laid: Laid, m: TextMeasure, x: float, y: float) -> int:
    """The place in a block's text that is nearest to a point of it."""
    ops = [op for op in laid.ops if op.size]
    if laid.cells:
        cell = min(laid.cells, key=lambda one: (_away(y, one.y, one.h), _away(x, one.x, one.w)))
        ops = [op for op in ops if cell.start <= op.at < cell.end]
        if not ops:
            return cell.start
    if not ops:
        return 0
    nearest = min(ops, key=lambda op: (_line_away(op, y), _away(x, op.x, op.w)))
    return offset_at(nearest, m, x)


def _away(at: float, start: float, size: float) -> float:
    return max(start - at, at - start - size, 0.0)


def _line_away(op: Op, y: float) -> float:
    """Distance of a point from an operation's line; lines share the space between them."""
    return abs(op.y + op.h / 2 - y)


def block_at(tops: Sequence[tuple[float, Laid]], y: float) -> int:
    """Number of the block at a height, or nearest to it."""
    index = max(0, bisect_right(tops, y, key=lambda one: one[0] - one[1].above / 2) - 1)
    while index and not tops[index][1].height:
        index -= 1
    return index


def place_at(tops: Sequence[tuple[float, Laid]], m: TextMeasure, x: float, y: float) -> tuple[int, int]:
    """The block and the place in it that are nearest to a point. `tops`: every block with its top."""
    if not tops:
        return 0, 0
    index = block_at(tops, y)
    top, laid = tops[index]
    return index, place_in(laid, m, x, y - top)


def boxes(laid: Laid, m: TextMeasure, start: int, end: int) -> list[Box]:
    """Boxes of a range of a block's text, line by line."""
    found: list[Box] = []
    for op in laid.ops:
        if not op.size or op.at >= end or op.at + op.size <= start:
            continue
        pad = op.h * (LEADING - 1) / 2
        left, right = x_at(op, m, start), x_at(op, m, end)
        box = (left, op.y - pad, right - left, op.h + 2 * pad)
        if found and found[-1][1] == box[1] and 0 <= box[0] - (found[-1][0] + found[-1][2]) <= op.h:
            last = found.pop()
            box = (last[0], last[1], box[0] + box[2] - last[0], max(last[3], box[3]))
        if box[2] > 0:
            found.append(box)
    return found


def word_at(block: MarkdownBlock, offset: int) -> tuple[int, int]:
    """The word around a place: letters, digits and underscores; else a run of blanks, or one sign."""
    text = block.shown()
    first, last = line_at(text, offset)
    for found in _WORD.finditer(text, first, last):
        if found.start() <= offset < found.end():
            return found.span()
    return (max(first, offset - 1), offset) if offset > first else (offset, offset)


def paragraph_at(block: MarkdownBlock, offset: int) -> tuple[int, int]:
    """The paragraph around a place: a line of code or of what was written, a cell, else the block."""
    text = block.shown()
    match block.kind:
        case "code" | "written":
            return line_at(text, offset)
        case "table":
            return next(((at, end) for _, _, at, end in block.cells() if at <= offset <= end), (0, len(text)))
        case _:
            return 0, len(text)


def line_at(text: str, offset: int) -> tuple[int, int]:
    """Start and end of the line around a place."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return start, len(text) if end < 0 else end


def wanted(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Pattern of any of the terms, whatever its case; None for no terms."""
    known = sorted(filter(None, terms), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None


def occurrences(blocks: Sequence[MarkdownBlock], terms: Sequence[str]) -> list[tuple[int, int, int]]:
    """Block, start and end of every occurrence, in order."""
    pattern = wanted(terms)
    if pattern is None:
        return []
    return [(n, *found.span()) for n, block in enumerate(blocks) for found in pattern.finditer(block.shown())]
