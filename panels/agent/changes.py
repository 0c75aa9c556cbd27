"""Files that the discussion's turns changed, by turn, with their differences and a way back."""

from __future__ import annotations

from itertools import groupby

from core.agent.delegation import edits_of_tasks
from core.agent.messages import UndoTurn
from core.base import figures as fmt
from core.values.agent import AgentPage, FileChange
from core.values.messages import Message
from core.values.updates import is_under_way, outcome_of
from panels.agent.view import AgentView
from panels.base import selection
from panels.base.answers import answers
from panels.base.desk import Desk
from panels.base.file_button import file_button
from panels.base.ui import Tone, Ui
from panels.base.view import Dialog
from panels.context.preset_edits import project_path

SHOWN = 200
TITLE_CHARS = 60
ASKED_FILES = 8


def changes_section(desk: Desk, page: AgentPage) -> None:
    """Draw the turns, newest first, each with its files. Opens the question of an undo."""
    ui = desk.ui
    if not page.changes:
        ui.text("nothing", "No file was changed. The bytes of each are kept before a turn first writes it.",
                tone="muted", wraps=True)  # fmt: skip
        return
    newest = page.changes[-SHOWN:]
    turns = [(turn_id, tuple(group)) for turn_id, group in groupby(newest, key=lambda one: one.turn_id)]
    for number, (turn_id, changes) in enumerate(reversed(turns)):
        _turn(desk, number, turn_id, changes)
    if len(page.changes) > SHOWN:
        ui.text("more", f"and {len(page.changes) - SHOWN:,} older changes", tone="muted", style="small")


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
            ui.text("undone", "Its edits were undone", tone="muted", style="small")
        else:
            is_free = desk.turn is None and not is_under_way(desk.state, own.undone.get(turn_id, ""))
            if ui.button("undo", "Undo this turn's edits", icon="rotate-left", is_small=True, is_enabled=is_free,
                         tip="Put back the bytes from before the turn"):  # fmt: skip
                desk.view.dialog = Dialog("undo_turn", desk.state.discussions.selected_id, turn_id)
        outcome = outcome_of(desk.state, own.undone.get(turn_id, ""))
        if outcome is not None and not outcome.is_done:
            ui.text("problem", outcome.said, tone="warn", style="small", wraps=True)


def turn_title(desk: Desk, turn_id: str, most: int = TITLE_CHARS) -> str:
    """First words of the person's message that began a turn."""
    entries = desk.opened.entries if desk.opened is not None else ()
    asked = next((e for e in reversed(entries) if e.id == turn_id and isinstance(e, Message)), None)
    words = " ".join(asked.text[: 2 * most].split()) if asked is not None else ""
    return (words[: most - 1] + "…" if len(words) > most else words) or "A turn of this discussion"


def _file(desk: Desk, ui: Ui, own: AgentView, change: FileChange) -> None:
    place = (change.turn_id, change.path)
    is_open = place in own.open_files
    shown = project_path(change.path, desk.state.config.project.root)
    tip = f"{'Hide' if is_open else 'Show'} the difference of {shown}"
    with ui.group(("file", change.path), gap=4):
        with ui.clickable("line", "clear", padding=(2, 2), tip=tip) as clicks, ui.row("parts", gap=6):
            ui.icon("fold", "chevron-down" if is_open else "chevron-right", tone="muted")
            tone: Tone = "faint" if change.is_undone else "text"
            ui.text("path", shown, style="small", width=0, tone=tone)
            ui.text("size", f"+{change.added:,} −{change.removed:,}", tone="muted", style="small")
            if not change.before_sha256:
                ui.badge("new", "new")
            if change.before_sha256 or not change.is_undone:  # else it is gone again
                file_button(ui, change.path)
        if clicks.clicked:
            own.open_files ^= {place}
        if is_open:
            ui.code("difference", change.difference or "No difference is kept", language="diff")


def undo_dialog(desk: Desk, dialog: Dialog) -> None:
    """Ask before a turn's edits are taken back. Sends UndoTurn."""
    ui, page = desk.ui, selection.page_of(desk.state)
    changes = page.changes if page is not None else ()
    paths = [one.path for one in changes if one.turn_id == dialog.text and not one.is_undone]
    if not paths or dialog.subject != desk.state.discussions.selected_id:
        desk.view.dialog = None
        return
    with ui.dialog("undo turn", "Undo this turn's edits?", width=480) as closed:
        ui.text("what", f"{fmt.count(len(paths), 'file')} of “{turn_title(desk, dialog.text)}”:", wraps=True)
        for path in paths[:ASKED_FILES]:
            shown = project_path(path, desk.state.config.project.root)
            ui.text(("path", path), shown, style="mono_small", tone="muted", wraps=True)
        if len(paths) > ASKED_FILES:
            ui.text("more", f"and {len(paths) - ASKED_FILES} more", tone="muted", style="small")
        tasks = edits_of_tasks(desk.state, dialog.subject, dialog.text)
        if tasks:
            ui.text("tasks", tasks, tone="warn", wraps=True)
        ui.text("left", "Files that were changed since are left as they are, and named. What commands did is not undone.",
                tone="muted", wraps=True)  # fmt: skip
        did = answers(ui, "Leave them", "Undo edits", is_danger=True)
    if did == "yes":
        own = desk.view.of(AgentView)
        own.undone[dialog.text] = desk.ask(UndoTurn(dialog.subject, dialog.text))
    if did or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
