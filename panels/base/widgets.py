"""Every widget that a panel can draw, declared once: its arguments, its defaults and its answer.

A widget is a value. The method of `panels.base.ui.Ui` that asks for it, and the handlers that draw it
(`gui.binding`) or record it (`tests.recording_ui`), follow from its declaration. Controls answer what the person
did since the last frame (a click, a new value) or None / False.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

import msgspec

# Parts of widgets and their answers: tones, lengths, options, series, what the person did.

Tone = Literal["text", "muted", "faint", "accent", "ok", "warn", "error", "purple", "cyan", "on_accent"]
Style = Literal[
    "body", "strong", "small", "small_strong", "h1", "h2", "h3", "mono", "mono_small", "icon_large"
]
Surface = Literal["base", "pane", "card", "card_selected", "row_selected", "code", "clear", "inset", "popup"]
ButtonKind = Literal["plain", "primary", "ghost", "danger", "rail", "rail_active", "link"]
SeriesKind = Literal["line", "area", "bars"]
Unit = Literal["", "%", "$"]
Length = float | None
"""Design pixels; None: as large as the content; 0: fill what is left; negative: fill but leave that much."""
CHOSEN = "chosen answer"
"""Key of the button that has the keyboard when a dialog opens, so that Enter presses it."""
OPENED = frozenset({".md", ".toml", ".txt", ".yaml", ".draft"})
"""Endings of the files that the program keeps for a person: a desktop edits them, and runs none."""


class Option(msgspec.Struct, frozen=True):
    """A choice of a combo or menu. `detail` is shown muted beside the label.

    `icon` stands for a tab's label where a strip of tabs is too narrow for all labels; a tab is given room for `widest`, so
    that a count in its label moves no other tab and turns none into its icon. Options that follow each other with the same
    `group` stand under that heading in a combo.
    """

    value: str
    label: str
    detail: str = ""
    group: str = ""
    icon: str = ""
    widest: str = ""


class Share(msgspec.Struct, frozen=True):
    """A piece of a stacked bar. `fraction` of the whole, 0 to 1; `tip` shown on hover.

    `fill` 0 to 11 is a colour of the theme's `layer.fills` and wins over the tone.
    """

    fraction: float
    tone: Tone
    tip: str = ""
    fill: int | None = None


class Series(msgspec.Struct, frozen=True):
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


class Column(msgspec.Struct, frozen=True):
    """A column of a table: `weight` shares what is left, `width` fixes it (design px)."""

    label: str
    weight: float = 1.0
    width: float = 0.0
    is_number: bool = False


class Edited(msgspec.Struct, frozen=True):
    """Edit by the person in a text editor: the text now, what they pasted that is more than the limit, or a picture (PNG).

    `is_submitted`: Enter was pressed in an editor with `submits_on_enter`. `is_unpasted`: the person undid the newest
    paste that did not go into the text. `caret`: where it stands in the text, -1 for its end.
    """

    text: str
    pasted: str = ""
    picture: bytes = b""
    is_submitted: bool = False
    is_unpasted: bool = False
    caret: int = -1


class ListView(msgspec.Struct, frozen=True):
    """Place of a virtual list, as of the last frame: its first row in view, whether its end is in view, and how many
    design pixels there are from the foot of the view to that end.
    """

    first: int = 0
    is_at_end: bool = True
    left_px: float = 0.0


class Clicks(msgspec.Struct):
    """Clicks on a container since the last frame. `is_hovered` lets a card show its actions."""

    clicked: bool = False
    right_clicked: bool = False
    is_hovered: bool = False


class Split(Protocol):
    """Panes side by side with draggable edges."""

    def pane(self, index: int) -> AbstractContextManager[None]:
        """Draw into pane `index`, 0-based from the left."""
        ...

    @property
    def dragged(self) -> tuple[float, ...] | None:
        """The new widths in design px when the person dragged an edge since the last frame."""
        ...


R = TypeVar("R")
T = TypeVar("T")
Container = AbstractContextManager[None]
Padding = tuple[float, float] | None


class WidgetMeta(msgspec.StructMeta):
    """Drops the mark `_: KW_ONLY`, for which msgspec has no twin: mypy reads it and holds callers to it."""

    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any], **options: Any) -> WidgetMeta:
        """Make the class."""
        space.get("__annotations__", {}).pop("_", None)
        return super().__new__(mcs, name, bases, space, **options)


class Widget(msgspec.Struct, Generic[R], frozen=True, metaclass=WidgetMeta):
    """Widget that a panel asks for; `R` is the answer."""

    @classmethod
    def handled_by(cls, handler: Callable[[T, Self], R]) -> tuple[Kind, Handler]:
        """A row of a table of handlers. mypy checks that the handler takes this widget and answers `R`."""
        return cls, handler


Kind = Callable[..., Widget[Any]]
Handler = Callable[[Any, Any], Any]
"""Takes what it draws on, and the widget."""
Handlers = Mapping[Kind, Handler]


def table(*rows: tuple[Kind, Handler]) -> Handlers:
    """The handlers of `Widget.handled_by`, by widget."""
    return dict(rows)


class KeyedWidget(Widget[R], frozen=True):
    """Widget with a place of its own in the frame."""

    key: Hashable


# containers
class GroupWidget(KeyedWidget[Container], frozen=True):
    """A vertical run of items."""

    _: KW_ONLY
    gap: float = 8


class RowWidget(KeyedWidget[Container], frozen=True):
    """A horizontal run of items, vertically centred. `push` inside it right-aligns what follows."""

    _: KW_ONLY
    gap: float = 8
    height: Length = None


class SurfaceWidget(KeyedWidget[Container], frozen=True):
    """A filled area, with border and rounding by kind. `height=None` fits the content, which has `least_height` at least.
    What `scrolls` then has `most_height` at most.

    What fills and scrolls in one that scrolls itself stands there whole: two bars side by side are one too many.
    """

    kind: Surface
    _: KW_ONLY
    width: Length = 0
    height: Length = None
    padding: Padding = None
    scrolls: bool = False
    least_height: float = 0
    most_height: Length = None


class ClickableWidget(KeyedWidget[AbstractContextManager[Clicks]], frozen=True):
    """A surface that can be clicked as a whole (a card of a list). `padding` as in `surface`."""

    kind: Surface
    _: KW_ONLY
    height: Length = None
    tip: str = ""
    padding: Padding = None


class SplitWidget(KeyedWidget[AbstractContextManager[Split]], frozen=True):
    """Resizable panes; a width of 0 takes what is left."""

    widths: Sequence[float]
    _: KW_ONLY
    min_px: float = 160


class SortableWidget(KeyedWidget[tuple[int, int] | None], frozen=True):
    """Rows that can be dragged by their handle. Answers (from, to) when one was dropped elsewhere."""

    count: int
    draw: Callable[[int], None]


class TabsWidget(KeyedWidget[str | None], frozen=True):
    """A tab strip. Answers the value of the tab that was clicked."""

    tabs: Sequence[Option]
    active: str


class DialogWidget(KeyedWidget[AbstractContextManager[Clicks]], frozen=True):
    """A modal dialog, shown while it is drawn. `clicked` of the answer: the person closed it (Escape, x).

    Args:
        is_summoned: only a person opens it, to type into it; Enter counts at once, which other dialogs take when they have stood.
    """

    title: str
    _: KW_ONLY
    width: float = 520
    height: Length = None
    is_summoned: bool = False


class FloatWidget(KeyedWidget[Container], frozen=True):
    """Content that floats over the page and moves nothing else.

    At the window's bottom left, `left` and `foot` away from its edges, and growing upwards; `at_foot` over the foot of what it is described in, as wide as it wants.
    It takes the mouse only where it stands, and no click of a pointer that rested there before it came.
    """

    _: KW_ONLY
    width: float = 420
    left: float = 0
    foot: float = 0
    at_foot: bool = False


class MenuWidget(KeyedWidget[AbstractContextManager[bool]], frozen=True):
    """A button that opens a menu; inside a menu, a submenu. Draw its items only when the answer is True."""

    label: str
    _: KW_ONLY
    icon: str = ""
    tip: str = ""
    is_small: bool = False


class MenuItemWidget(KeyedWidget[bool], frozen=True):
    """An item of a menu."""

    label: str
    _: KW_ONLY
    icon: str = ""
    shortcut: str = ""
    is_enabled: bool = True
    is_checked: bool = False
    tone: Tone = "text"


class ContextMenuWidget(KeyedWidget[AbstractContextManager[bool]], frozen=True):
    """A menu that opens at the pointer when the current container is right-clicked.

    Draw its items only when the answer is True.
    """


# space
class PushWidget(Widget[None], frozen=True):
    """In a row: take the free width, so that the next widgets are at the right edge."""


class GapWidget(Widget[None], frozen=True):
    """Empty space along the container's direction."""

    px: float = 8


