"""Selection in message text: from where to where, over rows that come and go, and the Markdown of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from gui.canvas import Press
from gui.elements.base import Element, TextSelection, chain_at
from gui.elements.controls import Control
from gui.elements.lists import RowPane, VirtualList
from gui.elements.prose import LinkHit, Markdown
from gui.elements.surfaces import Surface
from gui.markdown.document import Document
from gui.markdown.excerpt import Place
from gui.metrics import Measure
from panels.base.ui import ReadableRows

EDGE_PX = 28.0
"""Distance from the list's edge at which a drag begins to scroll it."""
MOST_SCROLL_PX = 90.0
DRAG_PX = 4.0
"""Distance from where it was pressed from which a mouse is dragged: until then nothing scrolls under it."""


class SelectionEnd(msgspec.Struct, frozen=True):
    """One end: a place in a text, that is one of a row's, which may be out of view.

    Args:
        row: number of the row, 0 outside of lists; order: number of the text in its row.
        documents: the texts of the row, kept while the row itself is gone.
    """

    row: int
    order: int
    place: Place
    documents: tuple[Document, ...]

    @property
    def key(self) -> tuple[int, int, Place]:
        """Order of ends."""
        return self.row, self.order, self.place

    def around(self, clicks: int) -> tuple[SelectionEnd, SelectionEnd]:
        """The start and end of the word or paragraph around it."""
        start, end = self.documents[self.order].around(self.place, clicks)
        return msgspec.structs.replace(self, place=start), msgspec.structs.replace(self, place=end)


class Layers(Protocol):
    """Layers of the window, and its measures."""

    @property
    def root(self) -> Element:
        """The window below all layers."""
        ...

    def front(self, x: float, y: float) -> Element:
        """The uppermost layer at a point."""
        ...

    @property
    def m(self) -> Measure:
        """Text widths."""
        ...


class ProseSelection(msgspec.Struct, eq=False):
    """Selection of the texts inside one list, or of those beside each other in one surface.

    Args:
        layers: the window's elements; window: the one selection that a window has.
        holder: what the texts lie in; anchor, focus: where it began and where it is drawn to.
        clicks: 2 selects by words, 3 by paragraphs; pressed: where the button went down, until it is dragged.
    """

    layers: Layers
    window: TextSelection
    holder: Element | None = None
    anchor: SelectionEnd | None = None
    focus: SelectionEnd | None = None
    clicks: int = 1
    is_dragging: bool = False
    pressed: tuple[float, float] | None = None
    _marked: list[Markdown] = msgspec.field(default_factory=list)

    # what is selected
    def span(self) -> tuple[SelectionEnd, SelectionEnd] | None:
        """Its ends in order; None when nothing is selected."""
        if self.anchor is None or self.focus is None:
            return None
        first, last = sorted((self.anchor, self.focus), key=lambda end: end.key)
        start, end = first.around(self.clicks)[0], last.around(self.clicks)[1]
        return (start, end) if start.key < end.key else None

    def clear_selection(self) -> None:
        """Select nothing any more."""
        self.anchor = self.focus = self.holder = None
        self.is_dragging = False

    def text(self) -> str:
        """Markdown of what is selected, rows out of view included; empty for nothing."""
        span = self.span()
        if span is None:
            return ""
        start, end = span
        if start.row == end.row:
            return _joined(_between(start, end))
        rows = self.holder.rows if isinstance(self.holder, VirtualList) else None
        known = rows if isinstance(rows, ReadableRows) else None
        parts = list(_between(start, _last(start)))
        if known is not None:
            parts += [known.text(row) for row in range(start.row + 1, min(end.row, len(known)))]
        return _joined([*parts, *_between(_first(end), end)])

    # what the person does
    def press(self, press: Press) -> None:
        """The left button went down: begin a selection, draw the one there is to here, or end it."""
        x, y = press.x, press.y
        layer = self.layers.front(x, y)
        chain = chain_at(layer, x, y)
        if any(isinstance(one, Control) and not isinstance(one, LinkHit) for one in chain):
            return
        holder = _holder(chain)
        end = self._end_at(holder, x, y) if holder is not None else None
        if holder is None or end is None:
            if layer is self.layers.root:
                self.window.release(self)
                self.clear_selection()
            return
        self.is_dragging, self.pressed = True, (x, y)
        if press.is_extending and self.anchor is not None and holder is self.holder:
            self.focus = end
            return
        self.clicks = press.count
        self.holder, self.anchor, self.focus = holder, end, end
        self.window.claim(self)

    def follow(self, x: float, y: float, *, is_down: bool) -> bool:
        """Draw the selection to the mouse while its button is down. Whether it does."""
        if not self.is_dragging:
            return False
        holder = self.holder
        if not is_down or holder is None or holder.spot is None:
            self.is_dragging = False
            return False
        if self.pressed is not None:
            left, top = self.pressed
            if max(abs(x - left), abs(y - top)) < self.layers.m.px(DRAG_PX):
                return True
            self.pressed = None
        if isinstance(holder, VirtualList):
            self._scroll(holder, y)
        self.focus = self._end_at(holder, x, y) or self.focus
        return True

    def _scroll(self, holder: VirtualList, y: float) -> None:
        """Scroll a list whose edge the mouse is dragged to: faster the farther it is."""
        _, top = _corner(holder)
        edge = self.layers.m.px(EDGE_PX)
        above, below = top + edge - y, y - (top + holder.h - edge)
        distance = max(above, below)
        if distance > 0 and holder.can_scroll():
            step = min(self.layers.m.px(MOST_SCROLL_PX), 2 + distance)
            holder.scroll_by(step if below > 0 else -step)

    def _end_at(self, holder: Element, x: float, y: float) -> SelectionEnd | None:
        """The place in a text of the holder that is nearest to a point."""
        best: tuple[tuple[float, float], int, int, Markdown, tuple[Document, ...]] | None = None
        for row, texts in _rows(holder):
            for order, text in enumerate(texts):
                left, top = _corner(text)
                away = (max(top - y, y - top - text.h, 0.0), max(left - x, x - left - text.w, 0.0))
                if best is None or away < best[0]:
                    best = (away, row, order, text, tuple(one.document for one in texts))
        if best is None:
            return None
        _, row, order, text, documents = best
        left, top = _corner(text)
        return SelectionEnd(
            row=row,
            order=order,
            place=text.document.place_at(self.layers.m, x - left, y - top),
            documents=documents,
        )

    # what is shown
    def mark(self) -> None:
        """Tell every text in view what of it is selected; those of before forget it."""
        marked: list[Markdown] = []
        span = self.span()
        if span is not None and self.holder is not None:
            if self.holder.spot is None:
                self.window.release(self)
                self.clear_selection()
            else:
                marked = list(self._mark(self.holder, *span))
        for text in self._marked:
            if text not in marked:
                text.select(None)
        self._marked = marked

    def _mark(self, holder: Element, start: SelectionEnd, end: SelectionEnd) -> Iterator[Markdown]:
        for row, texts in _rows(holder):
            for order, text in enumerate(texts):
                here = (row, order)
                if not start.key[:2] <= here <= end.key[:2]:
                    continue
                whole = text.document.all()
                first = start.place if here == start.key[:2] else whole[0]
                last = end.place if here == end.key[:2] else whole[1]
                text.select((first, last))
                yield text


