"""Room of discussions in the window."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import Room
from panels.base.view import Dialog
from panels.discussion.actions import ACTIONS
from panels.discussion.find_bar import close_find
from panels.discussion.view import DiscussionView


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.discussion.dialogs import discussion_dialog

    discussion_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    desk.view.of(DiscussionView).begin_frame()


def _escape(desk: Desk) -> bool:
    own = desk.view.of(DiscussionView)
    if own.had_keyboard is not None:
        own.give_up(own.had_keyboard)
        return True
    if own.renaming_id:
        own.renaming_id = ""
        return True
    return close_find(desk)


ROOM = Room(
    ACTIONS,
    DiscussionView,
    dialogs=dict.fromkeys(("attach", "export_markdown", "export_json", "model"), _dialog),
    begin=_begin,
    escape=_escape,
)
