"""A history in words: whose day it is, who spoke, which words of the turn are the quote, and why there is none."""

from __future__ import annotations

import pytest

from core.kernel.values.facts import (
    EvidenceRow,
    HistoryKind,
    HistoryLine,
    ItemEvent,
    ItemEventKind,
    ItemHistory,
    TurnPlace,
    Witness,
)
from core.knowledge.evidence_rows import QUOTE_LEFT_OUT
from core.knowledge.history_text import (
    history_lines,
    quote_in,
    quote_words,
    role_words,
    talk_day,
    witness_line,
)

AT = "2026-11-20T12:00:00+00:00"


def witness(quote: str = "", *, is_unfound: bool = False, source: str = "2026-10-01-tides") -> Witness:
    row = EvidenceRow("a" * 64, AT, source, "/p", "b" * 64, quote=quote, is_unfound=is_unfound)
    return Witness(row, TurnPlace.LIST, "Tides")


def test_the_day_of_a_talk_is_told_from_that_of_its_harvest() -> None:
    assert witness_line(witness()) == "Tides, of 2026-10-01, harvested 2026-11-20 12:00"
    assert witness_line(witness(source="notes.md")) == "Tides, harvested 2026-11-20 12:00"
    assert [talk_day(one) for one in ("2026-13-01-x", "2026-10-01", "short", "")] == [""] * 4


def test_an_item_without_a_quote_says_whether_one_was_left_out() -> None:
    assert quote_words(witness("tides")) == ""
    assert quote_words(witness(is_unfound=True)) == QUOTE_LEFT_OUT
    assert "quotes no words" in quote_words(witness())


@pytest.mark.parametrize(
    ("turn", "quote", "found"),
    [
        ("Yes: the moon\n pulls. Twice.", "the moon pulls.", "the moon\n pulls."),
        ("the moon", "the moon", "the moon"),
        ("Other words.", "the moon", ""),
        ("a (b", "(b", "(b"),
        ("Words.", "", ""),
    ],
)
def test_the_quote_is_found_in_its_turn_whatever_its_blanks(turn: str, quote: str, found: str) -> None:
    assert quote_in(turn, quote) == found


def test_who_spoke_is_said() -> None:
    assert [role_words(one) for one in ("user", "assistant", "narrator", "")] == [
        "You said:", "The model said:", "Narrator said:", "",
    ]  # fmt: skip


def test_a_line_names_a_conversation_as_the_person_does() -> None:
    event = ItemEvent(ItemEventKind.ACCEPTED, AT, "a" * 64, source="2026-10-01-tides")
    told = ItemHistory("a" * 64, "facts", "T", (witness(),), (HistoryLine(HistoryKind.ACCEPTED, event),))
    assert "  2026-11-20 12:00  accepted (from Tides)" in list(history_lines(told))
