"""Where marks fall: the vendors' rules hold whatever a plan asks for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.cache import CacheMark, CachePlan
from core.services.providers.attachments import MAX_MARKS, Blocks, marks_of
from tests.core.services.providers.outcomes import seg

KEYS = st.sampled_from([f"k{n}" for n in range(8)])
PARTS = st.lists(st.tuples(KEYS, st.booleans()), max_size=12)
MARKS = st.lists(st.builds(CacheMark, KEYS, st.sampled_from([300, 1800, 3600, 43_200])), max_size=7)


def noted(*keys: str) -> tuple[Blocks, list[dict[str, str]]]:
    blocks, made = Blocks(), []
    for key in keys:
        made.append({"key": key})
        blocks.note(key, made[-1])
    return blocks, made


@given(PARTS, MARKS)
def test_at_most_four_blocks_are_marked_in_wire_order_with_falling_lifetimes(
    parts: list[tuple[str, bool]], marks: list[CacheMark]
) -> None:
    blocks, made = Blocks(), []
    for key, is_sent in parts:
        block = {"key": key} if is_sent else None
        blocks.note(key, block)
        made.append(block)
    found = list(blocks.marked(marks))
    places = [next(n for n, block in enumerate(made) if block is chosen) for chosen, _ in found]
    ttls = [ttl for _, ttl in found]

    assert len(found) <= MAX_MARKS
    assert places == sorted(set(places))
    assert ttls == sorted(ttls, reverse=True)
    assert bool(found) == any(_last(made[: _place(parts, mark) + 1]) for mark in marks)


def _place(parts: list[tuple[str, bool]], mark: CacheMark) -> int:
    return max((n for n, (key, _) in enumerate(parts) if key == mark.after_key), default=-1)


def _last(blocks: list[dict[str, str] | None]) -> bool:
    return any(block is not None for block in blocks)


def test_of_a_key_that_occurs_twice_the_last_part_is_meant() -> None:
    blocks, made = noted("a", "b", "a")

    assert list(blocks.marked([CacheMark("a", 300)])) == [(made[2], 300)]


def test_a_part_that_is_not_sent_is_stood_for_by_the_one_before() -> None:
    blocks, made = noted("a")
    blocks.note_part(seg("  ", key="blank"), None)

    assert list(blocks.marked([CacheMark("blank", 300), CacheMark("a", 3600)])) == [(made[0], 3600)]


def test_a_key_that_nobody_knows_or_that_comes_first_and_is_not_sent_marks_nothing() -> None:
    blocks = Blocks()
    blocks.note("unsent", None)

    assert list(blocks.marked([CacheMark("unsent", 300), CacheMark("unknown", 300)])) == []


def test_of_too_many_marks_the_first_three_and_the_last_stay() -> None:
    blocks, _ = noted("a", "b", "c", "d", "e", "f")
    found = blocks.marked([CacheMark(key, 300) for key in "abcdef"])

    assert [block["key"] for block, _ in found] == ["a", "b", "c", "f"]


def test_caching_that_is_off_has_no_marks() -> None:
    mark = CacheMark("a", 300)

    assert marks_of(CachePlan((mark,))) == (mark,)
    assert marks_of(CachePlan((mark,), is_enabled=False)) == marks_of(None) == ()
