"""A Markdown text on its way to the screen: parsed and laid out once, and while it grows only at its end."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field

from gui.markdown.blocks import MarkdownBlock
from gui.markdown.layout import Laid, TextMeasure, lay_out
from gui.markdown.parse import as_lines, parse, split_stable
from gui.visible_text import visible

_loading: list[threading.Thread] = []


def is_ready() -> bool:
    """True once the parser and the highlighter are imported. If not, a thread begins to."""
    if "markdown_it.main" in sys.modules and "pygments.lexers" in sys.modules:
        return not any(thread.is_alive() for thread in _loading)
    if not _loading:
        _loading.append(threading.Thread(target=load, name="markdown-import", daemon=True))
        _loading[0].start()
    return False


def load() -> None:
    """Import the parser and the highlighter: some 90 ms, kept off the first frame."""
    import pygments.lexers

    parse("")
    pygments.lexers.get_lexer_by_name("python")


@dataclass(slots=True)
class Document:
    """The blocks of one text, and their places for one width."""

    source: str = ""
    blocks: list[MarkdownBlock] = field(default_factory=list)
    is_final: bool = False
    width: float = 0.0
    scale: float = 0.0
    laid: list[tuple[MarkdownBlock, Laid]] = field(default_factory=list)
    _settled: int = 0
    _settled_blocks: list[MarkdownBlock] = field(default_factory=list)

    def set_source(self, source: str, *, is_streaming: bool) -> None:
        """Take the text. While it streams, what came before the last block is not parsed again."""
        if source == self.source and (self.is_final or is_streaming):
            return
        if not is_ready():
            self.source, self.is_final = source, False
            self.blocks = list(as_lines(visible(source)))
            return
        if not is_streaming:
            self._settled, self._settled_blocks = 0, []
            self.blocks = list(parse(source))
        else:
            if self.is_final or not source.startswith(self.source[: self._settled]):
                self._settled, self._settled_blocks = 0, []
            tail = source[self._settled :]
            cut = split_stable(tail)
            if cut:
                self._settled_blocks = [*self._settled_blocks, *parse(tail[:cut])]
                self._settled += cut
            self.blocks = [*self._settled_blocks, *parse(tail[cut:])]
        self.source, self.is_final = source, not is_streaming

    def lay_out(self, m: TextMeasure, width: float) -> float:
        """Place the blocks for a width; those that did not change keep their place. Returns the height."""
        old = self.laid if (width, m.scale) == (self.width, self.scale) else []
        self.width, self.scale = width, m.scale
        fresh: list[tuple[MarkdownBlock, Laid]] = []
        height = 0.0
        for index, block in enumerate(self.blocks):
            known = old[index] if index < len(old) else None
            before = self.blocks[index - 1].quotes if index else 0
            is_joined = not index or (index <= len(old) and old[index - 1][0].quotes == before)
            if known is not None and is_joined and known[0] == block:
                fresh.append((block, known[1]))
            else:
                fresh.append((block, lay_out(block, m, width, is_first=not index, quotes_before=before)))
            height += fresh[-1][1].above + fresh[-1][1].height
        self.laid = fresh
        return height
