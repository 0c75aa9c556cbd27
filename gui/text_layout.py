"""Rows of a text that is edited: wrapped for a width, and after a change only where it changed."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from core.kernel.patterns import late
from gui import text_buffer
from gui.metrics import Measure
from gui.text_buffer import has_rtl, visible

if TYPE_CHECKING:
    from gui.row_order import RowOrder

TAB_SPACES = 4
_SPACES = frozenset(" \t\u3000\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u205f")
SETTLE_CHARS = 8192
"""Characters behind a change after which a row ends early, so that those after it stay as they were: text without
spaces would otherwise be laid out again to its end at each key."""
MOST_ORDERED = 20_000
"""Characters of a paragraph up to which it is put into reading order: a longer one is no text that a person reads."""
_CHUNK = 4096
_WIDE = (("\u2e80", "\u9fff"), ("\uac00", "\ud7a3"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"))


class Advances(dict[str, float]):
    """Width in pixels of each character as the editor draws it: marks for hidden ones, spaces for a tab."""

    def __init__(self, measure: Measure, style: str) -> None:
        super().__init__()
        self._table, self._size = measure.table(style), measure.sizes[style]

    def __missing__(self, char: str) -> float:
        shown = " " * TAB_SPACES if char == "\t" else visible(char)
        width = self[char] = sum(map(self._table.__getitem__, shown)) * self._size
        return width


def _is_wide(char: str) -> bool:
    return char > "\u2e7f" and any(low <= char <= high for low, high in _WIDE)


def row_end(line: str, start: int, advances: Mapping[str, float], width: float) -> int:
    """End of the row that begins at `start` of a line: at a space, between wide characters, else inside a word.

    Spaces at a break stay at the end of their row and may reach past the width. Depends on no text before
    `start`, so that rows can be laid out again from any of them.
    """
    size, guess = len(line), 128
    while True:
        sums = list(accumulate(map(advances.__getitem__, line[start : start + guess])))
        if not sums or sums[-1] > width:
            break
        if start + guess >= size:
            return size
        guess *= 2
    end = start + bisect_right(sums, width)
    if end >= size:
        return size
    if line[end] in _SPACES:
        while end < size and line[end] in _SPACES:
            end += 1
        return end
    if line[start : end + 1].isascii():
        at = max(line.rfind(" ", start, end), line.rfind("\t", start, end)) + 1
        return (at if at > start else end) if end > start else text_buffer.after(line, start)
    at = end
    while at > start:
        if line[at - 1] in _SPACES:
            return at
        if (_is_wide(line[at]) or _is_wide(line[at - 1])) and not _clings(line[at]):
            return at
        at -= 1
    while end > start + 1 and (text_buffer.is_extension(line[end]) or line[end - 1] == text_buffer.JOINER):
        end -= 1
    return end if end > start else text_buffer.after(line, start)


def _clings(char: str) -> bool:
    """True if no row may begin with a character: a mark, closing punctuation."""
    return text_buffer.is_extension(char) or unicodedata.category(char) in ("Pe", "Pf", "Po")


def row_starts(line: str, advances: Mapping[str, float], width: float) -> tuple[int, ...]:
    """Starts of a line's rows after the first."""
    if not line or (len(line) < 400 and sum(map(advances.__getitem__, line)) <= width):
        return ()
    return tuple(_starts_from(line, 0, advances, width))


def _starts_from(line: str, start: int, advances: Mapping[str, float], width: float) -> list[int]:
    found: list[int] = []
    while (start := row_end(line, start, advances, width)) < len(line):
        found.append(start)
    return found


def changed_span(old: str, new: str) -> tuple[int, int, int]:
    """Start of what differs, its end in the old text, and its end in the new one."""
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start : start + _CHUNK] == new[start : start + _CHUNK]:
        start += _CHUNK
    start = min(start, most)
    while start < most and old[start] == new[start]:
        start += 1
    tail, room = 0, most - start
    while (
        tail + _CHUNK <= room
        and old[len(old) - tail - _CHUNK : len(old) - tail]
        == (new[len(new) - tail - _CHUNK : len(new) - tail])
    ):
        tail += _CHUNK
    while tail < room and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return start, len(old) - tail, len(new) - tail


