"""The head of notes that are bound to one file: which file, and what became of it."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.values.knowledge import NoteFile, NoteStatus
from core.kernel.values.state import AppState
from core.knowledge.categories import note_name
from core.knowledge.knowledge_messages import AttachNotes
from panels.base.desk import Desk
from panels.base.gauge import file_button
from panels.base.ui import Tone, Ui
from panels.base.view import Dialog
from panels.knowledge.digest import knowledge_path
from panels.knowledge.knowledge_view import ask, can_ask

WIDE_PX = 400
"""Narrower, the buttons stand under each other."""

STATUS: dict[NoteStatus, tuple[str, Tone, str]] = {
    NoteStatus.ATTACHED: ("attached", "muted", "The file is where it was when the notes were written"),
    NoteStatus.MOVED: ("moved", "muted", "The file was saved anew at its path; the notes follow it"),
    NoteStatus.RENAMED: ("renamed", "muted", "The file has another path now; the notes follow it"),
    NoteStatus.ORPHANED: (
        "orphaned",
        "warn",
        "The file is not there any more: say which one the notes are about",
    ),
}


def notes_path(state: AppState, note: NoteFile) -> str:
    """Path of the file that holds the notes."""
    return knowledge_path(state, note_name(note.file_id))


def note_head(desk: Desk, ui: Ui, note: NoteFile) -> None:
    """Draw the head of a file's notes. Sends AttachNotes."""
    path = note.path or note.heading
    folder, _, name = path.replace("\\", "/").rpartition("/")
    label, tone, tip = STATUS[note.status]
    is_orphan = note.status is NoteStatus.ORPHANED
    with ui.group("head", gap=4):
        with ui.row("name row", gap=6):
            ui.icon(
                "icon", "link-slash" if is_orphan else "file-lines", tone="warn" if is_orphan else "muted"
            )
            ui.text("name", name or path or "a file without a name", style="strong", width=0, tip=path)
            if note.status is not NoteStatus.ATTACHED:
                ui.badge("status", label, tone=tone, tip=tip)
            ui.text("count", fmt.count(len(note.items), "note"), tone="faint", style="small")
            if ui.button("copy", "", icon="copy", kind="ghost", is_small=True, tip=f"Copy the path {path}"):
                ui.copy(path)
            file_button(ui, notes_path(desk.state, note))
        ui.text("folder", folder or path, tone="muted", style="small", width=0, tip=path)
        if note.status is NoteStatus.RENAMED and note.heading != note.path:
            ui.text("was", f"was {note.heading}", tone="faint", style="small", width=0, tip=note.heading)
        if note.problem:
            ui.text("problem", note.problem, tone="warn", style="small", wraps=True)
        if is_orphan:
            _orphan(desk, ui, note)


def _orphan(desk: Desk, ui: Ui, note: NoteFile) -> None:
    can = can_ask(desk, note)
    ui.text("why", "There is no such file any more. The notes stay out of requests until they are attached.",
            tone="warn", style="small", wraps=True)  # fmt: skip
    ui.gap(6)
    with ui.row("buttons") if ui.width() >= WIDE_PX else ui.group("stacked", gap=6):
        _attach(desk, ui, note, can=can)


def _attach(desk: Desk, ui: Ui, note: NoteFile, *, can: bool) -> None:
    if note.proposal and ui.button(
        "attach", f"Attach to {note.proposal.replace(chr(92), '/').rpartition('/')[2]}", icon="link",
        kind="primary", is_small=True, is_enabled=can, tip=note.proposal,
    ):  # fmt: skip
        ask(desk, note, AttachNotes(file_id=note.file_id, path=note.proposal))
    if ui.button("choose", "Choose another file…" if note.proposal else "Choose a file…", icon="folder-open",
                 is_small=True, is_enabled=can):  # fmt: skip
        desk.view.dialog = Dialog(kind="attach_notes", subject=note.file_id, text=note.heading)
