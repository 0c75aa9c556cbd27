"""Counting, estimating and calibrating tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.o200k import count_tokens
from core.kernel.tokens import estimate_text_tokens, estimate_tokens, recalibrated, scaled, slices


def test_counts_are_those_of_o200k() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens("def f(x):\n    return x + 1\n") == 11


@pytest.mark.parametrize("text", ["<|endoftext|>", "\ud800 lone", "\x00\x07", "漢字" * 10, "🙂‍↔️"])
def test_any_text_can_be_counted(text: str) -> None:
    assert count_tokens(text) > 0


def test_a_text_of_megabytes_is_counted_in_slices() -> None:
    line = "value = compute(1)\n"
    text = line * 100_000

    assert count_tokens(text) == pytest.approx(count_tokens(line) * 100_000, rel=0.001)


@given(text=st.text(alphabet=st.sampled_from("ab\n漢"), max_size=60), limit=st.integers(1, 12))
def test_slices_are_bounded_and_together_the_text(text: str, limit: int) -> None:
    parts = list(slices(text, limit))

    assert "".join(parts) == text
    assert all(0 < len(part) <= limit for part in parts)


def test_slices_end_at_line_ends_where_they_can() -> None:
    assert list(slices("one\ntwo\nthree", 9)) == ["one\ntwo\n", "three"]
    assert list(slices("x\ud800y", 9)) == ["x?y"]


@given(size=st.integers(0, 10_000_000))
def test_an_estimate_is_nothing_only_for_nothing(size: int) -> None:
    assert (estimate_tokens(size) == 0) == (size == 0)
    assert estimate_tokens(size) <= size


@pytest.mark.parametrize(
    "text", ["The quick brown fox jumps over it. " * 50, "x = compute(y)\n" * 50, "漢字かな" * 50]
)
def test_an_estimate_is_within_a_factor_of_two(text: str) -> None:
    counted = count_tokens(text)

    assert counted / 2 <= estimate_tokens(len(text.encode())) <= counted * 2


def test_calibration_moves_to_what_is_reported_and_settles_there() -> None:
    factor = 1.0
    for _ in range(20):
        factor = recalibrated(factor, counted_tokens=1_000, reported_tokens=1_350)

    assert factor == pytest.approx(1.35, abs=0.005)
    assert 1.0 < recalibrated(1.0, 1_000, 1_350) < 1.35
    assert scaled(1_000, factor) == pytest.approx(1_350, abs=5)


@pytest.mark.parametrize(("counted", "reported"), [(0, 10), (10, 0), (-1, 10)])
def test_calibration_ignores_what_says_nothing(counted: int, reported: int) -> None:
    assert recalibrated(1.2, counted, reported) == 1.2


@given(factor=st.floats(0.25, 4), counted=st.integers(1, 10**9), reported=st.integers(1, 10**9))
def test_a_factor_stays_in_its_range(factor: float, counted: int, reported: int) -> None:
    assert 0.25 <= recalibrated(factor, counted, reported) <= 4


@given(st.text(st.sampled_from("aZ19 _.,\n\t\x1f\x00~"), max_size=60))
def test_ascii_is_estimated_as_other_letters_are(text: str) -> None:
    assert estimate_text_tokens(text + "é" * 60) == max(
        estimate_tokens(len(text) + 120), estimate_text_tokens(text + "e" * 60)
    )
