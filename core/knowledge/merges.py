"""Merging of items: which say the same, the lines that change, and the refusal where something would vanish. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from core.kernel.errors import SlopError
from core.kernel.figures import count, money, price
from core.kernel.frame import flat
from core.kernel.language import as_sentences, tr
from core.kernel.patterns import late
from core.kernel.values.knowledge import (
    Category,
    CategoryFile,
    DraftKind,
    Item,
    MergeGroup,
    MergeProposal,
    Provenance,
    item_data,
)
from core.knowledge.categories import format_tag, joined, parse_file, safe_value, with_tag
from core.knowledge.evidence_rows import LogRows, is_struck, item_hash
from core.knowledge.history_text import LINKS, deletions, tombstones, undone_applies
from core.knowledge.parts import Hunk, hunks_of, patched

NEAR_SHARE, NEAR_LIMIT = 0.6, 3
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

    def near(self, text: str) -> tuple[Item, ...]:
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
        return tuple(self.items[-number] for _, number in near[:NEAR_LIMIT])

    def related(self, text: str) -> tuple[Item, ...]:
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
        return tuple(self.items[-number] for _, number in sorted(scored)[:RELATED_LIMIT])


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


# Merging of items: the lines that change, and the refusal where something would vanish. Pure.

NOTHING = tr("There is nothing to merge: a merge needs at least two items.")


class MergeRefusedError(SlopError):
    """A merge would lose something, or gain nothing: nothing was written."""


def merged_item(group: MergeGroup) -> Item:
    """The item that takes the place of a group's: its words, and every origin of theirs."""
    last = group.items[-1]
    origins = joined(item.provenance for item in group.items)
    return Item(
        category=last.category,
        file=last.file,
        text=safe_value(group.text),
        provenance=origins,
        section=last.section,
    )


def merged_line(group: MergeGroup) -> str:
    """The line of the merged item."""
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
                tr("A merged item is empty, so its items would vanish"),
                remedy=tr("Write the text of the merged item, or leave that merge out"),
            )
        for item in places:
            new = (merged_line(group),) if item is places[-1] else ()
            changes.append((item.first_line - 1, item.last_line, new))
    changes.sort(key=lambda change: change[0])
    end = "\r" if b"\r\n" in data else ""
    hunks = hunks_of(data, [(first, last, tuple(text + end for text in new)) for first, last, new in changes])
    if any("\ufffd" in line for hunk in hunks for line in hunk.before):
        raise MergeRefusedError(
            tr("{name} is not UTF-8 text everywhere", name=name), remedy=tr("Save the file as UTF-8 first")
        )
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


_NAMES = late(r"\w+(?:[._:/@-]\w+)*")


def _names(text: str) -> Iterator[str]:
    for match in _NAMES.finditer(text):
        word, before = match[0], text[: match.start()].rstrip(" *\"'(`")
        is_first = not before or before[-1] in ".!?:…—"
        has_capital = any(char.isupper() for char in (word[1:] if is_first else word))
        if any(char.isdigit() for char in word) or has_capital or any(mark in word for mark in "._:/@"):
            yield word


def check_merge(before: CategoryFile, after: CategoryFile, groups: Sequence[MergeGroup]) -> None:
    """Refuse a forbidden merge, whoever proposed it. Reads nothing but the given files.

    Raises:
        MergeRefusedError: an item that nothing replaces, or an origin, would vanish; or it would not be shorter.
    """
    gone = Counter(_name(item) for item in before.items) - Counter(_name(item) for item in after.items)
    gone -= Counter(_name(item) for group in groups for item in group.items)
    if gone:
        raise MergeRefusedError(
            tr(
                "The new {file} would lack {items}, and nothing replaces them",
                items=count(gone.total(), tr("item"), tr("items")),
                file=before.name,
            )
        )
    wanted = {_name(merged_item(group)) for group in groups}
    if missing := wanted - {_name(item) for item in after.items}:
        raise MergeRefusedError(
            tr(
                "The new {file} would lack {items:,} of the merged items",
                items=len(missing),
                file=before.name,
            )
        )
    if lost := _origins(before) - _origins(after):
        told = ", ".join(sorted(f"[from: {one.source}, {one.date}]" for one in lost)[:3])
        raise MergeRefusedError(tr("The origin of an item would vanish: {origin}", origin=told))
    if len(after.items) >= len(before.items) or len(after.data) >= len(before.data):
        raise MergeRefusedError(
            tr("{name} would not be shorter", name=before.name),
            remedy=tr("Shorten the merged items, or leave them as they are"),
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
            tr("{name} has changed: an item is gone or different now", name=file.name),
            remedy=tr("Ask for the merge again"),
        )
    item = min(same, key=lambda one: abs(one.first_line - wanted.first_line))
    taken.add(item.first_line)
    return item


