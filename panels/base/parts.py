"""Parts of widgets and their answers: tones, lengths, options, series, what the person did.

Lengths are design pixels: the binding multiplies by the UI scale.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

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
    paste that did not go into the text.
    """

    text: str
    pasted: str = ""
    picture: bytes = b""
    is_submitted: bool = False
    is_unpasted: bool = False


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
