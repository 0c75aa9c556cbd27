"""Markdown of a part of a text: what was selected of its blocks, whole ones as they stand in the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec.structs import replace

from core.kernel.patterns import late
from gui.markdown.blocks import LEADING, Laid, MarkdownBlock, Op, Run, TextMeasure, joined
from gui.markdown.parse import parse

Place = tuple[int, int]
"""Number of a block, and a place in its shown text."""
_MARKS = {"strong": "**", "italic": "*", "strike": "~~"}
_MARKERS = {"•": "- ", "☐": "- [ ] ", "☑": "- [x] "}
_LEAD = late(r"[ \t>]*")
"""Quotes that a line is in, and how far it stands in."""
_SPECIAL = late(r"([\\`*_\[\]<>$~])")


def excerpt(blocks: Sequence[MarkdownBlock], source: str, start: Place, end: Place) -> str:
    """Markdown of what lies between two places.

    Inside one block it is that block's words: code without its fence, an item without its marker. Over several,
    blocks that are whole stand as in the source, with what is between them; of the first and the last their part.

    Args:
        source: the text as it is shown, that the blocks were parsed from.
        start, end: in order; places past a block's end count as its end.
    """
    (first, at), (last, until) = start, min(end, _end_of(blocks))
    if first >= len(blocks) or (first, at) >= (last, until):
        return ""
    if first == last:
        return _part(blocks[first], at, until)
    head, tail = blocks[first], blocks[last]
    is_head_whole, is_tail_whole = at == 0, until >= len(tail.shown())
    begin = head.start if is_head_whole else head.end
    finish = tail.end if is_tail_whole else tail.start
    whole = source[begin:finish]
    before = "" if is_head_whole else _standing(head, source, at, len(head.shown())).lstrip(" ")
    after = "" if is_tail_whole else _standing(tail, source, 0, until)
    return f"{before}{whole}{after}".strip("\n")


def everything(blocks: Sequence[MarkdownBlock]) -> tuple[Place, Place]:
    """The places around all blocks."""
    return (0, 0), _end_of(blocks)


def _end_of(blocks: Sequence[MarkdownBlock]) -> Place:
    return (len(blocks) - 1, len(blocks[-1].shown())) if blocks else (0, 0)


def _part(block: MarkdownBlock, start: int, end: int) -> str:
    """A part of one block, by itself."""
    match block.kind:
        case "code" | "rule":
            return block.shown()[start:end]
        case "written":
            return joined(cut(block.runs, start, end))
        case "table":
            return _table(block, start, end)
        case _:
            return inline(cut(block.runs, start, end))


def _standing(block: MarkdownBlock, source: str, start: int, end: int) -> str:
    """A part of a block beside others: with what makes it that block."""
    part = _part(block, start, end)
    if block.kind in ("table", "written"):
        return part
    if block.kind == "code":
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", part)), default=0))
        return f"{fence}{block.language}\n{part}\n{fence}"
    lead = _LEAD.match(source, block.start, block.end)
    marker = _marker(block.marker)
    heading = "#" * block.level + " " if block.kind == "heading" else ""
    return f"{lead[0] if lead else ''}{marker}{heading}{part}"


def _marker(shown: str) -> str:
    """Markdown of what stands before a block; a footnote's mark has its caret and colon."""
    if shown.startswith("["):
        return f"[^{shown[1:]}: "
    return _MARKERS.get(shown, f"{shown} " if shown else "")


def _table(block: MarkdownBlock, start: int, end: int) -> str:
    """Cells of a table: the words of one, or rows with the head's line below the first."""
    touched = [
        cell
        for cell in block.cells()
        if (cell[2] < end and cell[3] > start) or start <= cell[2] == cell[3] < end
    ]
    if not touched:
        return ""
    if len(touched) == 1:
        row, column, at, _ = touched[0]
        return inline(cut(block.rows[row][column], start - at, end - at))
    first, last = touched[0][0], touched[-1][0]
    columns = {column for _, column, *_ in touched} if first == last else set(range(len(block.rows[0])))
    lines = []
    for row in range(first, last + 1):
        cells = []
        for number, column, at, _ in block.cells():
            if number == row and column in columns:
                part = inline(cut(block.rows[row][column], start - at, end - at))
                cells.append(part.replace("|", r"\|"))
        lines.append(f"| {' | '.join(cells)} |")
    if len(lines) == 1:
        return lines[0]
    rule = {"left": ":---", "right": "---:", "center": ":---:", "": "---"}
    aligns = [rule[block.aligns[c] if c < len(block.aligns) else ""] for c in sorted(columns)]
    return "\n".join([lines[0], f"| {' | '.join(aligns)} |", *lines[1:]])


def cut(runs: Sequence[Run], start: int, end: int) -> tuple[Run, ...]:
    """The runs between two places of their text."""
    at, parts = 0, []
    for run in runs:
        text = run.text[max(0, start - at) : max(0, end - at)]
        if text:
            parts.append(replace(run, text=text, source=run.source if text == run.text else ""))
        at += len(run.text)
    return tuple(parts)


def inline(runs: Sequence[Run]) -> str:
    """Markdown of styled runs: signs that would be read as marks are escaped, and only those."""
    plain = "".join(_marked(run, is_escaped=False) for run in runs)
    if _reads_as(plain, runs):
        return plain
    return "".join(_marked(run, is_escaped=True) for run in runs)


def _reads_as(text: str, runs: Sequence[Run]) -> bool:
    blocks = parse(text)
    return (
        len(blocks) == 1 and joined(blocks[0].runs).split() == joined(runs).split() and not blocks[0].marker
    )


