"""Blocks that Markdown is parsed into: flat, of styled runs, each with its place in the source. Values only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from typing import Any, Literal, Protocol

import msgspec
from msgspec.structs import replace

from core.kernel.language import tr
from gui.metrics import Drawing, DrawnSize
from gui.row_order import leftwards, paragraph_levels, shaped, visual_order
from gui.text_buffer import has_rtl

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

    def ellipsized(self, text: str, style: str, width: float) -> str:
        """The longest start of the text that fits `width` pixels, with an ellipsis when it was cut."""
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


# Formulas and diagrams to places: the drawing where there is one, else the source with a word why not.
# Pure.


BASELINE = 0.8
"""Share of a font's size that is above the line on which its letters stand."""
LETTERS = 0.98
"""Size of a formula's letters beside the size of the text around it: they look alike then."""
DIAGRAM = "mermaid"
_FORMULA = "math"
_MARKS = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))
_SHARES = (0.75, 0.5, 0.35, 0.25, 0.15)
"""Shares of its own size in which a diagram is drawn that is wider than its place."""
LEAST_SHARE = 0.4
"""Below this a formula that is made smaller to fit cannot be read."""


class AsCode(Protocol):
    """Places code in its box."""

    def __call__(
        self, block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook, *, note: str = ""
    ) -> Laid:
        """With a few words behind the language."""
        ...


def tex_of(written: str) -> tuple[str, bool]:
    """A formula without the marks around it, and whether it stands by itself."""
    text = written.strip()
    for begin, end in _MARKS:
        if text.startswith(begin) and text.endswith(end) and len(text) >= len(begin) + len(end):
            return text[len(begin) : len(text) - len(end)].strip(), begin in ("$$", r"\[")
    return text, True


def formula_in(written: str, size: float) -> Drawing:
    """The drawing of a formula inside a line of text of this size."""
    tex, is_block = tex_of(written)
    return Drawing(kind="formula_block" if is_block else "formula", text=tex, size=size * LETTERS)


def lay_out_drawn(
    block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook, as_code: AsCode
) -> Laid | None:
    """Place a formula or a diagram that stands by itself; None for other code, which `as_code` places."""
    match block.language.lower():
        case language if language == _FORMULA:
            return _formula(block, m, width, look, as_code)
        case language if language == DIAGRAM:
            return _diagram(block, m, width, look, as_code)
        case _:
            return None


def _as_source(
    block: MarkdownBlock,
    m: TextMeasure,
    width: float,
    look: BlockLook,
    as_code: AsCode,
    size: DrawnSize | None,
) -> Laid:
    """The source in its box, with why it is not drawn."""
    if size is None:
        return replace(as_code(block, m, width, look), awaits=True)
    return as_code(block, m, width, look, note=tr("not drawn: {problem}", problem=size.problem))


def _formula(block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook, as_code: AsCode) -> Laid:
    drawing = Drawing(kind="formula_block", text=tex_of(block.text)[0], size=m.sizes["body"] * LETTERS)
    size = m.drawn(drawing)
    if size is not None and not size.problem and size.width * LEAST_SHARE > width:
        size = DrawnSize(problem=tr("the drawn formula is too wide"))
    if size is None or size.problem:
        return _as_source(block, m, width, look, as_code, size)
    share = min(1.0, width / size.width)
    w, h, pad = size.width * share, size.height * share, 4 * m.scale
    op = Op(
        x=(width - w) / 2,
        y=pad,
        w=w,
        h=h,
        tone="muted" if block.quotes else "text",
        text=block.text,
        style="mono",
        size=len(block.text),
        drawing=drawing,
    )
    return Laid(ops=(op,), height=h + 2 * pad, above=10 * m.scale)


def _diagram(block: MarkdownBlock, m: TextMeasure, width: float, look: BlockLook, as_code: AsCode) -> Laid:
    drawing = Drawing(kind="diagram", text=block.text, size=m.scale)
    size = m.drawn(drawing)
    if size is None or size.problem:
        return _as_source(block, m, width, look, as_code, size)
    if look.is_source:
        return replace(as_code(block, m, width, look), has_drawing=True)
    s, pad, head = m.scale, CODE_PAD_PX * m.scale, HEAD_PX * m.scale
    room, awaits = width - 2 * pad, False
    if size.width > room:
        share = next((one for one in _SHARES if size.width * one <= room), _SHARES[-1])
        smaller = Drawing(kind="diagram", text=block.text, size=m.scale * share)
        known = m.drawn(smaller)
        awaits = known is None
        if known is not None and not known.problem:
            drawing = smaller
    share = min(1.0, room / size.width)
    w, h = size.width * share, size.height * share
    height = head + h + pad
    back = Op(x=0, y=0, w=width, h=height, tone="code.background", rounding=8 * s)
    label = Op(
        x=pad,
        y=(head - m.sizes["small"]) / 2,
        w=m.width(block.language, "small"),
        h=m.sizes["small"],
        tone="muted",
        text=block.language,
        style="small",
    )
    picture = Op(
        x=pad + (room - w) / 2,
        y=head,
        w=w,
        h=h,
        tone="text",
        text=block.text,
        style="mono",
        size=len(block.text),
        drawing=drawing,
    )
    return Laid(
        ops=(back, label, picture),
        height=height,
        above=10 * s,
        copy=block.text,
        has_drawing=True,
        awaits=awaits,
    )


# Order in which a line is read: right-to-left letters in their order and joined. Pure; offsets stay those
# of the text. Source: Unicode Standard Annex #9 (read 2026-11-29), by python-bidi; letters are joined by arabic-reshaper.


_NEUTRAL = "\ufffc"
"""Stands for inline code among its words: it has no direction."""
_LEFT_TO_RIGHT = "A"


