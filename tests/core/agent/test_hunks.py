"""Differences: what a person takes of them is what is written, byte for byte."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.agent.hunks import (
    MAX_COMPARED_LINES,
    MAX_DIFFERENCE_CHARS,
    counts,
    difference,
    in_own_form,
    lines_of,
    unified,
)
from core.kernel.frame import clean
from core.kernel.values.agent import EditHunk

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "d\x0c", "\u2028"]), max_size=14)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXTS, TEXTS, st.sets(st.integers(0, 6)))
def test_taken_whole_gives_the_new_text_taken_not_at_all_the_old(old: str, new: str, some: set[int]) -> None:
    found = difference(old, new)

    assert found.taken() == new
    assert found.taken(()) == old
    assert len(found.hunks) == len(found.changes)
    rest = difference(found.taken(some), new)
    assert rest.taken() == new
    added, removed = counts(found.hunks)
    assert added - removed == len(lines_of(new)) - len(lines_of(old))


@given(TEXTS, TEXTS)
def test_changes_stand_apart_and_no_line_is_shown_twice(old: str, new: str) -> None:
    found = difference(old, new)

    assert all(one.last < two.first for one, two in pairwise(found.changes))
    shown: list[int] = []
    for hunk in found.hunks:
        kept = [line for line in hunk.text.split("\n")[:-1] if line[:1] in {" ", "-"}]
        shown += range(hunk.first_line, hunk.first_line + len(kept))
    assert len(shown) == len(set(shown))


@given(LINES, TEXTS, st.sampled_from(["\r\n", "\r", "\n"]))
def test_lines_that_stay_keep_their_ends_and_new_ones_take_the_files(
    lines: list[str], new: str, end: str
) -> None:
    raw = "".join(f"{line}{end}" for line in lines)
    found = in_own_form(difference(clean(raw), new), raw)

    assert found.taken(()) == raw
    if lines:
        assert found.taken() == new.replace("\n", end)


def test_a_file_of_mixed_line_ends_is_left_as_it_is_but_for_what_changed() -> None:
    raw = "a\r\nb\nc\r\nd\r\n"
    found = in_own_form(difference(clean(raw), "a\nB\nc\nd\n"), raw)

    assert found.taken() == "a\r\nB\r\nc\r\nd\r\n"


def test_two_places_are_taken_by_themselves() -> None:
    old = "".join(f"{number}\n" for number in range(30))
    new = old.replace("3\n4\n", "3\nnew\n", 1).replace("25\n", "")
    found = difference(old, new)

    assert [hunk.first_line for hunk in found.hunks] == [2, 23]
    assert found.taken((1,)) == old.replace("25\n", "")
    assert "+new\n" in found.hunks[0].text


def test_a_missing_line_end_is_shown() -> None:
    assert difference("a\n", "a").hunks == (EditHunk(1, "-a\n+a\n\\ No newline at end of file\n"),)


def test_a_large_rewrite_is_one_hunk_and_quick() -> None:
    old = "".join(f"{number}\n" for number in range(MAX_COMPARED_LINES))
    new = "".join(f"{number} x\n" for number in range(MAX_COMPARED_LINES))

    assert len(difference(old, new).hunks) == 1
    assert len(unified(difference(old, new).hunks)) < MAX_DIFFERENCE_CHARS + 100
