"""Every widget as a recorded frame takes it: its node, the rules it keeps, and what the person did to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, get_args
from weakref import ref

from panels.base import widgets as w
from panels.base.ui import ListWidget, TableWidget, Ui, VirtualRows
from panels.base.widgets import ButtonKind, Clicks, Edited, ListView
from tests.recording_nodes import (
    Node,
    Path_,
    ProtocolError,
    check_look,
    is_function_key,
    legend,
    looks,
    needs_words,
)

VIEWPORT_PX = 700.0
BUTTON_KINDS = frozenset(get_args(ButtonKind))
NODE_FIELDS = ("label", "tip", "value", "is_enabled")
OWN_NAMES: dict[Any, dict[str, str]] = {
    w.SurfaceWidget: {"kind": "surface"},
    w.ClickableWidget: {"kind": "surface"},
    w.ButtonWidget: {"kind": "look"},
    w.IconWidget: {"name": "icon"},
    w.MarkdownWidget: {"source": "value"},
    w.CodeWidget: {"text": "value"},
    w.DialogWidget: {"title": "label", "width": "card_width"},
    w.FileDialogWidget: {"title": "label"},
}
"""Fields that a node has under another name."""


def kind_of(widget: type[Any]) -> str:
    """What nodes of a widget are called: `stacked_bar` of `StackedBarWidget`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", widget.__name__.removesuffix("Widget")).lower()


class Shape(NamedTuple):
    """How nodes of a widget are filled: pairs of a name on the node and the field of the widget that it has."""

    kind: str
    own: tuple[tuple[str, str], ...]
    props: tuple[tuple[str, str], ...]
    looks: tuple[tuple[str, str], ...]


@cache
def shape_of(widget: type[Any]) -> Shape:
    """The shape of a widget's nodes."""
    renamed = OWN_NAMES.get(widget, {})
    pairs = [(renamed.get(field, field), field) for field in widget.__struct_fields__ if field != "key"]
    own = tuple(pair for pair in pairs if pair[0] in NODE_FIELDS)
    return Shape(
        kind_of(widget),
        own,
        tuple(pair for pair in pairs if pair not in own),
        tuple(pair for pair in pairs if pair[0] in looks()),
    )


