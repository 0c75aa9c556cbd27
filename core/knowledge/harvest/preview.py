"""A person's work on a preview: untick, edit, choose. Values to values, no disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from core.kernel.codecs import read_json
from core.kernel.language import tr
from core.kernel.values.facts import ItemWords
from core.kernel.values.harvest import (
    ArtifactFacts,
    HarvestFailure,
    HarvestItem,
    HarvestPreview,
    ProposedItem,
    Review,
    ReviewChoice,
)
from core.kernel.values.knowledge import Category, Item, NewItem, Provenance, Replacement
from core.knowledge.categories import FILE_OF, item_body
from core.knowledge.evidence_rows import is_struck, short_name
from core.knowledge.harvest.harvest_reply import Reply, cleaned, is_whole, new_item
from core.knowledge.merges import Known


def propose(
    preview: HarvestPreview, facts: ArtifactFacts, distilled: Reply, known: Known, *, ticks: bool = True
) -> HarvestPreview:
    """Add what one conversation gave. What is known exactly, or was deleted by the person, is shown and not ticked; what
    they forgot is not shown.

    Args:
        ticks: whether what is new is ticked beforehand.
        known: everything that the knowledge holds; what is proposed here is added to it, so that two conversations
            that say the same propose it once.
    """
    made: list[ProposedItem] = []
    forgotten = 0
    for number, item in enumerate(distilled.items):
        text = item_body(new_item(item, Provenance(source=facts.name, date="")))
        if known.is_forgotten(item.category, text):
            forgotten += 1
            continue
        place = FILE_OF.get(item.category, item.head)
        replaced = _replaced(item, known)
        same, near = known.exact(item.category, place, text), known.near(text)
        is_known = same is not None
        deleted_on = "" if is_known else known.deleted_on(item.category, text)
        is_wanted = ticks and not deleted_on
        made.append(
            ProposedItem(
                id=f"{facts.sha256[:16]}-{number}",
                item=item,
                source=facts.name,
                artifact_path=facts.path,
                sha256=facts.sha256,
                near=tuple(one.text for one in near if one.first_line),
                near_here=tuple(one.text for one in near if not one.first_line),
                is_known=is_known,
                is_repeated=same is not None and not same.first_line,
                is_ticked=is_wanted and not is_known,
                was_ticked=is_wanted,
                deleted_on=deleted_on,
                replaces=None if is_known else replaced,
            )
        )
        known.add([Item(category=item.category, file=place, text=text)])
    return replace(
        preview,
        sources=(*preview.sources, facts),
        items=(*preview.items, *made),
        dropped=preview.dropped + distilled.dropped,
        unfound=preview.unfound + distilled.unfound,
        forgotten=preview.forgotten + forgotten,
    )


def _replaced(item: HarvestItem, known: Known) -> Replacement | None:
    """The known item that a model says a new one replaces: the only one of that name that stands in a file."""
    if not item.replaces:
        return None
    named = [
        one
        for one in known.items
        if one.first_line and not is_struck(one.text) and short_name(one.category, one.text) == item.replaces
    ]
    return Replacement(named[0], item.reason) if len(named) == 1 else None


FIRST_SCREEN = 3
"""Items that are ticked beforehand: so many cards the smallest window (1024x700) shows before anyone scrolls."""


def grown(preview: HarvestPreview | None, part: HarvestPreview, review: Review) -> HarvestPreview:
    """A preview with one part more. What its first screen does not show is not ticked before a person ticks it. O(items)."""
    before = preview or HarvestPreview()
    room = max(0, FIRST_SCREEN - len(before.items))
    below = (replace(one, is_ticked=False, was_ticked=False) for one in part.items[room:])
    shown = replace(part, items=(*part.items[:room], *below))
    return joined((before, with_choices(shown, review)))


def joined(parts: Iterable[HarvestPreview]) -> HarvestPreview:
    """Parts, in the order in which they came, as one preview."""
    found = tuple(parts)
    return HarvestPreview(
        sources=tuple(one for part in found for one in part.sources),
        items=tuple(one for part in found for one in part.items),
        failures=tuple(one for part in found for one in part.failures),
        dropped=sum(part.dropped for part in found),
        calls=sum(part.calls for part in found),
        unfound=sum(part.unfound for part in found),
        forgotten=sum(part.forgotten for part in found),
    )


def failed(preview: HarvestPreview, facts: ArtifactFacts, reason: str) -> HarvestPreview:
    """Add a conversation that could not be harvested."""
    failure = HarvestFailure(name=facts.name, path=facts.path, sha256=facts.sha256, reason=reason)
    return replace(preview, failures=(*preview.failures, failure))


def ticked(preview: HarvestPreview, item_ids: Iterable[str], *, is_ticked: bool) -> HarvestPreview:
    """Take items into the choice, or out of it. O(items of the preview)."""
    wanted = frozenset(item_ids)
    items = (replace(one, is_ticked=is_ticked) if one.id in wanted else one for one in preview.items)
    return replace(preview, items=tuple(items))


def replacing(preview: HarvestPreview, item_id: str, *, is_replacing: bool) -> HarvestPreview:
    """Let an item replace the known item that it contradicts, or keep both."""
    return _changed(preview, item_id, lambda found: replace(found, is_replacing=is_replacing))


def edited(preview: HarvestPreview, item_id: str, head: str, body: str) -> HarvestPreview:
    """Give an item other words, cleaned as a model's are, and tick it. Words that say nothing leave it as it was."""

    def change(found: ProposedItem) -> ProposedItem:
        is_outside = found.item.is_outside and head == found.item.head  # a path that a person typed is theirs
        item = cleaned(replace(found.item, head=head, body=body, is_outside=is_outside))
        if item == found.item or not is_whole(item):
            return found
        return replace(
            found,
            item=item,
            proposed=found.proposed or found.item,
            is_edited=True,
            is_known=False,
            is_ticked=True,
        )

    return _changed(preview, item_id, change)


