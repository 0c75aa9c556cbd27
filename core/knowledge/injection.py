"""Items and structured facts that a request holds, told by the text of its layer 7."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from core.base.frame import without_blocks
from core.evidence.quotes import item_hash
from core.knowledge.projection import digest_line
from core.knowledge.provenance import with_tag
from core.values.facts import IndexedFact
from core.values.knowledge import Item

_FACTS = re.compile(r"^<(facts(?:-[0-9]+)?)>\n(.*?)^</\1>$", re.MULTILINE | re.DOTALL)


def entered(text: str, items: Iterable[Item]) -> tuple[str, ...]:
    """Hashes of the items that a text of layer 7 holds, sorted: of the digest (cut or not) and of notes. O(items).

    Args:
        text: of the layer, empty while knowledge is off; items: all that is known.
    """
    lines = frozenset(text.split("\n"))
    found = {item_hash(item.category, item.text) for item in items if text and _stands(item, lines)}
    return tuple(sorted(found))


def entered_facts(text: str, ranked: Iterable[IndexedFact]) -> tuple[str, ...]:
    """Ids of the structured facts that a text of layer 7 holds between its tags of facts, sorted. O(facts).

    Args:
        ranked: those that may enter a prompt, best first: of several that say the same, the best one did.
    """
    lines = Counter(line for block in _FACTS.finditer(text) for line in block[2].splitlines())
    found = []
    for fact in ranked if lines else ():
        line = fact_line(fact.text)
        if lines[line] > 0:
            lines[line] -= 1
            found.append(fact.id)
    return tuple(sorted(found))


def fact_line(text: str) -> str:
    """Line of a fact between these tags, without its end."""
    return f"- {without_blocks(text)}"


def _stands(item: Item, lines: frozenset[str]) -> bool:
    whole = f"- {without_blocks(with_tag(item.text, item.provenance))}".partition("\n")[0]
    return whole in lines or digest_line(item.text, item.provenance).partition("\n")[0] in lines
