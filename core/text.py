"""Cleaning of text where it enters the program."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Make text storable and sendable: LF line ends, no NUL, lone surrogates as U+FFFD.

    Control and bidi characters stay: they are data, and the window shows them visibly.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def one_line(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters, cut with an ellipsis."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
