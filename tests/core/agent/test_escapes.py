"""What a person says yes to shows every character of it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.tool import escaped, hidden_count


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git log\n\t--all", "git log\n\t--all"),
        ("rm \u202egnp.exe", "rm ‹U+202E›gnp.exe"),
        ("ls\r\x1b[2Kecho", "ls‹U+000D›‹U+001B›[2Kecho"),
        ("a\u200bb\u2066c\ufeff", "a‹U+200B›b‹U+2066›c‹U+FEFF›"),
        ("tag\U000e0041", "tag‹U+E0041›"),
        ("filler\u3164 brai\u2800lle", "filler‹U+3164› brai‹U+2800›lle"),
        ("wide\u00a0space\u3000", "wide‹U+00A0›space‹U+3000›"),
        ("icon \uf00c", "icon ‹U+F00C›"),
        ("lone \udc80", "lone ‹U+DC80›"),
        ("grüße, 日本語, é", "grüße, 日本語, é"),
    ],
)
def test_what_is_unseen_is_shown_by_its_code(text: str, shown: str) -> None:
    assert escaped(text) == shown
    assert hidden_count(text) == shown.count("‹U+")


@given(st.text())
def test_nothing_is_lost_and_nothing_unseen_is_left(text: str) -> None:
    shown = escaped(text)

    assert not any(unicodedata.category(char) in {"Cf", "Cs", "Co", "Zl", "Zp"} for char in shown)
    assert not any(unicodedata.category(char) == "Cc" for char in shown if char not in "\n\t")
    assert escaped(shown) == shown
    assert len(shown) >= len(text)
