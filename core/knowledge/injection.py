"""Items that a request holds, told by the text of its layer 7."""

from __future__ import annotations

from collections.abc import Iterable

from core.base.frame import without_blocks
from core.evidence.quotes import item_hash
from core.knowledge.projection import digest_line
from core.knowledge.provenance import with_tag
from core.values.knowledge import Item


def entered(text: str, items: Iterable[Item]) -> tuple[str, ...]:
    """Hashes of the items that a text of layer 7 holds, sorted: of the digest (cut or not) and of notes. O(items).

    Args:
        text: of the layer, empty while knowledge is off; items: all that is known.
    """
    lines = frozenset(text.split("\n"))
    found = {item_hash(item.category, item.text) for item in items if text and _stands(item, lines)}
    return tuple(sorted(found))


def _stands(item: Item, lines: frozenset[str]) -> bool:
    whole = f"- {without_blocks(with_tag(item.text, item.provenance))}".partition("\n")[0]
    return whole in lines or digest_line(item.text, item.provenance).partition("\n")[0] in lines