def _name(item: Item) -> str:
    return item_hash(item.category, item.text)


def _origins(file: CategoryFile) -> frozenset[Provenance]:
    return frozenset(one for item in file.items if item.provenance is not None for one in item.provenance.all)


# Drafts of prompts and tools, made from playbooks: nothing reads or runs them until a person renames them.
# Pure.

FOLDER = "drafts"
SUFFIX = ".draft"
NO_PLAYBOOK = tr("You can make a draft only from a playbook")

_NAMED = late(r"\*\*(.+?)\*\*:?[ \t]*", re.DOTALL)
_STEP = late(r"(?:^|(?<=[\s.;]))\d{1,2}[.)][ \t]+")
_MERGES_WORDS = late(r"[^a-z0-9]+")
_MARK = late(r"\([0-9a-f]{16}\)")


_ENDS = {DraftKind.PROMPT: ".md", DraftKind.TOOL: ".sh"}


def named_playbook(item: Item) -> tuple[str, str]:
    """The name of a playbook and its steps; the first words name one without a name."""
    match = _NAMED.match(item.text)
    if match is not None and item.text[match.end() :].strip():
        return flat(match[1]).strip("# ") or "Playbook", item.text[match.end() :].strip()
    return " ".join(flat(item.text).split()[:6]), item.text.strip()


def steps_of(text: str) -> tuple[str, ...]:
    """Steps of a playbook, a line each: as they are numbered or stand on lines of their own, else by sentence ends."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        return tuple(re.sub(r"^(?:[-*+]|\d{1,2}[.)])[ \t]+", "", flat(line)) for line in lines)
    whole = flat(" ".join(lines))
    parts = [part.strip(" ;") for part in _STEP.split(whole)] if _STEP.match(whole) else [whole]
    found = [part for part in parts if part]
    if len(found) == 1:
        found = [part.strip() for part in re.split(r"(?<=[.;])[ \t]+", whole) if part.strip(" ;.")]
    return tuple(found)


def draft_name(item: Item, kind: DraftKind, taken: Collection[str]) -> str:
    """Name of a draft below the knowledge directory, none of those that are taken.

    Args:
        taken: names that are there, as this gives them.
    """
    title, _ = named_playbook(item)
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _MERGES_WORDS.sub("-", plain).strip("-")[:60].rstrip("-") or "playbook"
    for number in range(1, len(taken) + 2):
        name = f"{FOLDER}/{slug}{'' if number == 1 else f'-{number}'}{_ENDS[kind]}{SUFFIX}"
        if name not in taken:
            return name
    raise AssertionError("one of them is free")


def becomes(name: str) -> str:
    """The name of a draft after a person accepts it."""
    return name.rpartition("/")[2].removesuffix(SUFFIX)


def draft_mark(item: str) -> str:
    """Mark of a playbook in its drafts. `item`: its hash, as evidence has it."""
    return f"({item[:16]})"


def marks_in(text: str) -> tuple[str, ...]:
    """Marks of the playbooks that a draft's text names."""
    return tuple(_MARK.findall(text))


def draft_text(item: Item, kind: DraftKind, name: str) -> str:
    """The text of a draft. Every line of a tool is a comment but the one that ends it: run by mistake, it does nothing."""
    title, steps = named_playbook(item)
    lines = steps_of(steps)
    tag = format_tag(item.provenance) if item.provenance is not None else "[written by hand]"
    origin = f"{draft_mark(item_hash(item.category, item.text))} {tag}"
    if kind is DraftKind.PROMPT:
        told = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
        return (
            f"<!-- Draft from a playbook {_safe_comment(origin)}. Nothing reads it until you rename it to {becomes(name)}. -->\n"
            f"# {title}\n\nFollow these steps, in this order. Say which one you are at.\n\n{told}\n"
        )
    told = "\n".join(f"# {number}. {line}" for number, line in enumerate(lines, 1))
    return (
        "#!/bin/sh\n"
        f"# {title}\n"
        f"# Draft from a playbook {origin}. Nothing runs it: write the commands, then rename it to {becomes(name)}.\n"
        f"#\n{told}\n\n"
        'echo "this is a draft: write its commands first" >&2\nexit 1\n'
    )


