"""Merging of items: the lines that change, and the refusal where something would vanish. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from core.base.errors import SlopError
from core.base.figures import count
from core.evidence.quotes import item_hash
from core.evidence.strikes import is_struck
from core.knowledge.categories import parse_file
from core.knowledge.duplicates import words_of
from core.knowledge.hunks import Hunk, hunks_of, patched
from core.knowledge.provenance import joined, with_tag
from core.knowledge.wording import safe_value
from core.values.knowledge import Category, CategoryFile, Item, Provenance
from core.values.merges import MergeGroup

NOTHING = "There is nothing to merge: it takes two items at least."


class MergeRefusedError(SlopError):
    """A merge would lose something, or gain nothing: nothing was written."""


def merged_item(group: MergeGroup) -> Item:
    """The item that takes the place of a group's: its words, and every origin of theirs."""
    last = group.items[-1]
    origins = joined(item.provenance for item in group.items)
    return Item(last.category, last.file, safe_value(group.text), origins, last.section)


def merged_line(group: MergeGroup) -> str:
    """The line of that item, as it will stand."""
    item = merged_item(group)
    return f"- {with_tag(item.text, item.provenance)}"


def may_merge(items: Iterable[Item], category: Category) -> tuple[Item, ...]:
    """Items of a category that may be merged: notes belong to their files, what was replaced is history."""
    return tuple(
        item
        for item in items
        if item.category is category and category is not Category.FILES and not is_struck(item.text)
    )


def merge_hunks(name: str, data: bytes, groups: Sequence[MergeGroup]) -> tuple[Hunk, ...]:
    """Changes of a file that carry a merge out: each merged item stands where the last of its items stood.

    Args:
        name: below the knowledge directory; data: the file as it is now.

    Raises:
        MergeRefusedError: an item is not there as it was shown, a merged one says nothing, the file is no text; or an
            item or origin would vanish, or the file would not be shorter.
    """
    before = parse_file(name, data)
    if before.problem:
        raise MergeRefusedError(before.problem)
    changes: list[tuple[int, int, tuple[str, ...]]] = []
    taken: set[int] = set()
    for group in groups:
        places = [_found(before, item, taken) for item in group.items]
        if len(places) < 2 or not safe_value(group.text):
            raise MergeRefusedError(
                "A merged item says nothing, so that its items would vanish",
                remedy="Write what it says, or leave it out",
            )
        for item in places:
            new = (merged_line(group),) if item is places[-1] else ()
            changes.append((item.first_line - 1, item.last_line, new))
    changes.sort(key=lambda change: change[0])
    end = "\r" if b"\r\n" in data else ""
    hunks = hunks_of(data, [(first, last, tuple(text + end for text in new)) for first, last, new in changes])
    if any("\ufffd" in line for hunk in hunks for line in hunk.before):
        raise MergeRefusedError(f"{name} is not UTF-8 text throughout", remedy="Save it as UTF-8 first")
    check_merge(before, parse_file(name, patched(data, hunks)[0]), groups)
    return hunks


def is_unsaid(item: Item, text: str) -> bool:
    """True if a text has no word of an item's, so that nothing is left of what the item says.

    Words count by their beginning, short ones only where there are no others; of scripts without spaces, characters do.
    """
    words = _stems(item.text)
    return bool(words) and words.isdisjoint(_stems(text, least=1))


def lost_words(items: Iterable[Item], text: str) -> tuple[str, ...]:
    """Figures and names of items that a text does not have, as they were written, in their order.

    A word counts as one where it has a digit, a capital letter that no sentence begins with, or a mark inside as paths
    and identifiers have.
    """
    there = words_of(text) | {word.casefold() for word in _NAMES.findall(text)}
    found = {
        word.casefold(): word
        for item in items
        for word in _names(item.text)
        if word.casefold() not in there and words_of(word).isdisjoint(there)
    }
    return tuple(found.values())


def _stems(text: str, least: int = 4) -> frozenset[str]:
    words = words_of(text)
    single = {char for word in words if word.upper() == word and not word.isascii() for char in word}
    long = {word[:5] for word in words if len(word) >= least}
    return frozenset(long | single) or words


_NAMES = re.compile(r"\w+(?:[._:/@-]\w+)*")


def _names(text: str) -> Iterator[str]:
    for match in _NAMES.finditer(text):
        word, before = match[0], text[: match.start()].rstrip(" *\"'(`")
        is_first = not before or before[-1] in ".!?:…—"
        has_capital = any(char.isupper() for char in (word[1:] if is_first else word))
        if any(char.isdigit() for char in word) or has_capital or any(mark in word for mark in "._:/@"):
            yield word


def check_merge(before: CategoryFile, after: CategoryFile, groups: Sequence[MergeGroup]) -> None:
    """Refuse what a merge may not do, whoever proposed it. Judges the files alone.

    Raises:
        MergeRefusedError: an item that nothing replaces, or an origin, would vanish; or it would not be shorter.
    """
    gone = Counter(_name(item) for item in before.items) - Counter(_name(item) for item in after.items)
    gone -= Counter(_name(item) for group in groups for item in group.items)
    if gone:
        raise MergeRefusedError(
            f"{count(gone.total(), 'item')} of {before.name} would vanish without a replacement"
        )
    wanted = {_name(merged_item(group)) for group in groups}
    if missing := wanted - {_name(item) for item in after.items}:
        raise MergeRefusedError(f"{len(missing):,} merged items would not stand in {before.name}")
    if lost := _origins(before) - _origins(after):
        told = ", ".join(sorted(f"[from: {one.source}, {one.date}]" for one in lost)[:3])
        raise MergeRefusedError(f"The origin of an item would vanish: {told}")
    if len(after.items) >= len(before.items) or len(after.data) >= len(before.data):
        raise MergeRefusedError(
            f"{before.name} would not be shorter",
            remedy="Shorten the merged items, or leave them as they are",
        )


def _found(file: CategoryFile, wanted: Item, taken: set[int]) -> Item:
    """An item as it stands now, each line taken once."""
    same = [
        item
        for item in file.items
        if (item.text, item.provenance, item.category) == (wanted.text, wanted.provenance, wanted.category)
        and item.first_line not in taken
    ]
    if not same:
        raise MergeRefusedError(
            f"{file.name} has changed: an item is not there any more as it was shown",
            remedy="Ask for the merge again",
        )
    item = min(same, key=lambda one: abs(one.first_line - wanted.first_line))
    taken.add(item.first_line)
    return item


def _name(item: Item) -> str:
    return item_hash(item.category, item.text)


def _origins(file: CategoryFile) -> frozenset[Provenance]:
    return frozenset(one for item in file.items if item.provenance is not None for one in item.provenance.all)
