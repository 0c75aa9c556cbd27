"""Values of a laid out text: what is drawn where, in pixels, and what of the text it stands for."""

from __future__ import annotations

from typing import Protocol

import msgspec

TAB = "    "
LEADING = 1.4


class TextMeasure(Protocol):
    """Measures of fonts that the layout asks for. Styles are those of the theme."""

    sizes: dict[str, int]
    scale: float

    def width(self, text: str, style: str) -> float:
        """Pixels of one line."""
        ...


class Op(msgspec.Struct, frozen=True):
    """One thing to draw: text, or a filled rectangle where `text` is empty.

    `tone` is a token of the palette, or `code.<class>`. `at`, `size`: the part of the block's shown text that it
    stands for, 0 for what is no part of it (a marker, a label). A line feed stands as a text that is not drawn.
    """

    x: float
    y: float
    w: float
    h: float
    tone: str
    text: str = ""
    style: str = "body"
    rounding: float = 0.0
    at: int = 0
    size: int = 0


class Link(msgspec.Struct, frozen=True):
    """Place where an address can be clicked."""

    x: float
    y: float
    w: float
    h: float
    href: str
    text: str = ""


class CellBox(msgspec.Struct, frozen=True):
    """Place of a table's cell, and its part of the table's shown text."""

    x: float
    y: float
    w: float
    h: float
    start: int
    end: int


class Reach(msgspec.Struct, frozen=True):
    """Place where code shows that is wider than its box.

    Args:
        content: width of the longest line; shift: how far it is scrolled.
    """

    x: float
    y: float
    w: float
    h: float
    content: float
    shift: float


class BlockLook(msgspec.Struct, frozen=True):
    """Look that a person gave a block: how far its code is scrolled, whether it wraps, whether a fold is open."""

    shift: float = 0.0
    wraps: bool = False
    is_open: bool = False


AS_IT_COMES = BlockLook()


class Laid(msgspec.Struct, frozen=True):
    """A block in its place: operations relative to its corner, its height, the space above it.

    `copy`: the text that its copy button copies, empty for none; `cells`: of a table; `reach`: of code that can be
    scrolled; `can_wrap`: code with lines that are longer than its box; `fold`: number of the fold that its line opens.
    """

    ops: tuple[Op, ...]
    height: float
    above: float
    links: tuple[Link, ...] = ()
    copy: str = ""
    cells: tuple[CellBox, ...] = ()
    reach: Reach | None = None
    can_wrap: bool = False
    fold: int = 0


NOTHING = Laid((), 0.0, 0.0)
"""A block that is folded away."""