class Record:
    """A frame as it is drawn, and what the person did that it has yet to answer."""

    def __init__(self, width_px: float, height_px: float) -> None:
        self.ui = Ui(self, HANDLERS)
        self.width_px = width_px
        self.height_px = height_px
        self.root = self.here = Node("root", ())
        self.events: dict[tuple[Path_, str], Any] = {}
        self.chords: list[str] = []
        self.open_menus: set[Path_] = set()
        self.focused: Path_ | None = None
        self.focus_asked: Path_ | None = None
        self.typed: dict[Path_, tuple[int, str]] = {}
        self.lists: dict[Path_, ListView] = {}
        self.revisions: dict[Path_, tuple[Hashable, int, dict[int, Hashable]]] = {}
        self.seen_focus: set[Path_] = set()
        self.copied: list[str] = []
        self.dropped: tuple[str, ...] = ()
        self.files: list[str] = []
        self.selected = ""
        self.clock_s = 0.0
        self.guarded: dict[Path_, float] = {}
        self.urls: list[str] = []

    def frame(self, draw: Callable[[Ui], None]) -> None:
        """Draw one frame and check that what was done before it was taken."""
        self.root = self.here = Node("root", ())
        draw(self.ui)
        assert self.here is self.root, "a container was not left"
        if self.events:
            lost = next(iter(self.events))
            self.events.clear()
            raise ProtocolError(f"Nothing took the {lost[1]} on {lost[0]}")
        self._forget_the_gone()

    def _forget_the_gone(self) -> None:
        """Keep nothing about what is not drawn any more."""
        about = self.seen_focus or self.guarded or self.open_menus or self.focused is not None
        paths = {node.path for node in self.root.walk()} if about else set()
        self.seen_focus &= paths
        self.guarded = {path: since for path, since in self.guarded.items() if path in paths}
        self.open_menus &= paths
        if self.focused is not None and self.focused not in paths:
            self.focused = None
        if self.focus_asked is not None:
            self.focused, self.focus_asked = self.focus_asked, None

    def add(self, widget: w.KeyedWidget[Any], **other: Any) -> Node:
        """A node with the fields of a widget; `other` stands for some of them."""
        shape = shape_of(type(widget))
        for name, field in shape.looks:
            check_look(name, getattr(widget, field))
        node = self._placed(shape.kind, widget.key)
        for name, field in shape.own:
            setattr(node, name, getattr(widget, field))
        for name in NODE_FIELDS:
            if name in other:
                setattr(node, name, other.pop(name))
        node.read_props = lambda: {name: getattr(widget, field) for name, field in shape.props} | other
        return node

    def node(self, kind: str, key: Hashable, **about: Any) -> Node:
        """A node in the container that is drawn."""
        node = self._placed(kind, key)
        for name, value in about.items():
            if name in NODE_FIELDS:
                setattr(node, name, value)
            else:
                node.props[name] = value
        return node

    def _placed(self, kind: str, key: Hashable) -> Node:
        here = self.here
        if key in here.keys:
            raise ProtocolError(f"The key {key!r} is used twice in {here.path}")
        here.keys.add(key)
        node = Node(kind, (*here.path, key), ref(here))
        here.children.append(node)
        return node

    def take(self, node: Node, what: str) -> Any:
        """What the person did to it, once."""
        return self.events.pop((node.path, what), None)

    @contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """Draw into a node."""
        outer, self.here = self.here, node
        yield
        assert self.here is node, f"containers of {node.path} are not closed in order"
        self.here = outer

    def hears(self, chord: str, *, while_typing: bool = False) -> bool:
        """Whether a chord was pressed that nobody took."""
        if chord not in self.chords:
            return False
        plain = (
            "Ctrl" not in chord and "Alt" not in chord and chord != "Escape" and not is_function_key(chord)
        )
        if plain and self.focused is not None and not while_typing:
            return False
        self.chords.remove(chord)
        return True

    def offer_focus(self, node: Node, *, is_focused: bool) -> None:
        """`is_focused` gives the keyboard when it is first asked for, not while it stays asked."""
        if not is_focused:
            self.seen_focus.discard(node.path)
        elif node.path not in self.seen_focus:
            self.seen_focus.add(node.path)
            self.focused = node.path


class RecordedSplit:
    """The panes of a split."""

    def __init__(self, record: Record, node: Node, widths: Sequence[float]) -> None:
        rest = max(1.0, record.ui.width() - sum(widths))
        self._record, self._widths = record, [width or rest for width in widths]
        self.dragged: tuple[float, ...] | None = record.take(node, "drag")

    @contextmanager
    def _pane(self, index: int) -> Iterator[None]:
        with self._record.inside(self._record.node("pane", ("pane", index), width=self._widths[index])):
            yield

    def pane(self, index: int) -> Any:
        """Draw into a pane."""
        if not 0 <= index < len(self._widths):
            raise ProtocolError(f"There is no pane {index}")
        return self._pane(index)


def _shown(record: Record, it: w.KeyedWidget[None]) -> None:
    record.add(it)


def _markdown(record: Record, it: w.MarkdownWidget) -> str:
    followed: str | None = record.take(record.add(it), "follow")
    return followed or ""


def _container(record: Record, it: w.KeyedWidget[w.Container]) -> w.Container:
    return record.inside(record.add(it))


@contextmanager
def _clicked(record: Record, it: w.ClickableWidget | w.DialogWidget) -> Iterator[Clicks]:
    node = record.add(it)
    with record.inside(node):
        yield Clicks(clicked=bool(record.take(node, "click")))


@contextmanager
def _split(record: Record, it: w.SplitWidget) -> Iterator[RecordedSplit]:
    if sum(1 for width in it.widths if width == 0) != 1:
        raise ProtocolError(f"One pane takes what is left, not {list(it.widths)}")
    node = record.add(it, value=len(it.widths))
    with record.inside(node):
        yield RecordedSplit(record, node, it.widths)


