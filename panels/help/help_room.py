"""Room of the help in the window."""

from __future__ import annotations

from panels.base.desk import Action, Desk, Room
from panels.base.view import Dialog
from panels.help.help_view import HelpView


def _ask(desk: Desk) -> None:
    """Have the pane looked for that has the keyboard: the shell knows panes, and opens its page."""
    own = desk.view.of(HelpView)
    own.is_asked, own.pane = True, ""


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.help.help_panel import help_dialog

    help_dialog(desk, dialog)


ROOM = Room(
    actions=(
        Action(
            id="help",
            menu="Help",
            group=0,
            label="Help on this panel",
            run=_ask,
            icon="circle-question",
            chord="F1",
        ),
    ),
    view=HelpView,
    dialogs={"help": _dialog},
)
