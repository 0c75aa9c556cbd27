"""Room of the agent in the window."""

from __future__ import annotations

from core.agent.agent_messages import KillCommands
from core.agent.delegation import with_commands
from panels.agent.agent_view import AgentView
from panels.base import selection
from panels.base.desk import LEAST_PX, Action, Desk, HubPanel, Room, has_discussion
from panels.base.view import Dialog
from panels.discussion.tool_mode import has_tools, next_mode, toggle_tools

# Actions on a turn with tools: its commands, its mode, its edits.


def has_commands(desk: Desk) -> bool:
    """True while commands of the selected discussion or of its tasks run, in the background too."""
    return bool(with_commands(desk.state, desk.state.discussions.selected_id))


def undoable_turn(desk: Desk) -> str:
    """The newest turn whose edits stand, empty for none."""
    page = selection.page_of(desk.state)
    if page is None or desk.turn is not None:
        return ""
    return next((one.turn_id for one in reversed(page.changes) if not one.is_undone), "")


def _undo(desk: Desk) -> None:
    desk.view.dialog = Dialog(
        kind="undo_turn", subject=desk.state.discussions.selected_id, text=undoable_turn(desk)
    )


def show_autonomy(desk: Desk) -> None:
    """Show the part in which autonomy is started and stopped."""
    desk.view.of(AgentView).tab = "autonomy"
    desk.view.show_hub("agent")


ACTIONS: tuple[Action, ...] = (
    Action(id="undo_turn", menu="Edit", group=0, label="Undo the last turn's edits…", run=_undo, icon="rotate-left",
           is_enabled=lambda d: bool(undoable_turn(d))),
    Action(id="tools", menu="Discussion", group=4, label="Give it tools", run=toggle_tools, icon="wrench", chord="", is_enabled=has_discussion,
           is_done=has_tools, undo_label="Take its tools away"),
    Action(id="mode", menu="Discussion", group=4, label="Next mode of its tools", run=next_mode, icon="shield-halved", chord="Ctrl+M", is_enabled=has_tools,
           why_not=lambda d: "This discussion has no tools: there is no mode of them." if d.summary is not None else ""),
    Action(id="autonomy", menu="Discussion", group=4, label="Autonomy…", run=show_autonomy, icon="moon", chord="", is_enabled=has_discussion),
    Action(id="kill_commands", menu="Discussion", group=4, label="Kill running commands",
           run=lambda d: d.send(KillCommands(d.state.discussions.selected_id)), icon="stop", chord="Ctrl+K", is_enabled=has_commands,
           why_not=lambda d: "No command of this discussion runs." if d.summary is not None else ""),
)  # fmt: skip


ALONE_PX, QUESTION_PX = 180.0, 140.0


def _panel(desk: Desk) -> None:
    from panels.agent.agent_panel import agent_panel

    agent_panel(desk)


def _least_px(desk: Desk) -> float:
    """More where a list or a question stands under the state of the turn, most under what runs alone."""
    tab = desk.view.of(AgentView).tab
    return LEAST_PX + {"autonomy": ALONE_PX, "waiting": QUESTION_PX}.get(tab, 0.0)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.agent.activity import undo_dialog

    undo_dialog(desk, dialog)


ROOM = Room(
    actions=ACTIONS,
    view=AgentView,
    panels=(
        HubPanel(
            id="agent",
            title="Agent",
            label="Agent",
            icon="robot",
            place=7,
            guide="tools",
            draw=_panel,
            least_px=_least_px,
        ),
    ),
    dialogs={"undo_turn": _dialog},
)
