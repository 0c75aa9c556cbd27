"""Text, icons, and other things that only show: no input, drawn on the pane's drawlist."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from gui.canvas import CLEAR, Canvas
from gui.canvas import Spec as Spec_of_primitives
from gui.elements.base import Element, Spec, whole
from gui.markdown.excerpt import wanted
from gui.metrics import Color, Measure
from gui.text_buffer import visible
from gui.text_layout import TextLayout, wrap_text

Spot = tuple[int, int, int, int]
LEADING = 1.3
"""Distance of the lines of a paragraph in line heights."""
SHORT_BAR_PX = 24.0
MARK_CHARS = 9
BULLET = "•  "
"""Begins a paragraph of a list: its other lines stand below the first one's words."""


class Text(Element):
    """A line or a paragraph. `props`: text, tone, style, whether it wraps, width, the terms that are marked."""

    __slots__ = ("hanging", "lines")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.lines: list[str] = []
        self.hanging = 0.0

    @property
    def shrinks(self) -> bool:  # type: ignore[override]
        """In a row that is too narrow it gives way."""
        return self.wide is None

    def wants_space(self) -> tuple[bool, bool]:
        wide, tall = super().wants_space()
        return wide or (bool(self.props[3]) and self.wide is None), tall

    def measure(self, m: Measure) -> float:
        text, _, style, *_ = self.props
        return max(m.width(line, style) for line in text.split("\n")) + 1

    def line_height(self, m: Measure) -> float:
        """Pixels from one line to the next."""
        return round(m.sizes[self.props[2]] * LEADING)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        text, _, style, wraps, *_ = self.props
        size = m.sizes[style]
        if wraps:
            table = m.table(style)
            mark = BULLET if text.startswith(BULLET) else ""
            self.hanging = m.width(mark, style) if mark else 0.0
            lines = wrap_text(text.removeprefix(mark), lambda char: table[char] * size, w - self.hanging)
            self.lines = [mark + line if index == 0 else line for index, line in enumerate(lines)]
        else:
            self.lines = [m.ellipsized(text.replace("\n", " "), style, w)]
        self.h = size + (len(self.lines) - 1) * self.line_height(m)

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        _, tone, style, *_ = self.props
        x, y, color, step = spot[0], spot[1], c.color(tone), self.line_height(c.m)
        return self._marks(c, x, y) + [
            ("text", x + round(self.hanging) if index else x, y + index * step, line, style, color)
            for index, line in enumerate(self.lines)
            if line.strip()
        ]

    def _marks(self, c: Canvas, x: int, y: int) -> list[Spec]:
        """Tints under the terms."""
        pattern, style = wanted(self.props[5]), self.props[2]
        if pattern is None:
            return []
        found: list[Spec] = []
        for index, line in enumerate(self.lines):
            left, top = x + (round(self.hanging) if index else 0), y + index * self.line_height(c.m)
            for term in pattern.finditer(line):
                start, end = (left + round(c.m.width(line[:at], style)) for at in term.span())
                found.append(
                    filled(start, top - 1, end, top + c.m.sizes[style] + 2, c.color("search_match"), 0)
                )
        return found

    def tooltip(self) -> str:
        """Its tip, after the whole text where that was cut."""
        return whole(self.label(), self.tip, is_cut=self.is_cut)

    @property
    def is_cut(self) -> bool:
        """True if there was no room for all of its line."""
        text = self.label()
        return not self.props[3] and bool(self.lines) and self.lines[0] != text.replace("\n", " ")

    def label(self) -> str:
        return str(self.props[0])


class Label(Text):
    """The name of a field. It stands whole: where there is no room for both, the field gives way."""

    __slots__ = ()

    @property
    def shrinks(self) -> bool:  # type: ignore[override]
        """In a row that is too narrow it stays."""
        return False


RING = "\u25cb"
FULL = "\uf111"
"""A circle that is empty, drawn, and one that is full, a glyph: both of one size."""


