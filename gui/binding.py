"""`DpgUi`: the `Ui` of panels on Dear PyGui. Describes, lays out, compares, and changes only what differs."""

from __future__ import annotations

from collections.abc import Callable

from gui.canvas import Canvas
from gui.elements.base import Element
from gui.elements.controls import Button
from gui.elements.fields import Field
from gui.elements.popups import Item
from gui.keys import Keys
from gui.metrics import Measure
from gui.theme import ASSETS, Palette, Theme
from gui.ui_files import Files
from panels.ui import Ui

MOST_PASSES = 4


class DpgUi(Files):
    """Draws what panels describe. One for the one Dear PyGui context of the process.

    Args:
        theme: the design tokens; palette_name: `dark` or `light`; scale: UI scale, 0.5 to 3.
    """

    def __init__(self, theme: Theme, palette_name: str = "dark", scale: float = 1.0) -> None:
        measure = Measure(theme.fonts, ASSETS / "fonts", scale)
        super().__init__(Canvas(theme, theme.palettes[palette_name], measure), Keys())
        self.size = (0, 0)
        self._quiet: list[Button] = []
        self._looks: tuple[Palette, float] | None = None

    # looks
    def set_looks(self, palette_name: str, scale: float) -> bool:
        """Take a theme and a UI scale; whether that is a change. All items are rebuilt after the description."""
        palette = self.canvas.theme.palettes.get(palette_name, self.canvas.palette)
        scale = min(3.0, max(0.5, scale))
        if palette is self.canvas.palette and scale == self.m.scale:
            return False
        self._looks = (palette, scale)
        return True

    def _restyle(self) -> bool:
        if self._looks is None:
            return False
        (palette, scale), self._looks = self._looks, None
        self.rebuild()
        self.m.set_scale(scale)
        self.canvas.restyle(palette)
        return True

    # frames
    def poll(self) -> None:
        """Look at the toolkit's state: who has the keyboard, how far things are scrolled, what is dragged."""
        self.keys.is_typing = False
        for button in self._quiet:
            button.quiet_frames = max(0, button.quiet_frames - 1)
        self._quiet = [button for button in self._quiet if button.quiet_frames]
        self.canvas.tick_focus()
        for element in list(self._polled()):
            element.poll(self.canvas)
            if isinstance(element, Field) and element.is_active:
                self.keys.is_typing = True

    def _polled(self) -> list[Element]:
        found: list[Element] = []
        stack: list[Element] = [self.root, *self.top.order]
        while stack:
            node = stack.pop()
            if node.polls:
                found.append(node)
            stack.extend(node.order)
        return found

    def frame(self, describe: Callable[[Ui], None], width: int, height: int) -> int:
        """Describe, lay out and paint a frame; again while the description relied on old sizes.

        Returns the number of descriptions it took: 1, or 2 where something was resized.
        """
        self.size = (width, height)
        passes = 0
        while passes < MOST_PASSES:
            passes += 1
            self.begin()
            describe(self)
            self.end()
            if self._restyle():
                continue
            if not self.arrange(width, height):
                break
        self.paint()
        self._grant_focus()
        self.keys.end_frame()
        for effect in self.effects:
            effect()
        self.effects.clear()
        return passes

    def _grant_focus(self) -> None:
        card, self.opened = self.opened, None
        if card is not None:
            items = [kid for kid in card.walk() if isinstance(kid, Item | Field)]
            if items and isinstance(items[0], Item):
                self._focus_button(items[0])
        if self.focus_wish is None:
            return
        holder, key = self.focus_wish
        target = _find(holder, key)
        if isinstance(target, Field):
            target.wants_focus = True
        elif isinstance(target, Button):
            self._focus_button(target)
        self.focus_wish = None

    def _focus_button(self, button: Button) -> None:
        button.take_focus(self.canvas)
        self._quiet.append(button)


def _find(holder: Element, key: object) -> Element | None:
    """The kid with that key, also inside the frame of its label."""
    for kid in holder.order:
        if kid.key == key:
            return kid
        if kid.key == ("labelled", key):
            return _find(kid, key)
    return None
