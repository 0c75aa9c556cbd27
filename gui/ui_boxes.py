"""Drawing of containers and space."""

from __future__ import annotations

from contextlib import AbstractContextManager

from gui.describe import Scope, Tree
from gui.elements.base import Element
from gui.elements.boxes import ColumnBox, Gap, RowBox, Spring
from gui.elements.controls import Hit
from gui.elements.split import SplitBox
from gui.elements.surfaces import Clickable, Surface
from gui.elements.text import Divider
from panels.base import widgets as w
from panels.base.parts import Clicks


class SplitView:
    """View that `Ui.split` gives."""

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
        column = self._tree.take(ColumnBox, ("pane", index))
        column.wide = column.tall = 0
        column.update((0.0,))
        return Scope(self._tree, None, column)


def _group(tree: Tree, it: w.GroupWidget) -> Scope[None]:
    column = tree.take(ColumnBox, it.key)
    column.update((it.gap,))
    return Scope(tree, None, column)


def _row(tree: Tree, it: w.RowWidget) -> Scope[None]:
    row = tree.take(RowBox, it.key)
    row.tall = it.height
    row.update((it.gap, it.height))
    return Scope(tree, None, row)


def _surface(tree: Tree, it: w.SurfaceWidget) -> Scope[None]:
    surface = tree.take(Surface, it.key)
    surface.wide, surface.tall, surface.least_px = it.width, it.height, it.least_height
    surface.update((it.kind, it.padding, it.scrolls, 8.0, it.width, it.height, it.least_height))
    return Scope(tree, None, surface)


def _clickable(tree: Tree, it: w.ClickableWidget) -> Scope[Clicks]:
    card = tree.take(Clickable, it.key)
    card.wide, card.tall, card.tip = 0, it.height, it.tip
    card.update((it.kind, it.padding, False, 4.0, it.height))
    given = Clicks(card.clicks.clicked, card.clicks.right_clicked, card.is_hovered)
    card.clicks.clicked = card.clicks.right_clicked = False
    return Scope(tree, given, card)


def _split(tree: Tree, it: w.SplitWidget) -> Scope[SplitView]:
    box = tree.take(SplitBox, it.key)
    box.update((tuple(it.widths), it.min_px))
    return Scope(tree, SplitView(tree, box), box)


def _push(tree: Tree, _: w.PushWidget) -> None:
    tree.take(Spring, ("push", len(tree.at.order)))


def _gap(tree: Tree, it: w.GapWidget) -> None:
    tree.take(Gap, ("gap", len(tree.at.order))).update((it.px,))


def _divider(tree: Tree, it: w.DividerWidget) -> None:
    tree.take(Divider, it.key)


def _width(tree: Tree, _: w.WidthQuery) -> float:
    at = tree.at
    tree.assumed.append((at, at.w, at.h))
    return max(0.0, inner_width(tree, at) / tree.m.scale)


def _height(tree: Tree, _: w.HeightQuery) -> float:
    at = tree.at
    tree.assumed.append((at, at.w, at.h))
    around = 2 * at.pads(tree.m)[1] if isinstance(at, Surface) else 0.0
    return max(0.0, (at.h - around) / tree.m.scale)


def inner_width(tree: Tree, at: Element) -> float:
    """Pixels inside a container, less its padding."""
    return at.w - 2 * at.pads(tree.m)[0] if isinstance(at, Surface) else at.w


HANDLERS = w.table(
    w.GroupWidget.handled_by(_group),
    w.RowWidget.handled_by(_row),
    w.SurfaceWidget.handled_by(_surface),
    w.ClickableWidget.handled_by(_clickable),
    w.SplitWidget.handled_by(_split),
    w.PushWidget.handled_by(_push),
    w.GapWidget.handled_by(_gap),
    w.DividerWidget.handled_by(_divider),
    w.WidthQuery.handled_by(_width),
    w.HeightQuery.handled_by(_height),
)
