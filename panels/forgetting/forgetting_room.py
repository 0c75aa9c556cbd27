"""Room of forgetting in the window: one dialog, opened from a discussion's menu and from an item."""

from __future__ import annotations

from panels.base.desk import Desk, Room
from panels.base.view import Dialog


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.forgetting.dialogs import forget_dialog

    forget_dialog(desk, dialog)


ROOM = Room(dialogs={"forget": _dialog})
