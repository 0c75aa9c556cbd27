"""The mouse button on what is drawn: presses with their count, drags and releases, for elements that want them."""

from __future__ import annotations

import dearpygui.dearpygui as dpg

from gui.describe import Tree
from gui.elements.base import Element, chain_at
from gui.keys import Keys
from gui.primitives import Press

AGAIN_S = 0.45
AGAIN_PX = 6.0
"""Time and distance within which presses count together: 2 for a word, 3 for a paragraph."""


class Pointer:
    """Holder of the mouse: the element that it went down on, until it goes up.

    Args:
        tree: whose elements are asked, the innermost first; keys: Shift extends a selection.
    """

    def __init__(self, tree: Tree, keys: Keys) -> None:
        self._tree = tree
        self._keys = keys
        self._held: Element | None = None
        self._last = Press(-1, -1, 0)
        self._last_s = float("-inf")
        self._seen: tuple[float, float, bool] = (-1.0, -1.0, False)
        self._still_s = 0.0

    def press(self, now_s: float) -> Press | None:
        """The left button went down. Returns the press where no element took it: it is the text's.

        The toolkit reads one event a frame and tells no time of it: a press is as old as the last frame that read none.
        """
        x, y = dpg.get_mouse_pos(local=False)
        last = self._last
        is_again = (
            self._still_s - self._last_s < AGAIN_S and max(abs(x - last.x), abs(y - last.y)) <= AGAIN_PX
        )
        count = last.count % 3 + 1 if is_again else 1
        self._last, self._last_s = Press(x, y, count, self._keys.is_held("Shift")), now_s
        front = self._tree.front(x, y)
        chain = chain_at(front, x, y)
        if front is self._tree.root:
            self._tree.note_press(chain)
        self._held = None
        if not front.is_meant():
            return None
        self._held = next(
            (element for element in reversed(chain) if element.on_press(self._last, self._tree.m)), None
        )
        return self._last if self._held is None else None

    def move(self, now_s: float) -> bool:
        """Tell the element that is held where the mouse is; whether there is one. In every frame."""
        seen = (*dpg.get_mouse_pos(local=False), dpg.is_mouse_button_down(0))
        self._still_s = now_s if seen == self._seen else self._still_s
        self._seen = seen
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
