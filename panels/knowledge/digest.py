"""The digest in the Knowledge panel, exactly as it is injected, and the head of notes that are bound to one file."""

from __future__ import annotations

import math

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.knowledge import DigestSwitch, NoteFile, NoteStatus
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState
from core.knowledge.categories import note_name
from core.knowledge.knowledge_messages import AttachNotes, DeleteDigest, RegenerateDigest
from core.knowledge.layer7 import DIGEST_MAX_BYTES, injected_digest
from core.services.settings.settings_messages import ChangeSetting
from panels.base import view as selection
from panels.base.desk import Desk
from panels.base.gauge import file_button
from panels.base.ui import Tone, Ui
from panels.base.view import Dialog
from panels.knowledge.knowledge_room import ask, can_ask

# The digest in the Knowledge panel: exactly as it is injected, how full it is, and what switches it.

SWITCH: dict[DigestSwitch, tuple[str, Tone, str]] = {
    DigestSwitch.ON: (tr("Knowledge is on"), "ok", "circle-check"),
    DigestSwitch.OFF_BY_DELETION: (tr("Knowledge is off"), "warn", "circle-pause"),
    DigestSwitch.OFF_WITHOUT_KNOWLEDGE: (tr("Knowledge is empty"), "muted", "circle-pause"),
    DigestSwitch.OFF_BY_CONFIGURATION: (tr("Knowledge is off"), "warn", "circle-pause"),
}
WHY = {
    DigestSwitch.ON: tr(
        "Every request contains the digest and notes on files in scope, as layer 7. Deleting digest.md turns knowledge off, here or with any other tool."
    ),
    DigestSwitch.OFF_BY_DELETION: tr(
        "There is no digest.md, so nothing is sent. “Regenerate digest” makes the file and turns knowledge on. So does applying a harvest."
    ),
    DigestSwitch.OFF_WITHOUT_KNOWLEDGE: tr(
        "There is no knowledge yet, so nothing is sent. Apply a harvest, or write an item, to make a digest."
    ),
    DigestSwitch.OFF_BY_CONFIGURATION: tr(
        "The setting ai_settings.knowledge.digest_enabled is off: nothing is sent, even if digest.md exists. The switch below turns the setting on."
    ),
}
FULL_FROM = 0.95
WIDE_PX, BESIDE_PX = 320, 340
"""Width from which the button has its long name, and from which it stands beside the words."""


def digest_path(state: AppState) -> str:
    """Path where `digest.md` is or would be."""
    found = (path for path in state.knowledge.watched if path.replace("\\", "/").endswith("/digest.md"))
    return next(found, f"{state.program.home}/knowledge/digest.md")


def knowledge_path(state: AppState, name: str) -> str:
    """Path of a file of knowledge. `name`: below the knowledge directory, as items and notes have it."""
    return digest_path(state).removesuffix("digest.md") + name


def switch_row(desk: Desk) -> None:
    """Draw the switch with its state in a line. Sends RegenerateDigest, DeleteDigest, ChangeSetting."""
    ui, knowledge = desk.ui, desk.state.knowledge
    title, tone, icon = SWITCH[knowledge.switch]
    is_beside = not 0 < ui.width() < BESIDE_PX
    with ui.row("switch"):
        ui.icon("icon", icon, tone=tone, tip=WHY[knowledge.switch])
        with ui.group("words", gap=3):
            ui.text("title", title, style="strong", width=0, tip=WHY[knowledge.switch])
            ui.text(
                "note", _note(desk.state), tone="muted", style="small", width=0, tip=WHY[knowledge.switch]
            )
        if is_beside:
            _switch_controls(desk)
    if not is_beside:
        with ui.row("controls"):
            _switch_controls(desk)


def _switch_controls(desk: Desk) -> None:
    """Draw the switch and the way to a new digest."""
    ui, knowledge = desk.ui, desk.state.knowledge
    label = tr("Regenerate digest") if ui.width() >= WIDE_PX else tr("Regenerate")
    if not desk.state.program.is_home_read_only:
        _on_off(desk)
    if ui.button("regenerate", label, icon="arrows-rotate", is_small=True,
                 kind="primary" if knowledge.switch is DigestSwitch.OFF_BY_DELETION else "plain",
                 is_enabled=not desk.state.program.is_home_read_only,
                 tip=tr("Make the digest anew from your items, without a model and free; this turns knowledge on")):  # fmt: skip
        desk.send(RegenerateDigest())


