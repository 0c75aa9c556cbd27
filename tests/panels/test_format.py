"""How figures, money and times read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.values.usage import Usage
from panels import format as fmt

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (512, "512"), (999, "999"), (1_000, "1.0k"), (18_412, "18.4k"), (99_949, "99.9k"), (99_950, "100k"),
     (200_000, "200k"), (999_499, "999k"), (999_500, "1.0M"), (1_048_576, "1.0M")],
)  # fmt: skip
def test_tokens_read_in_five_characters(count: int, shown: str) -> None:
    assert fmt.tokens(count) == shown


@given(st.integers(0, 10**9))
def test_tokens_never_take_more_room_than_a_card_has(count: int) -> None:
    assert len(fmt.tokens(count)) <= 7


def test_what_is_not_known_is_never_shown_as_zero() -> None:
    assert fmt.tokens(None) == "not reported"
    assert fmt.tokens_est(None) == "not reported"
    assert fmt.cost(None) == "price unknown"
    assert "0" not in fmt.usage_line(Usage())


def test_an_estimate_carries_its_mark_and_an_exact_figure_does_not() -> None:
    assert fmt.tokens_est(2_000) == "≈2.0k"
    assert fmt.tokens_est(2_000, is_exact=True) == "2.0k"


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0.0, "$0"), (0.0004, "<$0.001"), (0.011, "$0.011"), (0.0996, "$0.100"), (0.42, "$0.42"), (1.94, "$1.94"),
     (1234.5, "$1,234.50")],
)  # fmt: skip
def test_money_keeps_the_digits_that_matter(usd: float, shown: str) -> None:
    assert fmt.cost(usd) == shown


@pytest.mark.parametrize(("size", "shown"), [(812, "812 B"), (12_400, "12 KB"), (3_400_000, "3.4 MB")])
def test_sizes_read_in_their_unit(size: int, shown: str) -> None:
    assert fmt.size(size) == shown


@pytest.mark.parametrize(("part", "shown"), [(0, "0 %"), (1, "<1 %"), (420, "42 %"), (1_000, "100 %")])
def test_a_share_of_something_is_never_nothing(part: int, shown: str) -> None:
    assert fmt.share(part, 1_000) == shown


def test_a_share_of_nothing_is_nothing() -> None:
    assert fmt.share(5, 0) == "0 %"


def test_a_moment_is_as_short_as_it_can_be_told_apart() -> None:
    local = NOW.astimezone()
    assert fmt.moment(NOW, NOW) == f"{local:%H:%M}"
    assert fmt.moment(NOW - timedelta(days=1), NOW) == "yesterday"
    assert fmt.moment(datetime(2026, 3, 12, 12, tzinfo=UTC), NOW) == "12 Mar"
    assert fmt.moment(datetime(2025, 3, 12, 12, tzinfo=UTC), NOW) == "12 Mar 2025"


@pytest.mark.parametrize(("span", "shown"), [(-1, "0.0 s"), (3.21, "3.2 s"), (48, "48 s"), (192, "3m 12s")])
def test_spans_read_in_their_unit(span: float, shown: str) -> None:
    assert fmt.seconds(span) == shown


def test_a_count_agrees_with_its_noun() -> None:
    assert fmt.count(1, "turn") == "1 turn"
    assert fmt.count(1_204, "turn") == "1,204 turns"
    assert fmt.count(2, "reply", "replies") == "2 replies"


def test_the_line_of_a_reply_names_what_the_cache_gave() -> None:
    used = Usage(output_tokens=512, cost_usd=0.011, cache_read_tokens=11_900)

    assert fmt.usage_line(used) == "512 tok · $0.011 · cached 11.9k"


def test_the_details_of_a_reply_hold_every_figure() -> None:
    used = Usage(input_tokens=10, output_tokens=5, time_to_first_token_s=0.5, duration_s=2, request_id="req_9",
                 miss_reason="prefix changed")  # fmt: skip

    details = fmt.usage_details(used)

    for figure in ("sent: 10", "reply: 5", "read from cache: not reported", "cost: price unknown",
                   "first token after: 0.5 s", "whole reply after: 2.0 s", "request: req_9",
                   "cache miss: prefix changed"):  # fmt: skip
        assert figure in details.splitlines()
