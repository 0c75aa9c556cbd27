"""Quotes: found in the words that a model was shown, or dropped and counted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from core.base.secrets import scrub
from core.base.text import flat
from core.evidence.strikes import unstruck
from core.values.evidence import Quote
from core.values.knowledge import Category

QUOTE_LEFT_OUT = "The quote that the model gave stands nowhere in what it read, and was left out."
MAX_QUOTE_CHARS = 300
"""Of a quoted span. Source: 40-facts.md, "Trust"."""


@lru_cache(maxsize=32_768)
def item_hash(category: Category | str, text: str) -> str:
    """Name of an item in evidence and events: the sha256 (hex) of its category and its words, blanks normalised.

    One that was struck through since has the name that it had before.
    """
    words = f"{Category(category).value}\n{' '.join(unstruck(text).split())}"
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()


def short_name(category: Category | str, text: str) -> str:
    """Name of an item that a model may say: `k` and eight hex digits, the same while its words are."""
    return short_hash(item_hash(category, text))


def short_hash(item: str) -> str:
    """The short name of an item by its hash."""
    return f"k{item[:8]}"


def quote_hash(text: str) -> str:
    """The sha256 (hex) of a quote, empty for none."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""


def found_quote(claimed: Quote, shown: Mapping[str, tuple[str, str]]) -> Quote | None:
    """A quote that a model named, as far as it is true.

    Args:
        claimed: its `turns` by the short ids that the model saw.
        shown: real id and scrubbed text of each message, by short id.

    Returns:
        The quote by real ids, cut to `MAX_QUOTE_CHARS`; empty where nothing was claimed; None where the words do not
        stand in the message that was named.
    """
    text = scrub(flat(claimed.text))
    if not text:
        return Quote(tuple(shown[turn][0] for turn in claimed.turns if turn in shown))
    holders = tuple(shown[turn][0] for turn in claimed.turns if turn in shown and holds(shown[turn][1], text))
    return Quote(holders, text[:MAX_QUOTE_CHARS].rstrip()) if holders else None


def holds(text: str, quote: str) -> bool:
    """True if a text has these words, blanks normalised. O(n)."""
    return bool(quote) and flat(quote) in flat(text)
