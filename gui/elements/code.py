"""Code in a box: highlighted, numbered, and only the lines in view are drawn."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar

from gui.canvas import Canvas
from gui.elements.base import Element, Spec
from gui.elements.surfaces import Surface
from gui.markdown.code_layout import columns_of, wrap_code
from gui.markdown.highlight import Line, highlight, plain_lines
from gui.markdown.laid import TAB
from gui.metrics import Measure
from gui.visible_text import visible

Spot = tuple[int, int, int, int]
STYLE = "mono"
MARGIN_LINES = 12


class CodeLines(Element):
    """The lines. `props`: text, language, number of the first line or 0."""

    __slots__ = ("first_shown", "gutter", "laid_for", "lines", "numbers", "step")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.lines: list[Line] = []
        self.numbers: list[int] = []
        self.gutter = 0.0
        self.step = 1
        self.laid_for: tuple[object, ...] = ()
        self.first_shown = -1

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(320)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        text, language, first = self.props
        self.step = round(m.sizes[STYLE] * 1.25)
        advance = m.width("M", STYLE)
        digits = len(str(first + text.count("\n"))) if first else 0
        self.gutter = digits * advance + m.px(14) if first else 0.0
        columns = max(8, int((w - self.gutter) / advance))
        if self.laid_for != (text, language, first, columns):
            self.laid_for = (text, language, first, columns)
            self._break_lines(columns, columns_of(m))
        self.h = len(self.lines) * self.step

    def _break_lines(self, columns: int, span: Callable[[str], float]) -> None:
        text, language, first = self.props
        shown = visible(text).replace("\t", TAB)
        lines = highlight(shown, language) if language else plain_lines(shown)
        self.lines, self.numbers = [], []
        for index, line in enumerate(lines):
            parts = wrap_code(line, columns, span)
            self.lines += parts
            self.numbers += [first + index, *[0] * (len(parts) - 1)]

    def _window(self) -> tuple[int, int]:
        """First and last line to draw: those in the scrolling surface around it, and some more."""
        box = self.parent
        if not isinstance(box, Surface) or box.inner is None or not box.scrolls:
            return 0, min(len(self.lines), 4000)
        first = int((box.inner.scroll[1] - self.y) / self.step)
        first = max(0, first // MARGIN_LINES * MARGIN_LINES - MARGIN_LINES)
        return first, min(len(self.lines), first + int(box.h / self.step) + 3 * MARGIN_LINES)

    def poll(self, c: Canvas) -> None:
        if self._window()[0] != self.first_shown and self.spot is not None:
            self.touch()

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        first, last = self._window()
        self.first_shown = first
        specs: list[Spec] = []
        colors = c.palette.code
        for index in range(first, last):
            x, y = spot[0] + self.gutter, spot[1] + index * self.step
            if self.gutter and self.numbers[index]:
                number = str(self.numbers[index])
                at = spot[0] + self.gutter - c.m.px(14) - c.m.width(number, STYLE)
                specs.append(("text", round(at), y, number, STYLE, colors["line_number"]))
            for text, kind in self.lines[index]:
                if not text.isspace():
                    specs.append(("text", round(x), y, text, STYLE, colors.get(kind, colors["text"])))
                x += c.m.width(text, STYLE)
        return specs

    def label(self) -> str:
        return str(self.props[0])
