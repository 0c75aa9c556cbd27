"""A `Ui` without a window: it records each frame, holds panels to the protocol, and acts as a person would.

A person finds things by their words, so do its queries: `click("Send")`, `type("Search discussions", "x")`,
`choose("Model", "Opus")`. What a person could not do fails: click what is disabled, covered by a dialog, in a
closed menu, or not there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from panels import ui as protocol
from panels.ui import Clicks, Edited, Length, ListView, Option, Share, Surface, Tone, VirtualRows

VIEWPORT_PX = 700.0
ICONS_FILE = Path(__file__).parent.parent / "assets" / "icons.toml"
CLICKABLE = ("button", "menu", "menu_item", "tab", "checkbox", "clickable")
INPUTS = ("text_input", "editor")
Path_ = tuple[Hashable, ...]


class ProtocolError(AssertionError):
    """A panel broke a rule of `panels/ui.py`."""


@dataclass(slots=True, eq=False)
class Node:
    """One item of a frame."""

    kind: str
    path: Path_
    parent: Node | None = None
    label: str = ""
    tip: str = ""
    value: Any = None
    is_enabled: bool = True
    props: dict[str, Any] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    keys: set[Hashable] = field(default_factory=set)

    def walk(self) -> Iterator[Node]:
        """This node and everything in it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def above(self) -> Iterator[Node]:
        """The containers that it lies in, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def words(self) -> list[str]:
        """What it shows of its own."""
        shown = [self.label, self.value if isinstance(self.value, str) else ""]
        shown += [o.label for o in self.props.get("tabs", ())]
        return [word for word in shown if word]

    def texts(self) -> list[str]:
        """Everything that it and what is in it show."""
        return [word for node in self.walk() for word in node.words()]


@cache
def icon_names() -> frozenset[str]:
    """The icons that there are."""
    return frozenset(tomllib.loads(ICONS_FILE.read_text("utf-8")))


class RecordedSplit:
    """The panes of a split."""

    def __init__(self, ui: RecordingUi, node: Node, widths: Sequence[float]) -> None:
        rest = max(1.0, ui.width() - sum(widths))
        self._ui, self._widths = ui, [width or rest for width in widths]
        self.dragged: tuple[float, ...] | None = ui._take(node.path, "drag")

    @contextmanager
    def _pane(self, index: int) -> Iterator[None]:
        with self._ui._container("pane", ("pane", index), width=self._widths[index]):
            yield

    def pane(self, index: int) -> Any:
        """Draw into a pane."""
        if not 0 <= index < len(self._widths):
            raise ProtocolError(f"There is no pane {index}")
        return self._pane(index)


class RecordingUi:
    """Draws with `draw(ui)`; `frame` draws one frame, every act draws what follows it."""

    def __init__(self, draw: Callable[[protocol.Ui], None], *, width_px: float = 1600.0) -> None:
        self._draw = draw
        self.width_px = width_px
        self.root = Node("root", ())
        self._here = self.root
        self._events: dict[tuple[Path_, str], Any] = {}
        self._chords: list[str] = []
        self._open_menus: set[Path_] = set()
        self._focused: Path_ | None = None
        self._focus_asked: Path_ | None = None
        self._typed: dict[Path_, tuple[int, str]] = {}
        self._lists: dict[Path_, ListView] = {}
        self._revisions: dict[Path_, tuple[Hashable, int, dict[int, Hashable]]] = {}
        self._seen_focus: set[Path_] = set()
        self.copied: list[str] = []
        self.urls: list[str] = []
        self.frames = 0

    # --- frames

    def frame(self) -> None:
        """Draw one frame and check that what was done before it was taken."""
        self.root = self._here = Node("root", ())
        self._draw(self)
        self.frames += 1
        assert self._here is self.root, "a container was not left"
        if self._events:
            lost = next(iter(self._events))
            self._events.clear()
            raise ProtocolError(f"Nothing took the {lost[1]} on {lost[0]}")
        paths = {node.path for node in self.root.walk()}
        self._seen_focus &= paths
        self._open_menus &= paths
        if self._focused is not None and self._focused not in paths:
            self._focused = None
        if self._focus_asked is not None:
            self._focused, self._focus_asked = self._focus_asked, None

    def settle(self) -> None:
        """Draw until the panels have seen their own changes."""
        self.frame()
        self.frame()

    # --- what a person sees

    def texts(self) -> list[str]:
        """Every word in view, in drawing order."""
        return self._reach().texts()

    def shows(self, words: str) -> bool:
        """Whether the words stand somewhere in view."""
        return any(words in text for text in self._reach().texts())

    def tips(self) -> list[str]:
        """What is said on hover, of everything in view."""
        return [node.tip for node in self._reach().walk() if node.tip]

    def nodes(self, kind: str) -> list[Node]:
        """All items of a kind, in drawing order."""
        return [node for node in self._reach().walk() if node.kind == kind]

    def find(self, label: str, *, kind: str | Sequence[str] = (), within: str = "") -> Node:
        """The one item that a person would mean by `label` (its words, its hint, or its tip)."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        scope = self._scope(within, label, kinds) if within else self._reach()
        found = [n for n in scope.walk() if (not kinds or n.kind in kinds) and _is_called(n, label)]
        if not found:
            raise AssertionError(f"No {kinds or 'item'} called {label!r}; in view: {scope.texts()}")
        direct = [n for n in found if n.kind != "clickable"] or found
        assert len(direct) == 1, f"{len(direct)} items are called {label!r}: {[n.path for n in direct]}"
        return direct[0]

    def has(self, label: str, *, kind: str | Sequence[str] = (), within: str = "") -> bool:
        """Whether there is an item called `label`."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        try:
            scope = self._scope(within, label, kinds) if within else self._reach()
        except AssertionError:
            return False
        return any(_is_called(n, label) for n in scope.walk() if not kinds or n.kind in kinds)

    def is_focused_on(self, label: str) -> bool:
        """Whether the keyboard is in the input called `label`."""
        return self._focused == self.find(label, kind=INPUTS).path

    def _reach(self) -> Node:
        """What can be reached: the last dialog where one is open, else the window."""
        dialogs = [node for node in self.root.walk() if node.kind == "dialog"]
        return dialogs[-1] if dialogs else self.root

    def _scope(self, within: str, label: str, kinds: tuple[str, ...]) -> Node:
        """The smallest container around the words `within` that has something called `label`."""
        around = [n for n in self._reach().walk() if any(within in word for word in n.words())]
        assert around, f"Nothing in view says {within!r}"
        for node in around[0].above():
            if any(_is_called(n, label) for n in node.walk() if not kinds or n.kind in kinds):
                return node
        raise AssertionError(f"Nothing called {label!r} stands near {within!r}")

    # --- what a person does

    def click(self, label: str, *, within: str = "") -> None:
        """Click what is called `label`."""
        node = self.find(label, kind=CLICKABLE, within=within)
        if not node.is_enabled:
            raise AssertionError(f"{label!r} is disabled: {node.tip}")
        match node.kind:
            case "menu":
                inside = {path for path in self._open_menus if node.path[: len(path)] == path}
                is_open = node.path in self._open_menus
                self._open_menus = inside - {node.path} if is_open else inside | {node.path}
            case "checkbox":
                self._events[node.path, "toggle"] = not node.value
            case "tab":
                assert node.parent is not None
                self._events[node.parent.path, "tab"] = node.value
            case _:
                self._events[node.path, "click"] = True
                self.frame()
                self._open_menus.clear()
        self.settle()

    def right_click(self, words: str) -> None:
        """Right-click the innermost container around the words that has a menu for it."""
        node = self.find(words)
        for container in node.above():
            menus = [child for child in container.children if child.kind == "context_menu"]
            if menus:
                self._open_menus = {menus[0].path}
                self.settle()
                return
        raise AssertionError(f"Nothing opens on a right click at {words!r}")

    def type(self, label: str, text: str, *, within: str = "") -> None:
        """Put `text` into an input in place of what is there; where it submits, press Enter."""
        node = self.find(label, kind=INPUTS, within=within)
        if not node.is_enabled:
            raise AssertionError(f"{label!r} is disabled")
        self._focused = node.path
        if node.kind == "editor":
            self._typed[node.path] = (node.props["revision"], text)
            self._events[node.path, "edit"] = Edited(text)
        else:
            self._events[node.path, "text"] = text
        self.settle()

    def paste(self, label: str, text: str) -> None:
        """Paste into an editor: past its limit the text stays out of it."""
        node = self.find(label, kind="editor")
        limit = node.props["paste_limit_chars"]
        if limit and len(text) > limit:
            self._events[node.path, "edit"] = Edited(node.value, pasted=text)
            self.settle()
        else:
            self.type(label, node.value + text)

    def focus_on(self, label: str) -> None:
        """Click into an input."""
        self._focused = self.find(label, kind=INPUTS).path
        self.settle()

    def press(self, chord: str) -> None:
        """Press a chord. Fails when nothing answers it."""
        self._chords = [chord]
        focused = next((n for n in self.root.walk() if n.path == self._focused), None)
        if chord == "Enter" and focused is not None and focused.props.get("submits_on_enter"):
            self._chords.clear()
            self._events[focused.path, "edit"] = Edited(focused.value, is_submitted=True)
        self.frame()
        left, self._chords = self._chords, []
        self.frame()
        if left:
            raise AssertionError(f"Nothing answers {chord}")

    def choose(self, label: str, option: str, *, within: str = "") -> None:
        """Choose an option of a combo by its label."""
        node = self.find(label, kind="combo", within=within)
        assert node.is_enabled, f"{label!r} is disabled"
        values = [o.value for o in node.props["options"] if o.label == option]
        assert len(values) == 1, f"{option!r} among {[o.label for o in node.props['options']]}"
        self._events[node.path, "choose"] = values[0]
        self.settle()

    def drag(self, start: int, end: int) -> None:
        """Drag a row of the sortable list in view to another place."""
        (node,) = self.nodes("sortable")
        assert 0 <= start < node.value
        assert 0 <= end < node.value
        self._events[node.path, "drag"] = (start, end)
        self.settle()

    def drag_edge(self, *widths: float) -> None:
        """Drag the edges of the split in view so that its panes have these widths."""
        (node,) = self.nodes("split")
        assert len(widths) == node.value
        self._events[node.path, "drag"] = widths
        self.settle()

    def pick(self, title: str, *paths: str) -> None:
        """Choose files in a file chooser; none: close it."""
        node = self.find(title, kind="file_dialog")
        self._events[node.path, "pick"] = paths
        self.settle()

    def close_dialog(self) -> None:
        """Close the dialog in view by its cross."""
        node = self._reach()
        assert node.kind == "dialog", "no dialog is open"
        self._events[node.path, "click"] = True
        self.settle()

    def scroll(self, name: str, first: int | None = None) -> None:
        """Scroll the virtual list whose key is or starts with `name` to a row, or to its end."""
        (node,) = [n for n in self.nodes("virtual_list") if name in (n.path[-1], _first(n.path[-1]))]
        self._lists[node.path] = ListView(first or 0, is_at_end=first is None)
        self.settle()

    # --- the protocol: containers

    def _add(self, kind: str, key: Hashable, **about: Any) -> Node:
        hash(key)
        if key in self._here.keys:
            raise ProtocolError(f"The key {key!r} is used twice in {self._here.path}")
        self._here.keys.add(key)
        _check_look(about)
        named = {name: about.pop(name) for name in ("label", "tip", "value", "is_enabled") if name in about}
        node = Node(kind, (*self._here.path, key), self._here, props=about, **named)
        self._here.children.append(node)
        return node

    def _take(self, path: Path_, what: str) -> Any:
        return self._events.pop((path, what), None)

    @contextmanager
    def _inside(self, node: Node) -> Iterator[Node]:
        outer, self._here = self._here, node
        yield node
        assert self._here is node, f"containers of {node.path} are not closed in order"
        self._here = outer

    @contextmanager
    def _container(self, kind: str, key: Hashable, **about: Any) -> Iterator[None]:
        with self._inside(self._add(kind, key, **about)):
            yield

    def group(self, key: Hashable, *, gap: float = 8) -> Any:
        return self._container("group", key, gap=gap)

    def row(self, key: Hashable, *, gap: float = 8, height: Length = None) -> Any:
        return self._container("row", key, gap=gap, height=height)

    def surface(
        self,
        key: Hashable,
        kind: Surface,
        *,
        width: Length = 0,
        height: Length = None,
        padding: tuple[float, float] | None = None,
        scrolls: bool = False,
    ) -> Any:
        return self._container(
            "surface", key, surface=kind, width=width, height=height, padding=padding, scrolls=scrolls
        )

    @contextmanager
    def clickable(
        self,
        key: Hashable,
        kind: Surface,
        *,
        height: Length = None,
        tip: str = "",
        padding: tuple[float, float] | None = None,
    ) -> Iterator[Clicks]:
        node = self._add("clickable", key, surface=kind, height=height, tip=tip, padding=padding)
        with self._inside(node):
            yield Clicks(clicked=bool(self._take(node.path, "click")))

    @contextmanager
    def split(
        self, key: Hashable, widths: Sequence[float], *, min_px: float = 160
    ) -> Iterator[RecordedSplit]:
        if sum(1 for width in widths if width == 0) != 1:
            raise ProtocolError(f"One pane takes what is left, not {list(widths)}")
        node = self._add("split", key, value=len(widths), widths=tuple(widths))
        with self._inside(node):
            yield RecordedSplit(self, node, widths)

    def virtual_list(
        self, key: Hashable, rows: VirtualRows, *, follows_end: bool = False, scroll_to: int | None = None
    ) -> ListView:
        node = self._add("virtual_list", key, value=len(rows))
        was = self._lists.get(node.path, ListView(0, is_at_end=False))
        if scroll_to is not None and not -1 <= scroll_to < max(1, len(rows)):
            raise ProtocolError(f"There is no row {scroll_to} to scroll to")
        at_end = scroll_to == -1 or (scroll_to is None and follows_end and was.is_at_end)
        first = was.first if scroll_to is None else max(0, scroll_to)
        shown = self._rows_in_view(rows, min(first, max(0, len(rows) - 1)), at_end=at_end)
        with self._inside(node):
            self._draw_rows(node, rows, shown)
        end = not shown or shown[-1] == len(rows) - 1
        self._lists[node.path] = ListView(shown[0] if shown else 0, is_at_end=end)
        return self._lists[node.path]

    def _rows_in_view(self, rows: VirtualRows, first: int, *, at_end: bool) -> list[int]:
        shown: list[int] = []
        room = VIEWPORT_PX
        index, step = (len(rows) - 1, -1) if at_end else (first, 1)
        while room > 0 and 0 <= index < len(rows):
            height = rows.estimate_px(index, self.width_px)
            if not height > 0:
                raise ProtocolError(f"Row {index} has the height {height}")
            room -= height
            shown.append(index)
            index += step
        return sorted(shown)

    def _draw_rows(self, node: Node, rows: VirtualRows, shown: list[int]) -> None:
        keys = {index: rows.key(index) for index in shown}
        if len(set(keys.values())) != len(keys):
            raise ProtocolError(f"Rows of {node.path} share a key: {list(keys.values())}")
        before = self._revisions.get(node.path)
        if before is not None and before[0] == rows.revision:
            moved = [index for index in keys if index in before[2] and before[2][index] != keys[index]]
            if before[1] != len(rows) or moved:
                raise ProtocolError(f"Rows of {node.path} changed and their revision did not")
        self._revisions[node.path] = (rows.revision, len(rows), keys)
        for index in shown:
            with self._container("list_row", keys[index]):
                rows.draw(index, self)

    def sortable(self, key: Hashable, count: int, draw: Callable[[int], None]) -> tuple[int, int] | None:
        node = self._add("sortable", key, value=count)
        with self._inside(node):
            for index in range(count):
                with self._container("sortable_row", ("row", index)):
                    draw(index)
        dropped: tuple[int, int] | None = self._take(node.path, "drag")
        return dropped

    def table(
        self, key: Hashable, columns: Sequence[protocol.Column], rows: VirtualRows, *, height: Length = 0
    ) -> None:
        node = self._add("table", key, value=len(rows))
        shown = self._rows_in_view(rows, 0, at_end=False)
        with self._inside(node):
            self._draw_rows(node, rows, shown)
        for row in node.children:
            if len(row.children) != len(columns):
                raise ProtocolError(f"{len(row.children)} cells for {len(columns)} columns in {row.path}")

    def tabs(self, key: Hashable, tabs: Sequence[Option], active: str) -> str | None:
        if active not in {tab.value for tab in tabs}:
            raise ProtocolError(f"{active!r} is none of the tabs {[tab.value for tab in tabs]}")
        node = self._add("tabs", key)
        with self._inside(node):
            for tab in tabs:
                self._add("tab", tab.value, label=tab.label, value=tab.value)
        clicked: str | None = self._take(node.path, "tab")
        return clicked

    @contextmanager
    def dialog(
        self, key: Hashable, title: str, *, width: float = 520, height: Length = None
    ) -> Iterator[Clicks]:
        node = self._add("dialog", key, label=title)
        with self._inside(node):
            yield Clicks(clicked=bool(self._take(node.path, "click")))

    @contextmanager
    def menu(self, key: Hashable, label: str, *, icon: str = "", tip: str = "") -> Iterator[bool]:
        _needs_words("menu", key, label, tip)
        node = self._add("menu", key, label=label, icon=icon, tip=tip)
        yield from self._menu_body(node)

    @contextmanager
    def context_menu(self, key: Hashable) -> Iterator[bool]:
        yield from self._menu_body(self._add("context_menu", key))

    def _menu_body(self, node: Node) -> Iterator[bool]:
        is_open = node.path in self._open_menus
        with self._inside(node):
            yield is_open
        if not is_open and node.children:
            raise ProtocolError(
                f"The menu {node.path} is closed, yet {node.children[0].path} was drawn in it"
            )

    def menu_item(
        self,
        key: Hashable,
        label: str,
        *,
        icon: str = "",
        shortcut: str = "",
        is_enabled: bool = True,
        is_checked: bool = False,
        tone: Tone = "text",
    ) -> bool:
        if self._here.kind not in {"menu", "context_menu"}:
            raise ProtocolError(f"The menu item {key!r} is in {self._here.kind} {self._here.path}")
        node = self._add(
            "menu_item", key, label=label, icon=icon, tone=tone, is_enabled=is_enabled,
            is_checked=is_checked, chord=shortcut,
        )  # fmt: skip
        return bool(self._take(node.path, "click"))

    # --- the protocol: space

    def push(self) -> None:
        if self._here.kind != "row":
            raise ProtocolError(f"push() outside a row, in {self._here.path}")

    def gap(self, px: float = 8) -> None:
        if px < 0:
            raise ProtocolError(f"A gap of {px}")

    def divider(self, key: Hashable) -> None:
        self._add("divider", key)

    def width(self) -> float:
        node: Node | None = self._here
        while node is not None:
            known = node.props.get("width")
            if isinstance(known, int | float) and known > 0:
                return float(known)
            node = node.parent
        return self.width_px

    # --- the protocol: output

    def text(
        self,
        key: Hashable,
        value: str,
        *,
        tone: Tone = "text",
        style: protocol.Style = "body",
        wraps: bool = False,
        width: Length = None,
        tip: str = "",
    ) -> None:
        self._add("text", key, value=value, tone=tone, style=style, wraps=wraps, width=width, tip=tip)

    def icon(self, key: Hashable, name: str, *, tone: Tone = "muted", tip: str = "") -> None:
        self._add("icon", key, icon=name, tone=tone, tip=tip)

    def progress(
        self,
        key: Hashable,
        fraction: float,
        *,
        tone: Tone = "accent",
        width: Length = 0,
        height: float = 6,
        fill: int | None = None,
    ) -> None:
        self._add("progress", key, fraction=fraction, tone=tone, fill=fill)

    def stacked_bar(self, key: Hashable, shares: Sequence[Share], *, height: float = 10) -> None:
        if sum(share.fraction for share in shares) > 1.001 or any(s.fraction < 0 for s in shares):
            raise ProtocolError(f"Shares of {key!r} are no parts of a whole: {shares}")
        self._add("stacked_bar", key, shares=tuple(shares))

    def badge(self, key: Hashable, value: str, *, tone: Tone = "muted", tip: str = "") -> None:
        self._add("badge", key, value=value, tone=tone, tip=tip)

    def markdown(self, key: Hashable, source: str, *, is_streaming: bool = False) -> None:
        self._add("markdown", key, value=source, is_streaming=is_streaming)

    def code(
        self, key: Hashable, text: str, *, language: str = "", first_line: int = 0, height: Length = None
    ) -> None:
        self._add("code", key, value=text, language=language, first_line=first_line)

    def selectable_text(
        self, key: Hashable, value: str, *, mono: bool = False, height: Length = None
    ) -> None:
        self._add("selectable_text", key, value=value)

    def image(self, key: Hashable, path: str, *, max_height: float = 200) -> None:
        self._add("image", key, file=path)

    # --- the protocol: input

    def button(
        self,
        key: Hashable,
        label: str,
        *,
        icon: str = "",
        kind: protocol.ButtonKind = "plain",
        is_enabled: bool = True,
        tip: str = "",
        shortcut: str = "",
        width: Length = None,
        is_small: bool = False,
    ) -> bool:
        _needs_words("button", key, label, tip)
        if kind not in get_args(protocol.ButtonKind):
            raise ProtocolError(f"No kind of button: {kind!r}")
        node = self._add(
            "button", key, label=label, icon=icon, is_enabled=is_enabled, tip=tip, look=kind, chord=shortcut
        )
        is_pressed = bool(shortcut) and is_enabled and self._hears(shortcut, while_typing=False)
        return bool(self._take(node.path, "click")) or is_pressed

    def checkbox(
        self, key: Hashable, label: str, value: bool, *, is_enabled: bool = True, tip: str = ""
    ) -> bool | None:
        _needs_words("checkbox", key, label, tip)
        node = self._add("checkbox", key, label=label, value=value, is_enabled=is_enabled, tip=tip)
        toggled: bool | None = self._take(node.path, "toggle")
        return toggled

    def combo(
        self,
        key: Hashable,
        options: Sequence[Option],
        value: str,
        *,
        label: str = "",
        width: Length = 180,
        is_enabled: bool = True,
        tip: str = "",
    ) -> str | None:
        _needs_words("combo", key, label, tip)
        values = [option.value for option in options]
        if len(set(values)) != len(values):
            raise ProtocolError(f"Options of {key!r} share a value: {values}")
        if value and value not in values:
            raise ProtocolError(f"{value!r} is none of the options of {key!r}: {values}")
        shown = next((option.label for option in options if option.value == value), "")
        node = self._add(
            "combo", key, label=label, value=shown, options=tuple(options), is_enabled=is_enabled, tip=tip
        )
        chosen: str | None = self._take(node.path, "choose")
        return chosen

    def slider(
        self,
        key: Hashable,
        value: float,
        low: float,
        high: float,
        *,
        label: str = "",
        form: str = "%.2f",
        width: Length = 180,
    ) -> float | None:
        node = self._add("slider", key, label=label, amount=value)
        slid: float | None = self._take(node.path, "slide")
        return slid

    def text_input(
        self,
        key: Hashable,
        value: str,
        *,
        label: str = "",
        hint: str = "",
        icon: str = "",
        width: Length = 0,
        is_secret: bool = False,
        is_enabled: bool = True,
        is_focused: bool = False,
        submits: bool = False,
    ) -> str | None:
        _needs_words("text input", key, label or hint, "")
        node = self._add(
            "text_input", key, label=label, hint=hint, icon=icon, is_enabled=is_enabled,
            value="•" * len(value) if is_secret else value, submits=submits,
        )  # fmt: skip
        self._offer_focus(node, is_focused=is_focused)
        typed: str | None = self._take(node.path, "text")
        return typed

    def editor(
        self,
        key: Hashable,
        value: str,
        *,
        hint: str = "",
        height: float = 80,
        revision: int = 0,
        is_mono: bool = False,
        is_focused: bool = False,
        paste_limit_chars: int = 0,
        submits_on_enter: bool = False,
    ) -> Edited | None:
        _needs_words("editor", key, hint, "")
        node = self._add(
            "editor", key, hint=hint, value=value, revision=revision, height=height,
            paste_limit_chars=paste_limit_chars, submits_on_enter=submits_on_enter,
        )  # fmt: skip
        typed = self._typed.get(node.path)
        if typed is not None and typed[0] == revision:
            node.value = typed[1]
        self._offer_focus(node, is_focused=is_focused)
        edited: Edited | None = self._take(node.path, "edit")
        return edited

    def _offer_focus(self, node: Node, *, is_focused: bool) -> None:
        """`is_focused` gives the keyboard when it is first asked for, not while it stays asked."""
        if not is_focused:
            self._seen_focus.discard(node.path)
        elif node.path not in self._seen_focus:
            self._seen_focus.add(node.path)
            self._focused = node.path

    def shortcut(self, chord: str, *, while_typing: bool = False) -> bool:
        return self._hears(chord, while_typing=while_typing)

    def _hears(self, chord: str, *, while_typing: bool) -> bool:
        if chord not in self._chords:
            return False
        plain = (
            "Ctrl" not in chord and "Alt" not in chord and chord != "Escape" and not _is_function_key(chord)
        )
        if plain and self._focused is not None and not while_typing:
            return False
        self._chords.remove(chord)
        return True

    def file_dialog(
        self,
        key: Hashable,
        title: str,
        *,
        start: str = "",
        picks: Literal["files", "folder", "save"] = "files",
        name: str = "",
    ) -> tuple[str, ...] | None:
        node = self._add("file_dialog", key, label=title, start=start, picks=picks, name=name)
        picked: tuple[str, ...] | None = self._take(node.path, "pick")
        return picked

    # --- the protocol: effects

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def open_url(self, url: str) -> None:
        self.urls.append(url)

    def focus(self, key: Hashable) -> None:
        self._focus_asked = (*self._here.path, key)

    def is_focused(self, key: Hashable) -> bool:
        return self._focused == (*self._here.path, key)


def _first(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) and key else None


def _is_function_key(chord: str) -> bool:
    key = chord.rpartition("+")[2]
    return key.startswith("F") and key[1:].isdigit()


def _needs_words(what: str, key: Hashable, label: str, tip: str) -> None:
    if not label.strip() and not tip.strip():
        raise ProtocolError(f"The {what} {key!r} has neither a label nor a tip")


def _check_look(about: dict[str, Any]) -> None:
    icon = about.get("icon")
    if icon and icon not in icon_names():
        raise ProtocolError(f"There is no icon called {icon!r}")
    for name, allowed in (("tone", Tone), ("style", protocol.Style), ("surface", Surface)):
        if name in about and about[name] not in get_args(allowed):
            raise ProtocolError(f"No {name}: {about[name]!r}")


def _is_called(node: Node, label: str) -> bool:
    names = (node.label, node.tip, node.props.get("hint", ""))
    if any(name == label or name.startswith(f"{label} (") for name in names if name):
        return True
    if node.kind == "clickable":
        return any(child.value == label for child in node.walk() if child.kind == "text")
    return node.kind in {"text", "badge", "markdown"} and node.value == label