class DividerWidget(KeyedWidget[None], frozen=True):
    """A hairline."""


class WidthQuery(Widget[float], frozen=True):
    """Width of the current container's content in design px, as of the last frame."""


class HeightQuery(Widget[float], frozen=True):
    """Height of the current container's content in design px, as of the last frame: one that fills what is left."""


# output
class TextWidget(KeyedWidget[None], frozen=True):
    """A line of text; with `wraps` a paragraph, with `width` cut with an ellipsis to fit.

    Args:
        terms: what is marked wherever it stands, whatever its case.
    """

    value: str
    _: KW_ONLY
    tone: Tone = "text"
    style: Style = "body"
    wraps: bool = False
    width: Length = None
    tip: str = ""
    terms: tuple[str, ...] = ()


class IconWidget(KeyedWidget[None], frozen=True):
    """An icon by its Font Awesome name (`assets/icons.toml`)."""

    name: str
    _: KW_ONLY
    tone: Tone = "muted"
    tip: str = ""


class ProgressWidget(KeyedWidget[None], frozen=True):
    """A bar; fraction is clamped to 0..1. `fill` as in `Share`; `marks`: fractions at which it is notched."""

    fraction: float
    _: KW_ONLY
    tone: Tone = "accent"
    width: Length = 0
    height: float = 6
    fill: int | None = None
    marks: tuple[float, ...] = ()


