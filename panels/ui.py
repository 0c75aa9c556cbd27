"""The immediate-mode surface that panels draw on: the `Ui` protocol and its small values.

A panel describes its whole frame by calling these methods in order. Every call names a `key` that is unique
inside its container; the path of keys identifies the item from frame to frame. Methods that draw a control
return what the person did since the last frame (a click, a new value) or None / False. Lengths are design
pixels: the binding multiplies by the UI scale. `gui.binding` draws it with Dear PyGui; `tests.recording_ui`
records it for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from core.values.commands import Command

Send = Callable[[Command], None]
"""How a panel asks for a change. Returns at once; the effect shows in a later snapshot."""

Tone = Literal["text", "muted", "faint", "accent", "ok", "warn", "error", "purple", "cyan", "on_accent"]
Style = Literal[
    "body", "strong", "small", "small_strong", "h1", "h2", "h3", "mono", "mono_small", "icon_large"
]
Surface = Literal["base", "pane", "card", "card_selected", "code", "clear", "inset"]
ButtonKind = Literal["plain", "primary", "ghost", "danger", "rail", "rail_active", "link"]
Length = float | None
"""Design pixels; None: as large as the content; 0: fill what is left; negative: fill but leave that much."""


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a combo or menu. `detail` is shown muted beside the label.

    `icon` stands for a tab's label where a strip of tabs is too narrow for all labels. Options that follow each other with the same `group` stand under that heading in a combo.
    """

    value: str
    label: str
    detail: str = ""
    group: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """A piece of a stacked bar. `fraction` of the whole, 0 to 1; `tip` shown on hover.

    `fill` 0 to 11 is a colour of the theme's `layer.fills` and wins over the tone.
    """

    fraction: float
    tone: Tone
    tip: str = ""
    fill: int | None = None


SeriesKind = Literal["line", "area", "bars"]
Unit = Literal["", "%", "$"]


