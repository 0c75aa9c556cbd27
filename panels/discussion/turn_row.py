"""The calls of a running turn in the conversation: what waits for a person first, then what runs, then how many are left."""

from __future__ import annotations

from collections import Counter

from core.agent.delegation import questions_of
from core.agent.messages import KillCommands
from core.base import figures as fmt
from core.turn.messages import CancelReply
from core.values.agent import AgentTurn, CallState, ToolCall
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.discussion.approvals import approval_card
from panels.discussion.call_look import (
    COMMANDS,
    LINE_FROM_PX,
    STATES,
    call_summary,
    state_words,
    tail_text,
    tool_icon,
    tool_label,
)
from panels.discussion.tasks import asked_by, task_link, task_words

SHOWN = 6
TAIL_LINES = 6


def has_calls(turn: AgentTurn | None) -> bool:
    """True while calls of the turn's last reply have no result."""
    return turn is not None and any(not call.state.is_over for call in turn.calls)


def turn_row(desk: Desk, turn: AgentTurn) -> None:
    """Draw what the turn's calls do, with the first question that waits. Sends CancelReply, KillCommands and the answers."""
    ui = desk.ui
    with ui.surface("turn", "card", padding=(16, 12)), ui.group("parts"):
        _head(desk, turn)
        running = [call for call in turn.calls if call.state is CallState.RUNNING]
        for call in running[:SHOWN]:
            _running(desk, turn, call)
        waiting = questions_of(desk.state, turn.discussion_id)
        if waiting:
            asked_by(desk, turn.discussion_id, waiting[0][0])
            approval_card(desk, *waiting[0])
        _rest(ui, turn, len(running) - len(running[:SHOWN]), len(waiting))


def _head(desk: Desk, turn: AgentTurn) -> None:
    ui = desk.ui
    with ui.row("head"):
        ui.icon("icon", "wrench", tone="cyan")
        ui.text("name", "Tools", style="strong")
        ui.text("round", f"round {turn.rounds:,}", tone="muted", style="small", width=0)
        if ui.button("stop", "Stop", icon="stop", is_small=True, is_enabled=not turn.is_stopping,
                     tip="Stop the reply and its calls (Escape)"):  # fmt: skip
            desk.send(CancelReply(turn.discussion_id))
    if turn.is_left:
        ui.text(
            "left",
            "Begun before the program ended: everything asks.",
            tone="muted",
            style="small",
            wraps=True,
        )


def _running(desk: Desk, turn: AgentTurn, call: ToolCall) -> None:
    ui = desk.ui
    is_narrow = 0 < ui.width() < LINE_FROM_PX
    state, summary = (
        state_words(call, desk.state.now),
        call_summary(call.name, call.summary, call.arguments_json),
    )
    with ui.group(("running", call.id), gap=4):
        with ui.row("line"):
            ui.icon("icon", tool_icon(call.name), tone="accent")
            ui.text(
                "name",
                tool_label(call.name),
                style="small_strong",
                tip=call.name,
                width=0 if is_narrow else None,
            )
            if not is_narrow:
                ui.text("summary", summary, style="small", tone="muted", width=0)
                ui.text("state", state, tone="muted", style="small")
            task_link(desk, turn.discussion_id, call.name, call.id)
            if call.name in COMMANDS and ui.button(
                "kill", "", icon="stop", kind="ghost", is_small=True, tip="Kill this command"
            ):
                desk.send(KillCommands(turn.discussion_id, call.id))
        if is_narrow:
            ui.text("summary", summary, style="small", tone="muted", width=0)
            ui.text("state", state, tone="muted", style="small", width=0)
        if call.tail:
            ui.code("tail", tail_text(call.tail, TAIL_LINES))
        if words := task_words(desk.state, turn.discussion_id, call.id):
            ui.text("task", words, tone="muted", style="small", width=0)


def _rest(ui: Ui, turn: AgentTurn, more: int, waiting: int) -> None:
    """Say how many calls stand otherwise."""
    counted = Counter(call.state for call in turn.calls)
    said = [f"{more:,} more running"] if more > 0 else []
    said += [f"{fmt.count(waiting - 1, 'more question')} after this one"] if waiting > 1 else []
    states = (CallState.PREPARING, CallState.DONE, CallState.FAILED, CallState.REFUSED, CallState.INTERRUPTED)
    said += [f"{counted[state]:,} {_words(state, counted[state])}" for state in states if counted[state]]
    if said:
        ui.text("rest", " · ".join(said), tone="muted", style="small", wraps=True)


def _words(state: CallState, count: int) -> str:
    if state is CallState.PREPARING:
        return "waits its turn" if count == 1 else "wait their turn"
    return STATES[state][2]
