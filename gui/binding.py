"""`DpgUi`: the widgets of panels on Dear PyGui. Describes, lays out, compares, changes; the order of the Tab key."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import dearpygui.dearpygui as dpg

from gui import ui_files, ui_input, ui_lists, ui_output
from gui.canvas import CLEAR, Canvas, Pane
from gui.clipboard import ToolkitClipboard
from gui.describe import Tree
from gui.drawings import Drawings
from gui.elements.base import Element
from gui.elements.controls import Button, Field, Slider
from gui.elements.editor import Editor
from gui.elements.lists import ListHand
from gui.elements.popups import PopupItem
from gui.elements.surfaces import Surface
from gui.elements.text import Stroke
from gui.keys import GATE, Keys
from gui.metrics import ASSETS, Measure, Palette, Theme
from panels.base.ui import Ui
from panels.base.widgets import CHOSEN, Handlers

# The order of the Tab key where it is not the toolkit's: from an editor on, over controls, with a frame
# around each.

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


# `DpgUi`: the widgets of panels on Dear PyGui. Describes, lays out, compares, and changes only what
# differs.

MOST_PASSES = 4


HANDLERS: Handlers = {
    **ui_output.BOX_HANDLERS,
    **ui_output.OUTPUT_HANDLERS,
    **ui_input.HANDLERS,
    **ui_lists.POPUP_HANDLERS,
    **ui_lists.HANDLERS,
    **ui_output.PROSE_HANDLERS,
    **ui_files.HANDLERS,
}


class DpgUi:
    """Draws what panels describe. One for the one Dear PyGui context of the process.

    Args:
        theme: the design tokens; palette_name: `dark` or `light`; scale: UI scale, 0.5 to 3.
    """

    def __init__(self, theme: Theme, palette_name: str = "dark", scale: float = 1.0) -> None:
        measure = Measure(theme.fonts, ASSETS / "fonts", scale)
        self.canvas = Canvas(theme, theme.palettes[palette_name], measure)
        self.keys = Keys()
        self.drawings = Drawings(lambda: self.canvas.palette.name == "dark")
        self.canvas.drawings, measure.drawn = self.drawings, self.drawings.size_of
        self.tree = Tree(self.canvas, self.keys, HANDLERS)
        self.toolkit_clipboard = ToolkitClipboard(self._text_for_field, self.tree.clipboard.copy)
        self.size = (0, 0)
        self._quiet: list[Element] = []
        self._is_field_active = False
        self._home: Editor | None = None
        self._walk = TabWalk(self.canvas)
        self._looks: tuple[Palette, float] | None = None
        self.has_painted = True
        self.rest_s = float("inf")
        self.has_blinked = False

    def close(self) -> None:
        """End the processes that work for the window."""
        self.tree.clipboard.close()
        self.drawings.close()

    @property
    def is_settling(self) -> bool:
        """True while the toolkit hands the keyboard over, which takes frames."""
        is_moving = self.is_keyboard_on_its_way or self.tree.keyboard.is_lent
        return is_moving or bool(self._quiet) or self.canvas.is_focusing or GATE.is_answering

    @property
    def is_keyboard_on_its_way(self) -> bool:
        """True while an editor waits for the keyboard: the toolkit gives it after frames were rendered."""
        return self.tree.keyboard.is_on_its_way

    @property
    def has_typed(self) -> bool:
        """True when the last frame read characters: they are drawn by the next one, at once."""
        return self.tree.keyboard.has_heard

    def _text_for_field(self) -> str:
        """Text that the toolkit pastes into a field; an editor asks for itself, and the item that hears for it takes none."""
        return self.tree.clipboard.text_at_once() if self.tree.has_field_keyboard else ""

    # looks
    def set_looks(self, palette_name: str, scale: float) -> bool:
        """Take a theme and a UI scale; whether that is a change. All items are rebuilt after the description."""
        palette = self.canvas.theme.palettes.get(palette_name, self.canvas.palette)
        scale = min(3.0, max(0.5, scale))
        if palette is self.canvas.palette and scale == self.tree.m.scale:
            return False
        self._looks = (palette, scale)
        return True

    def _restyle(self) -> bool:
        if self._looks is None:
            return False
        (palette, scale), self._looks = self._looks, None
        self.tree.rebuild()
        self.tree.m.set_scale(scale)
        self.canvas.restyle(palette)
        self.tree.keyboard.go_below()
        return True

    # frames
    def poll(self) -> None:
        """Look at the toolkit's state: who has the keyboard, how far things are scrolled, what is dragged."""
        field: Field | None = None
        for button in self._quiet:
            button.quiet_frames = max(0, button.quiet_frames - 1)
        self._quiet = [button for button in self._quiet if button.quiet_frames]
        self.canvas.tick_focus()
        self.tree.clipboard.poll()
        self.rest_s, self.has_blinked = float("inf"), False
        for element in list(self._polled()):
            element.poll(self.canvas)
            self.rest_s = min(self.rest_s, element.rest_s())
            if isinstance(element, Editor) and element.has_blinked:
                element.has_blinked, self.has_blinked = False, True
            if isinstance(element, Field) and element.is_active:
                field = element
        self.keys.is_typing = field is not None
        lost = self.tree.keyboard.lost_on_its_way()
        if isinstance(lost, Field | Editor) and lost is not field:
            lost.wants_focus = True
        was_field_active, self._is_field_active = self._is_field_active, self.keys.is_typing
        self.tree.has_field_keyboard = (
            was_field_active or self._is_field_active
        )  # a chord may make it leave the field
        if self.tree.has_field_keyboard:
            self.keys.leave_to_field()
        if self._is_field_active and not was_field_active and self.tree.selection.owner is self.tree.prose:
            self.tree.selection.clear()  # Ctrl+C is the field's from now on
        keyboard = self.tree.keyboard
        if field is not None:
            keyboard.field_has_it(field)
        if keyboard.owner is not None or self._is_field_active:
            self._walk.leave()
        self._walk.poll()
        keyboard.poll()
        self.keys.is_typing = self.keys.is_typing or keyboard.is_listening

    def _press_stop(self) -> None:
        """Space and Enter press the control that the Tab key led to: the toolkit does so for some of them only."""
        at = self._walk.at
        if (
            at is not None
            and at.is_meant()
            and any(self.keys.take(key, while_typing=True) for key in ("Space", "Enter"))
        ):
            at.press()
            self._quiet.append(at)

    def _polled(self) -> list[Element]:
        found: list[Element] = []
        stack: list[Element] = [self.tree.root, *self.tree.top.order]
        while stack:
            node = stack.pop()
            if node.polls:
                found.append(node)
            stack.extend(node.order)
        return found

    def frame(self, describe: Callable[[Ui], None], width: int, height: int) -> int:
        """Describe, lay out and paint a frame; again while the description relied on old sizes.

        Returns the number of descriptions it took: 1, or 2 where something was resized. `has_painted` then says
        whether there is something new to see.
        """
        self.size = (width, height)
        self._press_stop()
        self._copy_selection()
        passes = 0
        while passes < MOST_PASSES:
            passes += 1
            self.tree.begin()
            self.tree.had_home, self.tree.home = self.tree.home is not None, None
            describe(self.tree.ui)
            self.tree.end()
            if self._restyle():
                continue
            if not self.tree.arrange(width, height):
                break
        self.tree.prose.mark()
        self.has_painted = self.tree.is_touched() or bool(self.tree.effects)
        self.tree.paint()
        self._grant_focus()
        self.has_painted = self._walk.draw() or self.has_painted
        self.keys.end_frame()
        for effect in self.tree.effects:
            effect()
        self.tree.effects.clear()
        return passes

    def _copy_selection(self) -> None:
        """Ctrl+C copies what is selected of the texts. A field that has the keyboard has a selection of its own:
        the window has one, so then there is none here.
        """
        prose = self.tree.prose
        if prose.span() is not None and self.keys.has_news and self.keys.take("Ctrl+C", while_typing=True):
            self.tree.ui.copy(prose.text())

    def _grant_focus(self) -> None:
        card, self.tree.opened = self.tree.opened, None
        if card is not None:
            items = [kid for kid in card.walk() if isinstance(kid, PopupItem | Field | Button)]
            chosen = next((kid for kid in items if kid.key == CHOSEN), items[0] if items else None)
            if isinstance(chosen, PopupItem) or (chosen is not None and chosen.key == CHOSEN):
                self._focus_button(chosen)
        target = self._next_stop()
        if self.tree.focus_wish is not None:
            target = _find(*self.tree.focus_wish)
            self.tree.focus_wish = None
        if isinstance(target, Field | Editor):
            target.wants_focus = True
            if isinstance(target, Field):
                self.tree.keyboard.lend(target)
        elif target is not None:
            self.tree.keyboard.leave()
            self._focus_button(target)
        if target is not None:
            self._walk.enter(target)
        self._go_home()

    def _next_stop(self) -> Element | None:
        """Control to which the Tab key leads from an editor, or from where it led before."""
        tab, self.tree.tab_from = self.tree.tab_from, None
        if self._walk.at is not None and tab is None:
            at, is_back = self._walk.at, self.keys.take("Shift+Tab", while_typing=True)
            if is_back or self.keys.take("Tab", while_typing=True):
                tab = (at, -1 if is_back else 1)
        layer = self.tree.now_uppermost() or self.tree.root
        return stop_beside(layer, *tab) if tab is not None else None

    def _go_home(self) -> None:
        """Give the keyboard to the editor that is its home, when nothing else has it or nothing has it any more."""
        keyboard, home = self.tree.keyboard, self.tree.home
        owner = keyboard.owner
        if isinstance(owner, Editor | ListHand) and owner.spot is None:
            keyboard.release(owner)
        is_new, self._home = home is not self._home, home
        if home is None or self._is_field_active or keyboard.is_lent:
            return
        if keyboard.owner is None and (is_new or not keyboard.is_away) and home.is_hearing():
            home.enter()

    def _focus_button(self, button: Element) -> None:
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
