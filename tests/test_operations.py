"""Operations are counted the same each time, and tell a square from a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.operations import FLAT, LINEAR, TIMES, growth, operations


def _once(size: int) -> None:
    for _ in range(size):
        pass


def _squared(size: int) -> None:
    for _ in range(size):
        _once(size)


def _in_one_line(size: int) -> list[int]:
    return [one for _ in range(size) for one in range(size)]


def _calls(size: int) -> None:
    text: list[str] = []
    for _ in range(size):
        text.append("a")
        text.reverse()
        text.count("b")


def test_the_same_work_counts_the_same() -> None:
    assert operations(lambda: _squared(20)) == operations(lambda: _squared(20)) > 400


def test_calls_into_c_count() -> None:
    assert operations(lambda: _calls(100)) >= 300


@pytest.mark.parametrize(("act", "least", "most"), [
    (lambda _: None, 1, FLAT),
    (lambda size: sum(range(size)), 1, FLAT),
    (_once, TIMES * 0.9, LINEAR),
    (_calls, TIMES * 0.9, LINEAR),
    (_squared, TIMES**2 * 0.8, TIMES**2),
    (_in_one_line, TIMES**2 * 0.8, TIMES**2),
])  # fmt: skip
def test_growth_tells_a_line_from_a_square(act: Callable[[int], Any], least: float, most: float) -> None:
    assert least <= growth(act, 50) <= most


def test_who_traced_before_does_so_again_whatever_happens() -> None:
    def fails() -> None:
        raise ValueError

    before = sys.gettrace(), sys.getprofile()
    with pytest.raises(ValueError):
        operations(fails)
    assert (sys.gettrace(), sys.getprofile()) == before
