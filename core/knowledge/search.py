"""Search over items: all words anywhere in what they say or where they came from, newest first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from core.values.knowledge import Category, Item


def search_items(items: Iterable[Item], query: str, categories: Iterable[Category] = ()) -> tuple[Item, ...]:
    """Items that hold every word of the query, case and accents of width apart.

    Args:
        items: in the order of their files; query: words, or a phrase in double quotes; empty finds all.
        categories: only these; empty for all.

    Returns:
        The newest (last) first.
    """
    wanted = frozenset(categories)
    words = query_words(query)
    found = [
        item
        for item in items
        if (not wanted or item.category in wanted) and all(word in folded(item) for word in words)
    ]
    return tuple(reversed(found))


def query_words(query: str) -> tuple[str, ...]:
    """Words and quoted phrases that an item must hold to be found, folded as `folded` does."""
    parts = _fold(query).split('"')
    loose = (word for part in parts[::2] for word in part.split())
    return tuple(dict.fromkeys((*loose, *(phrase for phrase in parts[1::2] if phrase.strip()))))


def folded(item: Item) -> str:
    """Text of an item that is searched, folded: its words and where it came from."""
    source = item.provenance.source if item.provenance is not None else ""
    return _fold(f"{item.text}\n{source}")


def _fold(text: str) -> str:
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
