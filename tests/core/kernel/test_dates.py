"""Days meet in words and in numbers, whoever wrote them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.search_terms import date_words, day_words
from core.kernel.words import MAX_TERMS, query_terms


@pytest.mark.parametrize(
    "written", ["2023-05-08", "2023/5/8", "8.5.2023", "08. 05. 2023", "5/8/2023", "2023年5月8日"]
)
def test_a_day_in_numbers_is_found_by_its_words(written: str) -> None:
    assert {"8", "may", "2023"} <= {*date_words(f"It was on {written}, they say").split()}


def test_a_month_without_a_day_and_one_in_another_language_are_found_by_the_english_word() -> None:
    assert date_words("since 2023-05") == "may 2023"
    assert "may" in query_terms("what was in 2023-05")
    assert "may" in query_terms("Was war im Mai?")
    assert "may" in query_terms("What did we do last May?")
    assert "august" in query_terms("en août")


def test_what_is_no_day_gives_no_words() -> None:
    assert not date_words("1.2.3, 10.0.0.1, 2023-13-01, 99/99/2023, 0x2023")
    assert not day_words("someday")
    assert day_words("2023-05-08") == "8 may 2023"


@given(st.text(st.sampled_from("0123456789-/. 年月日a"), max_size=60))
def test_any_text_is_taken(text: str) -> None:
    date_words(text)
    assert len(query_terms(text)) <= MAX_TERMS