def _virtual_list(record: Record, it: ListWidget) -> ListView:
    rows = it.rows
    node = record.node("virtual_list", it.key, value=len(rows))
    was = record.lists.get(node.path, ListView(0, is_at_end=False))
    if it.scroll_to is not None and not -1 <= it.scroll_to < max(1, len(rows)):
        raise ProtocolError(f"There is no row {it.scroll_to} to scroll to")
    at_end = it.scroll_to == -1 or (it.scroll_to is None and it.follows_end and was.is_at_end)
    first = was.first if it.scroll_to is None else max(0, it.scroll_to)
    shown = _rows_in_view(record, rows, min(first, max(0, len(rows) - 1)), at_end=at_end)
    _draw_rows(record, node, rows, shown)
    end = not shown or shown[-1] == len(rows) - 1
    below = range(shown[-1] + 1, len(rows)) if shown else ()
    left = sum(rows.estimate_px(index, record.width_px) for index in below)
    record.lists[node.path] = ListView(shown[0] if shown else 0, is_at_end=end, left_px=left)
    return record.lists[node.path]


def _rows_in_view(record: Record, rows: VirtualRows, first: int, *, at_end: bool) -> list[int]:
    shown: list[int] = []
    room = VIEWPORT_PX
    index, step = (len(rows) - 1, -1) if at_end else (first, 1)
    while room > 0 and 0 <= index < len(rows):
        height = rows.estimate_px(index, record.width_px)
        if not height > 0:
            raise ProtocolError(f"Row {index} has the height {height}")
        room -= height
        shown.append(index)
        index += step
    return sorted(shown)


def _draw_rows(record: Record, node: Node, rows: VirtualRows, shown: list[int]) -> None:
    keys = {index: rows.key(index) for index in shown}
    if len(set(keys.values())) != len(keys):
        raise ProtocolError(f"Rows of {node.path} share a key: {list(keys.values())}")
    before = record.revisions.get(node.path)
    if before is not None and before[0] == rows.revision:
        moved = [index for index in keys if index in before[2] and before[2][index] != keys[index]]
        if before[1] != len(rows) or moved:
            raise ProtocolError(f"Rows of {node.path} changed and their revision did not")
    record.revisions[node.path] = (rows.revision, len(rows), keys)
    with record.inside(node):
        for index in shown:
            with record.inside(record.node("list_row", keys[index])):
                rows.draw(index, record.ui)


def _sortable(record: Record, it: w.SortableWidget) -> tuple[int, int] | None:
    node = record.add(it, value=it.count)
    with record.inside(node):
        for index in range(it.count):
            with record.inside(record.node("sortable_row", ("row", index))):
                it.draw(index)
    dropped: tuple[int, int] | None = record.take(node, "drag")
    return dropped


def _table(record: Record, it: TableWidget) -> None:
    node = record.add(it, value=len(it.rows))
    _draw_rows(record, node, it.rows, _rows_in_view(record, it.rows, 0, at_end=False))
    for row in node.children:
        if len(row.children) != len(it.columns):
            raise ProtocolError(f"{len(row.children)} cells for {len(it.columns)} columns in {row.path}")


def _tabs(record: Record, it: w.TabsWidget) -> str | None:
    if it.active not in {tab.value for tab in it.tabs}:
        raise ProtocolError(f"{it.active!r} is none of the tabs {[tab.value for tab in it.tabs]}")
    node = record.node("tabs", it.key)
    with record.inside(node):
        for tab in it.tabs:
            record.node("tab", tab.value, label=tab.label, value=tab.value)
    clicked: str | None = record.take(node, "tab")
    return clicked


@contextmanager
def _menu(record: Record, it: w.MenuWidget | w.ContextMenuWidget) -> Iterator[bool]:
    if isinstance(it, w.MenuWidget):
        needs_words("menu", it.key, it.label, it.tip)
    node = record.add(it)
    is_open = node.path in record.open_menus
    with record.inside(node):
        yield is_open
    if not is_open and node.children:
        raise ProtocolError(f"The menu {node.path} is closed, yet {node.children[0].path} was drawn in it")


def _menu_item(record: Record, it: w.MenuItemWidget) -> bool:
    if record.here.kind not in {"menu", "context_menu"}:
        raise ProtocolError(f"The menu item {it.key!r} is in {record.here.kind} {record.here.path}")
    return bool(record.take(record.add(it), "click"))


