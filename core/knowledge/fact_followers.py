"""Items that follow their structured facts: what a person says anew in a file of facts, its items say too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from core.base import paths
from core.base.disk import OS_DISK, Disk
from core.base.figures import count
from core.evidence.files import add_events
from core.evidence.quotes import item_hash
from core.evidence.strikes import is_struck
from core.facts.past import FactNews, FactNewsKind
from core.knowledge.categories import parse_file, with_items
from core.knowledge.file_writer import change_file
from core.knowledge.provenance import format_tag
from core.knowledge.reader import read_categories
from core.knowledge.twins import fact_words
from core.knowledge.wording import safe_value
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.knowledge import Category, Item

REASON = "in its file of facts"


class Followers(msgspec.Struct, frozen=True):
    """Outcome for the items of facts that a person edited or took out of a file of facts.

    Args:
        changed: ids of the facts whose items took on their words.
        left: items, `file:line: words`, that say what their fact does not: it was taken out, holds a part of a longer
            item, or both were edited. Nothing leaves a category file because it is gone from another file, which may be
            half saved, moved, or of an older day.
    """

    changed: frozenset[str] = frozenset()
    left: tuple[str, ...] = ()


def follow_facts(
    home: Path,
    news: Iterable[FactNews],
    made_of: Mapping[str, frozenset[str]],
    at: str,
    *,
    disk: Disk = OS_DISK,
) -> Followers:
    """Have the items of facts that were edited by hand say their words; each keeps its provenance and its evidence.

    The caller holds the lock of knowledge's writes. Asked again after a crash it goes on where it stopped.

    Args:
        news: of a sync; made_of: hashes of the items that each fact was made of, by id; at: ISO 8601 UTC.

    Raises:
        StorageError: a file could not be read or written; each is whole.
    """
    told = [one for one in news if one.was and one.was != one.text and one.fact_id in made_of]
    edited = [one for one in told if one.kind is FactNewsKind.EDITED]
    removed = [one for one in told if one.kind is FactNewsKind.REMOVED]
    if not (edited or removed):
        return Followers()
    standing = _standing(home)
    changes: dict[str, dict[str, str]] = defaultdict(dict)
    events: dict[str, list[ItemEvent]] = defaultdict(list)
    changed: set[str] = set()
    left: list[Item] = []
    for one in edited:
        for item in _items_of(one, made_of, standing):
            name, said = item_hash(item.category, item.text), fact_words(item.category, item.text)
            words = said_anew(item, one.was, one.text) if said == one.was else ""
            if words and name not in changes[item.file]:
                changes[item.file][name] = words
                events[item.file].append(_edited(item, words, one.fact_id, at))
                changed.add(one.fact_id)
            elif not words and said != one.text:
                left.append(item)
    for name, words_of in changes.items():
        add_events(home, events[name], disk=disk)
        path = paths.knowledge_dir(home) / name
        change_file(path, lambda data: _with_words(name, data, words_of), disk=disk)  # noqa: B023
    for one in removed:
        saying = _items_of(one, made_of, standing)
        left += (item for item in saying if fact_words(item.category, item.text) == one.was)
    places = {f"{item.file}:{item.first_line}: {item.text}" for item in left}
    return Followers(frozenset(changed), tuple(sorted(places)))


def left_words(number: int) -> str:
    """Sentence on items that say what their facts do not. Pure."""
    said = count(number, "item says", "items say")
    return f"{said} what the file of facts does not, and may enter prompts: change or delete {'it' if number == 1 else 'them'} too"


def said_anew(item: Item, was: str, now: str) -> str:
    """Words of an item once its fact says others: what the fact does not hold of it stays. Pure.

    Args:
        was, now: what the fact said, and what it says.

    Returns:
        The words, empty where it cannot be told which of the item's the fact's are.
    """
    whole = " ".join(item.text.split())
    if item.category is Category.PLAYBOOKS and whole.startswith("**"):
        name, colon, steps = now.partition(":")
        return (
            safe_value(f"**{name}**:{steps}" if colon else now)
            if fact_words(item.category, whole) == was
            else ""
        )
    if whole == was:
        return safe_value(now)
    statement, dash, detail = whole.partition(" — ")
    return safe_value(f"{now}{dash}{detail}") if dash and statement == was else ""


def _standing(home: Path) -> dict[str, list[Item]]:
    """Items of the category files by hash, without those that are struck through."""
    found: dict[str, list[Item]] = defaultdict(list)
    for file in read_categories(home):
        for item in file.items:
            if not is_struck(item.text):
                found[item_hash(item.category, item.text)].append(item)
    return found


def _items_of(
    news: FactNews, made_of: Mapping[str, frozenset[str]], standing: Mapping[str, list[Item]]
) -> Iterator[Item]:
    """Items that a fact was made of and what these became, as they stand."""
    for name in sorted(made_of[news.fact_id] & standing.keys()):
        yield from standing[name]


def _edited(item: Item, words: str, fact_id: str, at: str) -> ItemEvent:
    was, now = item_hash(item.category, item.text), item_hash(item.category, words)
    return ItemEvent(
        ItemEventKind.EDITED, at, now, item.category.value, words, (was,), reason=REASON, fact=fact_id
    )


def _with_words(name: str, data: bytes, words: Mapping[str, str]) -> bytes:
    """A category file in which items, by hash, say other words."""
    changes = []
    for item in parse_file(name, data).items:
        said = words.get(item_hash(item.category, item.text), "")
        if said and not is_struck(item.text):
            tag = f" {format_tag(item.provenance)}" if item.provenance is not None else ""
            changes.append((item, f"- {said}{tag}"))
    return with_items(data, changes)
