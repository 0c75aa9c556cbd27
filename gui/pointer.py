"""The mouse button on what is drawn: presses with their count, drags and releases, for elements that want them."""

from __future__ import annotations

import time
from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.describe import Tree
from gui.elements.base import Element, chain_at
from gui.keys import Keys
from gui.primitives import Press

AGAIN_S = 0.4
AGAIN_PX = 5.0


class Pointer:
    """Holder of the mouse: the element that it went down on, until it goes up.

    Args:
        tree: whose elements are asked, the innermost first; keys: Shift extends a selection.
    """

    def __init__(self, tree: Tree, keys: Keys, clock: Callable[[], float] = time.perf_counter) -> None:
        self._tree = tree
        self._keys = keys
        self._clock = clock
        self._held: Element | None = None
        self._last = Press(-1, -1, 0)
        self._last_s = float("-inf")

    def press(self) -> bool:
        """The left button went down; whether an element took that."""
        x, y = dpg.get_mouse_pos(local=False)
        now = self._clock()
        last = self._last
        is_again = now - self._last_s < AGAIN_S and max(abs(x - last.x), abs(y - last.y)) < AGAIN_PX
        count = last.count % 3 + 1 if is_again else 1
        self._last, self._last_s = Press(x, y, count, self._keys.is_held("Shift")), now
        front = self._tree.front(x, y)
        chain = chain_at(front, x, y)
        if front is self._tree.root:
            self._tree.note_press(chain)
        self._held = next(
            (element for element in reversed(chain) if element.on_press(self._last, self._tree.m)), None
        )
        return self._held is not None

    def move(self) -> bool:
        """Tell the element that is held where the mouse is; whether there is one."""
        held = self._held
        if held is None:
            return False
        if not dpg.is_mouse_button_down(0):
            self._held = None
            held.on_release()
        elif held.spot is not None:
            x, y = dpg.get_mouse_pos(local=False)
            held.on_drag(x, y, self._tree.m)
        return True
