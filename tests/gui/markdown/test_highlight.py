"""Code is coloured, and stays the same code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.layout import LONGEST, highlight, plain_lines, wrap_code


def joined(lines: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def test_python_has_its_classes() -> None:
    line = dict(highlight("def f(x): return 'a' + 1  # why", "python")[0])
    assert line["def"] == "keyword"
    assert line["f"] == "function"
    assert line["# why"] == "comment"
    assert line["1"] == "number"


def test_a_difference_shows_what_came_and_went() -> None:
    kinds = [line[0][1] for line in highlight("+in\n-out", "diff")]
    assert kinds == ["inserted", "deleted"]


@pytest.mark.parametrize("language", ["", "no-such-language", "text"])
def test_an_unknown_language_is_plain(language: str) -> None:
    assert highlight("a\nb", language) == plain_lines("a\nb")


def test_huge_code_stays_plain() -> None:
    assert {kind for line in highlight("x = 1\n" * LONGEST, "python") for _, kind in line} == {"text"}


@given(
    st.text(alphabet="def x(1):'\n \"#\\", max_size=100),
    st.sampled_from(["python", "json", "bash", "c", "html", "diff"]),
)
def test_joined_lines_are_the_code(code: str, language: str) -> None:
    assert joined(highlight(code, language)) == code


@given(st.text(alphabet="ab 1'", max_size=60), st.integers(8, 20))
def test_wrapped_lines_are_the_line(code: str, columns: int) -> None:
    (line,) = highlight(code, "python")
    parts = wrap_code(line, columns)
    assert "".join(text for part in parts for text, _ in part) == code
    assert all(sum(len(text) for text, _ in part) <= columns for part in parts)


@given(st.text(alphabet="ab 日本", max_size=40), st.integers(8, 20))
def test_no_line_is_wider_than_its_columns_where_characters_are_wide(code: str, columns: int) -> None:
    """What reached past the edge would be read by nobody."""

    def span(text: str) -> float:
        return sum(1.0 if char.isascii() else 1.7 for char in text)

    parts = wrap_code(((code, "text"),), columns, span)

    assert "".join(text for part in parts for text, _ in part) == code
    assert all(span("".join(text for text, _ in part)) <= columns for part in parts)


def test_a_line_is_wrapped_between_words_while_there_is_a_blank() -> None:
    (line,) = highlight("    moon = tide(moon, seventeenletters_and_more)", "")
    parts = ["".join(text for text, _ in part) for part in wrap_code(line, 16)]
    assert parts == ["    moon = ", "tide(moon, ", "seventeenletters", "_and_more)"]
