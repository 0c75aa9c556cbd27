"""Tool activity: every call of the discussion, with its live tail, what it was given and gave."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import groupby

import msgspec

from core.agent.agent_messages import KillCommands, UndoTurn
from core.agent.delegation import edits_of_tasks
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.agent import AgentPage, CallState, FileChange, ToolCall
from core.kernel.values.messages import Message
from core.kernel.values.updates import is_under_way, outcome_of
from panels.agent.agent_room import AgentView
from panels.base import view
from panels.base.desk import Desk, answers
from panels.base.gauge import file_button
from panels.base.ui import Tone, Ui
from panels.base.view import Dialog, Same
from panels.context.preset_item import project_path
from panels.discussion.tool_mode import (
    COMMANDS,
    STATES,
    call_summary,
    shown_arguments,
    state_words,
    tail_text,
    task_link,
    tool_icon,
    tool_label,
)

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
        """Estimate its height from the shown lines."""
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
        text = tr("The tools have done nothing yet. Each tool call appears here with its input and result.")
        ui.text("nothing", text, tone="muted", wraps=True)
        return
    rows = CallRows(
        discussion_id=discussion_id, calls=page.activity, open_calls=own.open_calls, draw_row=draw
    )
    ui.virtual_list(("activity", discussion_id), rows, follows_end=True)


def call_row(desk: Desk, ui: Ui, own: AgentView, discussion_id: str, call: ToolCall) -> None:
    """Draw one call: a line that unfolds, its live tail, and a way to kill it."""
    place = (discussion_id, call.id)
    is_open = place in own.open_calls
    icon, tone, _ = STATES[call.state]
    tip = tr("Hide input and result") if is_open else tr("Show input and result")
    with ui.clickable("line", "card_selected" if is_open else "clear", padding=(8, 5), tip=tip) as clicks:
        with ui.row("head", gap=6):
            ui.icon("state", icon, tone=tone)
            ui.icon("tool", tool_icon(call.name))
            ui.text("name", tool_label(call.name), style="small_strong", width=0)
            ui.text("words", state_words(call, desk.state.now), tone=tone, style="small")
            if (goes_on(call) or (call.state is CallState.RUNNING and call.name in COMMANDS)) and ui.button(
                "kill",
                tr("End"),
                icon="stop",
                is_small=True,
                tip=tr("End this command and everything it started"),
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
        ui.text("given", tr("Input"), tone="faint", style="small")
        ui.code("arguments", shown_arguments(call.arguments_json), language="json")
        if call.result:
            ui.text("gave", tr("Result"), tone="faint", style="small")
            ui.code("result", call.result)
        elif call.state.is_over:
            ui.text("gave nothing", tr("The tool returned nothing"), tone="faint", style="small")


# Files that the discussion's turns changed, by turn, with their differences and a way back.

SHOWN = 200
TITLE_CHARS = 60
ASKED_FILES = 8


def changes_section(desk: Desk, page: AgentPage) -> None:
    """Draw the turns, newest first, each with its files. Opens the question of an undo."""
    ui = desk.ui
    if not page.changes:
        ui.text("nothing", tr("The model changed no file. Before a turn writes a file, the program keeps its old bytes."),
                tone="muted", wraps=True)  # fmt: skip
        return
    newest = page.changes[-SHOWN:]
    turns = [(turn_id, tuple(group)) for turn_id, group in groupby(newest, key=lambda one: one.turn_id)]
    for number, (turn_id, changes) in enumerate(reversed(turns)):
        _turn(desk, number, turn_id, changes)
    if len(page.changes) > SHOWN:
        ui.text(
            "more",
            tr("and {changes:,} older changes", changes=len(page.changes) - SHOWN),
            tone="muted",
            style="small",
        )


def _turn(desk: Desk, number: int, turn_id: str, changes: tuple[FileChange, ...]) -> None:
    ui, own = desk.ui, desk.view.of(AgentView)
    with ui.surface(("turn", number, turn_id), "card", padding=(12, 10)), ui.group("parts", gap=6):
        ui.text(
            "title",
            turn_title(desk, turn_id),
            style="small_strong",
            width=0,
            tip=turn_title(desk, turn_id, 600),
        )
        for change in changes:
            _file(desk, ui, own, change)
        stands = [one for one in changes if not one.is_undone]
        if not stands:
            ui.text("undone", tr("You undid the edits of this turn"), tone="muted", style="small", wraps=True)
        else:
            is_free = desk.turn is None and not is_under_way(desk.state, own.undone.get(turn_id, ""))
            if ui.button("undo", tr("Undo this turn's edits"), icon="rotate-left", is_small=True, is_enabled=is_free,
                         tip=tr("Restore the files from before the turn")):  # fmt: skip
                desk.view.dialog = Dialog(
                    kind="undo_turn", subject=desk.state.discussions.selected_id, text=turn_id
                )
        outcome = outcome_of(desk.state, own.undone.get(turn_id, ""))
        if outcome is not None and not outcome.is_done:
            ui.text("problem", outcome.said, tone="warn", style="small", wraps=True)


def turn_title(desk: Desk, turn_id: str, most: int = TITLE_CHARS) -> str:
    """First words of the person's message that began a turn."""
    entries = desk.opened.entries if desk.opened is not None else ()
    asked = next((e for e in reversed(entries) if e.id == turn_id and isinstance(e, Message)), None)
    words = " ".join(asked.text[: 2 * most].split()) if asked is not None else ""
    return (words[: most - 1] + "…" if len(words) > most else words) or tr(
        "A turn whose message is not shown"
    )


