"""The `Ui` calls that hold others, and space."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager

from gui.describe import Scope, Tree
from gui.elements.base import Element
from gui.elements.boxes import Column, Gap, Row, Spring
from gui.elements.controls import Hit
from gui.elements.split import SplitBox
from gui.elements.surfaces import Clickable, Surface
from gui.elements.text import Divider
from panels.ui import Clicks, Length
from panels.ui import Surface as SurfaceKind


class SplitView:
    """What `Ui.split` gives."""

    def __init__(self, tree: Tree, box: SplitBox) -> None:
        self._tree = tree
        self._box = box
        self.dragged = box.dragged
        box.dragged = None

    def pane(self, index: int) -> AbstractContextManager[None]:
        """Draw into pane `index`."""
        if index:
            edge = self._tree.take(Hit, ("edge", index))
            edge.update(("edge",))
        column = self._tree.take(Column, ("pane", index))
        column.wide = column.tall = 0
        column.update((0.0,))
        return Scope(self._tree, None, column)


class Boxes(Tree):
    """Containers and space."""

    def group(self, key: Hashable, *, gap: float = 8) -> AbstractContextManager[None]:
        """A vertical run of items."""
        column = self.take(Column, key)
        column.update((gap,))
        return Scope(self, None, column)

    def row(self, key: Hashable, *, gap: float = 8, height: Length = None) -> AbstractContextManager[None]:
        """A horizontal run of items, vertically centred. `push` inside it right-aligns what follows."""
        row = self.take(Row, key)
        row.tall = height
        row.update((gap, height))
        return Scope(self, None, row)

    def surface(
        self,
        key: Hashable,
        kind: SurfaceKind,
        *,
        width: Length = 0,
        height: Length = None,
        padding: tuple[float, float] | None = None,
        scrolls: bool = False,
    ) -> AbstractContextManager[None]:
        """A filled area, with border and rounding by kind. `height=None` fits the content."""
        surface = self.take(Surface, key)
        surface.wide, surface.tall = width, height
        surface.update((kind, padding, scrolls, 8.0, width, height))
        return Scope(self, None, surface)

    def clickable(
        self,
        key: Hashable,
        kind: SurfaceKind,
        *,
        height: Length = None,
        tip: str = "",
        padding: tuple[float, float] | None = None,
    ) -> AbstractContextManager[Clicks]:
        """A surface that can be clicked as a whole (a card of a list). `padding` as in `surface`."""
        card = self.take(Clickable, key)
        card.wide, card.tall, card.tip = 0, height, tip
        card.update((kind, padding, False, 4.0, height))
        given = Clicks(card.clicks.clicked, card.clicks.right_clicked, card.is_hovered)
        card.clicks.clicked = card.clicks.right_clicked = False
        return Scope(self, given, card)

    def split(
        self, key: Hashable, widths: Sequence[float], *, min_px: float = 160
    ) -> AbstractContextManager[SplitView]:
        """Resizable panes; a width of 0 takes what is left."""
        box = self.take(SplitBox, key)
        box.update((tuple(widths), min_px))
        return Scope(self, SplitView(self, box), box)

    def push(self) -> None:
        """In a row: take the free width, so that what follows stands at the right edge."""
        self.take(Spring, ("push", len(self.at.order)))

    def gap(self, px: float = 8) -> None:
        """Empty space along the container's direction."""
        gap = self.take(Gap, ("gap", len(self.at.order)))
        gap.update((px,))

    def divider(self, key: Hashable) -> None:
        """A hairline."""
        self.take(Divider, key)

    def width(self) -> float:
        """Width of the current container's content in design px, as of the last frame."""
        at = self.at
        self.assumed.append((at, at.w, at.h))
        return max(0.0, inner_width(self, at) / self.m.scale)


def inner_width(tree: Tree, at: Element) -> float:
    """Pixels inside a container, less its padding."""
    return at.w - 2 * at.pads(tree.m)[0] if isinstance(at, Surface) else at.w
