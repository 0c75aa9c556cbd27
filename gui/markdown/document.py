"""A Markdown text on its way to the screen: parsed and laid out once, and while it grows only at its end."""

from __future__ import annotations

import sys
import threading

import msgspec
from msgspec.structs import replace

from gui.markdown import excerpt as places
from gui.markdown.blocks import AS_IT_COMES, NOTHING, TAB, BlockLook, Laid, MarkdownBlock, TextMeasure
from gui.markdown.excerpt import Place, everything, excerpt
from gui.markdown.layout import lay_out
from gui.markdown.parse import as_lines, parse, parse_written, split_stable
from gui.text_buffer import visible

_loading: list[threading.Thread] = []
_NEEDED = ("markdown_it.main", "linkify_it.main", "mdit_py_plugins.dollarmath.index", "pygments.lexers")


def is_ready() -> bool:
    """True once the parser and the highlighter are imported. If not, a thread begins to."""
    if all(name in sys.modules for name in _NEEDED):
        return not any(thread.is_alive() for thread in _loading)
    if not _loading:
        _loading.append(threading.Thread(target=load, name="markdown-import", daemon=True))
        _loading[0].start()
    return False


def load() -> None:
    """Import the parser with its plugins and the highlighter: some 200 ms, kept off the first frame."""
    import pygments.lexers

    parse("")
    pygments.lexers.get_lexer_by_name("python")


