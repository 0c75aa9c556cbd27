"""The rows of the harvest's preview: proposed items under their conversations or categories, filtered. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import msgspec

from core.values.harvest import ArtifactFacts, HarvestFailure, HarvestPreview, ProposedItem
from core.values.knowledge import CATEGORY_WORDS, Category
from panels.harvest.facts import name_of

SHOWS = ("", "ticked", "left", "changed", "known", "similar", "unquoted", "failed")
"""Filters of the preview: all, ticked, not ticked, changed by the person, known, like another, its quote left out."""


class ProposalHeading(msgspec.Struct, frozen=True):
    """A group of items: a conversation or a category. `items`: places in the preview; `facts`: of a conversation."""

    key: str
    title: str
    items: tuple[int, ...] = ()
    facts: ArtifactFacts | None = None


Row = ProposalHeading | HarvestFailure | int
"""A heading, a conversation that failed, or the place of an item in the preview."""


class Tally(msgspec.Struct, frozen=True):
    """Figures of a preview. `empty`: conversations in which nothing was found."""

    items: int
    ticked: int
    known: int
    empty: int


def tally(preview: HarvestPreview) -> Tally:
    """Count. O(items)."""
    items = preview.items
    ticked, known = sum(map(attrgetter("is_ticked"), items)), sum(map(attrgetter("is_known"), items))
    empty = len(preview.sources) - len(set(map(attrgetter("artifact_path"), items)))
    return Tally(len(items), ticked, known, max(0, empty))


def rows(preview: HarvestPreview, by: str, query: str, show: str) -> tuple[Row, ...]:
    """Rows of the list, top to bottom. O(items).

    Args:
        by: `category`, else by conversation in the order in which they were read, so that what arrives comes last.
        query: casefolded words that an item must hold; show: one of `SHOWS`.
    """
    if show == "failed":
        return preview.failures
    passing = _passing(preview.items, query, show)
    if by == "category":
        found = _by_category(preview.items, passing)
    else:
        found = _by_conversation(preview, passing, with_empty=not query and not show)
    out: list[Row] = []
    for heading in found:
        out.append(heading)
        out += heading.items
    if not show:
        out += [one for one in preview.failures if query in f"{one.name}\n{one.reason}".casefold()]
    return tuple(out)


def _passing(items: Sequence[ProposedItem], query: str, show: str) -> Sequence[int]:
    if not query and not show:
        return range(len(items))
    return [
        index
        for index, one in enumerate(items)
        if _is_shown(one, show) and (not query or query in _words(one))
    ]


def _is_shown(one: ProposedItem, show: str) -> bool:
    match show:
        case "ticked":
            return one.is_ticked
        case "left":
            return not one.is_ticked
        case "changed":
            return one.is_edited
        case "known":
            return one.is_known
        case "similar":
            return bool(one.near or one.near_here) and not one.is_known
        case "unquoted":
            return one.item.quote.is_unfound
        case _:
            return True


def _words(one: ProposedItem) -> str:
    return f"{one.item.head}\n{one.item.body}\n{one.source}".casefold()


def _by_category(items: Sequence[ProposedItem], passing: Sequence[int]) -> list[ProposalHeading]:
    groups: dict[str, list[int]] = {one: [] for one in Category}
    for index in passing:
        groups[items[index].item.category].append(index)
    return [
        ProposalHeading(name, CATEGORY_WORDS[Category(name)][1].capitalize(), tuple(group))
        for name, group in groups.items()
        if group
    ]


def _by_conversation(
    preview: HarvestPreview, passing: Sequence[int], *, with_empty: bool
) -> list[ProposalHeading]:
    groups: dict[str, list[int]] = {one.path: [] for one in preview.sources}
    items = preview.items
    for index in passing:
        path = items[index].artifact_path
        if (group := groups.get(path)) is None:
            group = groups[path] = []
        group.append(index)
    known: Mapping[str, ArtifactFacts] = {one.path: one for one in preview.sources}
    return [
        ProposalHeading(path, _title(known.get(path), items, group), tuple(group), known.get(path))
        for path, group in groups.items()
        if group or with_empty
    ]


def _title(about: ArtifactFacts | None, items: Sequence[ProposedItem], group: Sequence[int]) -> str:
    if about is not None:
        return name_of(about)
    return items[group[0]].source if group else ""
