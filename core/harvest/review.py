"""Review of a preview as data that outlives it: ticks, words, categories. Values to values and to text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from core.base.json_text import read_json
from core.harvest.reply import cleaned, is_whole
from core.values.harvest import ArtifactFacts, HarvestItem, HarvestPreview, ProposedItem, Review, ReviewChoice
from core.values.knowledge import Category

_FORM = 1
_ID_CHARS = 16


def conversation_mark(sha256: str) -> str:
    """Mark at the head of the ids of a conversation's items. `sha256`: of its bytes."""
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
        raise ValueError("it is not in the form that this program writes")  # noqa: TRY004
    found = ((key, _read_choice(raw)) for key, raw in choices.items())
    return {key: choice for key, choice in found if choice is not None}


def _choice(one: ProposedItem) -> ReviewChoice | None:
    item = one.item if one.proposed not in (None, one.item) else None
    is_as_proposed = item is None and not one.is_tick_changed and one.is_replacing
    return None if is_as_proposed else ReviewChoice(one.is_ticked, item, None if one.is_replacing else False)


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
        ticked if isinstance(ticked, bool) else None,
        _read_item(raw),
        replaces if isinstance(replaces, bool) else None,
    )
    return choice if choice != ReviewChoice() else None


def _read_item(raw: dict[str, Any]) -> HarvestItem | None:
    head, body = raw.get("head"), raw.get("body")
    if not isinstance(head, str) or not isinstance(body, str):
        return None
    with suppress(ValueError):
        item = cleaned(HarvestItem(Category(str(raw.get("category"))), head, body))
        return item if is_whole(item) else None
    return None
