"""The leading run of two sequences that is the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.structures import shared_run

WORDS = [f"word {number}" for number in range(4)]
RUNS = st.lists(st.sampled_from(WORDS), max_size=8).map(tuple)


@given(RUNS, RUNS)
def test_what_is_counted_is_the_same_and_the_next_is_not(one: tuple[str, ...], two: tuple[str, ...]) -> None:
    same = shared_run(one, two)

    assert one[:same] == two[:same]
    assert same == min(len(one), len(two)) or one[same] != two[same]


def test_what_was_made_anew_is_taken_for_another_only_where_something_before_it_is_too() -> None:
    """Equal things are as good as the same: the next request says the same bytes with them."""
    one, same = ("a" * 9, ["b"], "c"), ("a" * 9, ["b"], "other")

    assert shared_run(one, same) == 2
    assert shared_run((["a"], "b", "c"), (["x"], "b", "c")) == 0
