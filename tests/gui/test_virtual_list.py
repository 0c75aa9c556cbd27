"""Long lists keep the reader's place."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gui.virtual_list import ScrollState


@dataclass
class Rows:
    """Rows with true heights, of which the list first knows only a guess."""

    heights: list[float]
    guess: float = 50.0
    names: list[Hashable] = field(default_factory=list)
    asked: int = 0

    def __len__(self) -> int:
        return len(self.heights)

    def key(self, index: int) -> Hashable:
        self.asked += 1
        return self.names[index] if self.names else (index, self.heights[index])

    def estimate_px(self, index: int, width: float) -> float:
        return self.guess


def shown(state: ScrollState, rows: Rows, revision: int = 0, height: float = 400) -> dict[int, float]:
    """A frame: the rows in view with the distance of their tops from the view's top."""
    state.sync(rows, revision, 300, height, 1.0)
    return dict(state.walk(rows, lambda index: rows.heights[index], 0))


@given(st.lists(st.integers(5, 700), min_size=1, max_size=80), st.lists(st.integers(-900, 900), max_size=12))
def test_the_view_is_always_covered_without_gaps(heights: list[int], moves: list[int]) -> None:
    rows, state = Rows([float(h) for h in heights]), ScrollState()
    shown(state, rows)
    for move in moves:
        state.scroll_by(move)
        places = shown(state, rows)
        tops = sorted(places.items())
        assert [index for index, _ in tops] == list(range(tops[0][0], tops[-1][0] + 1))
        for (index, top), (_, below) in pairwise(tops):
            assert abs(top + heights[index] - below) < 0.01
        assert tops[0][1] <= 0.01 or tops[0][0] == 0
        last, top = tops[-1]
        assert top + heights[last] >= 399 or last == len(heights) - 1


@given(st.lists(st.integers(5, 700), min_size=30, max_size=60), st.integers(0, 4000))
def test_measuring_rows_does_not_move_what_is_at_the_top(heights: list[int], start: int) -> None:
    """The guesses were wrong: rows above turn out higher, but the row at the top stays where it was."""
    rows, state = Rows([float(h) for h in heights]), ScrollState()
    shown(state, rows)
    state.scroll_to(float(start))
    before = shown(state, rows)
    anchor = next(index for index, top in sorted(before.items()) if top + heights[index] > 0)
    after = shown(state, rows)
    assert abs(after[anchor] - before[anchor]) < 0.01


def test_it_follows_the_end_only_when_the_reader_is_there() -> None:
    rows, state = Rows([100.0] * 20, guess=100.0), ScrollState(follows_end=True)
    shown(state, rows)
    assert state.scroll == state.most == 1600
    rows.heights[-1] = 300.0
    shown(state, rows, 1)
    assert state.scroll == state.most == 1800
    state.scroll_by(-500)
    rows.heights[-1] = 900.0
    shown(state, rows, 2)
    assert (state.scroll, state.is_at_end) == (1300, False)
    state.scroll_by(10_000)
    rows.heights.append(100.0)
    shown(state, rows, 3)
    assert state.scroll == state.most


def test_rows_inserted_above_do_not_move_the_reader() -> None:
    rows = Rows([80.0] * 40, names=list(range(40)))
    state = ScrollState()
    shown(state, rows)
    state.scroll_to(1000)
    before = shown(state, rows)
    rows.heights = [80.0] * 45
    rows.names = [f"new {n}" for n in range(5)] + list(range(40))
    after = shown(state, rows, 1)
    assert {index + 5: round(top) for index, top in before.items()} == {i: round(t) for i, t in after.items()}


@given(st.lists(st.sampled_from([20.0, 90.0, 300.0]), min_size=1, max_size=12), st.data())
def test_rows_that_come_back_are_in_view_or_can_be_reached(heights: list[float], data: st.DataObject) -> None:
    """A filter left one row, then it was cleared: rows before it were out of view, and no wheel brought them back."""
    names: list[Hashable] = list(range(len(heights)))
    whole, state = Rows(heights, names=names), ScrollState()
    shown(state, whole)
    left = data.draw(st.lists(st.sampled_from(range(len(heights))), unique=True).map(sorted))
    shown(state, Rows([heights[one] for one in left], names=[names[one] for one in left]), revision=1)

    places = shown(state, whole, revision=2)

    assert 0.0 <= state.scroll <= state.most
    if sum(heights) <= 400:
        assert set(places) == set(range(len(heights)))
        assert places[0] == 0.0
    state.scroll_by(-10_000.0)
    assert shown(state, whole, revision=2)[0] == 0.0


def test_a_narrower_window_keeps_the_row_at_the_top() -> None:
    rows, state = Rows([80.0] * 60), ScrollState()
    shown(state, rows)
    state.scroll_to(2000)
    top_row = min(shown(state, rows))
    rows.heights = [120.0] * 60
    rows.names = list(range(60))
    state.sync(rows, 5, 200, 400, 1.0)
    places = dict(state.walk(rows, lambda index: rows.heights[index], 0))
    assert min(places) == top_row


def test_an_unchanged_revision_costs_no_walk_over_all_rows() -> None:
    rows, state = Rows([80.0] * 10_000), ScrollState()
    shown(state, rows)
    rows.asked = 0
    shown(state, rows)
    assert rows.asked < 40


def test_appending_to_ten_thousand_rows_asks_for_few_keys() -> None:
    rows, state = Rows([80.0] * 10_000), ScrollState()
    shown(state, rows)
    rows.asked = 0
    rows.heights.append(80.0)
    shown(state, rows, 1)
    assert rows.asked < 100
    assert len(state.keys) == 10_001


def test_known_heights_are_used_again_when_rows_come_back() -> None:
    rows, state = Rows([200.0] * 5, names=list("abcde")), ScrollState()
    shown(state, rows, height=2000)
    rows.heights, rows.names = [200.0] * 2, ["x", "y"]
    shown(state, rows, 1, height=2000)
    rows.heights, rows.names = [200.0] * 5, list("abcde")
    state.sync(rows, 2, 300, 2000, 1.0)
    assert state.heights.total == 1000


def test_scrolling_past_sixteen_million_pixels_is_exact() -> None:
    rows, state = Rows([4001.0] * 10_000), ScrollState()
    rows.guess = 4001.0
    shown(state, rows)
    state.scroll_to(39_000_000)
    state.scroll_by(1)
    assert state.scroll == 39_000_001
    state.show_row(9_000)
    assert dict(shown(state, rows))[9_000] == 0


def test_the_thumb_stands_where_the_reader_is() -> None:
    rows, state = Rows([100.0] * 40, guess=100.0), ScrollState()
    shown(state, rows)
    assert state.thumb(400, 20) == (0.0, 40.0)
    state.scroll_to(state.most)
    assert state.thumb(400, 20) == (360.0, 40.0)
    assert state.scroll_of_thumb(180, 400, 40) == state.most / 2
    assert ScrollState().thumb(100, 20) == (0.0, 0.0)


def test_no_rows_show_nothing() -> None:
    assert shown(ScrollState(), Rows([])) == {}
