"""Room of settings in the window."""

from __future__ import annotations

from panels.base.desk import Desk, Room
from panels.base.view import Dialog
from panels.settings.settings_actions import ACTIONS
from panels.settings.settings_view import SettingsView


def _open_project(desk: Desk, _dialog: Dialog) -> None:
    from panels.settings.settings_panel import open_project_dialog

    open_project_dialog(desk)


def _trust(desk: Desk, dialog: Dialog) -> None:
    from panels.settings.settings_panel import trust_dialog

    trust_dialog(desk, dialog)


def _remove(desk: Desk, dialog: Dialog) -> None:
    from panels.base.desk import removal_dialog

    removal_dialog(desk, dialog)


ROOM = Room(
    actions=ACTIONS,
    view=SettingsView,
    dialogs={"open_project": _open_project, "trust": _trust, "remove": _remove},
)
