"""Blocks and code to places: pure, with the measure of text injected. What is drawn where, in pixels."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from gui.markdown.blocks import (
    AS_IT_COMES,
    BASELINE,
    CODE_PAD_PX,
    HEAD_PX,
    LEADING,
    LEAST_SHARE,
    TAB,
    BlockLook,
    CellBox,
    Laid,
    Link,
    MarkdownBlock,
    Op,
    Reach,
    ReadingOrder,
    Run,
    TextMeasure,
    formula_in,
    lay_out_drawn,
    reading_order,
    reordered,
)
from gui.text_layout import PIECE

# Code to places: lines in a box that scroll sideways, or wrap where the person wants that. Pure.

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


def lay_out_code(
    block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook, *, note: str = ""
) -> Laid:
    """Code in its box: lines that are longer are cut, to be scrolled, or where the person wants that wrapped.

    Args:
        note: a few words behind the language.
    """
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
    taken = (HEAD_BUTTONS_PX if can_wrap else HEAD_BUTTON_PX) * s
    label = m.ellipsized(" · ".join(filter(None, (block.language or "text", note))), "small", room - taken)
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


HEAD_BUTTON_PX, HEAD_BUTTONS_PX = 80.0, 145.0
"""Width that the button at the end of a code's head takes, and that both take where lines can be wrapped."""
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


# Blocks to places: pure, with the measure of text injected. What is drawn where, in pixels.

_FONTS = {
    "body": "body",
    "strong": "strong",
    "italic": "italic",
    "code": "mono_small",
    "math": "mono_small",
    "strike": "body",
    "muted": "body",
}
_HEADINGS = {1: "h1", 2: "h2", 3: "h3"}
CODE_GAP_PX = 3.0
"""Space around inline code, for its tint."""


class _Flow(msgspec.Struct):
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
    at: int = 0
    order: ReadingOrder | None = None
    awaits: bool = False
    over: float = 0.0
    under: float = 0.0
    first: tuple[int, int] = (0, 0)
    parts: list[str] = msgspec.field(default_factory=list)
    ops: list[Op] = msgspec.field(default_factory=list)
    links: list[Link] = msgspec.field(default_factory=list)
    tops: list[float] = msgspec.field(default_factory=list)

    def font(self, run: Run) -> str:
        """The text style of a run."""
        return self.heading or _FONTS[run.style]

    @property
    def height(self) -> float:
        """Height of what is settled, the line that stands last included."""
        return self.y + self.step + self.under

    def settle(self) -> None:
        """End a line: it moves down for what reaches above it, and its words stand as they are read."""
        if self.order is not None:
            op, link = self.first
            ops, links = reordered(self.order, self.ops[op:], self.links[link:], self.width, self.m.width)
            self.ops[op:], self.links[link:] = ops, links
        if self.over:
            op, link = self.first
            self.ops[op:] = [replace(one, y=one.y + self.over) for one in self.ops[op:]]
            self.links[link:] = [replace(one, y=one.y + self.over) for one in self.links[link:]]
            self.y += self.over
        self.tops.append(self.y)
        self.first, self.over = (len(self.ops), len(self.links)), 0.0

    def line_at(self, y: float) -> int:
        """Number of the line at a height, once all are settled."""
        return max(0, bisect_right(self.tops, y) - 1)

    def _put_drawn(self, run: Run, font: str) -> bool:
        """Put a formula down as it is drawn; whether it is. One that is wider than a line has its own, and is made smaller."""
        drawing = formula_in(run.text, self.size)
        size = self.m.drawn(drawing)
        self.awaits |= size is None
        if size is None or size.problem or size.width * LEAST_SHARE > self.width:
            return False
        share = min(1.0, self.width / size.width) if size.width else 1.0
        w, h = size.width * share, size.height * share
        if self.x > 0 and self.x + w > self.width:
            self._newline(run, font)
        y = self.y + (self.step - self.size) / 2 + BASELINE * self.size - size.above * share
        op = Op(
            x=self.x,
            y=y,
            w=w,
            h=h,
            tone=self.tone,
            text=run.text,
            style=font,
            at=self.at,
            size=len(run.text),
            drawing=drawing,
        )
        self.ops.append(op)
        self.over = max(self.over, self.y - y)
        self.under = max(self.under, y + h - self.y - self.step)
        self.at += len(run.text)
        self.x += w
        self.start = self.x
        return True

    def add(self, run: Run) -> None:
        """Place a run of text piece by piece; its part on one line becomes one drawing operation."""
        font, measure = self.font(run), self.m.width
        if run.style == "math" and self._put_drawn(run, font):
            return
        known: dict[str, float] = {}
        if run.style == "code" and self.x > 0:
            self.x += CODE_GAP_PX * self.m.scale
        self.start = self.x
        for piece in PIECE.findall(run.text):
            if piece == "\n":
                self._flush(run, font)
                self._mark(4 * self.m.scale if self.x == 0 else 0.0, "\n")
                self._newline(run, font)
                continue
            if piece == "\t":
                self._flush(run, font)
                self._mark(min(measure(TAB, font), max(0.0, self.width - self.x)), TAB)
                continue
            width = known.get(piece, -1.0)
            if width < 0:
                width = known[piece] = measure(piece, font)
            if self.x + width <= self.width:
                pass
            elif piece.isspace():
                width = min(width, max(0.0, self.width - self.x))
            else:
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

    def _mark(self, width: float, text: str) -> None:
        """Stand for one character that is not drawn: a tab, a line feed."""
        at_y = self.y + (self.step - self.size) / 2
        self.ops.append(
            Op(x=self.x, y=at_y, w=width, h=self.size, tone=self.tone, text=text, at=self.at, size=1)
        )
        self.x += width
        self.start = self.x
        self.at += 1

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
        self.settle()
        self.x = self.start = 0.0
        self.y += self.step + self.under
        self.under = 0.0

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
        self.ops.append(
            Op(
                x=self.start,
                y=at_y,
                w=width,
                h=size,
                tone=tone,
                text=text,
                style=font,
                at=self.at,
                size=len(text),
            )
        )
        self.at += len(text)
        if run.href:
            self.links.append(Link(x=self.start, y=self.y, w=width, h=self.step, href=run.href, text=text))
        if run.style == "strike":
            middle = self.y + self.step / 2
            self.ops.append(Op(x=self.start, y=middle, w=width, h=max(1.0, self.m.scale), tone=self.tone))
        self.start = self.x