def _marked(run: Run, *, is_escaped: bool) -> str:
    if run.source:
        return run.source
    text = run.text
    bare = text.strip()
    if not bare:
        return text
    if run.style == "code":
        ticks = "`" * (1 + max(map(len, re.findall(r"`+", text)), default=0))
        space = " " if "`" in (bare[0], bare[-1]) else ""
        return f"{ticks}{space}{text}{space}{ticks}"
    if is_escaped and run.style not in ("math", "muted"):
        bare = _SPECIAL.sub(r"\\\1", bare)
    mark = _MARKS.get(run.style, "")
    bare = f"{mark}{bare}{mark}"
    if run.href and run.href != run.text.strip():
        bare = f"[{bare}]({run.href})"
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{bare}{after}".replace("\n", "  \n")


# Places in a laid out text: what is under a point, what a range covers, words, lines, occurrences. Pure.

Box = tuple[float, float, float, float]
"""Left, top, width and height."""
_WORD = late(r"\w+|\s+|[^\w\s]")


def offset_at(op: Op, m: TextMeasure, x: float) -> int:
    """The place in a block's text that is nearest to `x`, in an operation's text."""
    if op.text == "\n":
        return op.at
    if op.drawing is not None or op.size != len(op.text):
        return op.at + (op.size if x > op.x + op.w / 2 else 0)
    used = op.x
    for index, char in enumerate(op.text):
        width = m.width(char, op.style)
        if x < used + width / 2:
            return op.at + (op.size - index if op.is_rtl else index)
        used += width
    return op.at + (0 if op.is_rtl else op.size)


def x_at(op: Op, m: TextMeasure, offset: int) -> float:
    """Edge of a place of a block's text in an operation: where what stands there begins."""
    if op.is_rtl:
        before = op.text[: max(0, op.at + op.size - max(offset, op.at))]
        return op.x + sum(m.width(char, op.style) for char in before)
    if offset <= op.at:
        return op.x
    if offset >= op.at + op.size or op.drawing is not None:
        return op.x + op.w
    return op.x + sum(m.width(char, op.style) for char in op.text[: offset - op.at])


def place_in(laid: Laid, m: TextMeasure, x: float, y: float) -> int:
    """The place in a block's text that is nearest to a point of it."""
    ops = [op for op in laid.ops if op.size]
    if laid.cells:
        cell = min(laid.cells, key=lambda one: (_away(y, one.y, one.h), _away(x, one.x, one.w)))
        ops = [op for op in ops if cell.start <= op.at < cell.end]
        if not ops:
            return cell.start
    if not ops:
        return 0
    nearest = min(ops, key=lambda op: (_line_away(op, y), _away(x, op.x, op.w)))
    return offset_at(nearest, m, x)


def _away(at: float, start: float, size: float) -> float:
    return max(start - at, at - start - size, 0.0)


def _line_away(op: Op, y: float) -> float:
    """Distance of a point from an operation's line; lines share the space between them."""
    return abs(op.y + op.h / 2 - y)


def block_at(tops: Sequence[tuple[float, Laid]], y: float) -> int:
    """Number of the block at a height, or nearest to it."""
    index = max(0, bisect_right(tops, y, key=lambda one: one[0] - one[1].above / 2) - 1)
    while index and not tops[index][1].height:
        index -= 1
    return index


def place_at(tops: Sequence[tuple[float, Laid]], m: TextMeasure, x: float, y: float) -> tuple[int, int]:
    """The block and the place in it that are nearest to a point. `tops`: every block with its top."""
    if not tops:
        return 0, 0
    index = block_at(tops, y)
    top, laid = tops[index]
    return index, place_in(laid, m, x, y - top)


def boxes(laid: Laid, m: TextMeasure, start: int, end: int) -> list[Box]:
    """Boxes of a range of a block's text, line by line."""
    found: list[Box] = []
    for op in laid.ops:
        if not op.size or op.at >= end or op.at + op.size <= start:
            continue
        pad = op.h * (LEADING - 1) / 2
        left, right = sorted((x_at(op, m, start), x_at(op, m, end)))
        box = (left, op.y - pad, right - left, op.h + 2 * pad)
        if found and found[-1][1] == box[1] and 0 <= box[0] - (found[-1][0] + found[-1][2]) <= op.h:
            last = found.pop()
            box = (last[0], last[1], box[0] + box[2] - last[0], max(last[3], box[3]))
        if box[2] > 0:
            found.append(box)
    return found


def word_at(block: MarkdownBlock, offset: int) -> tuple[int, int]:
    """The word around a place: letters, digits and underscores; else a run of blanks, or one sign."""
    text = block.shown()
    first, last = line_at(text, offset)
    for found in _WORD.finditer(text, first, last):
        if found.start() <= offset < found.end():
            return found.span()
    return (max(first, offset - 1), offset) if offset > first else (offset, offset)


def paragraph_at(block: MarkdownBlock, offset: int) -> tuple[int, int]:
    """The paragraph around a place: a line of code or of what was written, a cell, else the block."""
    text = block.shown()
    match block.kind:
        case "code" | "written":
            return line_at(text, offset)
        case "table":
            return next(((at, end) for _, _, at, end in block.cells() if at <= offset <= end), (0, len(text)))
        case _:
            return 0, len(text)


def line_at(text: str, offset: int) -> tuple[int, int]:
    """Start and end of the line around a place."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return start, len(text) if end < 0 else end


def wanted(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Pattern of any of the terms, whatever its case; None for no terms."""
    known = sorted(filter(None, terms), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None


def occurrences(blocks: Sequence[MarkdownBlock], terms: Sequence[str]) -> list[tuple[int, int, int]]:
    """Block, start and end of every occurrence, in order."""
    pattern = wanted(terms)
    if pattern is None:
        return []
    return [(n, *found.span()) for n, block in enumerate(blocks) for found in pattern.finditer(block.shown())]