class Icon(Element):
    """A glyph. `props`: glyph, tone, style."""

    __slots__ = ()

    def measure(self, m: Measure) -> float:
        glyph = self.props[0]
        return m.width(FULL if glyph == RING else glyph, self.props[2])

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.sizes[self.props[2]]

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        glyph, tone, style = self.props
        if glyph == RING:
            size = c.m.sizes[style] - 2
            x, y = round((spot[0] + spot[2] - size) / 2), spot[1] + 1
            return [("rect", x, y, x + size, y + size, CLEAR, c.color(tone), size / 2)]
        return [("text", spot[0], spot[1], glyph, style, c.color(tone))]


class Divider(Element):
    """A hairline."""

    __slots__ = ()

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = 1.0

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        return [filled(spot[0], spot[1], spot[2], spot[1] + 1, c.color("border"), 0)]


class Progress(Element):
    """A bar. `props`: fraction, tone, height, width, fill, marks."""

    __slots__ = ()

    def collapsed(self, m: Measure) -> float:
        """A bar is understood when it is short, before a word beside it is cut."""
        return min(self.natural(m), m.px(SHORT_BAR_PX))

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = max(2.0, m.px(self.props[2]))

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        fraction, tone, _, _, fill, marks = self.props
        x0, y0, x1, y1 = spot
        rounding = (y1 - y0) / 2
        specs = [filled(x0, y0, x1, y1, c.color("border"), rounding)]
        if fraction > 0:
            end = x0 + max(y1 - y0, (x1 - x0) * min(1.0, fraction))
            specs.append(filled(x0, y0, end, y1, bar_fill(c, tone, fill), rounding))
        notch = max(1.0, c.m.px(2))
        places = (round(x0 + (x1 - x0) * mark) for mark in marks)
        return specs + [filled(x, y0, x + notch, y1, c.color("base"), 0.0) for x in places]


class StackedBar(Element):
    """Shares of a whole. `props`: shares, height."""

    __slots__ = ()

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = max(2.0, m.px(self.props[1]))

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x0, y0, x1, y1 = spot
        rounding = c.m.px(3)
        specs = [filled(x0, y0, x1, y1, c.color("border"), rounding)]
        at = float(x0)
        for share in self.props[0]:
            end = min(float(x1), at + (x1 - x0) * max(0.0, share.fraction))
            if end - at >= 0.5:
                tail = end - 1 if end < x1 - 1 and end - at > 3 else end
                specs.append(
                    filled(round(at), y0, round(tail), y1, bar_fill(c, share.tone, share.fill), rounding / 2)
                )
            at = end
        return specs

    def tip_at(self, x: float) -> str:
        """The tip of the share at a distance from the left edge."""
        at = 0.0
        for share in self.props[0]:
            at += share.fraction * self.w
            if x < at:
                return str(share.tip)
        return ""


class Badge(Element):
    """A small rounded label. `props`: text, tone."""

    __slots__ = ("shown",)
    STYLE = "small"

    def measure(self, m: Measure) -> float:
        return m.width(self.props[0], self.STYLE) + m.px(14)

    @property
    def shrinks(self) -> bool:  # type: ignore[override]
        """In a row that is too narrow it gives way, but for a mark of one word: nothing would be left of that."""
        return len(self.props[0]) > MARK_CHARS

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.sizes[self.STYLE] + m.px(4)
        self.shown = m.ellipsized(self.props[0], self.STYLE, w - m.px(13))

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        _, tone = self.props
        x0, y0, x1, y1 = spot
        tint = {"accent": "accent_tint", "ok": "ok_tint", "warn": "warn_tint", "error": "error_tint"}
        fill = c.color(tint.get(tone, "raised"))
        at = (x0 + round(c.m.px(7)), y0 + round(c.m.px(2)))
        return [
            filled(x0, y0, x1, y1, fill, (y1 - y0) / 2),
            ("text", *at, self.shown, self.STYLE, c.color(tone)),
        ]

    def tooltip(self) -> str:
        return whole(self.label(), self.tip, is_cut=self.is_cut)

    @property
    def is_cut(self) -> bool:
        """True if there was no room for all of its words."""
        return bool(self.shown != self.props[0])

    def label(self) -> str:
        return str(self.props[0])