def _flow(
    runs: tuple[Run, ...], m: TextMeasure, width: float, tone: str = "text", heading: str = "", at: int = 0
) -> _Flow:
    size = float(m.sizes[heading or "body"])
    order = None
    for run in runs:
        if not run.text.isascii():
            order = reading_order(runs, at)
            break
    flow = _Flow(
        m=m,
        width=max(width, 8 * m.scale),
        step=round(size * (1.25 if heading else LEADING)),
        size=size,
        tone=tone,
        heading=heading,
        at=at,
        order=order,
    )
    for run in runs if order is None else order.runs:
        flow.add(run)
    flow.settle()
    return flow


def _backed(ops: list[Op], m: TextMeasure) -> Iterator[Op]:
    """A tint behind inline code, a line under links, then the text."""
    for op in ops:
        if op.tone == "code.inline" and op.text.strip():
            pad, inset = 3 * m.scale, 2 * m.scale
            yield Op(
                x=op.x - pad,
                y=op.y - inset,
                w=op.w + 2 * pad,
                h=op.h + 2 * inset,
                tone="raised",
                rounding=4 * m.scale,
            )
        elif op.tone == "accent" and op.text:
            yield Op(x=op.x, y=op.y + op.h, w=op.w, h=max(1.0, m.scale), tone="accent_tint")
        yield op


def lay_out(
    block: MarkdownBlock,
    m: TextMeasure,
    width: float,
    *,
    is_first: bool = False,
    quotes_before: int = 0,
    look: BlockLook = AS_IT_COMES,
) -> Laid:
    """Place one block.

    Args:
        width: pixels it may take, padding of lists and quotes included.
        is_first: no space above the first block of a text.
        quotes_before: quotes that the block before it is in: their bars are joined.
        look: how the person set it.
    """
    s = m.scale
    left = (block.depth * 24 + block.quotes * 16 + len(block.folds) * FOLD_PX) * s
    left = min(left, width * 0.5)
    inner = max(24 * s, width - left)
    is_rtl = False
    match block.kind:
        case "code":
            laid = lay_out_drawn(block, m, inner, look, lay_out_code) or lay_out_code(block, m, inner, look)
        case "table":
            laid = _table(block, m, inner)
        case "fold":
            laid = _fold(block, m, inner, look)
        case "rule":
            line = max(1.0, round(s))
            laid = Laid(
                ops=(Op(x=0, y=4 * s, w=inner, h=line, tone="border"),), height=8 * s + line, above=12 * s
            )
        case "heading":
            style = _HEADINGS.get(block.level, "strong")
            flow = _flow(block.runs, m, inner, heading=style)
            laid = Laid(
                ops=tuple(flow.ops),
                height=flow.height,
                above=18 * s,
                links=tuple(flow.links),
                awaits=flow.awaits,
            )
        case _:
            flow = _flow(block.runs, m, inner, "muted" if block.quotes else "text")
            is_rtl = flow.order is not None and bool(flow.order.base_at(0))
            space = 4 if block.is_tight and block.depth else 10
            laid = Laid(
                ops=tuple(_backed(flow.ops, m)),
                height=flow.height,
                above=space * s,
                links=tuple(flow.links),
                awaits=flow.awaits,
            )
    above = 0.0 if is_first else laid.above
    return _framed(laid, block, m, (left, inner), above, quotes_before, is_rtl=is_rtl)


