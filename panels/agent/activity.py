"""Tool activity: every call of the discussion, with its live tail, what it was given and gave."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import msgspec

from core.agent.messages import KillCommands
from core.values.agent import AgentPage, CallState, ToolCall
from panels.agent.view import AgentView
from panels.base.desk import Desk
from panels.base.memo import Same
from panels.base.ui import Ui
from panels.discussion.call_look import (
    COMMANDS,
    STATES,
    call_summary,
    shown_arguments,
    state_words,
    tail_text,
    tool_icon,
    tool_label,
)
from panels.discussion.tasks import task_link

ROW_PX, TAIL_PX, OPEN_PX = 52.0, 110.0, 260.0
TAIL_LINES = 8


class CallRows(msgspec.Struct, frozen=True):
    """Calls as rows of a virtual list, oldest first.

    Args:
        calls: the newest that are kept; open_calls: unfolded, by discussion and call.
        commands: ids of commands that go on in the background; draw_row: draws one.
    """

    discussion_id: str
    calls: tuple[ToolCall, ...]
    open_calls: frozenset[tuple[str, str]]
    draw_row: Callable[[ToolCall, Ui], None]

    @property
    def revision(self) -> Hashable:
        """Changes with the calls and with what is unfolded."""
        return Same(self.calls, self.open_calls)

    def __len__(self) -> int:
        return len(self.calls)

    def key(self, index: int) -> Hashable:
        """The call, its state and whether it is unfolded."""
        call = self.calls[index]
        return (
            call.id,
            call.started_at,
            call.state,
            bool(call.tail),
            (self.discussion_id, call.id) in self.open_calls,
        )

    def estimate_px(self, index: int, width: float) -> float:
        """From what is shown of it."""
        call = self.calls[index]
        is_open = (self.discussion_id, call.id) in self.open_calls
        return ROW_PX + (OPEN_PX if is_open else 0.0) + (TAIL_PX if has_live_tail(call) else 0.0)

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one row."""
        self.draw_row(self.calls[index], ui)


def has_live_tail(call: ToolCall) -> bool:
    """True while what a command writes is shown as it comes."""
    return bool(call.tail) and (call.state is CallState.RUNNING or goes_on(call))


def goes_on(call: ToolCall) -> bool:
    """True for a command that runs on behind its result."""
    return call.is_background and call.ended_at is None


def activity_section(desk: Desk, page: AgentPage) -> None:
    """Draw the list. O(visible). Sends KillCommands."""
    ui, own = desk.ui, desk.view.of(AgentView)
    discussion_id = desk.state.discussions.selected_id

    def draw(call: ToolCall, ui: Ui) -> None:
        call_row(desk, ui, own, discussion_id, call)

    if not page.activity:
        text = (
            "Nothing was done yet. What its tools do stands here, each call with what it was given and gave."
        )
        ui.text("nothing", text, tone="muted", wraps=True)
        return
    rows = CallRows(discussion_id, page.activity, own.open_calls, draw)
    ui.virtual_list(("activity", discussion_id), rows, follows_end=True)


def call_row(desk: Desk, ui: Ui, own: AgentView, discussion_id: str, call: ToolCall) -> None:
    """Draw one call: a line that unfolds, its live tail, and a way to kill it."""
    place = (discussion_id, call.id)
    is_open = place in own.open_calls
    icon, tone, _ = STATES[call.state]
    tip = "Hide what it was given and gave" if is_open else "What it was given and gave"
    with ui.clickable("line", "card_selected" if is_open else "clear", padding=(8, 5), tip=tip) as clicks:
        with ui.row("head", gap=6):
            ui.icon("state", icon, tone=tone)
            ui.icon("tool", tool_icon(call.name))
            ui.text("name", tool_label(call.name), style="small_strong", width=0)
            ui.text("words", state_words(call, desk.state.now), tone=tone, style="small")
            if (goes_on(call) or (call.state is CallState.RUNNING and call.name in COMMANDS)) and ui.button(
                "kill", "Kill", icon="stop", is_small=True, tip="End this command and all that it started"
            ):
                desk.send(KillCommands(discussion_id, call.id))
        summary = call_summary(call.name, call.summary, call.arguments_json)
        ui.text("summary", summary, tone="muted", style="small", width=0, tip="" if is_open else summary)
    if clicks.clicked:
        own.open_calls ^= {place}
    task_link(desk, discussion_id, call.name, call.id)
    if has_live_tail(call):
        ui.code("tail", tail_text(call.tail, TAIL_LINES))
    if is_open:
        _inside(ui, call)


def _inside(ui: Ui, call: ToolCall) -> None:
    with ui.group("inside", gap=4):
        ui.text("given", "Given", tone="faint", style="small")
        ui.code("arguments", shown_arguments(call.arguments_json), language="json")
        if call.result:
            ui.text("gave", "Gave", tone="faint", style="small")
            ui.code("result", call.result)
        elif call.state.is_over:
            ui.text("gave nothing", "It gave nothing back", tone="faint", style="small")