@dataclass(frozen=True, slots=True)
class Series:
    """One curve of a plot.

    Args:
        xs: ascending; ys: one for each x, None where nothing is known (a gap, never 0).
        unit: how values read. Each unit has its own axis: the first at the left, a second at the right; `%` spans
            0 to 100.
    """

    label: str
    xs: tuple[float, ...]
    ys: tuple[float | None, ...]
    kind: SeriesKind = "line"
    tone: Tone = "accent"
    unit: Unit = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: `weight` shares what is left, `width` fixes it (design px)."""

    label: str
    weight: float = 1.0
    width: float = 0.0
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """What the person did in a text editor: the text now, and whether they pasted more than the limit.

    `is_submitted`: Enter was pressed in an editor with `submits_on_enter`.
    """

    text: str
    pasted: str = ""
    is_submitted: bool = False


@dataclass(frozen=True, slots=True)
class ListView:
    """Where a virtual list stands, as of the last frame: its first row in view, and whether its end is in view."""

    first: int = 0
    is_at_end: bool = True


class VirtualRows(Protocol):
    """Rows of a virtual list. Only rows in view are drawn; heights are measured once and kept by key.

    `revision` equal to the last frame's means that rows and keys are the same: the list then does O(visible)
    work. Rows in view are drawn every frame all the same and measured again when their height differs (a
    reply that streams grows under the same key and revision).
    """

    @property
    def revision(self) -> Hashable: ...

    def __len__(self) -> int: ...

    def key(self, index: int) -> Hashable:
        """Identity of a row's content: another key means measure it again."""
        ...

    def estimate_px(self, index: int, width: float) -> float:
        """A cheap guess of the height before the row was ever drawn."""
        ...

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one row."""
        ...


class Split(Protocol):
    """Panes side by side with draggable edges."""

    def pane(self, index: int) -> AbstractContextManager[None]:
        """Draw into pane `index`, 0-based from the left."""
        ...

    @property
    def dragged(self) -> tuple[float, ...] | None:
        """The new widths in design px when the person dragged an edge since the last frame."""
        ...


class Ui(Protocol):
    """What a panel may draw. See the module's docstring."""

    # containers
    def group(self, key: Hashable, *, gap: float = 8) -> AbstractContextManager[None]:
        """A vertical run of items."""
        ...

    def row(self, key: Hashable, *, gap: float = 8, height: Length = None) -> AbstractContextManager[None]:
        """A horizontal run of items, vertically centred. `push` inside it right-aligns what follows."""
        ...

    def surface(
        self,
        key: Hashable,
        kind: Surface,
        *,
        width: Length = 0,
        height: Length = None,
        padding: tuple[float, float] | None = None,
        scrolls: bool = False,
    ) -> AbstractContextManager[None]:
        """A filled area, with border and rounding by kind. `height=None` fits the content."""
        ...

    def clickable(
        self,
        key: Hashable,
        kind: Surface,
        *,
        height: Length = None,
        tip: str = "",
        padding: tuple[float, float] | None = None,
    ) -> AbstractContextManager[Clicks]:
        """A surface that can be clicked as a whole (a card of a list). `padding` as in `surface`."""
        ...

    def split(
        self, key: Hashable, widths: Sequence[float], *, min_px: float = 160
    ) -> AbstractContextManager[Split]:
        """Resizable panes; a width of 0 takes what is left."""
        ...

    def virtual_list(
        self, key: Hashable, rows: VirtualRows, *, follows_end: bool = False, scroll_to: int | None = None
    ) -> ListView:
        """A scrolling list that fills what is left. `follows_end` sticks to the end while the person is there.

        `scroll_to` is passed in one frame only: the row to bring into view, -1 for the very end.
        """
        ...

    def sortable(self, key: Hashable, count: int, draw: Callable[[int], None]) -> tuple[int, int] | None:
        """Rows that can be dragged by their handle. Returns (from, to) when one was dropped elsewhere."""
        ...

    def table(
        self,
        key: Hashable,
        columns: Sequence[Column],
        rows: VirtualRows,
        *,
        height: Length = 0,
    ) -> None:
        """A table with a header; `rows.draw` draws one call of `ui.text` or control for each column."""
        ...

    def tabs(self, key: Hashable, tabs: Sequence[Option], active: str) -> str | None:
        """A tab strip. Returns the value of the tab that was clicked."""
        ...

    def dialog(
        self, key: Hashable, title: str, *, width: float = 520, height: Length = None
    ) -> AbstractContextManager[Clicks]:
        """A modal dialog, shown while it is drawn. `clicked` of the result: the person closed it (Escape, x)."""
        ...

    def menu(
        self, key: Hashable, label: str, *, icon: str = "", tip: str = ""
    ) -> AbstractContextManager[bool]:
        """A button that opens a menu; inside a menu, a submenu. Draw its items only when the result is True."""
        ...

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
        """An item of a menu."""
        ...

    def context_menu(self, key: Hashable) -> AbstractContextManager[bool]:
        """A menu that opens at the pointer when the current container is right-clicked.

        Draw its items only when the result is True.
        """
        ...

    # space
    def push(self) -> None:
        """In a row: take the free width, so that what follows stands at the right edge."""
        ...

    def gap(self, px: float = 8) -> None:
        """Empty space along the container's direction."""
        ...

    def divider(self, key: Hashable) -> None:
        """A hairline."""
        ...

    def width(self) -> float:
        """Width of the current container's content in design px, as of the last frame."""
        ...

    # output
    def text(
        self,
        key: Hashable,
        value: str,
        *,
        tone: Tone = "text",
        style: Style = "body",
        wraps: bool = False,
        width: Length = None,
        tip: str = "",
    ) -> None:
        """A line of text; with `wraps` a paragraph, with `width` cut with an ellipsis to fit."""
        ...

    def icon(self, key: Hashable, name: str, *, tone: Tone = "muted", tip: str = "") -> None:
        """An icon by its Font Awesome name (`assets/icons.toml`)."""
        ...

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
        """A bar; fraction is clamped to 0..1. `fill` as in `Share`."""
        ...

    def stacked_bar(self, key: Hashable, shares: Sequence[Share], *, height: float = 10) -> None:
        """Shares of a whole side by side, full width."""
        ...

    def plot(
        self,
        key: Hashable,
        series: Sequence[Series],
        *,
        height: float = 200,
        x_label: str = "",
        y_label: str = "",
    ) -> None:
        """Curves over a common x, full width, of at most two units. Hover shows the values of the nearest x.

        Bars stand behind lines. Long series are thinned out to what the pixels can show.
        """
        ...

    def badge(self, key: Hashable, value: str, *, tone: Tone = "muted", tip: str = "") -> None:
        """A small rounded label."""
        ...

    def markdown(self, key: Hashable, source: str, *, is_streaming: bool = False) -> None:
        """Markdown with highlighted code and copy buttons, as wide as the container; nothing is fetched."""
        ...

    def code(
        self, key: Hashable, text: str, *, language: str = "", first_line: int = 0, height: Length = None
    ) -> None:
        """Highlighted code; with `first_line` > 0 numbered. Long texts are virtual."""
        ...

    def selectable_text(
        self, key: Hashable, value: str, *, mono: bool = False, height: Length = None
    ) -> None:
        """Read-only text that can be selected with the mouse and copied.

        Args:
            height: None for that of its lines up to a bound, from which it scrolls; infinite for all of them, in an
                area that scrolls itself.
        """
        ...

    def image(self, key: Hashable, path: str, *, max_height: float = 200) -> None:
        """A picture from a local file; a broken one shows its name and the reason."""
        ...

    # input
    def button(
        self,
        key: Hashable,
        label: str,
        *,
        icon: str = "",
        kind: ButtonKind = "plain",
        is_enabled: bool = True,
        tip: str = "",
        shortcut: str = "",
        width: Length = None,
        is_small: bool = False,
    ) -> bool:
        """Whether it was clicked, or its shortcut (`Ctrl+N`) pressed. A label-less button needs a `tip`."""
        ...

    def checkbox(
        self, key: Hashable, label: str, value: bool, *, is_enabled: bool = True, tip: str = ""
    ) -> bool | None:
        """The new value when it was toggled."""
        ...

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
        """The value chosen. Past a dozen options it has a filter box."""
        ...

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
        """The new value."""
        ...

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
        """A line of input. The text after each change, or with `submits` only on Enter or when it loses focus."""
        ...

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
        """Many lines of input. What the person types wins over `value` until `revision` changes.

        With `paste_limit_chars` > 0 a longer paste does not enter the text but comes back in `pasted`. With
        `submits_on_enter` Enter submits and keeps the keyboard, Ctrl+Enter makes a new line.
        """
        ...

    def shortcut(self, chord: str, *, while_typing: bool = False) -> bool:
        """Whether a chord (`Ctrl+Shift+P`, `Escape`, `Up`) was pressed since the last frame, once a press.

        The first to ask gets it. Chords with Ctrl or Alt, function keys and Escape count always; other keys
        count in a text field only with `while_typing`. The same holds for the shortcut of a button.
        """
        ...

    def file_dialog(
        self,
        key: Hashable,
        title: str,
        *,
        start: str = "",
        picks: Literal["files", "folder", "save"] = "files",
        name: str = "",
    ) -> tuple[str, ...] | None:
        """A file chooser, shown while it is drawn. () when it was closed, paths when chosen, else None."""
        ...

    # effects on the desktop, each only after a person's click
    def copy(self, text: str) -> None:
        """Put text on the clipboard."""
        ...

    def open_url(self, url: str) -> None:
        """Open an http(s) address in the person's browser."""
        ...

    def focus(self, key: Hashable) -> None:
        """Give the keyboard to the item with that key in the current container, next frame."""
        ...

    def is_focused(self, key: Hashable) -> bool:
        """Whether the item with that key in the current container has the keyboard, as of the last frame."""
        ...


@dataclass(slots=True)
class Clicks:
    """What happened to a container since the last frame. `is_hovered` lets a card show its actions."""

    clicked: bool = False
    right_clicked: bool = False
    is_hovered: bool = False