def _framed(
    laid: Laid,
    block: MarkdownBlock,
    m: TextMeasure,
    place: tuple[float, float],
    above: float,
    quotes_before: int,
    *,
    is_rtl: bool,
) -> Laid:
    """Move a block right for its lists and quotes; add its marker and the bars of its quotes.

    Args:
        place: left edge and width of the block's text; is_rtl: its marker stands right of it.
    """
    left, inner = place
    margin = left
    if is_rtl and block.depth:
        left = max(0.0, left - block.depth * 24 * m.scale)
    ops = [replace(op, x=op.x + left) for op in laid.ops]
    links = tuple(replace(link, x=link.x + left) for link in laid.links)
    cells = tuple(replace(cell, x=cell.x + left) for cell in laid.cells)
    reach = replace(laid.reach, x=laid.reach.x + left) if laid.reach is not None else None
    size = float(m.sizes["body"])
    if block.marker:
        tone = "accent" if block.marker == "☑" else "muted"
        sign = BOXES.get(block.marker, block.marker)
        width = m.width(sign, "body")
        y = (round(size * LEADING) - size) / 2
        x = left + inner + 8 * m.scale if is_rtl else max(0.0, left - width - 8 * m.scale)
        if block.marker in BOXES:  # both stand in the middle of one column
            x += (width - max(m.width(box, "body") for box in BOXES.values())) / (-2 if is_rtl else 2)
        ops.append(Op(x=x, y=y, w=width, h=size, tone=tone, text=sign))
    for quote in range(block.quotes):
        x = min(quote * 16 * m.scale, margin)
        top = -above if quote < quotes_before else 0.0
        ops.append(Op(x=x, y=top, w=3 * m.scale, h=laid.height - top, tone="border_strong", rounding=m.scale))
    return replace(laid, ops=tuple(ops), above=above, links=links, cells=cells, reach=reach)


FOLD_PX = 18.0
OPEN_GLYPH, CLOSED_GLYPH = "\uf078", "\uf054"


BOXES = {"☐": "▢", "☑": "\uf14a"}
"""Signs of tick boxes in lists, of about one size: the text's own differ. The icon of an open box is filled."""


def _fold(block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook) -> Laid:
    """The line of what is folded: a chevron, and what it says."""
    s, size = m.scale, float(m.sizes["small"])
    left = FOLD_PX * s
    flow = _flow(tuple(map(_strong, block.runs)), m, width - left)
    glyph = OPEN_GLYPH if look.is_open else CLOSED_GLYPH
    sign = Op(
        x=0,
        y=(flow.step - size) / 2,
        w=m.width(glyph, "small"),
        h=size,
        tone="muted",
        text=glyph,
        style="small",
    )
    ops = (sign, *(replace(op, x=op.x + left) for op in flow.ops))
    return Laid(ops=ops, height=flow.height, above=10 * s, fold=block.fold, awaits=flow.awaits)


def _strong(run: Run) -> Run:
    """A run of a table's head or of a fold's line: a formula stays one."""
    return run if run.style == "math" else replace(run, style="strong")


