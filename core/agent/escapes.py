"""Escapes for text that a person says yes to: each character that shows nothing, or something else than it does, by its code."""

from __future__ import annotations

import unicodedata

_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Control, format (bidi among them), unassigned, private, lone surrogates, line and paragraph separators."""
_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs that no font draws anything for."""
_KEPT = frozenset("\n\t")


def escaped(text: str) -> str:
    """The text as it can be judged: `‹U+202E›` where a character would be unseen or turn what follows around.

    Line feeds and tabs stay; any other space but the plain one, and marks that choose a variant, are escaped as well.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if is_plain(char) else f"‹U+{ord(char):04X}›" for char in text)


def is_plain(char: str) -> bool:
    """True if a character shows as what it is."""
    if " " <= char <= "~" or char in _KEPT:
        return True
    kind = unicodedata.category(char)
    is_variant = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return kind not in _HIDDEN_KINDS and kind != "Zs" and not is_variant and char not in _BLANK_LETTERS


def hidden_count(text: str) -> int:
    """Number of characters that `escaped` shows by their codes."""
    return sum(not is_plain(char) for char in text)
