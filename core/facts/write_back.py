"""Facts written into the text of their file: an item that is there is replaced, one that is not is added."""

from __future__ import annotations

from collections.abc import Sequence

from core.facts.fact_file import FactFile, parse_file
from core.facts.item_edit import added, removed, replaced
from core.facts.places import FactPlace, new_file
from core.values.facts import Fact


def with_facts(place: FactPlace, data: bytes, facts: Sequence[Fact], day: str) -> bytes:
    """Have these facts in a file; items that say so already, and every other byte, stay as they are.

    Args:
        data: the whole file, empty where there is none; day: ISO 8601, for a new one.

    Returns:
        The new content; `data` itself where the file cannot be read.
    """
    file = parse_file(place, data or new_file(place, day).encode())
    if file.is_broken:
        return data
    wanted = {fact.id: fact for fact in facts}
    text = file.text
    for item in reversed(file.items):
        fact = wanted.pop(item.id, None)
        if fact is not None and item.fact != fact:
            text = replaced(FactFile(place, text), item, fact)
    for fact in wanted.values():
        file = parse_file(place, text.encode())
        text = added(file, fact)
    return text.encode() if text != file.text or not data or facts else data


def without_fact(place: FactPlace, data: bytes, fact_id: str) -> bytes:
    """Take a fact's item out of its file."""
    file = parse_file(place, data)
    for item in reversed(file.items):
        if item.id == fact_id:
            file = FactFile(place, removed(file, item))
            return file.text.encode()
    return data
