"""Room of the agent in the window, and the view of its panel."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.agent.agent_messages import KillCommands
from core.agent.delegation import with_commands
from core.kernel.language import tr
from panels.base import view as selection
from panels.base.desk import LEAST_PX, Action, Desk, HubPanel, Room, has_discussion
from panels.base.view import Dialog
from panels.base.window_fields import Kept, one_of
from panels.discussion.tool_mode import has_tools, next_mode, toggle_tools

# View of the Agent panel: the part in front, and what is unfolded.

TABS = ("activity", "waiting", "todo", "files", "autonomy")


class AgentView(msgspec.Struct):
    """The panel's own state.

    Args:
        tab: the part in front; open_calls: ids of calls whose arguments and answers are shown; open_files: changes whose
            difference is shown, by turn and path; undone: commands that undo turns, by turn, whose outcome may be seen.
        open_thoughts: what was said alone whose reasoning is shown; started: the command that started autonomy last.
        is_state_open: the card of the turn's state is unfolded where there is no height for it.
        led: question for which the part that asks was brought to the front, once each; left: the part that stood there before.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept(key="agent_tab", name="tab", read=one_of(*TABS)),)

    tab: str = "activity"
    open_calls: frozenset[tuple[str, str]] = frozenset()
    open_files: frozenset[tuple[str, str]] = frozenset()
    undone: dict[str, str] = msgspec.field(default_factory=dict)
    led: str = ""
    left: str = "activity"
    open_thoughts: frozenset[str] = frozenset()
    started: str = ""
    is_state_open: bool = False

    def lead(self, question: str) -> None:
        """Bring the part that asks to the front for a question, and what stood there before once none waits: empty `question`."""
        if question and self.led != question:
            if self.tab != "waiting":
                self.left = self.tab
            self.tab = "waiting"
        elif not question and self.led and self.tab == "waiting":
            self.tab = self.left
        self.led = question


# Room of the agent in the window.

# Actions on a turn with tools: its commands, its mode, its edits.


def has_commands(desk: Desk) -> bool:
    """True while commands of the selected discussion or of its tasks run, in the background too."""
    return bool(with_commands(desk.state, desk.state.discussions.selected_id))


def undoable_turn(desk: Desk) -> str:
    """The newest turn with edits that nobody has undone, empty for none."""
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
    Action(id="undo_turn", menu=tr("Edit"), group=0, label=tr("Undo last turn's edits…"), run=_undo, icon="rotate-left",
           is_enabled=lambda d: bool(undoable_turn(d))),
    Action(id="tools", menu=tr("Discussion"), group=4, label=tr("Turn tools on"), run=toggle_tools, icon="wrench", chord="", is_enabled=has_discussion,
           is_done=has_tools, undo_label=tr("Turn tools off")),
    Action(id="mode", menu=tr("Discussion"), group=4, label=tr("Next tool mode"), run=next_mode, icon="shield-halved", chord="Ctrl+M", is_enabled=has_tools,
           why_not=lambda d: tr("Turn tools on first: this discussion has no tool mode.") if d.summary is not None else ""),
    Action(id="autonomy", menu=tr("Discussion"), group=4, label=tr("Autonomy…"), run=show_autonomy, icon="moon", chord="", is_enabled=has_discussion),
    Action(id="kill_commands", menu=tr("Discussion"), group=4, label=tr("End running commands"),
           run=lambda d: d.send(KillCommands(d.state.discussions.selected_id)), icon="stop", chord="Ctrl+K", is_enabled=has_commands,
           why_not=lambda d: tr("No command runs in this discussion now.") if d.summary is not None else ""),
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
            words=tr("tools todo approvals autonomy journal undo"),
            title=tr("Agent"),
            guide="tools",
            about=tr(
                "Give the model tools, and answer its questions about edits and commands. Undo the edits of a turn here."
            ),
            draw=_panel,
            least_px=_least_px,
            tab_guide=lambda d: "autonomy" if d.view.of(AgentView).tab == "autonomy" else "",
        ),
    ),
    dialogs={"undo_turn": _dialog},
)
