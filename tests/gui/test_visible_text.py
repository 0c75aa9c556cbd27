"""What a text hides is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gui.text_buffer import visible


def test_a_bidi_override_is_a_mark() -> None:
    assert visible("pay\u202elap.exe") == "pay‹RLO›lap.exe"


def test_control_characters_have_their_pictures() -> None:
    assert visible("ring\x07 del\x7f esc\x1b[31m") == "ring␇ del␡ esc␛[31m"


def test_invisible_tags_and_spaces_show() -> None:
    assert visible("a\U000e0041b\u200bc") == "a‹TAG 41›b‹ZWSP›c"


def test_lone_surrogates_are_replaced() -> None:
    assert visible("\ud800x") == "\ufffdx"


@given(st.text())
def test_ordinary_text_is_untouched_and_marks_are_stable(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown is text