class TextLayout:
    """The rows of a text. A row has a start, an end and a number; offsets are those of the text.

    Paragraphs keep their length and where their rows begin. Sums over the paragraphs are known up to the last
    one that was asked for, and forgotten behind a change: typing where one looks costs that paragraph alone.
    """

    def __init__(self) -> None:
        self.text = ""
        self.width = 0.0
        self.advances: Mapping[str, float] = {}
        self.rows = 1
        self.laid_out = 0
        self._sizes = [0]
        self._breaks: list[tuple[int, ...]] = [()]
        self._starts = [0]
        self._firsts = [0]

    def update(self, text: str, width: float, advances: Mapping[str, float]) -> bool:
        """Take a text, a width in pixels and the widths of characters. Whether anything differs."""
        if width != self.width or advances is not self.advances:
            self.text, self.width, self.advances = text, width, advances
            self._rebuild()
            return True
        if text == self.text:
            return False
        self._change(text)
        return True

    def _rebuild(self) -> None:
        lines = self.text.split("\n")
        self._sizes = list(map(len, lines))
        self._breaks = [row_starts(line, self.advances, self.width) for line in lines]
        self.rows = sum(map(len, self._breaks)) + len(self._breaks)
        self.laid_out = len(self.text)
        self._forget(0)

    def _forget(self, paragraph: int) -> None:
        """Paragraphs after this one begin elsewhere."""
        del self._starts[paragraph + 1 :]
        del self._firsts[paragraph + 1 :]

    def _change(self, text: str) -> None:
        start, old_end, new_end = changed_span(self.text, text)
        first, last = self._paragraph(start), self._paragraph(old_end)
        begin = self._starts[first]
        tail = self._starts[last] + self._sizes[last] - old_end
        lines = text[begin : new_end + tail].split("\n")
        if len(lines) == 1 and first == last:
            edit = (start - begin, old_end - begin, new_end - begin)
            breaks = [self._rewrapped(lines[0], self._breaks[first], *edit)]
        else:
            breaks = [row_starts(line, self.advances, self.width) for line in lines]
            self.laid_out = sum(map(len, lines))
        self.rows += sum(map(len, breaks)) + len(breaks)
        self.rows -= sum(map(len, self._breaks[first : last + 1])) + last + 1 - first
        self._sizes[first : last + 1] = map(len, lines)
        self._breaks[first : last + 1] = breaks
        self.text = text
        self._forget(first)

    def _rewrapped(
        self, line: str, breaks: tuple[int, ...], start: int, old_end: int, new_end: int
    ) -> tuple[int, ...]:
        """Starts of a changed line's rows: those far enough before the change stay, those after it move."""
        if not breaks:
            self.laid_out = len(line)
            return row_starts(line, self.advances, self.width)
        row = max(0, bisect_left(breaks, start) - 1)
        found, shift = list(breaks[:row]), new_end - old_end
        at = origin = found[-1] if found else 0
        while (at := row_end(line, at, self.advances, self.width)) < len(line):
            if at > new_end:
                same = bisect_left(breaks, at - shift)
                if same < len(breaks) and (breaks[same] == at - shift or at > new_end + SETTLE_CHARS):
                    self.laid_out = at - origin
                    rest = tuple(later + shift for later in breaks[same:])
                    return (*found, *rest) if rest[0] == at else (*found, at, *rest)
            found.append(at)
        self.laid_out = len(line) - origin
        return tuple(found)

    # sums
    def _know(self, *, offset: int = -1, row: int = -1) -> None:
        """Sum up paragraphs until one reaches the offset or the row."""
        starts, firsts, count = self._starts, self._firsts, len(self._sizes)
        while (len(starts) < count and starts[-1] <= offset) or (len(starts) < count and firsts[-1] <= row):
            begin, end = len(starts) - 1, min(count - 1, len(starts) + 255)
            starts += list(accumulate((size + 1 for size in self._sizes[begin:end]), initial=starts[-1]))[1:]
            rows = (len(breaks) + 1 for breaks in self._breaks[begin:end])
            firsts += list(accumulate(rows, initial=firsts[-1]))[1:]

    def _paragraph(self, offset: int) -> int:
        self._know(offset=offset)
        return bisect_right(self._starts, offset) - 1

    # places
    def row_of(self, offset: int) -> int:
        """The row that an offset is on; between two rows of a paragraph the later one."""
        paragraph = self._paragraph(offset)
        return self._firsts[paragraph] + bisect_right(
            self._breaks[paragraph], offset - self._starts[paragraph]
        )

    def span(self, row: int) -> tuple[int, int]:
        """Start and end of a row in the text, without the line feed."""
        row = min(max(0, row), self.rows - 1)
        self._know(row=row)
        paragraph = bisect_right(self._firsts, row) - 1
        begin, breaks = self._starts[paragraph], self._breaks[paragraph]
        inner = row - self._firsts[paragraph]
        start = begin + (breaks[inner - 1] if inner else 0)
        return start, begin + (breaks[inner] if inner < len(breaks) else self._sizes[paragraph])

    def is_wrapped(self, row: int) -> bool:
        """True if the row goes on in the next one."""
        end = self.span(row)[1]
        return row + 1 < self.rows and self.text[end] != "\n"

    def last_of(self, row: int) -> int:
        """The caret's last place on a row: before the space at which it is wrapped."""
        start, end = self.span(row)
        return max(start, text_buffer.before(self.text, end)) if self.is_wrapped(row) else end

    def order_of(self, row: int) -> RowOrder | None:
        """Places of the characters of a row, None where its paragraph is read to the right."""
        if self.text.isascii():
            return None
        start, end = self.span(row)
        paragraph = self._paragraph(start)
        begin, size = self._starts[paragraph], self._sizes[paragraph]
        if size > MOST_ORDERED:
            return None
        line = self.text[begin : begin + size]
        if not has_rtl(line):
            return None
        from gui.row_order import order_of  # late: the first frame needs no order of letters

        return order_of(line, start - begin, end - begin, self.advances, self.width)

    def x_of(self, offset: int) -> float:
        """Distance in pixels of an offset from its row's left."""
        row = self.row_of(offset)
        start, order = self.span(row)[0], self.order_of(row)
        if order is not None:
            return order.x_of(offset - start)
        return sum(map(self.advances.__getitem__, self.text[start:offset]))

    def offset_at(self, row: int, x: float) -> int:
        """The place on a row that is nearest to `x`, never inside of a cluster."""
        row = min(max(0, row), self.rows - 1)
        start, last, order = self.span(row)[0], self.last_of(row), self.order_of(row)
        if order is not None:
            return self._whole(min(last, start + order.place_at(x)), start)
        sums = list(accumulate(map(self.advances.__getitem__, self.text[start:last])))
        left = start + bisect_right(sums, x)
        if left >= last:
            return last
        left = self._whole(left, start)
        right = min(last, text_buffer.after(self.text, left))
        begin = sums[left - start - 1] if left > start else 0.0
        return right if x - begin > sums[right - start - 1] - x else left

    def _whole(self, at: int, start: int) -> int:
        """The place at or before `at` that is not inside of a cluster."""
        while start < at < len(self.text) and (
            text_buffer.is_extension(self.text[at]) or self.text[at - 1] == text_buffer.JOINER
        ):
            at -= 1
        return at

    def vertical(self, offset: int, rows: int, x: float) -> int:
        """The place `rows` rows below (above when negative) at `x`; past the ends, the end itself."""
        row = self.row_of(offset) + rows
        if row < 0:
            return 0
        return len(self.text) if row >= self.rows else self.offset_at(row, x)