def _table(block: MarkdownBlock, m: TextMeasure, width: float) -> Laid:
    s = m.scale
    pad_x, pad_y, line = 10 * s, 6 * s, max(1.0, round(s))
    count = max(len(row) for row in block.rows)
    widths = _columns(block, m, width, count, pad_x)
    ops: list[Op] = []
    links: list[Link] = []
    boxes: list[CellBox] = []
    spans = iter(block.cells())
    y, awaits = 0.0, False
    for index, row in enumerate(block.rows):
        x, tallest, first = 0.0, 0.0, len(boxes)
        for number, (cell, column) in enumerate(zip(row, widths, strict=False)):
            _, _, start, end = next(spans)
            flow = _flow(cell if index else tuple(map(_strong, cell)), m, column - 2 * pad_x, at=start)
            awaits |= flow.awaits
            side = block.aligns[number] if number < len(block.aligns) else ""
            shifts = _aligned(flow, column - 2 * pad_x, side)
            left, top = x + pad_x, y + pad_y
            placed = [replace(op, x=op.x + left + _shift(op, flow, shifts), y=op.y + top) for op in flow.ops]
            ops += _backed(placed, m)
            links += [
                replace(link, x=link.x + left + shifts.get(flow.line_at(link.y), 0.0), y=link.y + top)
                for link in flow.links
            ]
            boxes.append(CellBox(x=x, y=y, w=column, h=0.0, start=start, end=end))
            tallest = max(tallest, flow.height)
            x += column
        height = tallest + 2 * pad_y
        boxes[first:] = [replace(box, h=height) for box in boxes[first:]]
        y += height
        ops.append(Op(x=0, y=y, w=sum(widths), h=line, tone="border" if index else "border_strong"))
        y += line
    return Laid(ops=tuple(ops), height=y, above=10 * s, links=tuple(links), cells=tuple(boxes), awaits=awaits)


def _shift(op: Op, flow: _Flow, shifts: dict[int, float]) -> float:
    """Distance that an operation moves right with its line."""
    return shifts.get(flow.line_at(op.y + op.h / 2), 0.0) if shifts else 0.0


def _aligned(flow: _Flow, room: float, side: str) -> dict[int, float]:
    """Distances that the lines of a cell move right, by line."""
    if side not in ("right", "center"):
        return {}
    ends: dict[int, float] = {}
    for op in flow.ops:
        if op.text and not op.text.isspace():
            trailing = 0.0 if op.drawing else flow.m.width(op.text[len(op.text.rstrip()) :], op.style)
            ends[flow.line_at(op.y + op.h / 2)] = op.x + op.w - trailing
    share = 1.0 if side == "right" else 0.5
    return {row: max(0.0, room - end) * share for row, end in ends.items()}


def _filled(low: list[float], liked: list[float], room: float) -> list[float]:
    """Columns with the room shared out: those that want little get it whole, the others the same of the rest."""
    widths = list(low)
    order = sorted(range(len(low)), key=lambda column: liked[column] - low[column])
    for place, column in enumerate(order):
        given = min(liked[column] - low[column], room / (len(order) - place))
        widths[column] += given
        room -= given
    return widths


def _run_widths(run: Run, font: str, m: TextMeasure) -> tuple[float, float]:
    """Width of a run on one line, and of its longest word; of a formula that is drawn twice its own."""
    if run.style == "math":
        size = m.drawn(formula_in(run.text, float(m.sizes["body"])))
        if size is not None and not size.problem:
            return size.width, size.width
    text = run.text
    whole = sum([m.width(part, font) for part in text.split("\n")]) if "\n" in text else m.width(text, font)
    return whole, max([m.width(word, font) for word in PIECE.findall(text)], default=0.0)


def _columns(block: MarkdownBlock, m: TextMeasure, width: float, count: int, pad: float) -> list[float]:
    """Widths of the columns: what they would like; when that is too much, the longest word of each and a share of
    what is left; when not even the words fit, shares of the width.
    """
    liked, least = [0.0] * count, [0.0] * count
    for index, row in enumerate(block.rows):
        for column, cell in enumerate(row):
            fonts = [("strong" if not index else _FONTS[run.style], run) for run in cell]
            gaps = sum(2 * CODE_GAP_PX * m.scale for run in cell if run.style == "code")
            text = word = 0.0
            for font, run in fonts:
                whole, longest = _run_widths(run, font, m)
                text, word = text + whole, max(word, longest)
            liked[column] = max(liked[column], text + gaps + 2 * pad + 2)
            least[column] = max(least[column], word + gaps + 2 * pad + 2)
    if sum(liked) <= width:
        return liked
    low = [min(a, b) for a, b in zip(least, liked, strict=True)]
    if sum(low) <= width:
        return _filled(low, liked, width - sum(low))
    fair = width / count
    small = sum(want for want in low if want <= fair)
    large = sum(want for want in low if want > fair)
    return [want if want <= fair else (width - small) * want / large for want in low]
