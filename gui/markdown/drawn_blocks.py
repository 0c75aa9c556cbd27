"""Formulas and diagrams to places: the drawing where there is one, else the source with a word why not. Pure."""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from core.kernel.language import tr
from gui.markdown.blocks import CODE_PAD_PX, HEAD_PX, BlockLook, Laid, MarkdownBlock, Op, TextMeasure
from gui.metrics import Drawing, DrawnSize

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
