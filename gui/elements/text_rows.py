"""Drawing of rows of a text in view: their words, and the boxes behind what is selected."""

from __future__ import annotations

import msgspec

from gui.primitives import Spec
from gui.text_layout import TextLayout
from gui.theme import Color
from gui.visible_text import visible

_CLEAR: Color = (0, 0, 0, 0)


class TextRows(msgspec.Struct, frozen=True):
    """Rows `first` to `last` of a layout, whose row 0 has its corner at `x`, `y` of the pane."""

    layout: TextLayout
    first: int
    last: int
    x: float
    y: float
    row_px: int

    def texts(self, rise: int, style: str, color: Color) -> list[Spec]:
        """The words, `rise` pixels below their row's top: a run between two tabs is one text."""
        specs: list[Spec] = []
        for row in range(self.first, self.last + 1):
            start, end = self.layout.span(row)
            y = round(self.y + row * self.row_px) + rise
            specs += self._runs(self.layout.text[start:end], y, style, color)
        return specs

    def _runs(self, line: str, y: int, style: str, color: Color) -> list[Spec]:
        specs: list[Spec] = []
        x, advances = self.x, self.layout.advances
        for index, run in enumerate(line.split("\t")):
            if index:
                x += advances["\t"]
            if run and not run.isspace():
                specs.append(("text", round(x, 2), y, visible(run), style, color))
            if "\t" in line:
                x += sum(map(advances.__getitem__, run))
        return specs

    def boxes(self, span: tuple[int, int], right: float, beyond: float, color: Color) -> list[Spec]:
        """A box behind what is selected of each row, as far as `right`; one that goes on is `beyond` pixels longer."""
        start, end = span
        if start == end:
            return []
        specs: list[Spec] = []
        layout = self.layout
        for row in range(max(self.first, layout.row_of(start)), min(self.last, layout.row_of(end)) + 1):
            begin, stop = layout.span(row)
            left = self.x + (layout.x_of(start) if start > begin else 0.0)
            to = self.x + sum(map(layout.advances.__getitem__, layout.text[begin : min(end, stop)]))
            to = min(to + beyond, right) if end > stop else to
            y = round(self.y + row * self.row_px)
            specs.append(("rect", round(left), y, round(to), y + self.row_px, color, _CLEAR, 0))
        return specs
