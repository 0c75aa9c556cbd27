"""Files of facts and their index without the facts that go, whatever state their front matter is in. Pure."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from core.facts.fact_file import FactItem, loose_items
from core.facts.harvested_fact import short_text
from core.facts.index_text import index_bytes, read_index
from core.facts.item_edit import Splice, changed_item, spliced
from core.facts.places import FactPlace
from core.forgetting.redaction import Cut
from core.forgetting.words import PutBack


def facts_without(
    place: FactPlace, fact_ids: Collection[str], put_back: Collection[PutBack], data: bytes
) -> Cut:
    """A file without the items of these facts, found by their `id:` alone: a broken head keeps none of them.

    Facts that a merge took on or let expire say again what they said before, where that stands again.
    """
    text = data.decode("utf-8", "surrogateescape")
    said = {fact: one.text for one in put_back for fact in one.facts}
    count = 0
    changes: list[Splice] = []
    for item in loose_items(place, data).items:
        was = text[item.start : item.end]
        if item.id in fact_ids:
            now, count = "", count + 1
        else:
            now = _as_before(item, was, said.get(item.id))
        if now != was:
            changes.append((item.start, item.end, now))
    changed = spliced(text, changes).encode("utf-8", "surrogateescape")
    return (changed, count) if changed != data else (data, 0)


def index_without(fact_ids: Collection[str], data: bytes) -> Cut:
    """The index without the rows of these facts: a sync that remembers nothing would keep them."""
    index = read_index(data)
    rows = {key: row for key, row in index.rows.items() if key not in fact_ids}
    if len(rows) == len(index.rows):
        return data, 0
    return index_bytes(rows, index.last_updated), len(index.rows) - len(rows)


def _as_before(item: FactItem, was: str, said: str | None) -> str:
    if said is None or item.fact is None:
        return was
    whole = " ".join(said.split())
    return changed_item(was, replace(item.fact, text=short_text(whole, whole), expires=""))
