"""The notes of knowledge on a file, beside its structure: read, edited, and who is sent them."""

from __future__ import annotations

from core.caching.warmth import is_warm
from core.values.knowledge import NoteFile
from core.values.state import AppState
from panels.base.desk import Desk
from panels.base.file_button import file_button
from panels.knowledge.drafts import settle
from panels.knowledge.item import item_card
from panels.knowledge.notes import notes_path
from panels.knowledge.view import KnowledgeView

SHOWN_NAMES = 3


def file_knowledge(desk: Desk, absolute_path: str) -> None:
    """Draw the notes of knowledge on a file, each with its forms. Sends EditKnowledgeItem, DeleteKnowledgeItem."""
    ui = desk.ui
    note = note_on(desk.state, absolute_path)
    with ui.row("knowledge head"):
        ui.text("knowledge", "In knowledge", style="h3")
        if note is not None:
            ui.push()
            file_button(ui, notes_path(desk.state, note))
    if note is None:
        ui.text("none", "Nothing is known of this file yet. A harvest writes such notes.", tone="muted",
                style="small", wraps=True)  # fmt: skip
        return
    ui.text("who", sent_to(desk.state, absolute_path), tone="muted", style="small", wraps=True)
    settle(desk.state, desk.view.of(KnowledgeView))
    for item in note.items:
        with ui.group(("item", item.first_line, item.text)):
            item_card(desk, ui, item)


def note_on(state: AppState, absolute_path: str) -> NoteFile | None:
    """The notes on a file, None where there are none."""
    return next((note for note in state.knowledge.notes if note.path == absolute_path and note.items), None)


def sent_to(state: AppState, absolute_path: str) -> str:
    """A sentence on whose next requests a change of these notes comes to, and what it is under a warm prefix."""
    if not state.knowledge.is_on:
        return "Memory is off: no discussion is sent these notes."
    presets = {
        name
        for name, items in state.context.files.items()
        if any(file.absolute_path == absolute_path for one in items if one.item.enabled for file in one.files)
    }
    rows = sorted(state.discussions.summaries.values(), key=lambda row: row.updated_at, reverse=True)
    caches = state.caching.caches
    warm = [
        row.meta.name
        for row in rows
        if row.meta.preset in presets
        and (cache := caches.get(row.meta.id)) is not None
        and is_warm(cache, state.now)
    ]
    if not warm:
        return "A change comes with the next message of a discussion whose preset holds this file; none is warm now."
    names = ", ".join(warm[:SHOWN_NAMES])
    more = len(warm) - SHOWN_NAMES
    whose = f"{names} and {more:,} more" if more > 0 else names
    if state.config.settings.caching.appends_changes:
        return f"An edit joins the next message of {whose}; a deletion rewrites what is warm there."
    return f"A change rewrites what is warm in {whose}."
