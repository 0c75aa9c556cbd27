"""Cleaning of text, for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.frame import clean, one_line

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\0b", "ab"),
        ("\ud83d\ude00 and \ud83d", "\U0001f600 and \ufffd"),
        ("\udc80\ud83d\ude00\udcff", "\ufffd\U0001f600\ufffd"),
        ("bell \x07, \u202eoverride\u202c", "bell \x07, \u202eoverride\u202c"),
    ],
)
def test_what_cannot_be_kept_is_replaced_and_the_rest_stays(given_text: str, kept: str) -> None:
    assert clean(given_text) == kept


@given(ANY_TEXT)
def test_clean_text_can_be_written_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned
    assert "\r" not in cleaned
    assert "\0" not in cleaned


@given(ANY_TEXT, st.integers(min_value=2, max_value=60))
def test_one_line_is_one_line_of_the_length_asked_for(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert line == " ".join(line.split())