class Document(msgspec.Struct):
    """The blocks of one text, and their places for one width.

    Args:
        looks: how the person set single blocks; open_folds: numbers of the folds that they opened.
        awaits: something of it is being drawn.
    """

    source: str = ""
    blocks: list[MarkdownBlock] = msgspec.field(default_factory=list)
    is_final: bool = False
    is_written: bool = False
    width: float = 0.0
    scale: float = 0.0
    laid: list[tuple[MarkdownBlock, BlockLook, Laid]] = msgspec.field(default_factory=list)
    tops: list[tuple[float, Laid]] = msgspec.field(default_factory=list)
    looks: dict[int, BlockLook] = msgspec.field(default_factory=dict)
    open_folds: set[int] = msgspec.field(default_factory=set)
    awaits: bool = False
    revision: int = 0
    _settled: int = 0
    _settled_shown: int = 0
    _settled_blocks: list[MarkdownBlock] = msgspec.field(default_factory=list)
    _found: tuple[object, list[tuple[int, int, int]]] = (None, [])

    def set_source(self, source: str, *, is_streaming: bool, is_written: bool = False) -> None:
        """Take the text. While it streams, what came before the last block is not parsed again.

        Args:
            is_written: a person's words, shown as they were written but for fenced code.
        """
        if source == self.source and (self.is_final or is_streaming) and is_written == self.is_written:
            return
        self.is_written = is_written
        self.revision += 1
        if not is_ready():
            self.source, self.is_final = source, False
            self.blocks = list(as_lines(visible(source)))
            return
        if is_written:
            self.blocks = list(parse_written(source))
        elif not is_streaming:
            self._settled, self._settled_shown, self._settled_blocks = 0, 0, []
            self.blocks = list(parse(source))
        else:
            self._grow(source)
        self.source, self.is_final = source, not is_streaming

    def _grow(self, source: str) -> None:
        if self.is_final or not source.startswith(self.source[: self._settled]):
            self._settled, self._settled_shown, self._settled_blocks = 0, 0, []
        tail = source[self._settled :]
        cut = split_stable(tail)
        if cut:
            stable = parse(tail[:cut], base=self._settled_shown)
            self._settled_blocks = [*self._settled_blocks, *stable]
            self._settled += cut
            self._settled_shown += len(visible(tail[:cut]))
        self.blocks = [*self._settled_blocks, *parse(tail[cut:], base=self._settled_shown)]

    def lay_out(self, m: TextMeasure, width: float) -> float:
        """Place the blocks for a width; those that did not change keep their place. Returns the height."""
        old = self.laid if (width, m.scale) == (self.width, self.scale) else []
        self.width, self.scale = width, m.scale
        fresh: list[tuple[MarkdownBlock, BlockLook, Laid]] = []
        self.tops, y = [], 0.0
        before, was_before, awaits = 0, 0, False
        for index, block in enumerate(self.blocks):
            known = old[index] if index < len(old) else None
            look = self.look(index, block)
            is_joined = not index or (index <= len(old) and was_before == before)
            if any(fold not in self.open_folds for fold in block.folds):
                laid = NOTHING
            elif (
                known is not None
                and is_joined
                and known[2] is not NOTHING
                and not known[2].awaits
                and known[:2] == (block, look)
            ):
                laid = known[2]
            else:
                laid = lay_out(block, m, width, is_first=not index, quotes_before=before, look=look)
            fresh.append((block, look, laid))
            awaits |= laid.awaits
            self.tops.append((y + laid.above, laid))
            y += laid.above + laid.height
            before, was_before = block.quotes, known[0].quotes if known is not None else 0
        self.laid, self.awaits = fresh, awaits
        return y

    # what the person set
    def look(self, index: int, block: MarkdownBlock) -> BlockLook:
        """Look of a block."""
        if block.kind == "fold":
            return BlockLook(is_open=block.fold in self.open_folds)
        return self.looks.get(index, AS_IT_COMES)

    def toggle_fold(self, fold: int) -> None:
        """Open what is folded, or close it."""
        self.open_folds.symmetric_difference_update({fold})

    def toggle_wrap(self, index: int) -> None:
        """Wrap the lines of a code, or let them be scrolled."""
        look = self.looks.get(index, AS_IT_COMES)
        self.looks[index] = BlockLook(wraps=not look.wraps, is_source=look.is_source)

    def toggle_source(self, index: int) -> None:
        """Show the source of a diagram, or its drawing."""
        look = self.looks.get(index, AS_IT_COMES)
        self.looks[index] = BlockLook(is_source=not look.is_source)

    def shift(self, index: int, to: float) -> bool:
        """Scroll a code sideways; whether that changed anything."""
        reach = self.tops[index][1].reach if index < len(self.tops) else None
        if reach is None:
            return False
        to = max(0.0, min(to, reach.content - reach.w))
        if to == reach.shift:
            return False
        self.looks[index] = replace(self.looks.get(index, AS_IT_COMES), shift=to)
        return True

    def bring(self, m: TextMeasure, index: int, offset: int) -> bool:
        """Open the folds around a place and scroll its code to it; whether that changed anything."""
        block = self.blocks[index]
        closed = set(block.folds) - self.open_folds
        if closed:
            self.open_folds |= closed
            return True
        reach = self.tops[index][1].reach
        if reach is None:
            return False
        start, _ = places.line_at(block.text, offset)
        x = m.width(block.text[start:offset].replace("\t", TAB), "mono")
        is_in_view = reach.shift <= x <= reach.shift + reach.w * 0.8
        return not is_in_view and self.shift(index, x - reach.w / 3)

    # selection
    def place_at(self, m: TextMeasure, x: float, y: float) -> Place:
        """The place nearest to a point."""
        return places.place_at(self.tops, m, x, y)

    def around(self, place: Place, clicks: int) -> tuple[Place, Place]:
        """Range that one click selects at a place (nothing), two (the word), three (the paragraph)."""
        if not self.blocks or clicks < 2:
            return place, place
        index = min(place[0], len(self.blocks) - 1)
        block = self.blocks[index]
        find = places.word_at if clicks == 2 else places.paragraph_at
        start, end = find(block, min(place[1], len(block.shown())))
        return (index, start), (index, end)

    def boxes(self, m: TextMeasure, start: Place, end: Place) -> list[places.Box]:
        """Boxes of the text between two places."""
        found: list[places.Box] = []
        for index in range(start[0], min(end[0] + 1, len(self.tops))):
            top, laid = self.tops[index]
            first = start[1] if index == start[0] else 0
            last = end[1] if index == end[0] else sys.maxsize
            found += [(x, y + top, w, h) for x, y, w, h in places.boxes(laid, m, first, last)]
        return found

    def all(self) -> tuple[Place, Place]:
        """The places around everything."""
        return everything(self.blocks)

    def excerpt(self, start: Place, end: Place) -> str:
        """Markdown of what lies between two places."""
        return excerpt(self.blocks, visible(self.source), start, end)

    # search
    def occurrences(self, terms: tuple[str, ...]) -> list[tuple[int, int, int]]:
        """Block, start and end of every occurrence of a term, whatever its case."""
        asked = (terms, self.revision)
        if self._found[0] != asked:
            self._found = (asked, places.occurrences(self.blocks, terms))
        return self._found[1]
