"""Steps through text as a person sees it: characters with what belongs to them, words, paragraphs."""

from __future__ import annotations

import re
import unicodedata

JOINER = "\u200d"
_RIGHT = re.compile(r"\s*(?:\w+|[^\w\s]+|$)")


def is_extension(char: str) -> bool:
    """True if a character belongs to the one before it: a combining mark, a joiner, a variation, a skin tone."""
    if char < "\u0300":
        return False
    return char == JOINER or "\U0001f3fb" <= char <= "\U0001f3ff" or unicodedata.category(char)[0] == "M"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def after(text: str, at: int) -> int:
    """End of the cluster that begins at `at`; the text's end at its end."""
    size = len(text)
    if at >= size:
        return size
    end = at + 1
    if _is_flag(text[at]) and end < size and _is_flag(text[end]):
        end += 1
    while end < size and (is_extension(text[end]) or (text[end - 1] == JOINER and not text[end].isspace())):
        end += 1
    return end


def before(text: str, at: int) -> int:
    """Start of the cluster that ends at `at`; 0 at the text's start."""
    start = at - 1
    while start > 0 and text[start] > "\u02ff":
        if is_extension(text[start]) or text[start - 1] == JOINER:
            start -= 1
            continue
        if _is_flag(text[start]):
            first = start
            while first > 0 and _is_flag(text[first - 1]):
                first -= 1
            return start - (start - first) % 2
        break
    return max(0, start)


def word_after(text: str, at: int) -> int:
    """End of the word at or after `at`."""
    match = _RIGHT.match(text, at)
    return match.end() if match is not None else len(text)


def word_before(text: str, at: int) -> int:
    """Start of the word at or before `at`."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return _run_start(text, at)


def _kind(char: str) -> int:
    """Class of a character: the line's end, space, part of a word, anything else."""
    if char == "\n":
        return 0
    return 1 if char.isspace() else 2 if char.isalnum() or char == "_" or is_extension(char) else 3


def _run_start(text: str, at: int) -> int:
    if at <= 0:
        return 0
    kind = _kind(text[at - 1])
    while at > 0 and _kind(text[at - 1]) == kind:
        at -= 1
    return at


def word_at(text: str, at: int) -> tuple[int, int]:
    """Span of the word, the spaces or the signs at `at`; of those before it at a line's end."""
    if at >= len(text) or text[at] == "\n":
        at -= 1
    if at < 0 or text[at] == "\n":
        return at + 1, at + 1
    kind, end = _kind(text[at]), at + 1
    while end < len(text) and _kind(text[end]) == kind:
        end += 1
    return _run_start(text, at + 1), end


def paragraph_at(text: str, at: int) -> tuple[int, int]:
    """Span of the paragraph around `at`, without its line feed."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, end if end >= 0 else len(text)