def _safe_comment(text: str) -> str:
    return text.replace("--", "- -")


# A proposed merge as text and as plain data: each item that goes, and the one that takes its place. Pure.


def item_text(item: Item) -> str:
    """An item's line as it stands, on one line."""
    return f"- {with_tag(flat(item.text), item.provenance)}"


def merge_lines(merge: MergeProposal) -> Iterator[str]:
    """A proposal as a difference: what goes with a minus, what takes its place with a plus."""
    for group in merge.groups:
        yield tr(
            "{file}: merge {items} into one item, because: {reason}",
            file=merge.file,
            items=count(len(group.items), tr("item"), tr("items")),
            reason=group.reason,
        ).rstrip(": ")
        yield from (f"-{item_text(item)[1:]}" for item in group.items)
        yield f"+{merged_line(group)[1:]}"
        if group.lost:
            yield f"  {lost_text(group)}"
        yield ""
    yield summary(merge)


def lost_text(group: MergeGroup) -> str:
    """Warning of figures and names that a merge would drop, empty where it drops none."""
    return tr("this merge would lose: {lost}", lost=", ".join(group.lost)) if group.lost else ""


def offer_words(who: str, count_read: int, file: str) -> str:
    """Sentence before a model is asked for a merge. `who`: the model by its name; `count_read`: items that there are."""
    return tr(
        "{model} reads {items} in {file} and proposes which items to merge. You see each merge before the program writes anything.",
        model=who,
        items=count(count_read, tr("item"), tr("items")),
        file=file,
    )


def ask_words(cost_usd: float | None) -> str:
    """Label of the button that asks for a proposal, with what that is expected to cost."""
    return tr("Ask for a merge ({cost_usd})", cost_usd=price(cost_usd))


def cost_words(merge: MergeProposal) -> str:
    """Sentence on what asking for a proposal cost; empty where nothing was asked, as of a kept reply."""
    if not merge.calls:
        return ""
    return (
        tr("The proposal was free.")
        if merge.cost_usd == 0
        else tr("The proposal cost {cost_usd}.", cost_usd=money(merge.cost_usd))
    )


def summary(merge: MergeProposal, who: str = "") -> str:
    """A proposal in a sentence. `who`: the model by its name, by default as the provider calls it."""
    read = tr(
        "{model} read {read:,} of {items}",
        model=who or merge.model or merge.provider,
        read=merge.read,
        items=count(merge.total, tr("item"), tr("items")),
    )
    dropped = (
        tr(
            "The program left out {merges} with unknown or empty items",
            merges=count(merge.dropped, tr("proposed merge"), tr("proposed merges")),
        )
        if merge.dropped
        else ""
    )
    result = (
        tr(
            "{gone:,} of these items would become {merged:,}",
            gone=sum(len(group.items) for group in merge.ticked),
            merged=len(merge.ticked),
        )
        if merge.groups
        else tr("The model proposes no merge")
    )
    return as_sentences(read, result, dropped, is_closed=True)


def merge_data(merge: MergeProposal) -> dict[str, Any]:
    """A proposal as plain data."""
    return {
        "category": merge.category.value,
        "file": merge.file,
        "provider": merge.provider,
        "model": merge.model,
        "read": merge.read,
        "total": merge.total,
        "dropped": merge.dropped,
        "calls": merge.calls,
        "cost_usd": merge.cost_usd,
        "groups": [group_data(group) for group in merge.groups],
    }


def group_data(group: MergeGroup) -> dict[str, Any]:
    """A group as plain data. `merged`: the item that would stand there."""
    return {
        "id": group.id,
        "reason": group.reason,
        "text": group.text,
        "is_ticked": group.is_ticked,
        "is_edited": group.is_edited,
        "lost": list(group.lost),
        "items": [item_data(item) for item in group.items],
        "merged": item_data(merged_item(group)),
    }
