"""What a person does with a preview: untick, edit, choose. Values to values, no disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from core.knowledge.harvest_distil import Distilled
from core.knowledge.harvest_reply import cleaned, is_whole, new_item
from core.knowledge.harvest_similar import KnownLines
from core.values.harvest import ArtifactFacts, HarvestFailure, HarvestItem, HarvestPreview, ProposedItem
from core.values.knowledge import Category, NewItem, Provenance

_SECTIONS = {Category.TASKS_DONE: Category.TASKS_OPEN}
"""Categories whose lines stand in one file: a done task is near to an open one."""


def known_lines(texts: Iterable[tuple[Category, str]]) -> dict[Category, KnownLines]:
    """What is known, by category. Args: texts: each item's category and text."""
    known = {category: KnownLines(()) for category in Category}
    for category, text in texts:
        known[category].add(text)
    return known


def propose(
    preview: HarvestPreview,
    facts: ArtifactFacts,
    distilled: Distilled,
    known: Mapping[Category, KnownLines],
) -> HarvestPreview:
    """Add what one conversation gave. What is known exactly is shown, and not ticked.

    Args:
        known: from `known_lines`; what is proposed here is added to it, so that two conversations that say the same
            propose it once.
    """
    made: list[ProposedItem] = []
    for number, item in enumerate(distilled.items):
        text = item_text(item)
        is_known = known[item.category].has(text)
        near = () if is_known else _near(item.category, text, known)
        made.append(
            ProposedItem(
                id=f"{facts.sha256[:16]}-{number}",
                item=item,
                source=facts.name,
                artifact_path=facts.path,
                sha256=facts.sha256,
                near=near,
                is_known=is_known,
                is_ticked=not is_known,
            )
        )
        known[item.category].add(text)
    return replace(
        preview,
        sources=(*preview.sources, facts),
        items=(*preview.items, *made),
        dropped=preview.dropped + distilled.dropped,
    )


def failed(preview: HarvestPreview, facts: ArtifactFacts, reason: str) -> HarvestPreview:
    """Add a conversation that could not be harvested."""
    failure = HarvestFailure(facts.name, facts.path, facts.sha256, reason)
    return replace(preview, failures=(*preview.failures, failure))


def ticked(preview: HarvestPreview, item_id: str, *, is_ticked: bool) -> HarvestPreview:
    """Take an item into the choice, or out of it."""
    return _changed(preview, item_id, lambda found: replace(found, is_ticked=is_ticked))


def edited(preview: HarvestPreview, item_id: str, head: str, body: str) -> HarvestPreview:
    """Give an item other words, cleaned as a model's are. Words that say nothing leave it as it was."""

    def change(found: ProposedItem) -> ProposedItem:
        item = cleaned(HarvestItem(found.item.category, head, body))
        if item == found.item or not is_whole(item):
            return found
        return replace(found, item=item, is_edited=True, is_known=False)

    return _changed(preview, item_id, change)


def moved(preview: HarvestPreview, item_id: str, category: Category) -> HarvestPreview:
    """Give an item another category, where its words fit it."""

    def change(found: ProposedItem) -> ProposedItem:
        item = replace(found.item, category=category)
        return replace(found, item=item, is_edited=True) if is_whole(item) else found

    return _changed(preview, item_id, change)


def chosen(preview: HarvestPreview, facts: ArtifactFacts, at: datetime) -> tuple[NewItem, ...]:
    """What is to be written of one conversation: its ticked items with their provenance.

    Args:
        at: UTC, the day of the harvest.
    """
    provenance = Provenance(facts.name, f"{at.year:04d}-{at:%m-%d}")
    return tuple(
        new_item(one.item, provenance)
        for one in preview.items
        if one.is_ticked and (one.artifact_path, one.sha256) == (facts.path, facts.sha256)
    )


def item_text(item: HarvestItem) -> str:
    """An item as one text, as it is compared with what is known."""
    match item.category:
        case Category.PLAYBOOKS:
            return f"**{item.head}**: {item.body}"
        case Category.FILES:
            return f"{item.head}: {item.body}"
        case _:
            return f"{item.head} — {item.body}" if item.body else item.head


def _near(category: Category, text: str, known: Mapping[Category, KnownLines]) -> tuple[str, ...]:
    return known[category].near(text) or known[_SECTIONS.get(category, category)].near(text)


def _changed(
    preview: HarvestPreview, item_id: str, change: Callable[[ProposedItem], ProposedItem]
) -> HarvestPreview:
    return replace(preview, items=tuple(change(one) if one.id == item_id else one for one in preview.items))
