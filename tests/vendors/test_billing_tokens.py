"""Token counts and the numbers of prefixes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vendors.billing.clock import Clock, moment
from tests.vendors.billing.tokens import Prefixes, Texts, chars4, fields, o200k


def test_a_token_is_four_characters() -> None:
    assert [chars4("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_o200k_counts_the_known_and_scales_it() -> None:
    assert o200k()("hello world") == 2
    assert o200k(1.35)("hello world") == 3
    assert o200k()("") == 0


def test_o200k_takes_what_is_no_proper_text() -> None:
    assert o200k()("a\ud800b <|endoftext|>") > 0


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    texts = Texts(count)
    found = {texts.block("user", "abc"), texts.block("user", "a" + "bc"), texts.block("assistant", "abc")}

    assert asked == ["abc", "abc"]
    assert [tokens for _, tokens in found] == [3, 3]


def test_what_is_counted_may_differ_from_what_is_known() -> None:
    texts = Texts(chars4)

    assert texts.block("result", "x" * 400, "abcd")[1] == 1
    assert texts.sized("image", "data", 1_500)[1] == 1_500
    assert (
        texts.setting("effort", "high") == texts.setting("effort", "high") != texts.setting("effort", "low")
    )


runs = st.lists(st.integers(1, 4), max_size=8)


@given(first=runs, second=runs)
def test_two_runs_share_a_number_exactly_when_they_share_every_block(
    first: list[int], second: list[int]
) -> None:
    prefixes = Prefixes()

    def walk(run: list[int]) -> int:
        prefix = Prefixes.ROOT
        for block in run:
            prefix = prefixes.extend(prefix, block)
        return prefix

    assert (walk(first) == walk(second)) is (first == second)


def test_the_order_of_a_block_s_own_fields_does_not_count() -> None:
    assert fields({"b": 1, "a": {"y": 1, "x": 2}}) == fields({"a": {"y": 1, "x": 2}, "b": 1})
    assert fields({"a": {"y": 1, "x": 2}}) != fields({"a": {"x": 2, "y": 1}})
    assert fields({"a": 1, "cache_control": {}}, "cache_control") == fields({"a": 1})


def test_time_stands_still_until_it_is_moved() -> None:
    clock = Clock()
    assert moment(clock()).isoformat() == "2026-11-20T09:00:00+00:00"
    clock.advance(90)
    assert clock() - Clock()() == pytest.approx(90)
