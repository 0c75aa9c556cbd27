"""Markdown of a part of a text: what was selected of its blocks, whole ones as they stand in the source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from gui.markdown.blocks import MarkdownBlock, Run, joined
from gui.markdown.parse import parse

Place = tuple[int, int]
"""Number of a block, and a place in its shown text."""
_MARKS = {"strong": "**", "italic": "*", "strike": "~~"}
_MARKERS = {"•": "- ", "☐": "- [ ] ", "☑": "- [x] "}
_LEAD = re.compile(r"[ \t>]*")
"""Quotes that a line is in, and how far it stands in."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>$~])")


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
