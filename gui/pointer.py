"""The mouse button on what is drawn: presses with their count, drags and releases, for elements that want them."""

from __future__ import annotations

import dearpygui.dearpygui as dpg
import msgspec

from gui.canvas import Canvas, Press
from gui.describe import Tree
from gui.elements.base import Element, chain_at
from gui.elements.text import StackedBar
from gui.keys import Keys
from gui.text_buffer import visible
from gui.text_layout import wrap_text

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
        self._last = Press(x=-1, y=-1, count=0)
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
        self._last, self._last_s = (
            Press(x=x, y=y, count=count, is_extending=self._keys.is_held("Shift")),
            now_s,
        )
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


# Hover: the element under the mouse, found in the tree, and the tooltip that belongs to it.

DELAY_S = 0.4
SAID_FOR_S = 1.2
READ_S_A_CHAR = 0.06
WIDEST_PX = 380.0


def tip_of(element: Element, x: float) -> str:
    """The tooltip of an element with the mouse at `x` of the viewport."""
    if isinstance(element, StackedBar) and element.spot and element.pane:
        return element.tip_at(x - element.pane.origin()[0] - element.spot[0])
    return element.tooltip()


class Hover(msgspec.Struct):
    """The chain under the mouse, and the tooltip drawn over everything.

    Args:
        canvas: fonts and colours of the tooltip.
    """

    canvas: Canvas
    chain: list[Element]
    tip: str = ""
    since_s: float = 0.0
    drawn: tuple[str, int, int] = ("", 0, 0)
    sheet: int = 0
    said: tuple[str, float, float] = ("", 0.0, 0.0)
    said_until_s: float = 0.0

    def update(self, tree: Tree, x: float, y: float, now_s: float) -> bool:
        """Find what is under the mouse; whether that changed."""
        chain = chain_at(tree.front(x, y), x, y)
        is_new = chain != self.chain
        if is_new:
            for element in self.chain:
                element.is_hovered = False
            for element in chain:
                element.is_hovered = True
            for element in (*self.chain, *chain):
                if element.repaints:
                    element.touch()
            self.chain = chain
        tip = next((found for element in reversed(chain) if (found := tip_of(element, x))), "")
        if tip != self.tip:
            self.tip, self.since_s = tip, now_s
        if now_s < self.said_until_s:
            self._show(*self.said)
        else:
            is_new = is_new or self.said_until_s > 0
            self.said_until_s = 0.0
            self._show(tip if now_s - self.since_s >= DELAY_S else "", round(x), round(y))
        return is_new

    def say(self, what: str, x: float, y: float, now_s: float) -> None:
        """Show a word beside the mouse for a moment."""
        self.said, self.said_until_s = (
            (what, round(x), round(y)),
            now_s + max(SAID_FOR_S, READ_S_A_CHAR * len(what)),
        )
        self._show(*self.said)

    def rest_s(self, now_s: float) -> float:
        """Seconds after which a frame takes a word away that is shown; infinity for none."""
        return max(0.0, self.said_until_s - now_s) if self.said_until_s > 0 else float("inf")

    def is_waiting(self, now_s: float) -> bool:
        """True while a tooltip is about to appear."""
        return self.said_until_s > 0 or (bool(self.tip) and now_s - self.since_s < DELAY_S + 0.1)

    def hide(self) -> None:
        """Take the tooltip away until the mouse rests again."""
        self._show("", 0, 0)
        self.since_s = float("inf")

    def _show(self, tip: str, x: float, y: float) -> None:
        if tip == self.drawn[0]:
            return
        if not self.sheet:
            self.sheet = int(dpg.add_viewport_drawlist(front=True))
        dpg.delete_item(self.sheet, children_only=True)
        self.drawn = (tip, round(x), round(y))
        if tip:
            self._draw(tip, x, y)

    def _draw(self, tip: str, x: float, y: float) -> None:
        c, m = self.canvas, self.canvas.m
        table, size = m.table("small"), m.sizes["small"]
        lines = wrap_text(visible(tip[:2000]), lambda char: table[char] * size, m.px(WIDEST_PX))[:14]
        step = round(size * 1.3)
        pad_x, pad_y = m.px(10), m.px(7)
        w = max(m.width(line, "small") for line in lines) + 2 * pad_x
        h = step * (len(lines) - 1) + size + 2 * pad_y
        view_w, view_h = dpg.get_viewport_client_width(), dpg.get_viewport_client_height()
        left = max(4.0, min(x + m.px(12), view_w - w - 4))
        top = y + m.px(20) if y + m.px(20) + h < view_h else y - h - m.px(6)
        dpg.draw_rectangle(
            (left, top),
            (left + w, top + h),
            fill=c.color("raised"),
            color=c.color("border_strong"),
            rounding=m.px(6),
            parent=self.sheet,
        )
        for index, line in enumerate(lines):
            at = (round(left + pad_x), round(top + pad_y + index * step))
            item = dpg.draw_text(at, line, size=size, color=c.color("text"), parent=self.sheet)
            dpg.bind_item_font(item, c.fonts.drawn("small"))