def _first(end: SelectionEnd) -> SelectionEnd:
    return msgspec.structs.replace(end, order=0, place=(0, 0))


def _last(start: SelectionEnd) -> SelectionEnd:
    order = len(start.documents) - 1
    return msgspec.structs.replace(start, order=order, place=start.documents[order].all()[1])


def _between(start: SelectionEnd, end: SelectionEnd) -> Iterator[str]:
    """The parts of a row's texts between two places of it."""
    for order in range(start.order, min(end.order, len(end.documents) - 1) + 1):
        document = end.documents[order]
        first, last = document.all()
        yield document.excerpt(
            start.place if order == start.order else first, end.place if order == end.order else last
        )


def _joined(parts: Iterator[str] | list[str]) -> str:
    return "\n\n".join(part for part in parts if part.strip())


def _holder(chain: list[Element]) -> Element | None:
    """Holder of the texts under the mouse: the list, else the nearest surface around a text."""
    text = next((one for one in reversed(chain) if isinstance(one, Markdown)), None)
    for index in range(len(chain) - 1, -1, -1):
        one = chain[index]
        if isinstance(one, VirtualList):
            row = next((kid for kid in chain[index + 1 :] if isinstance(kid, RowPane)), None)
            has_text = text is not None or (
                row is not None and any(isinstance(k, Markdown) for k in row.walk())
            )
            return one if has_text else None
    if text is None:
        return None
    surfaces = [one for one in chain if isinstance(one, Surface)]
    return surfaces[-1] if surfaces else chain[0]


def _rows(holder: Element) -> Iterator[tuple[int, list[Markdown]]]:
    """The texts in view, row by row."""
    if not isinstance(holder, VirtualList):
        yield 0, _texts(holder)
        return
    for row in holder.order:
        texts = _texts(row)
        if texts and isinstance(row.key, int):
            yield row.key, texts


def _texts(element: Element) -> list[Markdown]:
    return [one for one in element.walk() if isinstance(one, Markdown) and one.spot is not None]


def _corner(element: Element) -> tuple[float, float]:
    """Its corner in the viewport."""
    assert element.spot is not None
    x, y = element.pane.origin() if element.pane is not None else (0.0, 0.0)
    return x + element.spot[0], y + element.spot[1]
