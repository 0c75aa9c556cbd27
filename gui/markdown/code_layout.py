"""Code to places: lines in a box that scroll sideways, or wrap where the person wants that. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from gui.markdown.blocks import TAB, BlockLook, Laid, MarkdownBlock, Op, Reach, TextMeasure

# Code to coloured lines, with Pygments. Past a size it stays plain: it is read, not admired.

LONGEST = 120_000
"""Characters that are highlighted."""

Line = tuple[tuple[str, str], ...]
"""Pieces of a line: text and syntax class (a key of the theme's `code` table)."""

_CLASSES = (
    ("Token.Comment", "comment"),
    ("Token.Keyword.Constant", "constant"),
    ("Token.Keyword.Type", "type"),
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "function"),
    ("Token.Name.Class", "type"),
    ("Token.Name.Builtin", "builtin"),
    ("Token.Name.Decorator", "decorator"),
    ("Token.Name.Tag", "tag"),
    ("Token.Name.Attribute", "attribute"),
    ("Token.Name.Constant", "constant"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Operator", "operator"),
    ("Token.Punctuation", "punctuation"),
    ("Token.Generic.Heading", "heading"),
    ("Token.Generic.Subheading", "heading"),
    ("Token.Generic.Inserted", "inserted"),
    ("Token.Generic.Deleted", "deleted"),
    ("Token.Generic.Error", "error"),
)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _class_of(token: str) -> str:
    return next((name for prefix, name in _CLASSES if token.startswith(prefix)), "text")


def plain_lines(text: str) -> tuple[Line, ...]:
    """Lines without colours."""
    return tuple(((line, "text"),) if line else () for line in text.split("\n"))


@lru_cache(maxsize=128)
def highlight(text: str, language: str) -> tuple[Line, ...]:
    """The lines of a code with the class of each piece. Joined with line feeds, the text is the same.

    Args:
        language: as after a fence; an unknown one or none gives plain lines.
    """
    if not language or len(text) > LONGEST:
        return plain_lines(text)
    lexer = _lexer(language.lower())
    if lexer is None:
        return plain_lines(text)
    lines: list[list[tuple[str, str]]] = [[]]
    for token, value in lexer.get_tokens(text + "\n"):  # some lexers see a line only by its end
        kind = _class_of(str(token))
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append([])
            if part and lines[-1] and lines[-1][-1][1] == kind:
                lines[-1][-1] = (lines[-1][-1][0] + part, kind)
            elif part:
                lines[-1].append((part, kind))
    found = tuple(tuple(line) for line in lines[:-1])
    return found if "\n".join("".join(t for t, _ in line) for line in found) == text else plain_lines(text)


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
        reach = Reach(x=pad, y=head, w=room, h=len(lines) * step, content=content, shift=shift)
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
                Op(
                    x=pad,
                    y=y - step,
                    w=4 * s if is_empty else 0.0,
                    h=size,
                    tone="text",
                    text="\n",
                    style="mono",
                    at=at,
                    size=1,
                )
            )
            at += 1
    height = y + pad - (step - size) + (BAR_PX * s if reach else 0.0)
    label = (block.language or "text")[: max(1, columns - 22)]
    name = Op(
        x=pad,
        y=(head - m.sizes["small"]) / 2,
        w=m.width(label, "small"),
        h=m.sizes["small"],
        tone="muted",
        text=label,
        style="small",
    )
    back = Op(x=0, y=0, w=width, h=height, tone="code.background", rounding=8 * s)
    return Laid(
        ops=(back, name, *ops), height=height, above=10 * s, copy=block.text, reach=reach, can_wrap=can_wrap
    )


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
            yield Op(
                x=x, y=y, w=w, h=size, tone=f"code.{kind}", text=shown, style="mono", at=at, size=len(piece)
            )
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
