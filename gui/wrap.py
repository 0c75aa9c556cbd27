"""Breaking of text into lines of a width: greedy, at spaces, between wide characters, and inside words that are too long."""

from __future__ import annotations

import re
from collections.abc import Callable

_WIDE = r"\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
_OPENING = "〈《「『【〔〖〘〚（［｛｟｢"
_CLOSING = "、。〉》」』】〕〗〙〛〜！），．：；？］｝｠｡｣､・ー"
PIECE = re.compile(rf"\n|\t|[^\S\n\t]+|[{_OPENING}]*(?:[^\s{_WIDE}]+|\S)[{_CLOSING}]*")
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