def _push(record: Record, _: w.PushWidget) -> None:
    if record.here.kind != "row":
        raise ProtocolError(f"push() outside a row, in {record.here.path}")


def _gap(_: Record, it: w.GapWidget) -> None:
    if it.px < 0:
        raise ProtocolError(f"A gap of {it.px}")


def _height(record: Record, _: w.HeightQuery) -> float:
    return record.height_px


def _width(record: Record, _: w.WidthQuery) -> float:
    node: Node | None = record.here
    while node is not None:
        known = node.props.get("width")
        if isinstance(known, int | float) and known > 0:
            return float(known)
        node = node.parent
    return record.width_px


def _stacked_bar(record: Record, it: w.StackedBarWidget) -> None:
    if sum(share.fraction for share in it.shares) > 1.001 or any(s.fraction < 0 for s in it.shares):
        raise ProtocolError(f"Shares of {it.key!r} are no parts of a whole: {it.shares}")
    record.add(it, shares=tuple(it.shares))


def _plot(record: Record, it: w.PlotWidget) -> None:
    record.add(it, value=legend(it.series), series=tuple(it.series))


def _image(record: Record, it: w.ImageWidget) -> None:
    record.node("image", it.key, file=it.path, name=it.name)


def _button(record: Record, it: w.ButtonWidget) -> bool:
    needs_words("button", it.key, it.label, it.tip)
    if it.kind not in BUTTON_KINDS:
        raise ProtocolError(f"No kind of button: {it.kind!r}")
    if it.guard_s and it.shortcut:
        raise ProtocolError(f"The button {it.key!r} is guarded, and {it.shortcut} would press it")
    if it.icon.startswith("trash") and any(
        str(one.props.get("icon", "")).startswith("trash")
        for one in record.here.children
        if one.kind == "button"
    ):
        raise ProtocolError(f"The button {it.key!r} is the second wastebasket in {record.here.path}")
    node = record.add(it)
    if it.guard_s:
        since_s = record.guarded.setdefault(node.path, record.clock_s)
        node.is_enabled = it.is_enabled and record.clock_s - since_s >= it.guard_s
    is_pressed = bool(it.shortcut) and it.is_heard and it.is_enabled and record.hears(it.shortcut)
    return bool(record.take(node, "click")) or is_pressed


def _checkbox(record: Record, it: w.CheckboxWidget) -> bool | None:
    needs_words("checkbox", it.key, it.label, it.tip)
    toggled: bool | None = record.take(record.add(it), "toggle")
    return toggled


def _combo(record: Record, it: w.ComboWidget) -> str | None:
    needs_words("combo", it.key, it.label, it.tip)
    values = [option.value for option in it.options]
    if len(set(values)) != len(values):
        raise ProtocolError(f"Options of {it.key!r} share a value: {values}")
    if it.value and it.value not in values:
        raise ProtocolError(f"{it.value!r} is none of the options of {it.key!r}: {values}")
    shown = next((option.label for option in it.options if option.value == it.value), "")
    node = record.add(it, value=shown, options=tuple(it.options))
    chosen: str | None = record.take(node, "choose")
    return chosen


def _slider(record: Record, it: w.SliderWidget) -> float | None:
    slid: float | None = record.take(record.add(it), "slide")
    return slid


def _text_input(record: Record, it: w.TextInputWidget) -> str | None:
    needs_words("text input", it.key, it.label or it.hint, it.tip)
    node = record.add(it, value="•" * len(it.value) if it.is_secret else it.value)
    record.offer_focus(node, is_focused=it.is_focused)
    typed: str | None = record.take(node, "text")
    return typed


def _editor(record: Record, it: w.EditorWidget) -> Edited | None:
    needs_words("editor", it.key, it.hint, "")
    node = record.add(it)
    typed = record.typed.get(node.path)
    if typed is not None and typed[0] == it.revision:
        node.value = typed[1]
    record.offer_focus(node, is_focused=it.is_focused)
    edited: Edited | None = record.take(node, "edit")
    return edited


