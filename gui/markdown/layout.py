"""Blocks to places: pure, with the measure of text injected. What is drawn where, in pixels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
from msgspec.structs import replace

from gui.markdown.blocks import MarkdownBlock, Run
from gui.markdown.highlight import Line, highlight

_PIECE = re.compile(r"\n|[^\S\n]+|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+|\S")
TAB = "    "


class TextMeasure(Protocol):
    """Measures of fonts that the layout asks for. Styles are those of the theme."""

    sizes: dict[str, int]
    scale: float

    def width(self, text: str, style: str) -> float:
        """Pixels of one line."""
        ...


class Op(msgspec.Struct, frozen=True):
    """One thing to draw: text, or a filled rectangle where `text` is empty.

    `tone` is a token of the palette, or `code.<class>`.
    """

    x: float
    y: float
    w: float
    h: float
    tone: str
    text: str = ""
    style: str = "body"
    rounding: float = 0.0


class Link(msgspec.Struct, frozen=True):
    """Place where an address can be clicked."""

    x: float
    y: float
    w: float
    h: float
    href: str
    text: str = ""


class Laid(msgspec.Struct, frozen=True):
    """A block in its place: operations relative to its corner, its height, the space above it.

    `copy`: the text that its copy button copies, empty for none.
    """

    ops: tuple[Op, ...]
    height: float
    above: float
    links: tuple[Link, ...] = ()
    copy: str = ""


_FONTS = {
    "body": "body",
    "strong": "strong",
    "italic": "italic",
    "code": "mono_small",
    "strike": "body",
    "muted": "body",
}
_HEADINGS = {1: "h1", 2: "h2", 3: "h3"}
LEADING = 1.4
CODE_GAP_PX = 3.0
"""Space around inline code, for its tint."""


@dataclass(slots=True)
class _Flow:
    """Greedy lines of styled pieces."""

    m: TextMeasure
    width: float
    step: float
    size: float
    tone: str
    heading: str
    x: float = 0.0
    y: float = 0.0
    start: float = 0.0
    parts: list[str] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def font(self, run: Run) -> str:
        """The text style of a run."""
        return self.heading or _FONTS[run.style]

    def add(self, run: Run) -> None:
        """Put a run down, piece by piece; what of it stands on one line is one operation."""
        font, measure = self.font(run), self.m.width
        if run.style == "code" and self.x > 0:
            self.x += CODE_GAP_PX * self.m.scale
        self.start = self.x
        for piece in _PIECE.findall(run.text.replace("\t", TAB)):
            if piece == "\n":
                self._newline(run, font)
                continue
            width = measure(piece, font)
            if piece.isspace():
                width = min(width, max(0.0, self.width - self.x))
            elif self.x + width > self.width:
                if self.x > 0:
                    self._newline(run, font)
                if width > self.width:
                    self._put_long(piece, run, font)
                    continue
            self.parts.append(piece)
            self.x += width
        self._flush(run, font)
        if run.style == "code":
            self.x += CODE_GAP_PX * self.m.scale

    def _put_long(self, piece: str, run: Run, font: str) -> None:
        """Put down a word that is longer than a line, on as many as it needs."""
        rest = piece
        while len(rest) > 1 and self.m.width(rest, font) > self.width:
            count = self._fitting(rest, font)
            self.parts.append(rest[:count])
            self.x += self.m.width(rest[:count], font)
            self._newline(run, font)
            rest = rest[count:]
        self.parts.append(rest)
        self.x += self.m.width(rest, font)

    def _fitting(self, piece: str, font: str) -> int:
        low, high = 1, len(piece) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.m.width(piece[:middle], font) <= self.width:
                low = middle
            else:
                high = middle - 1
        return low

    def _newline(self, run: Run, font: str) -> None:
        self._flush(run, font)
        self.x = self.start = 0.0
        self.y += self.step

    def _flush(self, run: Run, font: str) -> None:
        """Make an operation of what the run has on this line."""
        if not self.parts:
            return
        text, width = "".join(self.parts), self.x - self.start
        self.parts.clear()
        tone = "accent" if run.href else "muted" if run.style == "muted" else self.tone
        if run.style == "code" and not self.heading:
            tone = "code.inline"
        size = self.m.sizes[font]
        at_y = self.y + (self.step - size) / 2
        self.ops.append(Op(self.start, at_y, width, size, tone, text, font))
        if run.href:
            self.links.append(Link(self.start, self.y, width, self.step, run.href, text))
        if run.style == "strike":
            middle = self.y + self.step / 2
            self.ops.append(Op(self.start, middle, width, max(1.0, self.m.scale), self.tone))
        self.start = self.x


def _flow(
    runs: tuple[Run, ...], m: TextMeasure, width: float, tone: str = "text", heading: str = ""
) -> _Flow:
    size = float(m.sizes[heading or "body"])
    flow = _Flow(
        m, max(width, 8 * m.scale), round(size * (1.25 if heading else LEADING)), size, tone, heading
    )
    for run in runs:
        flow.add(run)
    return flow


def _backed(ops: list[Op], m: TextMeasure) -> Iterator[Op]:
    """A tint behind inline code, a line under links, then the text."""
    for op in ops:
        if op.tone == "code.inline" and op.text.strip():
            pad, inset = 3 * m.scale, 2 * m.scale
            yield Op(
                op.x - pad, op.y - inset, op.w + 2 * pad, op.h + 2 * inset, "raised", rounding=4 * m.scale
            )
        elif op.tone == "accent" and op.text:
            yield Op(op.x, op.y + op.h, op.w, max(1.0, m.scale), "accent_tint")
        yield op


def lay_out(
    block: MarkdownBlock, m: TextMeasure, width: float, *, is_first: bool = False, quotes_before: int = 0
) -> Laid:
    """Place one block.

    Args:
        width: pixels it may take, padding of lists and quotes included.
        is_first: no space above the first block of a text.
        quotes_before: quotes that the block before it is in: their bars are joined.
    """
    s = m.scale
    left = (block.depth * 24 + block.quotes * 16) * s
    left = min(left, width * 0.5)
    inner = max(24 * s, width - left)
    match block.kind:
        case "code":
            laid = _code(block, m, inner)
        case "table":
            laid = _table(block, m, inner)
        case "rule":
            line = max(1.0, round(s))
            laid = Laid((Op(0, 4 * s, inner, line, "border"),), 8 * s + line, 12 * s)
        case "heading":
            style = _HEADINGS.get(block.level, "strong")
            flow = _flow(block.runs, m, inner, heading=style)
            laid = Laid(tuple(flow.ops), flow.y + flow.step, 18 * s, tuple(flow.links))
        case _:
            flow = _flow(block.runs, m, inner, "muted" if block.quotes else "text")
            above = 4 if block.is_tight and block.depth else 10
            laid = Laid(tuple(_backed(flow.ops, m)), flow.y + flow.step, above * s, tuple(flow.links))
    return _framed(laid, block, m, left, 0.0 if is_first else laid.above, quotes_before)


def _framed(
    laid: Laid, block: MarkdownBlock, m: TextMeasure, left: float, above: float, quotes_before: int
) -> Laid:
    """Move a block right for its lists and quotes; add its marker and the bars of its quotes."""
    ops = [replace(op, x=op.x + left) for op in laid.ops]
    links = tuple(replace(link, x=link.x + left) for link in laid.links)
    size = float(m.sizes["body"])
    if block.marker:
        tone = "accent" if block.marker == "☑" else "muted"
        width = m.width(block.marker, "body")
        y = (round(size * LEADING) - size) / 2
        ops.append(Op(max(0.0, left - width - 8 * m.scale), y, width, size, tone, block.marker))
    for quote in range(block.quotes):
        x = min(quote * 16 * m.scale, left)
        top = -above if quote < quotes_before else 0.0
        ops.append(Op(x, top, 3 * m.scale, laid.height - top, "border_strong", rounding=m.scale))
    return Laid(tuple(ops), laid.height, above, links, laid.copy)


HEAD_PX = 32.0
CODE_PAD_PX = 12.0


def wrap_code(line: Line, columns: int) -> list[Line]:
    """Break a line of code at `columns` characters. Joined, the pieces are the line again."""
    if sum(len(text) for text, _ in line) <= columns:
        return [line]
    lines: list[list[tuple[str, str]]] = [[]]
    used = 0
    for text, kind in line:
        at = 0
        while at < len(text):
            room = columns - used
            if room <= 0:
                lines.append([])
                used, room = 0, columns
            part = text[at : at + room]
            lines[-1].append((part, kind))
            used += len(part)
            at += len(part)
    return [tuple(part) for part in lines]


def _code(block: MarkdownBlock, m: TextMeasure, width: float) -> Laid:
    s = m.scale
    pad, head, size = CODE_PAD_PX * s, HEAD_PX * s, float(m.sizes["mono"])
    step = round(size * 1.25)
    advance = m.width("M", "mono")
    columns = max(8, int((width - 2 * pad) / advance))
    y = head
    ops: list[Op] = []
    for line in highlight(block.text.replace("\t", TAB), block.language):
        for part in wrap_code(line, columns):
            x = pad
            for text, kind in part:
                w = m.width(text, "mono")
                ops.append(Op(x, y, w, size, f"code.{kind}", text, "mono"))
                x += w
            y += step
    height = y + pad - (step - size)
    label = (block.language or "text")[: max(1, columns - 16)]
    name = Op(
        pad, (head - m.sizes["small"]) / 2, m.width(label, "small"), m.sizes["small"], "muted", label, "small"
    )
    back = Op(0, 0, width, height, "code.background", rounding=8 * s)
    return Laid((back, name, *ops), height, 10 * s, copy=block.text)


def _table(block: MarkdownBlock, m: TextMeasure, width: float) -> Laid:
    s = m.scale
    pad_x, pad_y, line = 10 * s, 6 * s, max(1.0, round(s))
    count = max(len(row) for row in block.rows)
    widths = _columns(block, m, width, count, pad_x)
    ops: list[Op] = []
    links: list[Link] = []
    y = 0.0
    for index, row in enumerate(block.rows):
        x, tallest = 0.0, 0.0
        for cell, column in zip(row, widths, strict=False):
            runs = tuple(replace(run, style="strong") if not index else run for run in cell)
            flow = _flow(runs, m, column - 2 * pad_x)
            place = (x + pad_x, y + pad_y)
            ops += [replace(op, x=op.x + place[0], y=op.y + place[1]) for op in _backed(flow.ops, m)]
            links += [replace(link, x=link.x + place[0], y=link.y + place[1]) for link in flow.links]
            tallest = max(tallest, flow.y + flow.step)
            x += column
        y += tallest + 2 * pad_y
        ops.append(Op(0, y, sum(widths), line, "border" if index else "border_strong"))
        y += line
    return Laid(tuple(ops), y, 10 * s, tuple(links))


def _columns(block: MarkdownBlock, m: TextMeasure, width: float, count: int, pad: float) -> list[float]:
    """Widths of the columns: what they would like, and when that is too much, shares of the width."""
    wanted = [0.0] * count
    for index, row in enumerate(block.rows):
        for column, cell in enumerate(row):
            text = sum(m.width(run.text, "strong" if not index else _FONTS[run.style]) for run in cell)
            wanted[column] = max(wanted[column], text + 2 * pad + 2)
    if sum(wanted) <= width:
        return wanted
    fair = width / count
    small = sum(want for want in wanted if want <= fair)
    large = sum(want for want in wanted if want > fair)
    return [want if want <= fair else (width - small) * want / large for want in wanted]
