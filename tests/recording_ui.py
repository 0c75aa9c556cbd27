"""A `Ui` without a window: it records each frame, holds panels to the protocol, and acts as a person would.

A person finds things by their words, so do its queries (`tests.recording_person`): `click("Send")`,
`type("Search discussions", "x")`, `choose("Model", "Opus")`. What a person could not do fails: click what is
disabled, covered by a dialog, in a closed menu, or not there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

from panels import ui as protocol
from panels.ui import Clicks, Edited, Length, ListView, Option, Series, Share, Surface, Tone, VirtualRows
from tests.recording_nodes import Node, Path_, ProtocolError, check_look, is_function_key, legend, needs_words
from tests.recording_person import Person

VIEWPORT_PX = 700.0


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


class RecordingUi(Person):
    """Draws with `draw(ui)`; `frame` draws one frame, every act draws what follows it."""

    def as_ui(self) -> protocol.Ui:
        return self

    # --- the protocol: containers

    def _add(self, kind: str, key: Hashable, **about: Any) -> Node:
        hash(key)
        if key in self._here.keys:
            raise ProtocolError(f"The key {key!r} is used twice in {self._here.path}")
        self._here.keys.add(key)
        check_look(about)
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
        needs_words("menu", key, label, tip)
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

    def plot(
        self,
        key: Hashable,
        series: Sequence[Series],
        *,
        height: float = 200,
        x_label: str = "",
        y_label: str = "",
    ) -> None:
        self._add("plot", key, value=legend(series), series=tuple(series), x_label=x_label, y_label=y_label)

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
        needs_words("button", key, label, tip)
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
        needs_words("checkbox", key, label, tip)
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
        needs_words("combo", key, label, tip)
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
        needs_words("text input", key, label or hint, "")
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
        needs_words("editor", key, hint, "")
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
            "Ctrl" not in chord and "Alt" not in chord and chord != "Escape" and not is_function_key(chord)
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