def _file(desk: Desk, ui: Ui, own: AgentView, change: FileChange) -> None:
    place = (change.turn_id, change.path)
    is_open = place in own.open_files
    shown = project_path(change.path, desk.state.config.project.root)
    tip = (
        tr("Hide the difference of {shown}", shown=shown)
        if is_open
        else tr("Show the difference of {shown}", shown=shown)
    )
    with ui.group(("file", change.path), gap=4):
        with ui.clickable("line", "clear", padding=(2, 2), tip=tip) as clicks, ui.row("parts", gap=6):
            ui.icon("fold", "chevron-down" if is_open else "chevron-right", tone="muted")
            tone: Tone = "faint" if change.is_undone else "text"
            ui.text("path", shown, style="small", width=0, tone=tone)
            ui.text("size", f"+{change.added:,} −{change.removed:,}", tone="muted", style="small")
            if not change.before_sha256:
                ui.badge("new", tr("new"))
            if change.before_sha256 or not change.is_undone:  # else it is gone again
                file_button(ui, change.path)
        if clicks.clicked:
            own.open_files ^= {place}
        if is_open:
            ui.code(
                "difference",
                change.difference or tr("The program has no record of the changes in this file"),
                language="diff",
            )


def undo_dialog(desk: Desk, dialog: Dialog) -> None:
    """Ask before a turn's edits are taken back. Sends UndoTurn."""
    ui, page = desk.ui, view.page_of(desk.state)
    changes = page.changes if page is not None else ()
    paths = [one.path for one in changes if one.turn_id == dialog.text and not one.is_undone]
    if not paths or dialog.subject != desk.state.discussions.selected_id:
        desk.view.dialog = None
        return
    with ui.dialog("undo turn", tr("Undo this turn's edits?"), width=480) as closed:
        ui.text(
            "what",
            tr(
                "{files} changed in the turn “{turn}”:",
                files=fmt.count(len(paths), tr("file"), tr("files")),
                turn=turn_title(desk, dialog.text),
            ),
            wraps=True,
        )
        for path in paths[:ASKED_FILES]:
            shown = project_path(path, desk.state.config.project.root)
            ui.text(("path", path), shown, style="mono_small", tone="muted", wraps=True)
        if len(paths) > ASKED_FILES:
            ui.text(
                "more",
                tr("and {paths} more of the files", paths=len(paths) - ASKED_FILES),
                tone="muted",
                style="small",
            )
        tasks = edits_of_tasks(desk.state, dialog.subject, dialog.text)
        if tasks:
            ui.text("tasks", tasks, tone="warn", wraps=True)
        ui.text("left", tr("The program leaves and lists files that changed after this turn. It does not undo commands."),
                tone="muted", wraps=True)  # fmt: skip
        did = answers(ui, tr("Keep"), tr("Undo edits"), is_danger=True)
    if did == "yes":
        own = desk.view.of(AgentView)
        own.undone[dialog.text] = desk.ask(UndoTurn(discussion_id=dialog.subject, turn_id=dialog.text))
    if did or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
