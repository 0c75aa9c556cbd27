"""The rows of the discussion list."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.values.state import AppState
from panels.base.memo import Memo
from panels.discussion.list_rows import DiscussionCard, ListHeading, rows, shown_ids
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.state_fields import with_fields

DAY = timedelta(days=1)


def _shown(state: AppState, own: DiscussionView | None = None) -> list[str]:
    return [
        row.title if isinstance(row, ListHeading) else "  " * row.depth + row.id
        for row in rows(state, own or DiscussionView(), Memo())
    ]


def test_discussions_stand_under_pinned_today_earlier_and_archived() -> None:
    assert _shown(states.working()) == [
"Pinned", "d5", "Today", "d1", "  d3", "    d4", "d2", "Earlier", "d6", "d7", "Archived",
    ]  # fmt: skip


def test_the_archive_opens() -> None:
    assert _shown(states.working(), DiscussionView(is_archive_open=True))[-2:] == ["Archived", "d8"]


def test_an_old_discussion_with_a_branch_of_today_stands_under_today() -> None:
    old = states.summary("a", "Old", age=9 * DAY)
    branch = states.summary("b", "Branch", parent_id="a")
    state = with_fields(states.working(), summaries={"a": old, "b": branch})

    assert _shown(state) == ["Today", "a", "  b"]


def test_a_branch_whose_parent_is_gone_stands_by_itself() -> None:
    state = with_fields(states.working(), summaries={"b": states.summary("b", "Branch", parent_id="gone")})

    assert _shown(state) == ["Today", "b"]


def test_a_pinned_branch_leaves_its_parent_for_the_pinned() -> None:
    parent, branch = states.summary("a", "A"), states.summary("b", "B", parent_id="a", pinned=True)
    state = with_fields(states.working(), summaries={"a": parent, "b": branch})

    assert _shown(state) == ["Pinned", "b", "Today", "a"]


def test_search_hits_come_best_first_with_their_line() -> None:
    state = with_fields(states.working(), search=states.searched("ttl", "d7", "d1"))

    found = rows(state, DiscussionView(search_text=" ttl "), Memo())

    assert [(row.id, bool(row.line)) for row in found if isinstance(row, DiscussionCard)] == [
        ("d7", True),
        ("d1", True),
    ]


def test_names_are_searched_at_once_while_the_text_is_still_searched() -> None:
    state = with_fields(states.working(), search=states.searched("other words", "d7"))

    assert shown_ids(state, DiscussionView(search_text="policy ttl"), Memo()) == ("d1", "d3")


def test_the_rows_are_the_same_object_while_the_discussions_are() -> None:
    """A reply that streams changes the state a hundred times a second; the list must not be sorted again."""
    own, memo, state = DiscussionView(), Memo(), states.many(2_000)
    first = rows(state, own, memo)

    assert (
        rows(
            replace(state, turns=replace(state.turns, calls={}), now=states.NOW + timedelta(seconds=9)),
            own,
            memo,
        )
        is first
    )
    assert (
        rows(
            replace(
                state, discussions=replace(state.discussions, summaries=dict(state.discussions.summaries))
            ),
            own,
            memo,
        )
        is not first
    )


parents = st.lists(st.integers(0, 11), min_size=1, max_size=12)


@given(parents, st.lists(st.booleans(), min_size=12, max_size=12))
def test_every_discussion_is_shown_once_whatever_the_parents_are(
    above: list[int], archived: list[bool]
) -> None:
    """Rings of parents, which only a broken file makes, must not hide a discussion or hang the window."""
    found = {
        f"d{n}": states.summary(f"d{n}", f"{n}", parent_id=f"d{parent}", archived=archived[n])
        for n, parent in enumerate(above)
    }
    state = with_fields(states.working(), summaries=found)

    ids = shown_ids(state, DiscussionView(is_archive_open=True), Memo())

    assert sorted(ids) == sorted(found)
