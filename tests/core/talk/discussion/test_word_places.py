"""Words of a search: the place where they stand together is found, whatever stands before it."""

from __future__ import annotations

import pytest

from core.talk.discussion.log_content import together

REPLY = "".join(f"Paragraph {n}: the quick fox number {n} of all.\n\n" for n in range(60))


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        (REPLY, ("Paragraph", "37"), "Paragraph 37"),
        (REPLY, ("37", "paragraph"), "Paragraph 37"),
        (REPLY, ("paragraph", "3"), "Paragraph 3"),
        ("a tide table, tides and a table of tides", ("table", "tide"), "tide table"),
        ("the moon. Tide and so on, tide moon", ("tide", "moon", "absent"), "tide moon"),
        ("subtotal, then total", ("total",), "total"),
        ("a.subtotals", ("total",), "total"),
        ("Tide", ("tide", "TIDE"), "Tide"),
    ],
)
def test_the_closest_run_of_the_words_is_found(text: str, words: tuple[str, ...], found: str) -> None:
    place = together(text, words)

    assert place is not None
    assert text[slice(*place)] == found


def test_a_whole_word_goes_before_the_start_of_a_longer_one() -> None:
    assert together("Paragraph 37, Paragraph 3", ("paragraph", "3")) == (14, 25)


@pytest.mark.parametrize("words", [(), ("",), ("moon",)])
def test_where_no_word_is_there_is_no_place(words: tuple[str, ...]) -> None:
    assert together("the tide", words) is None