def moved(preview: HarvestPreview, item_id: str, category: Category) -> HarvestPreview:
    """Give an item another category, where its words fit it."""

    def change(found: ProposedItem) -> ProposedItem:
        item = replace(found.item, category=category)
        if not is_whole(item):
            return found
        return replace(found, item=item, proposed=found.proposed or found.item, is_edited=True)

    return _changed(preview, item_id, change)


def chosen(preview: HarvestPreview, facts: ArtifactFacts, at: datetime) -> tuple[NewItem, ...]:
    """Items of one conversation that are to be written: its ticked ones with their provenance.

    Args:
        at: UTC, the day of the harvest.
    """
    return tuple(_written(one, facts, at) for one in _proposed_of(preview, facts) if one.is_ticked)


def seen_again(preview: HarvestPreview, facts: ArtifactFacts, at: datetime) -> tuple[NewItem, ...]:
    """Items of one conversation that were known already, and so say once more what is known. `at`: as in `chosen`."""
    same = (one for one in _proposed_of(preview, facts) if one.is_known and not one.is_ticked)
    return tuple(_written(one, facts, at) for one in same)


def rejected(preview: HarvestPreview, facts: ArtifactFacts, at: datetime) -> tuple[NewItem, ...]:
    """Items of one conversation that the person left out, though they were new. `at`: as in `chosen`."""
    left = (one for one in _proposed_of(preview, facts) if not one.is_ticked and not one.is_known)
    return tuple(_written(one, facts, at) for one in left)


def _proposed_of(preview: HarvestPreview, facts: ArtifactFacts) -> Iterator[ProposedItem]:
    where = facts.path, facts.sha256
    return (one for one in preview.items if (one.artifact_path, one.sha256) == where)


def _written(one: ProposedItem, facts: ArtifactFacts, at: datetime) -> NewItem:
    """An item as it would be written, with the words that it was proposed with where they are others."""
    provenance = Provenance(source=facts.name, date=f"{at.year:04d}-{at:%m-%d}")
    item = replace(new_item(one.item, provenance), is_confirmed=one.is_ticked and not one.was_ticked)
    if one.is_replacing and one.is_ticked:
        item = replace(item, replaces=one.replaces)
    if one.proposed is None or one.proposed == one.item:
        return item
    before = item_body(new_item(one.proposed, provenance))
    return replace(item, proposed=ItemWords(one.proposed.category.value, before))


def _changed(
    preview: HarvestPreview, item_id: str, change: Callable[[ProposedItem], ProposedItem]
) -> HarvestPreview:
    return replace(preview, items=tuple(change(one) if one.id == item_id else one for one in preview.items))


# Review of a preview as data that outlives it: ticks, words, categories. Values to values and to text.

_FORM = 1
_ID_CHARS = 16


def conversation_mark(sha256: str) -> str:
    """Prefix of the ids of all items of one conversation. `sha256`: hex, of the conversation's bytes."""
    return sha256[:_ID_CHARS]


def marks_of(review: Review) -> frozenset[str]:
    """The marks of the conversations that a review is about. O(choices)."""
    return frozenset(key.partition("-")[0] for key in review)


def choice_key(one: ProposedItem) -> str:
    """Key that finds a choice: the item's id, and a mark of what was proposed.

    Another model or prompt proposes other things under the same ids: a choice holds only for what it was made of.
    """
    item = one.proposed or one.item
    text = json.dumps([item.category.value, item.head, item.body])
    return f"{one.id}/{hashlib.sha256(text.encode()).hexdigest()[:_ID_CHARS]}"


