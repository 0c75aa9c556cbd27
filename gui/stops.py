"""The order of the Tab key where it is not the toolkit's: from an editor on, over controls, with a frame around each."""

from __future__ import annotations

from collections.abc import Iterator

import dearpygui.dearpygui as dpg

from gui.canvas import CLEAR, Canvas, Pane
from gui.elements.base import Element
from gui.elements.controls import Field, Slider
from gui.elements.editor import Editor
from gui.elements.surfaces import Surface
from gui.elements.text import Stroke

RING_RADIUS_PX = 6.0


def stop_beside(layer: Element, stop: Element, direction: int) -> Element | None:
    """The next control that takes the keyboard, -1 before and 1 after one, around the ends of its layer."""
    stops = [other for other in _in_order(layer) if other.spot is not None and other.stop_item()]
    if stop not in stops or len(stops) < 2:
        return None
    return stops[(stops.index(stop) + direction) % len(stops)]


def _in_order(element: Element) -> Iterator[Element]:
    for kid in element.order:
        yield from _in_order(kid)
    yield element


class TabWalk:
    """Walk of the Tab key from an editor: the control that it stands at, which had the keyboard from us.

    The toolkit does not show where it put the keyboard when it was asked to, and its next Tab would only show it. So
    the frame is ours, and each Tab leads on from here, until the mouse, an editor or a field has the keyboard.
    """

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._ring = Stroke()
        self._drawn: tuple[object, ...] = ()
        self.at: Element | None = None

    def enter(self, stop: Element) -> None:
        """Stand at a control. Where words are typed the toolkit, or the editor, goes on."""
        self.at = None if isinstance(stop, Field | Editor | Slider) else stop

    def leave(self) -> None:
        """Stand nowhere any more."""
        self.at = None

    def poll(self) -> None:
        """Leave a control that lost the keyboard, or is gone."""
        if self.at is not None and not self.at.quiet_frames and not self._canvas.is_focusing:
            item = self.at.stop_item()
            if not (item and self.at.spot is not None and dpg.is_item_focused(item)):
                self.at = None

    def draw(self) -> bool:
        """Draw the frame around the control; whether it changed."""
        place = self._place()
        wanted = place[1:] if place is not None else ()
        if wanted == self._drawn:
            return False
        self._drawn = wanted
        c = self._canvas
        c.drop_prims(self._ring)
        if place is not None:
            pane, _, (x0, y0, x1, y1), color = place
            c.sync(pane, self._ring, [("rect", x0, y0, x1, y1, CLEAR, color, c.m.px(RING_RADIUS_PX))])
        return True

    def _place(self) -> tuple[Pane, int, tuple[int, int, int, int], object] | None:
        at = self.at
        if at is None or at.spot is None or at.pane is None:
            return None
        color = self._canvas.color("focus")
        if isinstance(at, Surface) and at.inner is not None:
            width, height = at.inner.size
            return at.inner, at.inner.drawlist, (1, 1, width - 1, height - 1), color
        return at.pane, at.pane.drawlist, at.spot, color
