"""Room of the agent in the window."""

from __future__ import annotations

from panels.agent.actions import ACTIONS
from panels.agent.view import AgentView
from panels.base.desk import Desk
from panels.base.room import HubPanel, Room
from panels.base.view import Dialog


def _panel(desk: Desk) -> None:
    from panels.agent.agent_panel import agent_panel

    agent_panel(desk)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.agent.changes import undo_dialog

    undo_dialog(desk, dialog)


ROOM = Room(
    ACTIONS,
    AgentView,
    panels=(HubPanel("agent", "Agent", "Agent", "robot", 7, _panel),),
    dialogs={"undo_turn": _dialog},
)
