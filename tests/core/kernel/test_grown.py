"""Memo of growing sequences: all that is made of one is what is made of it from the beginning, whatever changed in between."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.structures import GrownRuns

Edit = tuple[str, int, int]

EDITS = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "change", "delete", "cut", "back"]),
        st.integers(0, 30),
        st.integers(0, 3),
    ),
    max_size=40,
)


def edited(items: tuple[int, ...], edit: Edit, before: tuple[int, ...]) -> tuple[int, ...]:
    kind, place, value = edit
    at = place % max(1, len(items))
    match kind:
        case "append":
            return (*items, value)
        case "change":
            return (*items[:at], value, *items[at + 1 :])
        case "delete":
            return (*items[:at], *items[at + 1 :])
        case "cut":
            return items[at:]
        case _:
            return before


def so_many(value: int) -> tuple[str, ...]:
    return tuple(f"{value}/{n}" for n in range(value))


@given(EDITS)
def test_each_and_folded_give_what_they_give_from_the_beginning(edits: list[Edit]) -> None:
    grown, items, before = GrownRuns(), tuple[int, ...](), tuple[int, ...]()
    for edit in edits:
        items, before = edited(items, edit, before), items
        assert grown.each("made", items, so_many) == tuple(one for item in items for one in so_many(item))
        assert grown.folded("sum", items, list[int], list, list.append) == list(items)


def test_only_what_is_new_is_made() -> None:
    grown, asked = GrownRuns(), list[int]()

    def make(item: int) -> tuple[int, ...]:
        asked.append(item)
        return (item,)

    grown.each("made", tuple(range(300)), make)
    asked.clear()
    assert grown.each("made", tuple(range(302)), make) == tuple(range(302))
    assert asked == [300, 301]


def test_a_state_that_was_given_out_stays_as_it_is() -> None:
    grown = GrownRuns()
    first = grown.folded("sum", (1, 2), list[int], list, list.append)
    grown.folded("sum", (1, 2, 3), list[int], list, list.append)
    assert first == [1, 2]
