"""The rows of the discussion list."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.state import AppState, TrashItem
from panels.base.view import Memo
from panels.discussion.discussions_panel import (
    NO_PROJECT,
    ListedDiscussion,
    ListedTrash,
    ListHeading,
    Row,
    project_names,
    rows,
    shown_ids,
)
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.state_fields import with_fields

DAY = timedelta(days=1)


def _shown(state: AppState, own: DiscussionView | None = None) -> list[str]:
    return [_words(row) for row in rows(state, own or DiscussionView(), Memo())]


def _words(row: Row) -> str:
    match row:
        case ListHeading():
            return row.title
        case ListedTrash():
            return row.item.name
        case _:
            return "  " * row.depth + row.id


def _in(folder: str, discussion_id: str, **about: object) -> dict[str, DiscussionSummary]:
    return {discussion_id: states.summary(discussion_id, discussion_id, folder=folder, **about)}  # type: ignore[arg-type]


def test_discussions_stand_under_pinned_their_age_and_archived() -> None:
    assert _shown(states.working()) == [
        "Pinned", "d5", "Today", "d1", "  d3", "    d4", "d2", "Last 7 days", "d6", "October", "d7", "Archived",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("days", "title"),
    [
        (0, "Today"), (1, "Yesterday"), (2, "Last 7 days"), (7, "Last 7 days"), (8, "Last 30 days"),
        (30, "Last 30 days"), (31, "October"), (50, "October"), (51, "September"), (323, "January"),
        (324, "December 2025"),
    ],
)  # fmt: skip
def test_a_day_has_one_place(days: int, title: str) -> None:
    """By the person's midnight and calendar, whatever the hour: 20 November 2026, 14:05."""
    for hours in (0, 9):
        when = timedelta(days=days) + timedelta(hours=hours if days else 0)
        state = with_fields(states.working(), summaries={"a": states.summary("a", "A", age=when)})
        assert _shown(state) == [title, "a"]


def test_months_stand_newest_first_whatever_branch_made_them_new() -> None:
    found = {f"d{n}": states.summary(f"d{n}", f"{n}", age=n * DAY) for n in (400, 40, 70, 100)}
    found["b"] = states.summary("b", "Branch", parent_id="d400", age=75 * DAY)
    state = with_fields(states.working(), summaries=found)

    assert _shown(state) == [
        "October", "d40", "September", "d70", "d400", "  b", "August", "d100",
    ]  # fmt: skip


def test_projects_group_discussions_and_one_alone_can_be_listed() -> None:
    found = _in("/w/tides", "a") | _in("/w/moon", "b", age=2 * DAY) | _in("", "c", age=DAY)
    found |= _in("/w/tides", "d", age=50 * DAY) | _in("/w/tides", "e", pinned=True)
    state = with_fields(states.working(), summaries=found)

    assert _shown(state, DiscussionView(grouping="project")) == [
        "Pinned", "e", "tides", "a", "d", NO_PROJECT, "c", "moon", "b",
    ]  # fmt: skip
    assert _shown(state, DiscussionView(project="/w/moon")) == ["Last 7 days", "b"]
    assert _shown(state, DiscussionView(project="")) == ["Yesterday", "c"]
    assert _shown(state, DiscussionView(project="/gone")) == []


def test_a_search_looks_in_the_project_alone_that_is_listed() -> None:
    found = _in("/w/tides", "a") | _in("/w/moon", "b")
    state = with_fields(states.working(), summaries=found, search=states.searched("ttl", "a", "b"))

    assert shown_ids(state, DiscussionView(search_text="ttl", project="/w/moon"), Memo()) == ("b",)


def test_two_folders_of_one_name_say_where_they_are() -> None:
    names = project_names(("/a/tides", "/b/tides", "/b/moon", ""))

    assert list(names.values()) == ["tides (/a)", "tides (/b)", "moon", NO_PROJECT]


def test_the_trash_stands_last_and_opens_newest_first() -> None:
    trash = (
        TrashItem("t1", "Older", states.NOW - DAY, "deleted", "1"),
        TrashItem("t2", "Newer", states.NOW, "deleted", "2"),
    )
    state = with_fields(states.working(), trash=trash)

    assert _shown(state)[-2:] == ["Archived", "Trash"]
    assert _shown(state, DiscussionView(is_trash_open=True))[-3:] == ["Trash", "Newer", "Older"]
    assert "Trash" not in _shown(state, DiscussionView(project="/w/moon"))


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

    assert [(row.id, bool(row.line)) for row in found if isinstance(row, ListedDiscussion)] == [
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
