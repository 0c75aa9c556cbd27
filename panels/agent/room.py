"""Room of the agent in the window."""

from __future__ import annotations

from panels.agent.actions import ACTIONS
from panels.agent.view import AgentView
from panels.base.desk import Desk
from panels.base.room import LEAST_PX, HubPanel, Room
from panels.base.view import Dialog

ALONE_PX, QUESTION_PX = 180.0, 140.0


def _panel(desk: Desk) -> None:
    from panels.agent.agent_panel import agent_panel

    agent_panel(desk)


def _least_px(desk: Desk) -> float:
    """More where a list or a question stands under the state of the turn, most under what runs alone."""
    tab = desk.view.of(AgentView).tab
    return LEAST_PX + {"autonomy": ALONE_PX, "waiting": QUESTION_PX}.get(tab, 0.0)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.agent.changes import undo_dialog

    undo_dialog(desk, dialog)


ROOM = Room(
    ACTIONS,
    AgentView,
    panels=(HubPanel("agent", "Agent", "Agent", "robot", 7, _panel, _least_px),),
    dialogs={"undo_turn": _dialog},
)
