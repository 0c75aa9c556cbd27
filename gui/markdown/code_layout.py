"""Code to places: lines in a box that scroll sideways, or wrap where the person wants that. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gui.markdown.blocks import MarkdownBlock
from gui.markdown.highlight import Line, highlight
from gui.markdown.laid import TAB, BlockLook, Laid, Op, Reach, TextMeasure

HEAD_PX = 32.0
CODE_PAD_PX = 12.0


def wrap_code(line: Line, columns: int, span: Callable[[str], float] = len) -> list[Line]:
    """Break a line of code behind a blank, or a longer word at `columns`. Joined, the pieces are the line again.

    Args:
        span: columns that a text takes: a wide character more than one.
    """
    whole = "".join(text for text, _ in line)
    if span(whole) <= columns:
        return [line]
    pieces = iter(line)
    text, kind = next(pieces)
    lines: list[Line] = []
    for length in _lengths(whole, columns, span):
        parts: list[tuple[str, str]] = []
        left = length
        while left:
            if not text:
                text, kind = next(pieces)
            part, text = text[:left], text[left:]
            parts.append((part, kind))
            left -= len(part)
        lines.append(tuple(parts))
    return lines


def _lengths(text: str, columns: int, span: Callable[[str], float]) -> Iterator[int]:
    """Lengths of the pieces of a line, each at most `columns` wide and a character at least."""
    at = 0
    while (fits := max(1, _fitting(text, at, columns, span))) < len(text) - at:
        blank = text.rfind(" ", at, at + fits)
        length = blank + 1 - at if blank > at and text[at:blank].strip() else fits
        yield length
        at += length
    yield len(text) - at


def _fitting(text: str, at: int, room: float, span: Callable[[str], float]) -> int:
    """Number of a text's characters from `at` on that fit the columns left."""
    part = text[at : at + max(0, int(room))]
    if span(part) <= len(part):
        return len(part)
    used = 0.0
    for count, char in enumerate(part):
        used += span(char)
        if used > room:
            return count
    return len(part)


def lay_out_code(block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook) -> Laid:
    """Code in its box: lines that are longer are cut, to be scrolled, or where the person wants that wrapped."""
    s = m.scale
    pad, head, size = CODE_PAD_PX * s, HEAD_PX * s, float(m.sizes["mono"])
    step = round(size * 1.25)
    advance, room = m.width("M", "mono"), width - 2 * CODE_PAD_PX * s
    columns = max(8, int(room / advance))
    span = columns_of(m)
    lines = highlight(block.text, block.language)
    content = max((_line_width(line, m) for line in lines), default=0.0)
    can_wrap = content > room
    reach = None
    if can_wrap and not look.wraps:
        shift = max(0.0, min(look.shift, content - room))
        reach = Reach(pad, head, room, len(lines) * step, content, shift)
    y, at = head, 0
    ops: list[Op] = []
    for number, line in enumerate(lines):
        for part in wrap_code(line, columns, span) if can_wrap and look.wraps else [line]:
            placed = list(_code_ops(part, m, pad - (reach.shift if reach else 0.0), y, at))
            ops += placed if reach is None else _clipped(placed, m, pad, pad + room)
            at += sum(len(text) for text, _ in part)
            y += step
        if number < len(lines) - 1:
            is_empty = not line
            ops.append(
                Op(pad, y - step, 4 * s if is_empty else 0.0, size, "text", "\n", "mono", at=at, size=1)
            )
            at += 1
    height = y + pad - (step - size) + (BAR_PX * s if reach else 0.0)
    label = (block.language or "text")[: max(1, columns - 22)]
    name = Op(
        pad, (head - m.sizes["small"]) / 2, m.width(label, "small"), m.sizes["small"], "muted", label, "small"
    )
    back = Op(0, 0, width, height, "code.background", rounding=8 * s)
    return Laid((back, name, *ops), height, 10 * s, copy=block.text, reach=reach, can_wrap=can_wrap)


def columns_of(m: TextMeasure) -> Callable[[str], float]:
    """Columns that a text takes in the font of code."""
    advance = m.width("M", "mono")
    return lambda text: len(text) if text.isascii() else m.width(text, "mono") / advance


BAR_PX = 8.0
"""Height that the scrollbar of code adds."""


def _line_width(line: Line, m: TextMeasure) -> float:
    return sum(m.width(text.replace("\t", TAB), "mono") for text, _ in line)


def _code_ops(line: Line, m: TextMeasure, x: float, y: float, at: int) -> Iterator[Op]:
    """The pieces of a line of code; a tab is one by itself."""
    size = float(m.sizes["mono"])
    for text, kind in line:
        for piece in re.split("(\t)", text) if "\t" in text else (text,):
            if not piece:
                continue
            shown = TAB if piece == "\t" else piece
            w = m.width(shown, "mono")
            yield Op(x, y, w, size, f"code.{kind}", shown, "mono", at=at, size=len(piece))
            x += w
            at += len(piece)


def _clipped(ops: list[Op], m: TextMeasure, left: float, right: float) -> Iterator[Op]:
    """Pieces of a line between two edges: whole characters."""
    for op in ops:
        if op.x >= left and op.x + op.w <= right:
            yield op
            continue
        if op.x >= right or op.x + op.w <= left or op.size != len(op.text):
            continue
        x, first = op.x, 0
        while first < len(op.text) and x < left - 0.5:
            x += m.width(op.text[first], op.style)
            first += 1
        last, end = first, x
        while last < len(op.text) and end + m.width(op.text[last], op.style) <= right + 0.5:
            end += m.width(op.text[last], op.style)
            last += 1
        if last > first:
            yield replace(op, x=x, w=end - x, text=op.text[first:last], at=op.at + first, size=last - first)
