"""Blocks that Markdown is parsed into: flat, of styled runs. Values only."""

from __future__ import annotations

from typing import Literal

import msgspec

RunStyle = Literal["body", "strong", "italic", "code", "strike", "muted"]
BlockKind = Literal["paragraph", "heading", "code", "table", "rule"]


class Run(msgspec.Struct, frozen=True):
    """Text of one style. `href`: the address it leads to, empty for none."""

    text: str
    style: RunStyle = "body"
    href: str = ""


class MarkdownBlock(msgspec.Struct, frozen=True):
    """A paragraph, heading, code, table or rule.

    Args:
        runs: the text of paragraphs and headings.
        level: 1 to 6 for headings; depth: how many lists it is in; quotes: how many quotes.
        marker: what stands before it in a list (`•`, `3.`, a box), only at an item's first block.
        language, text: of code.
        rows: cells of a table, the head first.
        is_tight: an item of a list without blank lines between.
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
