"""The receipt in a person's words: what was found and done, the rest in one line, figures that agree."""

from __future__ import annotations

import pytest

from core.app.forgetting.forgetting_places import (
    PLACES,
    READ_AGAIN,
    found_lines,
    headline,
    nothing_found,
    place,
    preview_text,
    receipt_text,
)
from core.kernel.codecs import from_json, to_json
from core.kernel.language import english, tr
from core.kernel.values.knowledge import Category, ForgetPreview, ForgetReceipt, ForgetTarget, PlaceReport

TALK = ForgetTarget(("a",))


def receipt(*rows: PlaceReport, **more: object) -> ForgetReceipt:
    made: ForgetReceipt = ForgetReceipt("i", "2026-11-23T00:00:00Z", ("a",), places=rows, **more)  # type: ignore[arg-type]
    return made


def test_only_what_was_done_has_a_line_and_the_rest_is_one() -> None:
    text = receipt_text(
        receipt(
            PlaceReport("discussions", 1, "the conversation's folder is gone"),
            PlaceReport("trash", 0, "no folder of the conversation's files is left"),
            PlaceReport("facts", 1, READ_AGAIN),
            PlaceReport("digest", 1, "the program wrote the digest again without the forgotten words"),
            PlaceReport("drafts", 0, "read again"),
            PlaceReport("strangers", 0, ""),
            items=1,
            facts=1,
        )
    )

    lines = text.splitlines()
    assert lines[0] == "Forgotten: 1 conversation, 1 item, 1 fact."
    assert lines[2:6] == [
        "  1 conversation with draft, queue, replies, files and cache: the conversation's folder is gone",
        "  1 structured fact",
        "  Emptied, or built again without the forgotten words: the digest",
        "  The program read the remaining knowledge again: none of the words are left",
    ]
    assert lines[7] == "The program found nothing to remove in: the trash, drafts made from playbooks."
    assert ": 0" not in text


@pytest.mark.usefixtures("german")
def test_a_receipt_that_was_kept_is_told_in_the_language_that_is_spoken() -> None:
    kept = from_json(
        to_json(
            receipt(
                PlaceReport("discussions", 1, english(place("discussions").checked)),
                PlaceReport("facts", 1, english(READ_AGAIN)),
            )
        ),
        ForgetReceipt,
    )

    (folder, _), (facts, _), _ = found_lines(kept)

    assert folder.endswith(tr("the conversation's folder is gone"))
    assert ":" not in facts
    assert receipt_text(kept).startswith("Vergessen: ")
    assert english(headline(kept)) == "Forgotten: 1 conversation, 0 items."


def test_a_problem_is_told_even_where_nothing_was_found() -> None:
    row = PlaceReport("catalog", 0, "", "another program uses the file")

    assert found_lines(receipt(row)) == [
        ("The list of conversations and its search index: another program uses the file", True)
    ]
    assert nothing_found(receipt(row)) == ""


def test_conversations_that_hold_words_still_are_named() -> None:
    text = receipt_text(receipt(holders=("b",)), {"b": "Tides  (in the trash)"})

    assert "  b  Tides  (in the trash)" in text.splitlines()


def test_before_the_deed_it_says_how_much_goes() -> None:
    branches = ForgetTarget(("a", "b", "c"))
    item = ForgetTarget((), Category.FACTS, "Tides.", "facts.md")
    assert (
        preview_text(ForgetPreview(branches, 1, 5))
        == "The program also deletes 1 item, 5 structured facts and 2 branches."
    )
    assert (
        preview_text(ForgetPreview(TALK, 2, 0, 1))
        == "The program also deletes 2 items. 1 item stays, because it has another source."
    )
    assert preview_text(ForgetPreview(item, 1, 1)) == "The program also deletes 1 structured fact."
    assert preview_text(ForgetPreview(item, 1, 0)) == "The program deletes nothing else."


def test_every_place_says_how_it_was_seen() -> None:
    silent = [one.id for one in PLACES if not one.is_wordless and not one.checked]

    assert silent == ["strangers", "intents"]