def choices_of(preview: HarvestPreview) -> dict[str, ReviewChoice]:
    """The person's choices in a preview, of those items that are not as they were proposed. O(items)."""
    made: dict[str, ReviewChoice] = {}
    for one in preview.items:
        choice = _choice(one)
        if choice is not None:
            made.setdefault(choice_key(one), choice)
    return made


def folded(review: Review, preview: HarvestPreview | None) -> Review:
    """A review with what the person made of a preview: that wins, also where it is as it was proposed. O(items)."""
    if preview is None:
        return review
    marks = marks_of(review)
    shown = {choice_key(one) for one in preview.items if conversation_mark(one.sha256) in marks}
    kept = {key: choice for key, choice in review.items() if key not in shown}
    return {**kept, **choices_of(preview)}


def without(review: Review, facts: Iterable[ArtifactFacts]) -> Review:
    """A review without what it says of these conversations."""
    return without_marks(review, frozenset(conversation_mark(one.sha256) for one in facts))


def without_marks(review: Review, marks: frozenset[str]) -> Review:
    """A review without what it says of the conversations with these marks."""
    return {key: choice for key, choice in review.items() if key.partition("-")[0] not in marks}


def with_choices(preview: HarvestPreview, review: Review) -> HarvestPreview:
    """A part of a preview as the person left it when they saw it last."""
    if not review or not preview.items:
        return preview
    items = ((one, review.get(choice_key(one))) for one in preview.items)
    return replace(
        preview, items=tuple(one if choice is None else _decided(one, choice) for one, choice in items)
    )


def review_text(review: Review) -> str:
    """A review as it is kept on disk."""
    choices = {key: _raw(choice) for key, choice in sorted(review.items())}
    return json.dumps({"v": _FORM, "choices": choices}, ensure_ascii=True, separators=(",", ":")) + "\n"


def read_review(text: str) -> Review:
    """Read what `review_text` wrote; a choice that cannot be read is passed over.

    Raises:
        ValueError: it is no review of this form.
    """
    data = read_json(text)
    choices = data.get("choices") if isinstance(data, dict) and data.get("v") == _FORM else None
    if not isinstance(choices, dict):
        raise ValueError(tr("the file does not have the form that this program writes"))  # noqa: TRY004
    found = ((key, _read_choice(raw)) for key, raw in choices.items())
    return {key: choice for key, choice in found if choice is not None}


def _choice(one: ProposedItem) -> ReviewChoice | None:
    item = one.item if one.proposed not in (None, one.item) else None
    is_as_proposed = item is None and not one.is_tick_changed and one.is_replacing
    return (
        None
        if is_as_proposed
        else ReviewChoice(
            is_ticked=one.is_ticked, item=item, is_replacing=None if one.is_replacing else False
        )
    )


def _decided(one: ProposedItem, choice: ReviewChoice) -> ProposedItem:
    if choice.is_ticked is not None:
        one = replace(one, is_ticked=choice.is_ticked)
    if choice.is_replacing is not None:
        one = replace(one, is_replacing=choice.is_replacing)
    if choice.item is None:
        return one
    words = choice.item
    item = replace(one.item, category=words.category, head=words.head, body=words.body)
    if item == one.item:
        return one
    is_same = (item.head, item.body) == (one.item.head, one.item.body)
    return replace(one, item=item, proposed=one.item, is_edited=True, is_known=one.is_known and is_same)


def _raw(choice: ReviewChoice) -> dict[str, Any]:
    raw: dict[str, Any] = {} if choice.is_ticked is None else {"ticked": choice.is_ticked}
    if choice.is_replacing is not None:
        raw["replacing"] = choice.is_replacing
    if choice.item is not None:
        raw |= {"category": choice.item.category.value, "head": choice.item.head, "body": choice.item.body}
    return raw


def _read_choice(raw: Any) -> ReviewChoice | None:
    if not isinstance(raw, dict):
        return None
    ticked, replaces = raw.get("ticked"), raw.get("replacing")
    choice = ReviewChoice(
        is_ticked=ticked if isinstance(ticked, bool) else None,
        item=_read_item(raw),
        is_replacing=replaces if isinstance(replaces, bool) else None,
    )
    return choice if choice != ReviewChoice() else None


def _read_item(raw: dict[str, Any]) -> HarvestItem | None:
    head, body = raw.get("head"), raw.get("body")
    if not isinstance(head, str) or not isinstance(body, str):
        return None
    with suppress(ValueError):
        item = cleaned(HarvestItem(category=Category(str(raw.get("category"))), head=head, body=body))
        return item if is_whole(item) else None
    return None