def _shortcut(record: Record, it: w.ShortcutQuery) -> bool:
    return record.hears(it.chord, while_typing=it.while_typing)


def _file_dialog(record: Record, it: w.FileDialogWidget) -> tuple[str, ...] | None:
    picked: tuple[str, ...] | None = record.take(record.add(it), "pick")
    return picked


def _copy(record: Record, it: w.CopyWish) -> None:
    record.copied.append(it.text)


def _selected_text(record: Record, it: w.SelectionQuery) -> str:
    return record.selected


def _open_url(record: Record, it: w.UrlWish) -> None:
    record.urls.append(it.url)


def _open_file(record: Record, it: w.FileWish) -> None:
    assert it.path.endswith(tuple(w.OPENED)), f"No desktop opens that: {it.path}"
    record.files.append(it.path)


def _focus(record: Record, it: w.FocusWish) -> None:
    record.focus_asked = (*record.here.path, it.key)


def _is_focused(record: Record, it: w.FocusQuery) -> bool:
    path, focused = (*record.here.path, it.key), record.focused
    return focused == path or (it.is_within and focused is not None and focused[: len(path)] == path)


def _is_typing_elsewhere(record: Record, it: w.TypingQuery) -> bool:
    homes = (node.path for node in record.root.walk() if node.kind == "editor" and node.props["is_home"])
    return record.focused is not None and record.focused not in homes


def _pressed_chord(record: Record, _: w.ChordQuery) -> str:
    is_command = bool(record.chords) and "+" in record.chords[0]
    return record.chords.pop(0) if is_command else ""


def _dropped_files(record: Record, it: w.DropQuery) -> tuple[str, ...]:
    dropped, record.dropped = record.dropped, ()
    return dropped


HANDLERS = w.table(
    w.GroupWidget.handled_by(_container),
    w.RowWidget.handled_by(_container),
    w.SurfaceWidget.handled_by(_container),
    w.ClickableWidget.handled_by(_clicked),
    w.SplitWidget.handled_by(_split),
    ListWidget.handled_by(_virtual_list),
    w.SortableWidget.handled_by(_sortable),
    TableWidget.handled_by(_table),
    w.TabsWidget.handled_by(_tabs),
    w.DialogWidget.handled_by(_clicked),
    w.FloatWidget.handled_by(_container),
    w.MenuWidget.handled_by(_menu),
    w.MenuItemWidget.handled_by(_menu_item),
    w.ContextMenuWidget.handled_by(_menu),
    w.PushWidget.handled_by(_push),
    w.GapWidget.handled_by(_gap),
    w.DividerWidget.handled_by(_shown),
    w.WidthQuery.handled_by(_width),
    w.HeightQuery.handled_by(_height),
    w.TextWidget.handled_by(_shown),
    w.IconWidget.handled_by(_shown),
    w.ProgressWidget.handled_by(_shown),
    w.StackedBarWidget.handled_by(_stacked_bar),
    w.PlotWidget.handled_by(_plot),
    w.BadgeWidget.handled_by(_shown),
    w.MarkdownWidget.handled_by(_markdown),
    w.CodeWidget.handled_by(_shown),
    w.SelectableTextWidget.handled_by(_shown),
    w.ImageWidget.handled_by(_image),
    w.ButtonWidget.handled_by(_button),
    w.CheckboxWidget.handled_by(_checkbox),
    w.ComboWidget.handled_by(_combo),
    w.SliderWidget.handled_by(_slider),
    w.TextInputWidget.handled_by(_text_input),
    w.EditorWidget.handled_by(_editor),
    w.ShortcutQuery.handled_by(_shortcut),
    w.ChordQuery.handled_by(_pressed_chord),
    w.FileDialogWidget.handled_by(_file_dialog),
    w.SelectionQuery.handled_by(_selected_text),
    w.CopyWish.handled_by(_copy),
    w.UrlWish.handled_by(_open_url),
    w.FileWish.handled_by(_open_file),
    w.FocusWish.handled_by(_focus),
    w.FocusQuery.handled_by(_is_focused),
    w.TypingQuery.handled_by(_is_typing_elsewhere),
    w.DropQuery.handled_by(_dropped_files),
)
