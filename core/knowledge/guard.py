"""The guard before much is taken out of a category at once: it asks, with the list, whoever gives the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.base.errors import SlopError
from core.base.figures import count
from core.evidence.strikes import is_struck
from core.values.knowledge import Category, Item

MOST_ITEMS, MOST_SHARE = 3, 0.1
"""Items, or their share, that may go out of a category without a question. Source: 40-facts.md, "Trust"."""

REMEDY = "Look at the list, and confirm it if that is what you want"


class RemovalError(SlopError):
    """Much would be taken out and nobody has agreed; nothing was. `items`: all that would go."""

    def __init__(self, what: str, items: tuple[Item, ...]) -> None:
        super().__init__(what, remedy=REMEDY)
        self.items = items


def removal_sentence(removed: Iterable[Item], known: Iterable[Item], *, merged: int = 0) -> str:
    """The question before items are taken out, empty where none is to be asked.

    Args:
        removed: what would go, struck through or out of its file; known: all items as they stand now.
        merged: how many items, that say what those say, take their place; 0 where none do.
    """
    totals = Counter(item.category for item in known if not is_struck(item.text))
    counts = Counter(item.category for item in removed)
    over = [c for c in Category if counts[c] > MOST_ITEMS and counts[c] > MOST_SHARE * totals[c]]
    told = (f"{counts[c]:,} of {totals[c]:,} {c.value.replace('_', ' ')}" for c in over)
    if not over:
        return ""
    if merged:
        words = f"This would put {count(merged, 'item')} in the place of {', '.join(told)}"
        return f"{words}; the file as it was is kept, and Undo brings it back"
    return f"This would take out {', '.join(told)}"


def check_removal(
    removed: tuple[Item, ...], known: Iterable[Item], *, is_agreed: bool, merged: int = 0
) -> None:
    """Let an operation go on, or not. `merged`: as of `removal_sentence`.

    Raises:
        RemovalError: it would take out too much at once, and nobody has agreed.
    """
    sentence = "" if is_agreed else removal_sentence(removed, known, merged=merged)
    if sentence:
        raise RemovalError(sentence, removed)
