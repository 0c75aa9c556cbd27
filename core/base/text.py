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


def size_bytes(text: str) -> int:
    """UTF-8 bytes of a text, a lone surrogate as three. O(1) for ASCII."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def flat(text: str) -> str:
    """The text on one line, one space between words, without characters that change how it looks. Idempotent."""
    return " ".join(_UNPRINTABLE.sub("", clean(text)).split())


def atx_heading(line: str) -> tuple[int, str] | None:
    """Level (1 to 6) and title of a Markdown heading (`## Title ##`), None for any other line. O(n).

    No pattern reads it: one that leaves blanks and marks at the end out tries every length of the title.

    Source: CommonMark 0.31.2, "ATX headings" (read 2026-11-29).
    """
    marked = line.lstrip(" ")
    title = marked.lstrip("#")
    level = len(marked) - len(title)
    if len(line) - len(marked) > 3 or not 1 <= level <= 6 or (title and title[0] not in " \t\r"):
        return None
    title = title.strip(" \t\r")
    bare = title.rstrip("#")
    return level, title if bare and bare[-1] not in " \t" else bare.rstrip(" \t")


def one_line(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters, cut with an ellipsis."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
