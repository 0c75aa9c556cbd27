"""Text is broken where a reader expects it, and nothing of it is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gui.text_layout import fit, wrap_line, wrap_text


def one(_: str) -> float:
    """Every character is one wide."""
    return 1.0


def test_words_stay_whole_when_they_fit() -> None:
    assert wrap_line("the quick brown fox", one, 10) == ["the quick ", "brown fox"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert wrap_line("abcdefghij", one, 4) == ["abcd", "efgh", "ij"]


def test_chinese_breaks_between_any_two_characters() -> None:
    assert wrap_line("漢字漢字漢", one, 2) == ["漢字", "漢字", "漢"]


def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one() -> None:
    assert wrap_line("漢字漢。", one, 3) == ["漢字", "漢。"]
    assert wrap_line("漢字「漢」", one, 3) == ["漢字", "「漢」"]
    assert wrap_line("ab PDF。", one, 6) == ["ab ", "PDF。"]
    assert wrap_line("。。。。", one, 2) == ["。。", "。。"]


def test_line_feeds_always_break() -> None:
    assert wrap_text("a\n\nb", one, 10) == ["a", "", "b"]


def test_something_always_fits() -> None:
    assert fit("W", lambda _: 9.0, 1) == 1


@given(st.text(alphabet="ab c漢。「\t", max_size=80), st.integers(1, 12))
def test_nothing_is_lost_and_no_line_is_too_wide(line: str, width: int) -> None:
    lines = wrap_line(line, one, width)
    assert "".join(lines) == line
    assert all(len(part.rstrip()) <= width for part in lines)


@given(st.text(alphabet="ab c\n", max_size=80), st.integers(1, 12))
def test_paragraphs_come_back_when_joined(text: str, width: int) -> None:
    lines = wrap_text(text, one, width)
    assert "".join(lines) == text.replace("\n", "")