# Breaking of text into lines of a width: greedy, at spaces, between wide characters, and inside words that
# are too long.

_WRAP_WIDE = r"\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
_OPENING = "〈《「『【〔〖〘〚（［｛｟｢"
_CLOSING = "、。〉》」』】〕〗〙〛〜！），．：；？］｝｠｡｣､・ー"
PIECE = late(rf"\n|\t|[^\S\n\t]+|[{_OPENING}]*(?:[^\s{_WRAP_WIDE}]+|\S)[{_CLOSING}]*")
"""A piece of text that stays on one line where it fits: a word, a wide character. No line begins with a closing mark, or
ends with an opening one."""


def fit(text: str, advance: Callable[[str], float], width: float) -> int:
    """Number of the text's characters that fit the width; at least 1 when there is a text."""
    used = 0.0
    for index, char in enumerate(text):
        used += advance(char)
        if used > width:
            return max(1, index)
    return len(text)


def wrap_line(line: str, advance: Callable[[str], float], width: float) -> list[str]:
    """Break one line (no line feeds) into lines of at most `width`. Joined, they are the line again.

    Spaces at a break stay at the end of the line before it and may reach past the width.

    Args:
        advance: width of a character. A single character wider than `width` stands alone.
    """
    lines: list[str] = []
    start = end = 0
    used = 0.0
    for match in PIECE.finditer(line):
        piece = match.group()
        size = sum(map(advance, piece))
        if piece[0].isspace() or used + size <= width:
            used += size
            end = match.end()
            continue
        if end > start:
            lines.append(line[start:end])
            start, used = end, 0.0
        while size > width and len(piece) > 1:
            count = fit(piece, advance, width)
            if count >= len(piece):
                break
            lines.append(piece[:count])
            start += count
            piece = piece[count:]
            size = sum(map(advance, piece))
        used += size
        end = match.end()
    lines.append(line[start:])
    return lines


def wrap_text(text: str, advance: Callable[[str], float], width: float) -> list[str]:
    """Break a text into lines of at most `width`; line feeds always break."""
    return [part for line in text.split("\n") for part in wrap_line(line, advance, width)]
