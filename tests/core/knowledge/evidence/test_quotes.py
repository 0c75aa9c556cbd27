"""Quotes count where they stand in the message that was named, as the model was shown it."""

from __future__ import annotations

import json

import pytest

from core.kernel.values.facts import Quote
from core.kernel.values.knowledge import Category
from core.knowledge.evidence_rows import MAX_QUOTE_CHARS, found_quote, holds, item_hash
from core.knowledge.harvest.distillation import distil
from core.knowledge.harvest.harvest_reply import read_reply, reply_schema
from core.knowledge.harvest.transcript import Said, prepared, with_short_ids

SHOWN = {
    "m1": (("id-1", "Six hours\n\n are  enough for the tide."), ("id-9", "Or nine.")),
    "m2": (("id-2", "No."),),
}


@pytest.mark.parametrize(
    ("turns", "text", "found"),
    [
        (("m1",), "Six hours are enough", Quote(("id-1",), "Six hours are enough")),
        (("m1",), "Or nine", Quote(("id-9",), "Or nine")),
        (("m1",), "tide. Or nine", None),
        (("m1",), " hours\tare \n enough ", Quote(("id-1",), "hours are enough")),
        (("m1",), "Seven hours are enough", None),
        (("m2",), "Six hours are enough", None),
        (("m9",), "Six hours are enough", None),
        ((), "Six hours are enough", None),
        (("m1",), "", Quote(("id-1",))),
        (("m9",), "  ", Quote()),
    ],
)
def test_a_quote_counts_only_where_it_stands_in_the_message_that_is_named(
    turns: tuple[str, ...], text: str, found: Quote | None
) -> None:
    assert found_quote(Quote(turns, text), SHOWN) == found


def test_a_quote_is_cut_after_it_was_found() -> None:
    long = "word " * 200
    found = found_quote(Quote(("m1",), long), {"m1": (("id-1", long),)})
    assert found is not None
    assert len(found.text) <= MAX_QUOTE_CHARS
    assert holds(long, found.text)
    assert found_quote(Quote(("m1",), long + "else"), {"m1": (("id-1", long),)}) is None


def test_a_quote_of_a_secret_is_compared_and_kept_without_it() -> None:
    secret = "sk-ant-api03-" + "aB3dE5fG7h" * 9
    (said,) = prepared([Said("user", f"The key is {secret} for now.", "#1")])
    found = found_quote(Quote(("m1",), f"The key is {secret} for"), {"m1": ((said.id, said.text),)})
    assert secret not in said.text
    assert found is None or secret not in found.text


def test_an_item_is_named_by_its_category_and_words_whatever_their_blanks() -> None:
    assert item_hash(Category.FACTS, "Six\n  hours") == item_hash("facts", "Six hours")
    assert item_hash(Category.FACTS, "Six hours") != item_hash(Category.DECISIONS, "Six hours")


def test_a_model_is_shown_short_ids_and_the_quote_is_kept_by_the_real_one() -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        rows = [
            {"statement": "Tides follow the moon.", "detail": "", "message": "m2", "quote": "the moon pulls"},
            {"statement": "Eight hours.", "detail": "", "message": "m1", "quote": "eight hours"},
        ]
        return json.dumps({"facts": rows})

    said = (Said("user", "Why?", "20261120-a"), Said("assistant", "Because the  moon\npulls.", "20261120-b"))
    found = distil(said, "Tides", "T.", ask)

    assert '<assistant id="m2">' in prompts[0]
    assert "20261120" not in prompts[0]
    assert [item.quote for item in found.items] == [
        Quote(("20261120-b",), "the moon pulls"),
        Quote(is_unfound=True),
    ]
    assert (found.dropped, found.unfound) == (0, 1)


def test_a_quote_is_found_in_its_own_piece_and_merging_keeps_it() -> None:
    replies = iter(
        [
            json.dumps({"facts": [{"statement": "It ebbs."}]}),
            json.dumps({"facts": [{"statement": "It ebbs.", "message": "m2", "quote": "b" * 20}]}),
        ]
    )
    said = (Said("user", "a" * 900, "one"), Said("user", "b" * 900, "two"))
    found = distil(said, "n", "t", lambda _prompt: next(replies), piece_bytes=1000)
    assert [(one.head, one.quote) for one in found.items] == [("It ebbs.", Quote(("two",), "b" * 20))]


def test_a_message_that_nobody_may_name_is_shown_without_an_id() -> None:
    said = (Said("user", "A"), Said("user", "B", "own"))
    assert [one.id for one in with_short_ids(said)] == ["", "m2"]


@pytest.mark.parametrize("row", [{}, {"message": 3, "quote": "x"}, {"message": "m1", "quote": ["x"]}])
def test_a_row_without_a_sound_quote_is_valid_and_has_none(row: dict[str, object]) -> None:
    found = read_reply(json.dumps({"facts": [{"statement": "Tides.", **row}]}))
    assert (found.items[0].quote, found.dropped) == (Quote(), 0)


def test_the_small_models_schema_asks_for_no_quotes() -> None:
    assert '"quote"' in reply_schema()
    assert '"quote"' not in reply_schema(is_small=True)
