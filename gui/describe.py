"""The tree that panels describe: elements by path, kept from frame to frame."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Generic, TypeVar

from core.base.child_process import open_address
from gui.canvas import Canvas
from gui.chooser import Chooser
from gui.clipboard import Clipboard
from gui.elements.base import Element
from gui.elements.editor import Editor
from gui.elements.fields import Field
from gui.elements.floats import FloatLayer
from gui.elements.popups import MenuButton
from gui.elements.surfaces import Dim, Root, Surface, SurfaceLayer
from gui.keyboard import Keyboard
from gui.keys import PRESSES, Keys
from gui.metrics import Measure
from gui.prose_selection import ProseSelection
from gui.text_buffer import TextBuffer
from gui.text_selection import TextSelection
from panels.base.ui import Ui
from panels.base.widgets import Handlers

E = TypeVar("E", bound=Element)
V = TypeVar("V")
L = TypeVar("L", bound=Root)


class Scope(AbstractContextManager[V], Generic[V]):
    """`with` on a container: what is described inside becomes its content."""

    __slots__ = ("_elements", "_tree", "_value")

    def __init__(self, tree: Tree, value: V, *elements: Element) -> None:
        self._tree = tree
        self._value = value
        self._elements = elements

    def __enter__(self) -> V:
        for element in self._elements:
            self._tree.enter(element)
        return self._value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in self._elements:
            self._tree.leave()


class Tree:
    """The retained tree and the place in it where the next call draws.

    Args:
        canvas: where dropped elements leave the screen.
        keys: the keyboard.
        handlers: what turns each widget into elements.
    """

    def __init__(self, canvas: Canvas, keys: Keys, handlers: Handlers) -> None:
        self.canvas = canvas
        self.keys = keys
        self.keyboard = Keyboard(keys)
        self.selection = TextSelection()
        self.left_texts: dict[tuple[Hashable, ...], tuple[TextBuffer, float]] = {}
        self.home: Editor | None = None
        self.had_home = False
        self.has_field_keyboard = False
        self.ui = Ui(self, handlers)
        self.root: Root = Root("root", None)
        self.root.props = (0,)
        self.top = Element("layers", None)
        self.turn = 0
        self._stack: list[Element] = []
        self.at: Element = self.root
        self.assumed: list[tuple[Element, float, float]] = []
        self.cover: Element | None = None
        self.focus_wish: tuple[Element, Hashable] | None = None
        self.tab_from: tuple[Element, int] | None = None
        self.pages: dict[tuple[Hashable, ...], int] = {}
        self.asked_address: tuple[tuple[Hashable, ...], str] | None = None
        self.choosers: dict[tuple[Hashable, ...], Chooser] = {}
        self.open_address: Callable[[str], object] = open_address
        self.opened: Element | None = None
        self.prose = ProseSelection(self, self.selection)
        self.said = ""
        self.clipboard = Clipboard(self.say)
        self.effects: list[Callable[[], object]] = []

    def say(self, words: str) -> None:
        """Tell the person something beside the mouse, with the next frame."""
        self.said = words
        self.root.touch()

    @property
    def m(self) -> Measure:
        """Text widths and the UI scale."""
        return self.canvas.m

    def take(self, cls: type[E], key: Hashable) -> E:
        """The element of that key in the current container, made when it was not there."""
        at = self.at
        kid = at.kids.get(key)
        if type(kid) is cls:
            if kid.seen == self.turn:
                return self.take(cls, (key, "again", len(at.order)))
        else:
            if kid is not None:
                kid.drop(self.canvas)
            kid = at.kids[key] = cls(key, at)
        kid.seen = self.turn
        at.order.append(kid)
        return kid

    def enter(self, element: Element) -> None:
        """Enter `element`: what is described from now on is inside it."""
        self._stack.append(self.at)
        self.at = element
        element.was, element.order = element.order, []

    def leave(self) -> None:
        """Close the current container: what was not described again goes."""
        at = self.at
        self.at = self._stack.pop()
        if at.order != at.was:
            self._retire(at)

    def _retire(self, at: Element) -> None:
        at.invalidate()
        if len(at.kids) > len(at.order):
            for key in [key for key, kid in at.kids.items() if kid.seen != self.turn]:
                at.kids.pop(key).drop(self.canvas)
        for kid in at.order:
            if kid.pane is not None:
                self.canvas.created(kid.pane)
                break

    def layer(self, cls: type[L], owner: Element) -> L:
        """The layer above the window that belongs to an element."""
        here = self.at
        self.at = self.top
        layer = self.take(cls, owner.path())
        self.at = here
        if not layer.props:
            layer.props = (0,)
        return layer

    def layers_below(self, element: Element) -> frozenset[Hashable]:
        """Keys of those inside an element that opened a layer above the window: only their description keeps it there."""
        if not self.top.was:
            return frozenset()
        path = element.path()
        known = (one.key for one in self.top.was if isinstance(one.key, tuple))
        return frozenset(key[len(path)] for key in known if len(key) > len(path) and key[: len(path)] == path)

    def begin(self) -> None:
        """Start a frame's description."""
        self.turn += 1
        self.assumed.clear()
        self._stack.clear()
        self.at = self.root
        self.top.was, self.top.order = self.top.order, []
        self.root.was, self.root.order = self.root.order, []
        self.cover = self.uppermost(self.top.was)

    def end(self) -> None:
        """Finish a frame's description."""
        self._retire_if_changed(self.root)
        self._retire_if_changed(self.top)

    def _retire_if_changed(self, element: Element) -> None:
        if element.order != element.was:
            self._retire(element)

    def arrange(self, width: float, height: float) -> bool:
        """Lay out everything. Whether the description relied on sizes that turned out to be others."""
        for element in (self.root, *self.top.order):
            element.layout(self.m, width, height)
        cards = [card for layer in self.top.order if isinstance(layer, SurfaceLayer) for card in layer.order]
        for layer in self.top.order:
            if isinstance(layer, FloatLayer):
                layer.give_way(cards)
        return any(abs(e.w - w) > 0.5 or abs(e.h - h) > 0.5 for e, w, h in self.assumed)

    def uppermost(self, layers: list[Element]) -> Element | None:
        """The last of some layers that covers the window."""
        return next((layer for layer in reversed(layers) if not isinstance(layer, FloatLayer)), None)

    def now_uppermost(self) -> Element | None:
        """The layer that covers the window now; None: nothing does."""
        return self.uppermost(self.top.order)

    def front(self, x: float, y: float) -> Element:
        """Layer or window in front at a point of the viewport."""
        for layer in reversed(self.top.order):
            if not isinstance(layer, FloatLayer) or (layer.holds(x, y) and not layer.is_of_page):
                return layer
        low = (layer for layer in self.top.order if isinstance(layer, FloatLayer) and layer.holds(x, y))
        return next(low, self.root)

    def is_touched(self) -> bool:
        """True if what was described differs from what is on the screen."""
        layers = self.top.order != self.top.was or self.focus_wish is not None or self.opened is not None
        return layers or any(element.touched for element in (self.root, *self.top.order))

    def paint(self) -> None:
        """Bring everything to the screen."""
        for element in (self.root, *self.top.order):
            assert isinstance(element, Root)
            element.paint_all(self.canvas)
        self.canvas.settle_order()

    def note_press(self, chain: list[Element]) -> None:
        """The left button went down on these elements: the keyboard goes home, or away where there is none, or stays.

        A press anywhere leads home, unless it is in the card of the editor that has the keyboard: what is typed next
        is meant for something. What opens a menu changes nothing: the menu hears keys while it is there, and then who
        had them before.
        """
        if (
            self.now_uppermost() is not None
            or not chain
            or isinstance(chain[-1], Field | Editor | MenuButton)
        ):
            return
        if self.home is None or not self.home.stop_item():
            self.keyboard.leave()
        elif not self._is_beside_owner(chain):
            self.home.enter()

    def _is_beside_owner(self, chain: list[Element]) -> bool:
        """True if these elements are inside what lies around the editor that has the keyboard (a message's card)."""
        owner = self.keyboard.owner
        node: Element | None = owner if isinstance(owner, Editor) else None
        while node is not None and not isinstance(node, Surface):
            node = node.parent
        return node is not None and node in chain

    def gets_keyboard_back(self) -> bool:
        """True if an editor has the keyboard again when the uppermost layer goes."""
        return self.keyboard.owner is not None or (self.had_home and not self.keyboard.is_away)

    def is_in_dialog(self) -> bool:
        """True if the current place is in a dialog."""
        node: Element | None = self.at
        while node is not None and not isinstance(node, Dim):
            node = node.parent
        return node is not None

    def is_reachable(self) -> bool:
        """True if the current place may take the keyboard: a layer above it would keep it."""
        cover = self.cover
        if cover is None:
            return True
        node: Element | None = self.at
        while node is not None:
            if node is cover:
                return True
            node = node.parent
        return False

    def hears(self, chord: str, *, while_typing: bool = False) -> bool:
        """True if a chord was pressed and the current place may take it: what answers a dialog, once that has stood."""
        if not (self.keys.has_news and self.is_reachable()):
            return False
        is_meant = chord.rpartition("+")[2] not in PRESSES or self.at.is_meant()
        return is_meant and self.keys.take(chord, while_typing=while_typing)

    def rebuild(self) -> None:
        """Take everything off the screen, to be painted anew (other colours, another scale)."""
        for element in (self.root, *self.top.order):
            element.drop(self.canvas)
            for node in _everything(element):
                node.stale = node.touched = True
                node.nat = node.fill = node.box = None


def _everything(element: Element) -> list[Element]:
    found = [element]
    for kid in element.kids.values():
        found.extend(_everything(kid))
    return found
