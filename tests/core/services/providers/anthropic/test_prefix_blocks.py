"""A text split into blocks for Anthropic's cache."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.providers.anthropic import cache_prefix_blocks


def test_a_text_is_split_at_the_boundaries_and_each_prefix_is_marked() -> None:
    assert cache_prefix_blocks("abcdef", [4, 2]) == [
        {"type": "text", "text": "ab", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "cd", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "ef"},
    ]


@pytest.mark.parametrize("boundaries", [[], [0], [6], [-1, 7, 100]])
def test_without_a_boundary_inside_the_text_it_stays_a_string(boundaries: list[int]) -> None:
    assert cache_prefix_blocks("abcdef", boundaries) == "abcdef"


def test_of_many_boundaries_the_first_two_and_the_last_are_kept() -> None:
    blocks = cache_prefix_blocks("abcdefgh", [1, 2, 3, 4, 7])

    assert [block["text"] for block in blocks] == ["a", "b", "cdefg", "h"]  # type: ignore[index]


@given(st.text(), st.lists(st.integers(-5, 60)))
def test_no_text_is_lost_and_at_most_three_marks_are_set(message: str, boundaries: list[int]) -> None:
    blocks = cache_prefix_blocks(message, boundaries)
    if isinstance(blocks, str):
        assert blocks == message
        return
    assert "".join(block["text"] for block in blocks) == message
    assert all(block["text"] for block in blocks)
    assert 1 <= sum("cache_control" in block for block in blocks) <= 3
    assert "cache_control" not in blocks[-1]