def _on_off(desk: Desk) -> None:
    """The switch itself: off removes digest.md, as `rm` does, and on makes it anew."""
    is_off_by_setting = desk.state.knowledge.switch is DigestSwitch.OFF_BY_CONFIGURATION
    tip = tr("Turning off deletes digest.md. Turning on makes digest.md from the category files")
    wanted = desk.ui.checkbox("on", tr("On"), desk.state.knowledge.is_on, tip=tip)
    if wanted is None:
        return
    if wanted and is_off_by_setting:
        desk.send(ChangeSetting("ai_settings.knowledge.digest_enabled", True))
    else:
        desk.send(RegenerateDigest() if wanted else DeleteDigest())


def _note(state: AppState) -> str:
    match state.knowledge.switch:
        case DigestSwitch.ON:
            return tr(
                "{digest_bytes:,} of {DIGEST_MAX_BYTES:,} bytes",
                digest_bytes=state.knowledge.digest_bytes,
                DIGEST_MAX_BYTES=DIGEST_MAX_BYTES,
            )
        case DigestSwitch.OFF_BY_DELETION:
            return tr("no digest.md")
        case DigestSwitch.OFF_WITHOUT_KNOWLEDGE:
            return tr("nothing is sent")
        case DigestSwitch.OFF_BY_CONFIGURATION:
            return tr("off in the settings")


def digest_section(desk: Desk) -> None:
    """Draw the digest with its switch. Sends DeleteDigest, ChangeSetting."""
    ui, knowledge = desk.ui, desk.state.knowledge
    with ui.surface("about", "card", padding=(12, 10)), ui.group("lines", gap=8):
        ui.text("why", WHY[knowledge.switch], style="small", wraps=True)
        _gauges(ui, desk.state)
        _switches(desk)
    with ui.row("text title"):
        ui.text("title", tr("Text that is sent"), style="strong")
        ui.push()
        text = injected(desk.state)
        if text and ui.button(
            "copy", "", icon="copy", kind="ghost", is_small=True, tip=tr("Copy the digest")
        ):
            ui.copy(text)
    if text:
        ui.selectable_text("text", text, mono=True, height=math.inf)
    elif knowledge.digest:
        ui.text(
            "none",
            tr("The program does not send digest.md now. The file contains:"),
            tone="muted",
            style="small",
            wraps=True,
        )
        ui.selectable_text("waiting", knowledge.digest, mono=True, height=math.inf)
    else:
        why = (
            tr("The program sends no knowledge, because the digest is empty.")
            if knowledge.is_on
            else tr("The program sends no knowledge, because knowledge is off.")
        )
        ui.text("none", why, tone="muted", style="small", wraps=True)


def injected(state: AppState) -> str:
    """Layer 7a as it is sent, empty while memory is off."""
    knowledge = state.knowledge
    budget_bytes = state.config.settings.knowledge.budget_bytes
    text = injected_digest(knowledge.digest, budget_bytes) if knowledge.is_on else ""
    return f"{{knowledge}}\n{text}\n{{/knowledge}}\n" if text else ""


def _gauges(ui: Ui, state: AppState) -> None:
    _gauge(
        ui,
        "digest",
        tr("Digest"),
        state.knowledge.digest_bytes,
        DIGEST_MAX_BYTES,
        tr("digest.md may hold at most this much"),
    )
    report = selection.report_of(state)
    if report is not None and state.knowledge.is_on:
        used = sum(layer.size_bytes for layer in report.layers if layer.layer is LayerId.KNOWLEDGE)
        tip = tr(
            "Digest and notes on files of the selected discussion; the setting ai_settings.knowledge.budget_bytes limits them"
        )
        _gauge(
            ui, "layer", tr("Whole text of layer 7"), used, state.config.settings.knowledge.budget_bytes, tip
        )


def _gauge(ui: Ui, key: str, label: str, used: int, most: int, tip: str) -> None:
    share = used / most if most > 0 else 0.0
    tone: Tone = "error" if share > 1 else "warn" if share > FULL_FROM else "accent"
    with ui.group(key, gap=4):
        with ui.row("words"):
            ui.text("label", label, style="small", width=0, tip=tip)
            ui.text(
                "bytes",
                tr("{used:,} of {most:,} bytes", used=used, most=most),
                tone="muted",
                style="small",
                tip=tip,
            )
        ui.progress("bar", share, tone=tone)


