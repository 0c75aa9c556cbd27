"""Cutting: no piece is longer than the embedder takes, nothing is left out, and the places are natural ones."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.chunker import MAX_CHARS, cut


def word_starts(text: str) -> list[int]:
    """A measure for which each word is a token."""
    return [found.start() for found in re.finditer(r"\S+", text)]


@given(st.text(alphabet="ab. \n", max_size=400), st.integers(1, 20))
def test_no_piece_is_longer_than_the_limit_and_nothing_but_blanks_is_left_out(text: str, limit: int) -> None:
    pieces = list(cut(text, word_starts(text), limit=limit))
    assert all(len(text[one.start : one.end].split()) <= limit + 1 for one in pieces)
    assert "".join(text[one.start : one.end] for one in pieces).split() != [] or not text.split()
    kept = "".join("".join(text[one.start : one.end].split()) for one in pieces)
    assert kept == "".join(text.split())


def test_a_text_is_cut_behind_a_paragraph_before_a_line_before_a_sentence() -> None:
    text = "one two three four.\n\nfive six seven eight. nine ten\neleven"
    assert [text[p.start : p.end] for p in cut(text, word_starts(text), limit=6)] == [
        "one two three four.",
        "five six seven eight. nine ten",
        "eleven",
    ]
    sentences = "one two. three four five"
    first = next(cut(sentences, word_starts(sentences), limit=3))
    assert sentences[first.start : first.end] == "one two."


def test_a_line_without_a_space_is_cut_by_its_characters() -> None:
    text = "x" * (3 * MAX_CHARS)
    pieces = [text[p.start : p.end] for p in cut(text, word_starts(text))]
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= MAX_CHARS