class StackedBarWidget(KeyedWidget[None], frozen=True):
    """Shares of a whole side by side, full width."""

    shares: Sequence[Share]
    _: KW_ONLY
    height: float = 10


class PlotWidget(KeyedWidget[None], frozen=True):
    """Curves over a common x, full width, of at most two units. Hover shows the values of the nearest x.

    Bars stand behind lines. Long series are thinned out to what the pixels can show.
    """

    series: Sequence[Series]
    _: KW_ONLY
    height: float = 200
    x_label: str = ""
    y_label: str = ""


class BadgeWidget(KeyedWidget[None], frozen=True):
    """A small rounded label."""

    value: str
    _: KW_ONLY
    tone: Tone = "muted"
    tip: str = ""


class MarkdownWidget(KeyedWidget[str], frozen=True):
    """Markdown with highlighted code and copy buttons, as wide as the container; nothing is fetched.

    Its text can be selected with the mouse, across the texts of a list, and copied as Markdown.

    Args:
        is_written: a person's words: shown as they were written, only fenced code is formatted.
        terms: what is marked wherever it stands, whatever its case; found_at: the number of the occurrence that a
            search stands on, which is brought into view, -1 for none.
        has_pages: a link to a document beside this one, `name.md`, is returned when it is pressed, instead of being asked about.
        root: folder that names of pictures begin at; a picture of this machine is read and shown once its name is pressed.
    """

    source: str
    _: KW_ONLY
    is_streaming: bool = False
    has_pages: bool = False
    root: str = ""
    is_written: bool = False
    terms: tuple[str, ...] = ()
    found_at: int = -1


class CodeWidget(KeyedWidget[None], frozen=True):
    """Highlighted code; with `first_line` > 0 numbered. Long texts are virtual."""

    text: str
    _: KW_ONLY
    language: str = ""
    first_line: int = 0
    height: Length = None


class SelectableTextWidget(KeyedWidget[None], frozen=True):
    """Read-only text that can be selected with the mouse and copied.

    Args:
        height: None for that of its lines up to a bound, from which it scrolls; infinite for all of them, in an
            area that scrolls itself.
    """

    value: str
    _: KW_ONLY
    mono: bool = False
    height: Length = None


class ImageWidget(KeyedWidget[None], frozen=True):
    """A picture from a local file; a broken one shows its name and the reason. `name`: where it is not the file's."""

    path: str
    _: KW_ONLY
    name: str = ""
    max_height: float = 200


# input
class ButtonWidget(KeyedWidget[bool], frozen=True):
    """Button; true if clicked, or its shortcut (`Ctrl+N`) pressed. A label-less button needs a `tip`.

    Args:
        guard_s: seconds that it must have stood in its place before it takes a click: what comes, or moves, under a pointer
            that is about to click elsewhere is not meant. It has no shortcut then.
        is_heard: False: the shortcut is shown, so that neighbours stay where they are, and presses nothing now.
    """

    label: str
    _: KW_ONLY
    icon: str = ""
    kind: ButtonKind = "plain"
    is_enabled: bool = True
    tip: str = ""
    shortcut: str = ""
    is_heard: bool = True
    width: Length = None
    is_small: bool = False
    guard_s: float = 0