def _switches(desk: Desk) -> None:
    ui, state = desk.ui, desk.state
    is_enabled = ui.checkbox(
        "enabled", tr("Send the digest while digest.md exists"), state.config.settings.knowledge.digest_enabled,
        tip="ai_settings.knowledge.digest_enabled",
    )  # fmt: skip
    if is_enabled is not None:
        desk.send(ChangeSetting("ai_settings.knowledge.digest_enabled", is_enabled))
    path = digest_path(state)
    has_file = bool(state.knowledge.digest_bytes or state.knowledge.digest)
    ui.text("path", path, tone="muted", style="mono_small", wraps=True)
    with ui.row("file"):
        can = has_file and not state.program.is_home_read_only
        why = (
            tr("Deletes {path}; “Regenerate digest” makes the file again", path=path)
            if has_file
            else tr("There is no digest.md")
        )
        if ui.button("off", tr("Turn off"), icon="power-off", is_small=True, is_enabled=can, tip=why):
            desk.send(DeleteDigest())
        if has_file:
            file_button(ui, path, label=tr("Open in editor"))


# The head of notes that are bound to one file: which file, and what became of it.

NOTES_WIDE_PX = 400
"""Narrower, the buttons stand under each other."""

STATUS: dict[NoteStatus, tuple[str, Tone, str]] = {
    NoteStatus.ATTACHED: ("attached", "muted", tr("The file that these notes describe exists")),
    NoteStatus.MOVED: (
        "moved",
        "muted",
        tr("The file was deleted and saved again; the program gave the notes back to the file"),
    ),
    NoteStatus.RENAMED: (
        "renamed",
        "muted",
        tr("The file has another path now; the program moved its notes to the new path"),
    ),
    NoteStatus.ORPHANED: (
        "orphaned",
        "warn",
        tr("The file no longer exists: choose the file of these notes"),
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
            ui.text("name", name or path or tr("a file without a name"), style="strong", width=0, tip=path)
            if ui.button(
                "copy",
                "",
                icon="copy",
                kind="ghost",
                is_small=True,
                tip=tr("Copy the path {path}", path=path),
            ):
                ui.copy(path)
            file_button(ui, notes_path(desk.state, note))
        with ui.row("place", gap=6):
            if note.status is not NoteStatus.ATTACHED:
                ui.badge("status", label, tone=tone, tip=tip)
            ui.text("count", fmt.count(len(note.items), tr("note"), tr("notes")), tone="faint", style="small")
            ui.text("folder", folder or path, tone="muted", style="small", width=0, tip=path)
        if note.status is NoteStatus.RENAMED and note.heading != note.path:
            ui.text(
                "was",
                tr("formerly {heading}", heading=note.heading),
                tone="faint",
                style="small",
                width=0,
                tip=note.heading,
            )
        if note.problem:
            ui.text("problem", note.problem, tone="warn", style="small", wraps=True)
        if is_orphan:
            _orphan(desk, ui, note)


def _orphan(desk: Desk, ui: Ui, note: NoteFile) -> None:
    can = can_ask(desk, note)
    ui.text("why", tr("This file no longer exists. Requests leave out the notes until you attach them to a file."),
            tone="warn", style="small", wraps=True)  # fmt: skip
    ui.gap(6)
    with ui.row("buttons") if ui.width() >= NOTES_WIDE_PX else ui.group("stacked", gap=6):
        _attach(desk, ui, note, can=can)


def _attach(desk: Desk, ui: Ui, note: NoteFile, *, can: bool) -> None:
    if note.proposal and ui.button(
        "attach", tr("Attach to {file}", file=note.proposal.replace(chr(92), '/').rpartition('/')[2]), icon="link",
        kind="primary", is_small=True, is_enabled=can, tip=note.proposal,
    ):  # fmt: skip
        ask(desk, note, AttachNotes(file_id=note.file_id, path=note.proposal))
    if ui.button("choose", tr("Choose another file…") if note.proposal else tr("Choose a file…"), icon="folder-open",
                 is_small=True, is_enabled=can):  # fmt: skip
        desk.view.dialog = Dialog(kind="attach_notes", subject=note.file_id, text=note.heading)
