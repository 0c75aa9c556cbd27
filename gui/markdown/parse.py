"""Markdown text to blocks, with markdown-it-py. Nothing in the text is lost, run or fetched."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gui.markdown.blocks import MarkdownBlock, Run, RunStyle
from gui.visible_text import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST = 8
"""Quotes and lists nested deeper are shown at this depth."""
NESTING_LIMIT = 60
"""markdown-it drops what is nested deeper, so a text that comes near is shown as it was written."""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {"html": False, "maxNesting": NESTING_LIMIT, "linkify": False, "typographer": False}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def parse(source: str) -> tuple[MarkdownBlock, ...]:
    """Parse a text. Control and bidi characters become visible marks.

    Args:
        source: any text; megabytes are for the caller to cut.
    """
    shown = visible(source)
    tokens = _parser().parse(shown)
    if any(token.level >= NESTING_LIMIT - 2 for token in tokens):
        return as_lines(shown)
    walker = _Walker()
    for token in tokens:
        walker.take(token)
    return tuple(walker.blocks)


def as_lines(text: str) -> tuple[MarkdownBlock, ...]:
    """A text as it is, a paragraph for each line."""
    return tuple(MarkdownBlock("paragraph", (Run(line),), is_tight=True) for line in text.split("\n"))


@dataclass(slots=True)
class _List:
    is_ordered: bool
    number: int


@dataclass(slots=True)
class _Walker:
    """Turns the parser's flat tokens into blocks."""

    blocks: list[MarkdownBlock] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    quotes: int = 0
    heading: int = 0
    marker: str = ""
    is_hidden: bool = False
    rows: list[tuple[tuple[Run, ...], ...]] | None = None
    cells: list[tuple[Run, ...]] = field(default_factory=list)

    def take(self, token: Token) -> None:
        """Take the next token."""
        match token.type:
            case "heading_open":
                self.heading = int(token.tag[1])
            case "heading_close":
                self.heading = 0
            case "paragraph_open":
                self.is_hidden = token.hidden
            case "blockquote_open":
                self.quotes += 1
            case "blockquote_close":
                self.quotes -= 1
            case "bullet_list_open" | "ordered_list_open":
                self._flush_marker()
                start = int(token.attrGet("start") or 1)
                self.lists.append(_List(token.type == "ordered_list_open", start))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open":
                self._open_item()
            case "list_item_close":
                self._flush_marker()
            case "fence" | "code_block":
                language = token.info.split()[0] if token.info.split() else ""
                self._add(MarkdownBlock("code", text=token.content.removesuffix("\n"), language=language))
            case "hr":
                self._add(MarkdownBlock("rule"))
            case "html_block":
                self._add(MarkdownBlock("paragraph", (Run(token.content.rstrip("\n")),)))
            case "table_open":
                self.rows = []
            case "table_close":
                rows, self.rows = tuple(self.rows or ()), None
                self._add(MarkdownBlock("table", rows=rows))
            case "tr_open":
                self.cells = []
            case "tr_close" if self.rows is not None:
                self.rows.append(tuple(self.cells))
            case "inline":
                self._inline(token)
            case _:
                pass

    def _open_item(self) -> None:
        current = self.lists[-1]
        self.marker = f"{current.number}." if current.is_ordered else "•"
        current.number += 1

    def _flush_marker(self) -> None:
        """An item without text of its own still shows its marker."""
        if self.marker:
            self._add(MarkdownBlock("paragraph"))

    def _inline(self, token: Token) -> None:
        runs = inline_runs(token)
        if self.rows is not None:
            self.cells.append(runs)
            return
        if self.heading:
            self._add(MarkdownBlock("heading", runs, level=self.heading))
            return
        if self.marker == "•":
            runs = self._task(runs)
        self._add(MarkdownBlock("paragraph", runs, is_tight=self.is_hidden))

    def _task(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """`[x] ` at the start of an item is its box."""
        if runs and runs[0].style == "body":
            for mark, box in (("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")):
                if runs[0].text.startswith(mark):
                    self.marker = box
                    return (replace(runs[0], text=runs[0].text[4:]), *runs[1:])
        return runs

    def _add(self, block: MarkdownBlock) -> None:
        depth, quotes = min(DEEPEST, len(self.lists)), min(DEEPEST, self.quotes)
        self.blocks.append(replace(block, depth=depth, quotes=quotes, marker=self.marker))
        self.marker = ""


def inline_runs(token: Token) -> tuple[Run, ...]:
    """The styled runs of an inline token; neighbours of one style are one run."""
    runs: list[Run] = []
    strong = italic = strike = 0
    href = ""

    def add(text: str, style: RunStyle) -> None:
        if runs and runs[-1].style == style and runs[-1].href == href:
            runs[-1] = Run(runs[-1].text + text, style, href)
        elif text:
            runs.append(Run(text, style, href))

    for child in token.children or []:
        match child.type:
            case "strong_open":
                strong += 1
            case "strong_close":
                strong -= 1
            case "em_open":
                italic += 1
            case "em_close":
                italic -= 1
            case "s_open":
                strike += 1
            case "s_close":
                strike -= 1
            case "link_open":
                href = str(child.attrGet("href") or "")
            case "link_close":
                href = ""
            case "code_inline":
                add(child.content, "code")
            case "softbreak":
                add(" ", "body")
            case "hardbreak":
                add("\n", "body")
            case "image":
                address = str(child.attrGet("src") or "")
                add(f"{child.content or 'image'} ({address})", "muted")
            case _:
                add(
                    child.content,
                    "strong" if strong else "italic" if italic else "strike" if strike else "body",
                )
    return tuple(runs)


def split_stable(source: str) -> int:
    """Start of the last block of a growing text: what is before it will not change its meaning.

    A blank line outside a fence, followed by text that is neither indented nor a list item, ends a block
    for good. Reference definitions that come later are the exception, and are taken in when the text is
    complete.
    """
    fence = ""
    at = stable = 0
    was_blank = False
    for line in source.splitlines(keepends=True):
        bare = line.strip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            if was_blank and not line[0].isspace():
                stable = at
        elif was_blank and bare and not line[0].isspace() and not _continues_list(bare):
            stable = at
        was_blank = not bare and not fence
        at += len(line)
    return stable


def _continues_list(bare: str) -> bool:
    head = bare.split(maxsplit=1)[0]
    return head in "-*+" or (head[:-1].isdigit() and head[-1] in ".)")
