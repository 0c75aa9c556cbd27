"""Notices of discussions that were not read: a discussion's own are shown with it alone, so its row carries a sign."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from core.values.state import AppState, Level, Notice
from panels.base.desk import Desk
from panels.base.memo import Memo
from panels.discussion.view import DiscussionView

Own = Mapping[str, tuple[Notice, ...]]
"""Notices by the discussion that they are about."""


def unread(state: AppState, own: DiscussionView, memo: Memo, discussion_id: str) -> tuple[Notice, ...]:
    """The notices of a discussion, a failed send among them, that were not in front of the person; gravest first."""
    known = _own(state, memo).get(discussion_id, ())
    read = own.read.get(discussion_id, frozenset())
    return tuple(notice for notice in known if _cause(notice) not in read)


def read_in_front(desk: Desk) -> None:
    """The selected discussion is in front of the person, with what is said of it: it counts as read."""
    own, shown_id = desk.view.of(DiscussionView), desk.state.discussions.selected_id
    causes = frozenset(_cause(notice) for notice in _own(desk.state, desk.view.memo).get(shown_id, ()))
    if own.read.get(shown_id, frozenset()) != causes:
        own.read[shown_id] = causes


def _own(state: AppState, memo: Memo) -> Own:
    notices = state.program.notices
    return memo.get("notices of discussions", (notices,), lambda: _by_discussion(notices))


def _by_discussion(notices: tuple[Notice, ...]) -> Own:
    found: dict[str, tuple[Notice, ...]] = {}
    for notice in sorted(notices, key=lambda one: list(Level).index(one.level), reverse=True):
        if notice.discussion_id:
            found[notice.discussion_id] = (*found.get(notice.discussion_id, ()), notice)
    return found


def _cause(notice: Notice) -> Hashable:
    """Cause that is read once: a failure that comes again is another, a standing notice the same."""
    return notice.id, notice.text, notice.detail, None if notice.is_standing else notice.at
