"""The immediate-mode surface that panels draw on: `Ui`, with a method for every widget.

A panel describes its whole frame by calling these methods in order. A `key` is unique inside its container; the
path of keys identifies the item from frame to frame. `panels.base.widgets` says what each method takes and answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, runtime_checkable

import msgspec

from panels.base import widgets as w
from panels.base.widgets import ButtonKind as ButtonKind
from panels.base.widgets import Clicks as Clicks
from panels.base.widgets import Column as Column
from panels.base.widgets import Edited as Edited
from panels.base.widgets import Length as Length
from panels.base.widgets import ListView as ListView
from panels.base.widgets import Option as Option
from panels.base.widgets import Series as Series
from panels.base.widgets import SeriesKind as SeriesKind
from panels.base.widgets import Share as Share
from panels.base.widgets import Split as Split
from panels.base.widgets import Style as Style
from panels.base.widgets import Surface as Surface
from panels.base.widgets import Tone as Tone
from panels.base.widgets import Unit as Unit

if TYPE_CHECKING:
    from core.app.app_messages import Command

Send = Callable[["Command"], None]
"""Function by which a panel asks for a change. Returns at once; the effect shows in a later snapshot."""

R = TypeVar("R")
P = ParamSpec("P")


class VirtualRows(Protocol):
    """Rows of a virtual list. Only rows in view are drawn; heights are measured once and kept by key.

    `revision` equal to the last frame's means that rows and keys are the same: the list then does O(visible)
    work. Rows in view are drawn every frame all the same and measured again when their height differs (a
    reply that streams grows under the same key and revision).
    """

    @property
    def revision(self) -> Hashable:
        """See above."""
        ...

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


@runtime_checkable
class KeptRows(Protocol):
    """Rows of a virtual list that are described again only where what they are drawn from has changed.

    A row that the mouse is over, that a person has just pressed, or that opened a menu is described in every frame; one
    that hears keys says None.
    """

    def drawn_from(self, index: int) -> Hashable | None:
        """All that a row's description reads, None where it is to be described in every frame."""
        ...


@runtime_checkable
class ReadableRows(Protocol):
    """Rows whose text can be copied while they are out of view."""

    def __len__(self) -> int: ...

    def text(self, index: int) -> str:
        """Markdown of a row."""
        ...


# Here and not among the other widgets: their rows are drawn on a `Ui`.
class ListWidget(w.KeyedWidget[ListView], frozen=True):
    """A scrolling list that fills what is left. `follows_end` sticks to the end while the person is there.

    `scroll_to` is passed in one frame only: the row to bring to the top, -1 for the very end; `reveal` likewise: the row
    to bring into view, no farther than it takes.
    """

    rows: VirtualRows
    _: KW_ONLY
    follows_end: bool = False
    scroll_to: int | None = None
    reveal: int | None = None


class TableWidget(w.KeyedWidget[None], frozen=True):
    """A table with a header; `rows.draw` draws one call of `ui.text` or control for each column."""

    columns: Sequence[Column]
    rows: VirtualRows
    _: KW_ONLY
    height: Length = 0


def asks(kind: Callable[P, w.Widget[R]]) -> Callable[Concatenate[Ui, P], R]:
    """The method of `Ui` that asks for a widget: it takes what the widget's constructor takes.

    A frame makes hundreds of these calls: with names spelled out each takes half the time of `*args, **kwargs`.
    """
    assert isinstance(kind, msgspec.StructMeta)
    names = ", ".join(kind.__struct_fields__)
    source = f"lambda _ui, {names}: _ui._handlers[_kind](_ui._place, _kind({names}))"
    ask: Any = eval(source, {"_kind": kind})  # noqa: S307  names of our own fields
    ask.__defaults__, ask.__doc__ = kind.__struct_defaults__, kind.__doc__
    return cast("Callable[Concatenate[Ui, P], R]", ask)


class Ui:
    """Surface that a panel draws on.

    Args:
        place: what the handlers draw on.
        handlers: one for each widget; see `Widget.handled_by`.
    """

    __slots__ = ("_handlers", "_place")

    def __init__(self, place: object, handlers: w.Handlers) -> None:
        self._place = place
        self._handlers = handlers

    group = asks(w.GroupWidget)
    row = asks(w.RowWidget)
    surface = asks(w.SurfaceWidget)
    clickable = asks(w.ClickableWidget)
    split = asks(w.SplitWidget)
    virtual_list = asks(ListWidget)
    sortable = asks(w.SortableWidget)
    table = asks(TableWidget)
    tabs = asks(w.TabsWidget)
    dialog = asks(w.DialogWidget)
    floating = asks(w.FloatWidget)
    menu = asks(w.MenuWidget)
    menu_item = asks(w.MenuItemWidget)
    context_menu = asks(w.ContextMenuWidget)
    push = asks(w.PushWidget)
    gap = asks(w.GapWidget)
    divider = asks(w.DividerWidget)
    width = asks(w.WidthQuery)
    height = asks(w.HeightQuery)
    text = asks(w.TextWidget)
    icon = asks(w.IconWidget)
    progress = asks(w.ProgressWidget)
    stacked_bar = asks(w.StackedBarWidget)
    plot = asks(w.PlotWidget)
    badge = asks(w.BadgeWidget)
    markdown = asks(w.MarkdownWidget)
    code = asks(w.CodeWidget)
    selectable_text = asks(w.SelectableTextWidget)
    image = asks(w.ImageWidget)
    button = asks(w.ButtonWidget)
    checkbox = asks(w.CheckboxWidget)
    combo = asks(w.ComboWidget)
    slider = asks(w.SliderWidget)
    text_input = asks(w.TextInputWidget)
    editor = asks(w.EditorWidget)
    shortcut = asks(w.ShortcutQuery)
    pressed_chord = asks(w.ChordQuery)
    file_dialog = asks(w.FileDialogWidget)
    selected_text = asks(w.SelectionQuery)
    copy = asks(w.CopyWish)
    open_url = asks(w.UrlWish)
    open_file = asks(w.FileWish)
    focus = asks(w.FocusWish)
    is_focused = asks(w.FocusQuery)
    is_typing_elsewhere = asks(w.TypingQuery)
    dropped_files = asks(w.DropQuery)
