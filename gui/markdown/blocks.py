"""Blocks that Markdown is parsed into: flat, of styled runs, each with its place in the source. Values only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import msgspec

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
