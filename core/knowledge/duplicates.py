"""Duplicates of known items: exactly the same, or nearly, by the words that two items share."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from core.kernel.patterns import late
from core.kernel.values.knowledge import Category, Item
from core.knowledge.evidence_rows import LogRows, is_struck, item_hash
from core.knowledge.history_text import LINKS, deletions, tombstones, undone_applies

NEAR_SHARE = 0.6
"""Share of words in common, of both items together, from which on they are shown as near-duplicates."""

MAX_POSTINGS = 2_000
"""Words that more items have than this do not tell items apart."""

RELATED_SHARE, RELATED_LIMIT = 0.5, 30
"""Share of an item's words that a text must have to be about it, and how many items are told of."""

_END_MARKS = " .!?…;,。"
"""At the end of a text, that do not tell two texts apart."""

_CATEGORIES = frozenset(category.value for category in Category)

_WORDS = late(r"\w+(?:[.:/-]\w+)*")


@dataclass(slots=True)
class Known:
    """An index over items, grown as items are written. Deterministic: the same items give the same answers."""

    items: list[Item] = field(default_factory=list)
    forgotten: frozenset[str] = frozenset()
    heirs: Mapping[str, str] = field(default_factory=dict)
    """Items that others became by edits and merges, by the names of these."""
    deleted: Mapping[str, str] = field(default_factory=dict)
    """Days on which a person deleted what no item says any more, `YYYY-MM-DD`, by the names of it."""
    _exact: dict[tuple[str, str], int] = field(default_factory=dict)
    _named: dict[str, int] = field(default_factory=dict)
    _words: list[frozenset[str]] = field(default_factory=list)
    _postings: dict[str, list[int]] = field(default_factory=dict)

    def add(self, items: Iterable[Item]) -> None:
        """Take items in. O(words)."""
        for item in items:
            number = len(self.items)
            self.items.append(item)
            self._exact.setdefault(_key(item.category, item.file, item.text), number)
            if self.heirs:
                self._named.setdefault(item_hash(item.category, item.text), number)
            self._words.append(words_of(item.text))
            for word in self._words[-1]:
                self._postings.setdefault(word, []).append(number)

    def is_forgotten(self, category: Category, text: str) -> bool:
        """True for what a person forgot, in these words or but for case and end marks."""
        return bool(self.forgotten) and not self.forgotten.isdisjoint(names_of(category, text))

    def deleted_on(self, category: Category, text: str) -> str:
        """The day, `YYYY-MM-DD`, on which a person deleted what says this; empty where nobody did."""
        if not self.deleted:
            return ""
        return next((self.deleted[name] for name in names_of(category, text) if name in self.deleted), "")

    def exact(self, category: Category, file: str, text: str) -> Item | None:
        """The item that says exactly this in the same place, or said it before a person edited or merged it.

        Case, spaces and end marks apart. Words that a person changed are known by what they became, so that no harvest
        brings them in again.

        Args:
            file: below the knowledge directory: notes on two files are never the same.
        """
        number = self._exact.get(_key(category, file, text))
        if number is None and self.heirs:
            number = self._heir(names_of(category, text))
        same = None if number is None else self.items[number]
        return same if same is not None and same.file == file else None

    def _heir(self, names: tuple[str, ...]) -> int | None:
        """The item that words became which no item says any more."""
        name = next((one for one in names if one in self.heirs), "")
        passed = set[str]()
        while name in self.heirs and name not in passed:
            passed.add(name)
            name = self.heirs[name]
            if name in self._named:
                return self._named[name]
        return None

    def near(self, text: str, *, limit: int = 3) -> tuple[Item, ...]:
        """Items that say nearly this, whatever their category, the nearest first; exact ones included."""
        words = words_of(text)
        counts: Counter[int] = Counter()
        for word in words:
            found = self._postings.get(word, ())
            if len(found) <= MAX_POSTINGS:
                counts.update(found)
        scored = ((share(words, self._words[number]), number) for number in counts)
        near = sorted(
            (-share, -number)
            for share, number in scored
            if share >= NEAR_SHARE and not is_struck(self.items[number].text)
        )
        return tuple(self.items[-number] for _, number in near[:limit])

    def related(self, text: str, *, limit: int = RELATED_LIMIT) -> tuple[Item, ...]:
        """Items that a text may be about: most of their words occur in it, the nearest first, then the newest.

        Tasks that are done, notes on files and what was replaced are left out. O(items that share a word).
        """
        words = words_of(text)
        counts: Counter[int] = Counter()
        for word in words:
            counts.update(self._postings.get(word, ()))
        scored = (
            (-count / len(self._words[number]), -number)
            for number, count in counts.items()
            if count >= RELATED_SHARE * len(self._words[number]) and _may_change(self.items[number])
        )
        return tuple(self.items[-number] for _, number in sorted(scored)[:limit])


def _may_change(item: Item) -> bool:
    return item.category not in {Category.TASKS_DONE, Category.FILES} and not is_struck(item.text)


def names_of(category: Category, text: str) -> tuple[str, str]:
    """Hashes by which an item is known when it was forgotten: of its words, and of these folded."""
    return item_hash(category, text), item_hash(category, same_text(text))


def known_items(items: Iterable[Item], rows: LogRows | None = None) -> Known:
    """An index over these items. `rows`: of the logs, by which what was forgotten, edited or merged does not come again."""
    known = Known()
    if rows is not None:
        known = Known(forgotten=tombstones(rows), heirs=_heirs(rows), deleted=_deleted(rows))
    known.add(items)
    return known


def _deleted(rows: LogRows) -> dict[str, str]:
    """Days of what a person deleted, by the names of it."""
    return {
        name: event.at[:10]
        for event in deletions(rows)
        if event.category in _CATEGORIES
        for name in (event.item, item_hash(event.category, same_text(event.text)))
    }


def _heirs(rows: LogRows) -> dict[str, str]:
    """Items that others became last, by the names of these; one that only changed its category became none. O(events)."""
    undone = undone_applies(rows)
    links = [
        one for one in rows.events if one.kind in LINKS and one.was and one.item and one.apply not in undone
    ]
    if not links:
        return {}
    words = {one.item: (one.category, one.text) for one in rows.events if one.text and one.item}
    found: dict[str, str] = {}
    for event in links:
        for was in event.was:
            category, text = words.get(was, (event.category, ""))
            if was != event.item and category == event.category:
                found[was] = event.item
                if text and category in _CATEGORIES:
                    found[item_hash(category, same_text(text))] = event.item
    return found


def words_of(text: str) -> frozenset[str]:
    """The words by which texts are compared: folded, without a final s, paths whole, single letters left out."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = (word for word in _WORDS.findall(folded) if len(word) > 1)
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in found)


@lru_cache(maxsize=4096)
def same_text(text: str) -> str:
    """A text as it is compared for being the same: folded, one space, no Markdown escape, no mark at the end."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\\", "")
    return " ".join(folded.split()).rstrip(_END_MARKS)


def _key(category: Category, file: str, text: str) -> tuple[str, str]:
    place = category.value if category is not Category.FILES else file
    return place, same_text(text)


def share(one: frozenset[str], two: frozenset[str]) -> float:
    """Share of words in common, of both texts together, 0 to 1."""
    total = len(one) + len(two)
    return 2 * len(one & two) / total if total else 0.0


# Search over items: all words anywhere in what they say or where they came from, newest first.


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
