"""The tree that panels describe: elements by path, kept from frame to frame."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

import msgspec

from core.kernel.figures import size
from core.kernel.language import tr
from core.kernel.surroundings import current_folder
from gui.canvas import Canvas
from gui.clipboard import Clipboard
from gui.elements.base import Element, TextSelection
from gui.elements.controls import Field
from gui.elements.editor import Editor
from gui.elements.popups import FloatLayer, MenuButton
from gui.elements.surfaces import Dim, Root, Surface, SurfaceLayer
from gui.keyboard import Keyboard
from gui.keys import PRESSES, FileDrops, Keys
from gui.metrics import Measure
from gui.prose_selection import ProseSelection
from gui.text_buffer import TextBuffer
from panels.base.ui import Ui
from panels.base.widgets import Handlers

# State of the file chooser: the folder, what is in it, what is picked. Pure but for listing a folder.

MOST_ENTRIES = 20_000
DOUBLE_S = 0.5
"""Two presses of an entry within so many seconds open it."""
AHEAD_S = 1.0
"""Letters within so many seconds are the beginning of one name."""


class Entry(msgspec.Struct, frozen=True):
    """A file or folder of the shown folder."""

    name: str
    is_folder: bool
    size_bytes: int = 0

    @property
    def detail(self) -> str:
        """Its size in words."""
        return "" if self.is_folder else size(self.size_bytes)


class Chooser(msgspec.Struct):
    """State of one open chooser."""

    folder: Path
    picks: str
    name: str = ""
    wanted: str = ""
    shows_hidden: bool = False
    picked: list[str] = msgspec.field(default_factory=list)
    entries: list[Entry] = msgspec.field(default_factory=list)
    problem: str = ""
    revision: int = 0
    wants_filter: bool = False
    replaces: str = ""
    pressed: tuple[str, float] = ("", float("-inf"))
    ahead: tuple[str, float] = ("", float("-inf"))
    came_from: str = ""

    def open(self, folder: Path) -> None:
        """Show a folder; when it cannot be listed, stay and say why."""
        try:
            entries = list_folder(folder)
        except OSError as error:
            self.problem = f"{folder}: {(error.strerror or str(error)).lower()}"
            return
        self.folder, self.entries, self.problem, self.wanted = folder, entries, "", ""
        self.replaces = self.came_from = ""
        self.picked = []
        self.revision += 1

    def filter(self, typed: str) -> None:
        """The person typed in the filter: a part of a name, or a path, whose folders are opened as it is typed."""
        head, is_path, _ = typed.rpartition("/")
        folder = Path(os.path.expanduser(head or "/")) if is_path and typed[0] in "/~" else self.folder
        if folder != self.folder and folder.is_dir():
            self.open(folder)
        self.wanted = typed

    def shown(self) -> list[Entry]:
        """The entries that fit the filter and the kind that is picked."""
        is_path = self.wanted[:1] in ("/", "~")
        wanted = (
            "" if self.wanted == "~" else self.wanted.rpartition("/")[2] if is_path else self.wanted
        ).casefold()
        shows_hidden = self.shows_hidden or (is_path and wanted.startswith("."))
        return [
            entry
            for entry in self.entries
            if (entry.name.casefold().startswith(wanted) if is_path else wanted in entry.name.casefold())
            and (shows_hidden or not entry.name.startswith("."))
            and (entry.is_folder or self.picks != "folder")
        ]

    def press(
        self, entry: Entry, at_s: float, *, made_s: float = float("inf"), is_adding: bool = False
    ) -> tuple[str, ...]:
        """The person pressed an entry: it is selected; the second press in time opens it.

        Args:
            at_s: when it was read, on any clock; made_s: when it can have been made at the earliest, on the same clock:
                slow frames read presses late. is_adding: Ctrl is down, which adds a file or takes it out again.

        Returns:
            The choice, where a file was opened by it.
        """
        name, was_at_s = self.pressed
        self.pressed = (entry.name, at_s)
        self.revision += 1
        self.problem = self.replaces = ""
        if is_adding and self.picks == "files" and not entry.is_folder:
            files = [name for name in self.picked if not self._is_folder(name)]
            self.picked = (
                [n for n in files if n != entry.name] if entry.name in files else [*files, entry.name]
            )
            return ()
        self._select(entry)
        if entry.name != name or min(at_s, made_s) - was_at_s > DOUBLE_S:
            return ()
        self.pressed = ("", float("-inf"))
        return self.accept() if not entry.is_folder else self._enter(entry.name)

    def _select(self, entry: Entry) -> None:
        self.picked = [entry.name]
        self.revision += 1
        self.problem = self.replaces = ""
        if self.picks == "save" and not entry.is_folder:
            self.name = entry.name

    @property
    def row(self) -> int:
        """The row of the shown entries from which keys walk on: selected last, or left for here; -1 for none."""
        last = self.picked[-1] if self.picked else self.came_from
        return next((row for row, entry in enumerate(self.shown()) if entry.name == last), -1)

    def step(self, rows: int) -> None:
        """Select the entry so many rows on, or back where it is negative, at most the last or the first."""
        shown = self.shown()
        if shown:
            row = self.row
            start = row if row >= 0 else -1 if rows > 0 else 0
            self._select(shown[min(max(start + rows, 0), len(shown) - 1)])

    def find(self, typed: str, at_s: float) -> None:
        """Select the next entry whose name begins with what was typed within `AHEAD_S`.

        Args:
            typed: characters since the last call; at_s: when, on any clock.
        """
        before, was_at_s = self.ahead
        begun = (before if at_s - was_at_s <= AHEAD_S else "") + typed.casefold()
        self.ahead = (begun, at_s)
        shown, row = self.shown(), self.row
        first = row + (len(begun) == len(typed))  # a new name begins behind the selected one
        order = [*shown[max(0, first) :], *shown[: max(0, first)]]
        entry = next((one for one in order if one.name.casefold().startswith(begun)), None)
        if entry is not None:
            self._select(entry)

    def go_up(self) -> None:
        """Show the folder around this one; keys walk on from it."""
        name = self.folder.name
        self.open(self.folder.parent)
        self.came_from = name

    def open_selected(self) -> None:
        """Show the folder that is selected."""
        if self.selected_folder:
            self._enter(self.selected_folder)

    def rename(self, name: str) -> None:
        """The person typed the name to save under: it is meant, and no entry of the list."""
        self.name, self.problem, self.picked = name, "", []
        self.revision += 1

    def _is_folder(self, name: str) -> bool:
        return any(entry.is_folder for entry in self.entries if entry.name == name)

    def _enter(self, name: str) -> tuple[str, ...]:
        self.open(self.folder / name)
        self.wants_filter = True
        return ()

    @property
    def selected_folder(self) -> str:
        """The folder of the list that is selected, where it is one alone."""
        return self.picked[0] if len(self.picked) == 1 and self._is_folder(self.picked[0]) else ""

    @property
    def opens_folder(self) -> bool:
        """True if taking the choice opens a folder first."""
        return self.picks != "folder" and bool(self.selected_folder)

    def accept(self) -> tuple[str, ...]:
        """The person took the choice, by Enter or the button: a selected folder is opened, else it comes back.

        A file that would be replaced is asked for once. A path in the place of a name is followed first.
        """
        if self.opens_folder:
            return self._enter(self.selected_folder)
        if self.has_typed_path:
            self.go(self.name)
            if self.problem or self.has_typed_path:
                return ()
        name = self.name.strip()
        if self.picks == "save" and not self.is_replacing and any(one.name == name for one in self.entries):
            self.replaces, self.problem = name, tr("{name!r} already exists. Replace it?", name=name)
            return ()
        return self.result()

    @property
    def has_typed_path(self) -> bool:
        """True if a path stands where the name to save under is meant to be."""
        return self.picks == "save" and "/" in self.name

    @property
    def is_replacing(self) -> bool:
        """True if the person was asked whether the file of that name may go."""
        return bool(self.replaces) and self.replaces == self.name.strip()

    def enter(self) -> tuple[str, ...]:
        """The person pressed Enter: with nothing selected, the first entry that fits the filter is meant."""
        shown = self.shown()
        if not self.picked and self.wanted and shown and self.picks != "save":
            self.picked = [shown[0].name]
            self.revision += 1
            if self.picks == "folder":
                return self._enter(shown[0].name)
        return self.accept()

    def go(self, typed: str) -> tuple[str, ...]:
        """The person typed a path: a folder is opened; a file is the choice and comes back."""
        path = Path(os.path.expanduser(typed.strip() or "."))
        path = path if path.is_absolute() else self.folder / path
        self.problem = ""
        if path.is_dir():
            self.open(Path(os.path.normpath(path)))
            self.name = "" if self.has_typed_path else self.name
        elif self.picks == "files" and path.is_file():
            return (str(path),)
        elif self.picks == "save" and path.parent.is_dir():
            self.open(Path(os.path.normpath(path.parent)))
            self.name = path.name
        else:
            self.problem = (
                tr("There is no folder {path}", path=path)
                if self.picks == "folder"
                else tr("There is no file or folder {path}", path=path)
            )
        return ()

    def result(self) -> tuple[str, ...]:
        """The present choice, empty if there is none yet."""
        match self.picks:
            case "folder":
                return (str(self.folder / self.selected_folder),)
            case "save":
                name = self.name.strip()
                return (str(self.folder / name),) if name and "/" not in name else ()
            case _:
                return tuple(str(self.folder / name) for name in self.picked if not self._is_folder(name))


def list_folder(folder: Path) -> list[Entry]:
    """Folders first, then files, by name without case.

    Raises:
        OSError: the folder cannot be read.
    """
    found: list[Entry] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) >= MOST_ENTRIES:
                break
            found.append(_entry(entry))
    return sorted(found, key=lambda entry: (not entry.is_folder, entry.name.casefold()))


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        is_folder = entry.is_dir()
        return Entry(
            name=entry.name, is_folder=is_folder, size_bytes=0 if is_folder else entry.stat().st_size
        )
    except OSError:
        return Entry(name=entry.name, is_folder=False)


def first_folder(start: str) -> tuple[Path, str]:
    """The folder to begin in, and a file's name when `start` names one."""
    path = Path(os.path.expanduser(start)) if start else Path(current_folder() or Path.home())
    if path.is_dir():
        return path.absolute(), ""
    if path.parent.is_dir():
        return path.parent.absolute(), path.name
    return Path.home(), ""


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


def _open_address(address: str) -> object:
    """Open a web address in the browser. What starts a process is loaded by the first one."""
    from core.kernel.child_process import open_address

    return open_address(address)


class Tree:
    """The retained tree and the place in it where the next call draws.

    Args:
        canvas: where dropped elements leave the screen.
        keys: the keyboard.
        handlers: what turns each widget into elements.

    `still_s`: time of the last frame that read no move and no click of the mouse, on the loop's clock.
    """

    def __init__(self, canvas: Canvas, keys: Keys, handlers: Handlers) -> None:
        self.canvas = canvas
        self.keys = keys
        self.keyboard = Keyboard(keys)
        self.drops: FileDrops | None = None
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
        self.open_address: Callable[[str], object] = _open_address
        self.opened: Element | None = None
        self.still_s = float("inf")
        self.prose = ProseSelection(layers=self, window=self.selection)
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
        """Close the current container, and remove its elements that were not described again."""
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
        """The layer that covers the window now, None if there is none."""
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
        is_meant = chord.rpartition("+")[2] not in PRESSES or self.at.is_key_meant()
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
