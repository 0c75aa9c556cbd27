"""Blocks that Markdown is parsed into: flat, of styled runs, each with its place in the source. Values only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, Protocol

import msgspec

from gui.metrics import Drawing, DrawnSize

RunStyle = Literal["body", "strong", "italic", "code", "math", "strike", "muted"]
BlockKind = Literal["paragraph", "heading", "code", "table", "rule", "written", "fold"]
Align = Literal["", "left", "center", "right"]


class Run(msgspec.Struct, frozen=True):
    """Text of one style.

    Args:
        href: the address it leads to, empty for none; source: Markdown that it stands for where its text is another.
    """

    text: str
    style: RunStyle = "body"
    href: str = ""
    source: str = ""


class MarkdownBlock(msgspec.Struct, frozen=True):
    """A paragraph, heading, code, table, rule, a text as it was written, or the line that opens what is folded.

    Args:
        runs: the text of paragraphs, headings, written texts and of a fold's line.
        level: 1 to 6 for headings; depth: how many lists it is in; quotes: how many quotes.
        marker: what stands before it in a list (`•`, `3.`, a box), only at an item's first block.
        language, text: of code.
        rows: cells of a table, the head first; aligns: of its columns.
        is_tight: an item of a list without blank lines between.
        start, end: its lines in the source as it is shown, the last line feed left out.
        fold: number of the `<details>` that a fold's line opens, from 1; folds: those that a block lies in.
    """

    kind: BlockKind
    runs: tuple[Run, ...] = ()
    level: int = 0
    depth: int = 0
    quotes: int = 0
    marker: str = ""
    language: str = ""
    text: str = ""
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()
    is_tight: bool = False
    aligns: tuple[Align, ...] = ()
    start: int = 0
    end: int = 0
    fold: int = 0
    folds: tuple[int, ...] = ()

    def shown(self) -> str:
        """Its text as it can be selected: what stands between two cells is a tab, between two rows a line feed."""
        match self.kind:
            case "code":
                return self.text
            case "table":
                return "\n".join("\t".join(map(joined, row)) for row in self.rows)
            case _:
                return joined(self.runs)

    def cells(self) -> tuple[tuple[int, int, int, int], ...]:
        """Row, column, start and end of a table's cells in its shown text."""
        sizes = [(r, c, len(joined(cell))) for r, row in enumerate(self.rows) for c, cell in enumerate(row)]
        ends = accumulate(size + 1 for *_, size in sizes)
        return tuple((r, c, end - 1 - size, end - 1) for (r, c, size), end in zip(sizes, ends, strict=True))


def joined(runs: Sequence[Run]) -> str:
    """The text of runs."""
    return "".join(run.text for run in runs)


# Values of a laid out text: what is drawn where, in pixels, and what of the text it stands for.

TAB = "    "
LEADING = 1.4
HEAD_PX, CODE_PAD_PX = 32.0, 12.0
"""Height of the head of a code's box, and the space around its lines."""


class TextMeasure(Protocol):
    """Measures of fonts, and of what is drawn, that the layout asks for. Styles are those of the theme."""

    sizes: dict[str, int]
    scale: float

    def drawn(self, drawing: Drawing) -> DrawnSize | None:
        """The size of the drawing, None until it is drawn."""
        ...

    def width(self, text: str, style: str) -> float:
        """Pixels of one line."""
        ...


class Op(msgspec.Struct, frozen=True):
    """One thing to draw: text, or a filled rectangle where `text` is empty.

    `tone` is a token of the palette, or `code.<class>`. `at`, `size`: the part of the block's shown text that it
    stands for, 0 for what is no part of it (a marker, a label). A line feed stands as a text that is not drawn.
    `drawing`: what is shown instead of the text, whole. `is_rtl`: its text stands as it is drawn, the last character first.
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
    drawing: Drawing | None = None
    is_rtl: bool = False


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
    """Look that a person gave a block: how far its code is scrolled, whether it wraps, whether a fold is open, whether the
    source of a diagram shows.
    """

    shift: float = 0.0
    wraps: bool = False
    is_open: bool = False
    is_source: bool = False


AS_IT_COMES = BlockLook()


class Laid(msgspec.Struct, frozen=True):
    """A block in its place: operations relative to its corner, its height, the space above it.

    `copy`: the text that its copy button copies, empty for none; `cells`: of a table; `reach`: of code that can be
    scrolled; `can_wrap`: code with lines that are longer than its box; `fold`: number of the fold that its line opens.
    `has_drawing`: it can show a drawing or its source; `awaits`: something of it is being drawn.
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
    has_drawing: bool = False
    awaits: bool = False


NOTHING = Laid(ops=(), height=0.0, above=0.0)
"""A block that is folded away."""