class ReadingOrder(msgspec.Struct, frozen=True):
    """Order of a text that has right-to-left letters.

    Args:
        runs: with their letters joined, each as long as it was; levels: of each character, odd ones read leftwards.
        bases: starts of the paragraphs, each with the level that it begins at.
        start: place of the text's first character.
    """

    runs: tuple[Run, ...]
    levels: tuple[int, ...]
    bases: tuple[tuple[int, int], ...]
    start: int = 0

    def base_at(self, at: int) -> int:
        """Level of the paragraph around a place."""
        return next((base for start, base in reversed(self.bases) if start <= at - self.start), 0)

    def levels_of(self, op: Op, end: int, base: int) -> list[int]:
        """Levels of an operation's characters. Blanks at the end of a line, at `end`, have that of the paragraph."""
        found = list(self.levels[op.at - self.start : op.at - self.start + op.size])
        if op.at + op.size == end and op.drawing is None:
            blanks = len(op.text) - len(op.text.rstrip())
            found[op.size - min(blanks, op.size) :] = [base] * min(blanks, op.size)
        return found


def reading_order(runs: tuple[Run, ...], start: int = 0) -> ReadingOrder | None:
    """The order of a text, None where all of it is read to the right."""
    if not any(has_rtl(run.text) for run in runs):
        return None
    text = joined(runs)
    said = "".join(_NEUTRAL * len(run.text) if run.style == "code" else run.text for run in runs)
    around, bases = _levels(said)
    levels = _with_code(around, runs)
    letters, at, found = shaped(text), 0, []
    for run in runs:
        end = at + len(run.text)
        found.append(run if run.style == "math" else replace(run, text=letters[at:end]))
        at = end
    return ReadingOrder(runs=tuple(found), levels=levels, bases=bases, start=start)


def _with_code(around: tuple[int, ...], runs: Sequence[Run]) -> tuple[int, ...]:
    """Levels with those of inline code, which is read for itself and to the right: no sign in it changes sides for the words
    around it (rule X5a, an isolate).
    """
    levels, at = list(around), 0
    for run in runs:
        end = at + len(run.text)
        if run.style == "code" and run.text:
            outer = around[at] + around[at] % 2
            levels[at:end] = [
                outer + level for level in paragraph_levels(f"{_LEFT_TO_RIGHT}{run.text}")[1][1:]
            ]
        at = end
    return tuple(levels)


@lru_cache(maxsize=256)
def _levels(text: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    levels: list[int] = []
    bases: list[tuple[int, int]] = []
    for line in text.split("\n"):
        base, own = paragraph_levels(line)
        bases.append((len(levels), base))
        levels += [*own, base]
    return tuple(levels[: len(text)]), tuple(bases)


def reordered(
    order: ReadingOrder, ops: Sequence[Op], links: Sequence[Link], width: float, measure: Any
) -> tuple[list[Op], list[Link]]:
    """The operations and links of one line, in the order in which it is read; a paragraph that begins rightmost stands right.

    Args:
        width: of the place; measure: pixels of a text in a style.
    """
    said = [op for op in ops if op.size]
    if not said:
        return list(ops), list(links)
    base, end = order.base_at(said[0].at), said[-1].at + said[-1].size
    levels = [order.levels_of(op, end, base) for op in said]
    if not base and not any(map(any, levels)):
        return list(ops), list(links)
    pieces = [
        piece for op, own in zip(said, levels, strict=True) for piece in _pieces(op, own, base, measure)
    ]
    gaps = _gaps(said)
    placed: list[tuple[Op, Op]] = []
    x = max(0.0, width - sum(op.w for _, op, _ in pieces) - sum(gaps.values())) if base else said[0].x
    for owner, op, _ in _visual(pieces):
        placed.append((owner, replace(op, x=x + gaps.get(op.at, 0.0) / 2)))
        x += op.w + gaps.get(op.at, 0.0)
    moved = {owner.x: (owner, [op for one, op in placed if one is owner]) for owner in said}
    rest = [_moved(op, moved) for op in ops if not op.size]
    return [*(op for _, op in placed), *rest], [_moved(link, moved) for link in links]


def _gaps(said: Sequence[Op]) -> dict[int, float]:
    """Free space in front of operations, by their places: inline code has some."""
    return {b.at: gap for a, b in pairwise(said) if (gap := b.x - a.x - a.w) > 0.01}


def _moved(one: Any, moved: dict[float, tuple[Op, list[Op]]]) -> Any:
    """A line under or through words, or a link, where its words went."""
    found = moved.get(one.x)
    if found is None or not found[1]:
        return one
    parts = found[1]
    left = min(part.x for part in parts)
    return replace(one, x=left, w=max(part.x + part.w for part in parts) - left)


_Piece = tuple[Op, Op, int]
"""An operation, the part of it that has one level, and that level."""


def _pieces(op: Op, own: Sequence[int], base: int, measure: Any) -> Iterator[_Piece]:
    if op.drawing is not None or op.size != len(op.text):
        yield op, op, own[0] if own else base
        return
    for level, places in groupby(range(op.size), lambda at: own[at]):
        first, *more = places
        text = op.text[first : (more[-1] if more else first) + 1]
        is_rtl = level % 2 == 1
        part = replace(
            op,
            text=leftwards(text) if is_rtl else text,
            at=op.at + first,
            size=len(text),
            w=measure(text, op.style),
            is_rtl=is_rtl,
        )
        yield op, part, level


def _visual(pieces: list[_Piece]) -> list[_Piece]:
    """The pieces of a line from left to right."""
    return [pieces[place] for place in visual_order([level for *_, level in pieces])]
