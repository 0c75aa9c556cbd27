"""What a person made of a preview, as data: only what differs, only for what it was made of, there and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.harvest import ArtifactFacts, HarvestItem, HarvestPreview, ReviewChoice
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, Item
from core.knowledge.categories import FILE_OF
from core.knowledge.harvest.harvest_reply import Reply
from core.knowledge.harvest.preview import (
    choice_key,
    choices_of,
    chosen,
    conversation_mark,
    edited,
    folded,
    joined,
    marks_of,
    moved,
    propose,
    read_review,
    review_text,
    ticked,
    with_choices,
    without,
)
from core.knowledge.merges import known_items

AT = datetime(2026, 11, 20, tzinfo=UTC)
KNOWN = "Water is wet."
WORDS = ("Tides follow the moon.", "The earth is flat.", KNOWN)


def about(letter: str) -> ArtifactFacts:
    path = f"/h/{letter}/log.jsonl"
    return ArtifactFacts(letter, path, letter, TranscriptKind.DISCUSSION, 9, AT, sha256=letter * 64)


def preview(letter: str = "a", *words: str) -> HarvestPreview:
    """What the same replies propose, each time anew."""
    items = tuple(HarvestItem(Category.FACTS, one, "A detail.") for one in words or WORDS)
    known = known_items([Item(Category.FACTS, FILE_OF[Category.FACTS], f"{KNOWN[:-1]}. — A detail.")])
    return propose(HarvestPreview(), about(letter), Reply(items), known)


def reviewed(found: HarvestPreview) -> HarvestPreview:
    """The second unticked, the first with other words and another category."""
    first, second, _ = found.items
    found = ticked(found, [second.id], is_ticked=False)
    found = edited(found, first.id, "The moon pulls the sea.", "")
    return moved(found, first.id, Category.DECISIONS)


def test_the_same_conversation_and_replies_propose_the_same_items_under_the_same_ids() -> None:
    assert preview().items == preview().items
    assert [one.id for one in preview().items] == [f"{'a' * 16}-{number}" for number in range(3)]


def test_only_what_differs_from_the_proposal_is_kept() -> None:
    found = preview()
    assert found.items[2].is_known

    choices = choices_of(reviewed(found))

    assert choices_of(found) == {}
    assert choices == {
        choice_key(found.items[0]): ReviewChoice(
            True, HarvestItem(Category.DECISIONS, "The moon pulls the sea.")
        ),
        choice_key(found.items[1]): ReviewChoice(False),
    }


def test_what_is_put_back_as_it_was_is_not_kept() -> None:
    found = reviewed(preview())
    first, second, _ = preview().items

    back = edited(found, first.id, first.item.head, first.item.body)
    back = ticked(moved(back, first.id, Category.FACTS), [second.id], is_ticked=True)

    assert choices_of(back) == {}


def test_a_preview_that_is_made_again_is_as_the_person_left_it() -> None:
    left = reviewed(preview())

    again = with_choices(preview(), choices_of(left))

    assert again.items == left.items
    assert chosen(again, about("a"), AT) == chosen(left, about("a"), AT)
    assert choices_of(again) == choices_of(left)


def test_words_given_to_what_was_known_make_it_worth_writing_again() -> None:
    found = preview()
    known = found.items[2]
    left = ticked(edited(found, known.id, "Water is wet and cold.", ""), [known.id], is_ticked=True)

    again = with_choices(preview(), choices_of(left)).items[2]

    assert (again.is_known, again.is_ticked, again.item.head) == (False, True, "Water is wet and cold.")


def test_what_became_known_meanwhile_is_shown_as_known() -> None:
    review = choices_of(reviewed(preview()))
    known = known_items([Item(Category.FACTS, FILE_OF[Category.FACTS], "The earth is flat. — A detail.")])
    items = tuple(one.item for one in preview().items)

    again = with_choices(propose(HarvestPreview(), about("a"), Reply(items), known), review)

    assert [(one.is_known, one.is_ticked) for one in again.items[:2]] == [(False, True), (True, False)]


def test_a_choice_holds_only_for_what_it_was_made_of() -> None:
    """Another model finds other things, and numbers them alike."""
    review = choices_of(reviewed(preview()))
    other = preview("a", "Ships are heavy.", "Wind is cheap.", "Sand is old.")

    assert with_choices(other, review) == other
    assert with_choices(preview("b"), review) == preview("b")


def test_what_is_seen_wins_over_what_was_kept_and_the_rest_stays() -> None:
    both = joined([reviewed(preview("a")), reviewed(preview("b"))])
    review = choices_of(both)
    first, second, _ = preview("a").items

    now = ticked(preview("a"), [second.id], is_ticked=False)
    result = folded(review, now)

    assert choice_key(first) not in result
    assert result[choice_key(second)] == ReviewChoice(False)
    assert marks_of(result) == {conversation_mark(about(letter).sha256) for letter in "ab"}
    assert folded(result, None) is result
    other = ticked(preview("a", "Ships are heavy."), [first.id], is_ticked=False)
    assert folded(review, other).keys() > review.keys()


def test_what_is_applied_or_discarded_is_forgotten_conversation_by_conversation() -> None:
    review = choices_of(joined([reviewed(preview("a")), reviewed(preview("b"))]))

    left = without(review, [about("a")])

    assert left == choices_of(reviewed(preview("b")))
    assert without(left, [about("b")]) == {}


def test_two_conversations_with_the_same_bytes_share_their_choices() -> None:
    twin = replace(about("a"), path="/h/twin/log.jsonl")
    items = tuple(one.item for one in preview().items)
    known = known_items([])
    found = propose(propose(HarvestPreview(), about("a"), Reply(items), known), twin, Reply(items), known)
    left = edited(found, found.items[0].id, "The moon pulls.", "")

    again = with_choices(found, choices_of(left))

    assert next(one.item.head for one in again.items if one.is_ticked) == "The moon pulls."
    assert again.items[0] == left.items[0]


def test_it_is_read_as_it_was_written_and_always_the_same_bytes() -> None:
    review = choices_of(joined([reviewed(preview("b")), reviewed(preview("a"))]))

    assert read_review(review_text(review)) == review
    assert review_text(dict(reversed(review.items()))) == review_text(review)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_words_a_person_types_come_back(head: str, body: str) -> None:
    found = preview()
    left = edited(found, found.items[0].id, head, body)

    review = read_review(review_text(choices_of(left)))

    assert with_choices(found, review).items[0].item == left.items[0].item


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"v": 2, "choices": {}}', '{"v": 1}', '{"v": 1, "choices": []}', "[" * 200_000],
    ids=["nothing", "torn", "a list", "null", "another form", "no choices", "wrong choices", "deep"],
)
def test_what_is_no_review_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_review(text)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, None),
        ([], None),
        ({}, None),
        ({"ticked": "no"}, None),
        ({"later": 1}, None),
        ({"ticked": False, "later": 1}, ReviewChoice(False)),
        ({"ticked": False, "head": "x", "body": "", "category": "dreams"}, ReviewChoice(False)),
        ({"head": "x", "body": 1, "category": "facts"}, None),
        ({"head": "  ", "body": "", "category": "facts"}, None),
        ({"head": "", "body": "x", "category": "files"}, None),
        ({"head": "/a.py", "body": " ", "category": "files"}, None),
        (
            {"head": "../up", "body": "x", "category": "files"},
            ReviewChoice(None, HarvestItem(Category.FILES, "../up", "x")),
        ),
        (
            {"head": "One\n# Two", "body": "", "category": "facts"},
            ReviewChoice(None, HarvestItem(Category.FACTS, "One # Two")),
        ),
    ],
)
def test_a_choice_that_cannot_be_read_is_passed_over_and_the_others_count(
    raw: object, expected: ReviewChoice | None
) -> None:
    text = json.dumps({"v": 1, "later": True, "choices": {"a-0/1": raw, "a-1/1": {"ticked": False}}})

    found = dict(read_review(text))

    assert found.pop("a-1/1") == ReviewChoice(False)
    assert found == ({} if expected is None else {"a-0/1": expected})
