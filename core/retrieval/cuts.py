"""Cutting a text into pieces that the embedder takes whole, at the most natural places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import msgspec

MAX_TOKENS = 254
"""Tokens of a piece; with the two that the model puts around it, its 256."""

MAX_CHARS = 2_000
"""Characters of a piece: a line without a space is one token to the model, however long it is."""

Measure = Callable[[str], Sequence[int]]
"""Start of each token in a text, in characters, in order."""

_PIECE = re.compile(r"[A-Za-z]{1,3}|\s{2,}|\n|\S")
"""Part of a text that hardly any tokenizer makes two tokens of."""

_BREAKS = (
    re.compile(r"\n[ \t]*\n+"),
    re.compile(r"\n"),
    re.compile(r"[.!?:;][\"')\]]*[ \t]+"),
    re.compile(r"[ \t]+"),
)
"""Places to cut at, the best ones first: behind a paragraph, a line, a sentence, a word."""

_KEPT = 0.5
"""Part of a piece that a better place may cost."""


class Cut(msgspec.Struct, frozen=True):
    """A run of a text from character `start` to `end`, which is not included."""

    start: int
    end: int


def cut(text: str, tokens: Sequence[int], *, limit: int = MAX_TOKENS) -> Iterator[Cut]:
    """Cut a text into pieces of at most `limit` tokens and `MAX_CHARS` characters; nothing of it is left out but blanks.

    Args:
        tokens: starts of the text's tokens, in order; limit: at least 1.
    """
    start, first = 0, 0
    while start < len(text):
        past = first + limit
        most = min(tokens[past] if past < len(tokens) else len(text), start + MAX_CHARS)
        end = most if most >= len(text) else _place(text, start, most)
        if text[start:end].strip():
            yield _stripped(text, start, end)
        start, first = end, bisect_left(tokens, end, first)


def safe_starts(text: str) -> list[int]:
    """Starts of tokens for a model whose tokenizer nobody here has: rather too many. A character of several bytes may be as
    many tokens; it counts as one fewer, for models that read such scripts have most of their characters.
    """
    return [
        at
        for found in _PIECE.finditer(text)
        for at in [found.start()]
        * (1 if found[0].isascii() else len(found[0].encode("utf-8", "replace")) - 1)
    ]


def _place(text: str, start: int, most: int) -> int:
    """The best place to cut between the middle of a piece and its end."""
    from_here = start + max(1, int((most - start) * _KEPT))
    for pattern in _BREAKS:
        last = 0
        for found in pattern.finditer(text, from_here, most):
            last = found.end()
        if last:
            return last
    return most


def _stripped(text: str, start: int, end: int) -> Cut:
    while start < end and text[start] in "\n\r":
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Cut(start, end)