def filled(x0: float, y0: float, x1: float, y1: float, fill: Color, rounding: float) -> Spec:
    """A filled rectangle without a border."""
    return ("rect", x0, y0, x1, y1, fill, CLEAR, rounding)


def bar_fill(c: Canvas, tone: str, fill: int | None) -> Color:
    """The colour of a bar: that of a layer where `fill` is given, else of the tone."""
    fills = c.palette.layers
    return c.color(tone) if fill is None else fills[fill % len(fills)]


# Drawing of rows of a text in view: their words, and the boxes behind what is selected.

_CLEAR: Color = (0, 0, 0, 0)


class TextRows(msgspec.Struct, frozen=True):
    """Rows `first` to `last` of a layout, whose row 0 has its corner at `x`, `y` of the pane."""

    layout: TextLayout
    first: int
    last: int
    x: float
    y: float
    row_px: int

    def texts(self, rise: int, style: str, color: Color) -> list[Spec_of_primitives]:
        """The words, `rise` pixels below their row's top: a run between two tabs is one text."""
        specs: list[Spec_of_primitives] = []
        for row in range(self.first, self.last + 1):
            start, end = self.layout.span(row)
            y = round(self.y + row * self.row_px) + rise
            order = self.layout.order_of(row)
            if order is None:
                specs += self._runs(self.layout.text[start:end], y, style, color)
                continue
            for left, text in order.runs:
                specs.append(("text", round(self.x + left, 2), y, visible(text), style, color))
        return specs

    def _runs(self, line: str, y: int, style: str, color: Color) -> list[Spec_of_primitives]:
        specs: list[Spec_of_primitives] = []
        x, advances = self.x, self.layout.advances
        for index, run in enumerate(line.split("\t")):
            if index:
                x += advances["\t"]
            if run and not run.isspace():
                specs.append(("text", round(x, 2), y, visible(run), style, color))
            if "\t" in line:
                x += sum(map(advances.__getitem__, run))
        return specs

    def boxes(
        self, span: tuple[int, int], right: float, beyond: float, color: Color
    ) -> list[Spec_of_primitives]:
        """A box behind what is selected of each row, as far as `right`; one that goes on is `beyond` pixels longer."""
        start, end = span
        if start == end:
            return []
        specs: list[Spec_of_primitives] = []
        layout = self.layout
        for row in range(max(self.first, layout.row_of(start)), min(self.last, layout.row_of(end)) + 1):
            begin, stop = layout.span(row)
            y = round(self.y + row * self.row_px)
            order = layout.order_of(row)
            if order is not None:
                for left, to in order.boxes(max(start, begin) - begin, min(end, stop) - begin):
                    box = (round(self.x + left), y, round(self.x + to), y + self.row_px)
                    specs.append(("rect", *box, color, _CLEAR, 0))
                continue
            left = self.x + (layout.x_of(start) if start > begin else 0.0)
            to = self.x + sum(map(layout.advances.__getitem__, layout.text[begin : min(end, stop)]))
            to = min(to + beyond, right) if end > stop else to
            specs.append(("rect", round(left), y, round(to), y + self.row_px, color, _CLEAR, 0))
        return specs


class Stroke:
    """Primitives of the caret: changed without painting the editor."""

    __slots__ = ("plane", "prim_ids", "prims")

    def __init__(self) -> None:
        self.prims: list[Spec_of_primitives] = []
        self.prim_ids: list[int] = []
        self.plane = 0
