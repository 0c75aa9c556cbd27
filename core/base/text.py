"""Cleaning of text where it enters the program."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")
_PAIRS = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Make text storable and sendable: LF line ends, no NUL, lone surrogates as U+FFFD.

    Two surrogates that make a character become it: a model's stream may cut an emoji in two. Control and bidi
    characters stay: they are data, and the window shows them visibly.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii() or not _SURROGATES.search(text):
        return text
    return _SURROGATES.sub("\ufffd", _PAIRS.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def flat(text: str) -> str:
    """The text on one line, one space between words, without characters that change how it looks. Idempotent."""
    return " ".join(_UNPRINTABLE.sub("", clean(text)).split())


def one_line(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters, cut with an ellipsis."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