class CheckboxWidget(KeyedWidget[bool | None], frozen=True):
    """The new value when it was toggled."""

    label: str
    value: bool
    _: KW_ONLY
    is_enabled: bool = True
    tip: str = ""


class ComboWidget(KeyedWidget[str | None], frozen=True):
    """The value chosen. Past a dozen options it has a filter box."""

    options: Sequence[Option]
    value: str
    _: KW_ONLY
    label: str = ""
    width: Length = 180
    is_enabled: bool = True
    tip: str = ""


class SliderWidget(KeyedWidget[float | None], frozen=True):
    """The new value."""

    value: float
    low: float
    high: float
    _: KW_ONLY
    label: str = ""
    form: str = "%.2f"
    width: Length = 180


class TextInputWidget(KeyedWidget[str | None], frozen=True):
    """A line of input. The text after each change, or with `submits` only on Enter or when it loses focus.

    `tip` is its name where its label stands beside it and the hint says something else.
    """

    value: str
    _: KW_ONLY
    label: str = ""
    hint: str = ""
    icon: str = ""
    width: Length = 0
    is_secret: bool = False
    is_enabled: bool = True
    is_focused: bool = False
    submits: bool = False
    tip: str = ""


class EditorWidget(KeyedWidget[Edited | None], frozen=True):
    """Many lines of input. What the person types wins over `value` until `revision` changes.

    It grows with its text from `height` to `most_height`. An editor that `is_home` has the keyboard whenever
    nothing else took it, and what is typed in the pane around it goes there. With `paste_limit_chars` > 0 a longer paste does not enter the text but comes back in `pasted`, with `takes_pictures` a picture in `picture`. With
    `submits_on_enter` Enter submits and keeps the keyboard, Ctrl+Enter makes a new line.
    """

    value: str
    _: KW_ONLY
    hint: str = ""
    height: float = 80
    most_height: float = 0
    revision: int = 0
    is_mono: bool = False
    is_focused: bool = False
    is_home: bool = False
    is_enabled: bool = True
    paste_limit_chars: int = 0
    takes_pictures: bool = False
    submits_on_enter: bool = False


class ShortcutQuery(Widget[bool], frozen=True):
    """True if a chord (`Ctrl+Shift+P`, `Escape`, `Up`) was pressed since the last frame, once a press.

    The first to ask gets it. Chords with Ctrl or Alt, function keys and Escape count always; other keys
    count in a text field only with `while_typing`. The same holds for the shortcut of a button.

    Args:
        is_everywhere: it counts under an open dialog or menu too.
    """

    chord: str
    _: KW_ONLY
    while_typing: bool = False
    is_everywhere: bool = False


class ChordQuery(Widget[str], frozen=True):
    """A chord with Ctrl or Alt, or a function key, that was pressed since the last frame; empty for none.

    Nobody else gets it then. What edits a text stays the field's, and Escape stays the dialog's.
    """


class FileDialogWidget(KeyedWidget[tuple[str, ...] | None], frozen=True):
    """A file chooser, shown while it is drawn. () when it was closed, paths when chosen, else None."""

    title: str
    _: KW_ONLY
    start: str = ""
    picks: Literal["files", "folder", "save"] = "files"
    name: str = ""


class SelectionQuery(Widget[str], frozen=True):
    """Markdown of what is selected of the window's texts, empty for nothing. O(selected): ask in an open menu."""


# effects on the desktop, each only after a person's click
class CopyWish(Widget[None], frozen=True):
    """Put text on the clipboard."""

    text: str


class UrlWish(Widget[None], frozen=True):
    """Open an http(s) address in the person's browser."""

    url: str


class FileWish(Widget[None], frozen=True):
    """Open a text file in the program that the person's desktop has for it, else copy its path and say so."""

    path: str


class FocusWish(KeyedWidget[None], frozen=True):
    """Give the keyboard to the item with that key in the current container, next frame."""


class TypingQuery(Widget[bool], frozen=True):
    """True if the keyboard is in a field other than the window's home (`is_home`), as of the last frame: chords are its."""


class DropQuery(Widget[tuple[str, ...]], frozen=True):
    """Absolute paths of files and folders that were dropped on the window since it was asked last."""


class FocusQuery(KeyedWidget[bool], frozen=True):
    """True if the item with that key in the current container has the keyboard, as of the last frame.

    `is_within`: or one that stands in it. O(items in it): not for every frame.
    """

    _: KW_ONLY
    is_within: bool = False
