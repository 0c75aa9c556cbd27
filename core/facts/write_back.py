"""Facts written into the text of their file: an item that is there is replaced, one that is not is added."""

from __future__ import annotations

from collections.abc import Sequence

from core.facts.fact_file import FactFile, parse_file
from core.facts.item_edit import Splice, added, changed_item, line_end, spliced, with_category
from core.facts.own_form import item_text
from core.facts.places import FactPlace, new_file
from core.values.facts import Fact, FactCategory


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
    changes: list[Splice] = []
    for item in reversed(file.items):
        fact = wanted.pop(item.id, None)
        if fact is not None and item.fact != fact:
            was = file.text[item.start : item.end]
            changes.append((item.start, item.end, changed_item(was, fact)))
    text = spliced(file.text, changes)
    by_category: dict[FactCategory, list[Fact]] = {}
    for fact in wanted.values():
        by_category.setdefault(fact.category, []).append(fact)
    for several in by_category.values():
        written = "".join(map(item_text, several)).replace("\n", line_end(text))
        text = added(parse_file(place, text.encode()), several[0], written)
    return text.encode() if text != file.text or not data or facts else data


def with_item_text(file: FactFile, fact_id: str, item: str, at: int) -> str | None:
    """The file's text with an item as it was written, where it stood, else at the end of its section.

    Args:
        item: its text with every comment; at: offset in characters.

    Returns:
        None where that is no such fact, or not one alone.
    """
    fact = _fact_in(file, fact_id, item)
    if fact is None:
        item = with_category(item, fact_id)
        fact = _fact_in(file, fact_id, item)
    if fact is None:
        return None
    for text in (file.text[:at] + item + file.text[at:], added(file, fact, item)):
        made = parse_file(file.place, text.encode())
        is_there = any(one.fact == fact for one in made.items)
        if is_there and len(made.items) == len(file.items) + 1 and len(made.problems) <= len(file.problems):
            return text
    return None


def _fact_in(file: FactFile, fact_id: str, item: str) -> Fact | None:
    """The fact of an item as it would be read in a file."""
    alone = parse_file(file.place, (file.text[: file.head_end] + item).encode())
    return next((one.fact for one in alone.items if one.id == fact_id and one.fact is not None), None)
