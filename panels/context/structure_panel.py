"""The structure view of a file: outline with ticks, line ranges, text, notes."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.curation import FileItem, FileMode, FileSnapshot, Preset
from core.kernel.values.knowledge import NoteFile
from core.kernel.values.state import AppState
from core.talk.caching.accounts import is_warm
from core.talk.context.context_messages import InspectFile
from core.talk.context.outline import why_no_outline
from panels.base.desk import Desk
from panels.base.gauge import file_button
from panels.base.ui import Option, Ui
from panels.base.view import Same
from panels.context.context_room import ContextPanelView, StructureView
from panels.context.preset_item import (
    MODES,
    add_paths,
    change_item,
    format_lines,
    notes_editor,
    parse_lines,
    with_symbol,
)
from panels.knowledge.digest import notes_path
from panels.knowledge.item import item_card
from panels.knowledge.knowledge_room import KnowledgeView, settle

# The notes of knowledge on a file, beside its structure: read, edited, and who is sent them.

SHOWN_NAMES = 3


def file_knowledge(desk: Desk, absolute_path: str) -> None:
    """Draw the notes of knowledge on a file, each with its forms. Sends EditKnowledgeItem, DeleteKnowledgeItem."""
    ui = desk.ui
    note = note_on(desk.state, absolute_path)
    with ui.row("knowledge head"):
        ui.text("knowledge", tr("Knowledge about this file"), style="h3")
        if note is not None:
            ui.push()
            file_button(ui, notes_path(desk.state, note))
    if note is None:
        ui.text("none", tr("There is no knowledge about this file yet. A harvest writes such notes."), tone="muted",
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
        return tr("Knowledge is off: no discussion gets these notes.")
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
        return tr(
            "A discussion whose preset holds this file gets changes with its next message. No such discussion is warm now."
        )
    whose = fmt.first_of(warm, SHOWN_NAMES)
    if state.config.settings.caching.appends_changes:
        return tr(
            "If you edit a note, the next message of {discussions} carries the change. If you delete one, the program rewrites the warm cache.",
            discussions=whose,
        )
    return tr("A change rewrites the warm cache of {discussions}.", discussions=whose)


TABS = (
    Option(value="outline", label=tr("Outline")),
    Option(value="text", label=tr("Text")),
    Option(value="notes", label=tr("Notes")),
)
ROW_PX = 26.0
KIND_ICONS = {"class": "cube", "heading": "hashtag", "struct": "cube", "interface": "cubes"}


def structure_panel(desk: Desk, shown: StructureView) -> None:
    """Draw the structure view. Sends InspectFile("") when it is left, ChangePreset for ticks, lines and notes; for notes
    of knowledge what `file_knowledge` sends.
    """
    ui, view = desk.ui, desk.view
    with ui.row("head"):
        if ui.button("back", tr("Back"), icon="chevron-left", kind="ghost", is_small=True):
            view.of(ContextPanelView).structure = None
            desk.send(InspectFile(""))
        ui.text("name", shown.path.rpartition("/")[2], style="strong", width=0, tip=shown.path)
    file = desk.state.context.inspected
    if file is None or file.path != shown.path:
        ui.text("reading", tr("Reading {path}…", path=shown.path), tone="muted", style="small", wraps=True)
        return
    _facts(ui, file)
    if file.problem is not None:
        with ui.row("problem"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", file.problem.detail, tone="warn", wraps=True)
        return
    preset = desk.state.config.project.presets.get(shown.preset)
    item = _item(preset, shown)
    if preset is not None and item is not None:
        _choices(desk, shown, preset, item, file)
    elif preset is not None:
        _adopt(desk, shown, preset)
    clicked = ui.tabs("tabs", TABS, shown.tab)
    shown.tab = clicked or shown.tab
    match shown.tab:
        case "text":
            ui.code("text", file.text, language=file.path.rpartition(".")[2], first_line=1, height=0)
        case "notes":
            if preset is not None and item is not None:
                notes_editor(desk, preset, item)
            file_knowledge(desk, file.absolute_path)
        case _:
            _outline(desk, preset, item, file)


def _facts(ui: Ui, file: FileSnapshot) -> None:
    counted = (
        tr("counting…") if file.tokens is None else tr("{tokens} tokens", tokens=fmt.tokens_est(file.tokens))
    )
    line = f"{fmt.count(file.line_count, tr('line'), tr('lines'))} · {fmt.size(file.size_bytes)} · {counted}"
    ui.text("path", file.path, tone="muted", style="small", width=0, tip=file.absolute_path)
    ui.text("facts", line, tone="muted", style="small")


def _item(preset: Preset | None, shown: StructureView) -> FileItem | None:
    if preset is None:
        return None
    return next((item for item in preset.items if item.path == shown.path), None)


def _adopt(desk: Desk, shown: StructureView, preset: Preset) -> None:
    text = tr(
        "The item {item_path} already includes this file. To choose parts of the file, add the file as an item.",
        item_path=shown.item_path,
    )
    desk.ui.text("from glob", text, tone="muted", style="small", wraps=True)
    if desk.ui.button(
        "adopt", tr("Add this file as a separate item of the preset"), icon="plus", is_small=True
    ):
        add_paths(desk, preset, (shown.path,))


def _choices(desk: Desk, shown: StructureView, preset: Preset, item: FileItem, file: FileSnapshot) -> None:
    ui = desk.ui
    with ui.row("choices"):
        mode = ui.combo("mode", MODES, item.mode.value, width=112, tip=tr("How much of the file is sent"))
        if mode is not None:
            change_item(desk, preset, item, replace(item, mode=FileMode(mode)))
        typed = ui.text_input("lines", format_lines(item.slices), hint=tr("Lines: 10-40, 55"), icon="list-ol", width=0,
                              submits=True)  # fmt: skip
    if typed is not None:
        ranges, shown.lines_error = parse_lines(typed)
        if not shown.lines_error:
            if ranges and ranges[-1].last > file.line_count:
                shown.lines_error = tr(
                    "The file has {line_count:,} lines; lines after the end are left out",
                    line_count=file.line_count,
                )
            mode_now = FileMode.SLICES if ranges and item.mode is FileMode.WHOLE else item.mode
            if ranges != item.slices:
                change_item(desk, preset, item, replace(item, slices=ranges, mode=mode_now))
    if shown.lines_error:
        ui.text("lines error", shown.lines_error, tone="warn", style="small", wraps=True)


def _outline(desk: Desk, preset: Preset | None, item: FileItem | None, file: FileSnapshot) -> None:
    if not file.symbols:
        why = why_no_outline(file.path, file.text)
        text = tr("{why}. You can still choose lines of the file.", why=capital(why))
        desk.ui.text("no outline", text, tone="muted", style="small", wraps=True)
        return
    desk.ui.virtual_list(("symbols", file.path), SymbolRows(desk=desk, preset=preset, item=item, file=file))


class SymbolRows(msgspec.Struct, frozen=True):
    """The definitions of a file, each with a tick when it is part of an item."""

    desk: Desk
    preset: Preset | None
    item: FileItem | None
    file: FileSnapshot

    @property
    def revision(self) -> Hashable:
        """The outline itself."""
        return Same(self.file.symbols)

    def __len__(self) -> int:
        return len(self.file.symbols)

    def key(self, index: int) -> Hashable:
        """The place in the file: names may repeat."""
        return index

    def estimate_px(self, index: int, width: float) -> float:
        """A row's height."""
        return ROW_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a symbol, indented by its depth."""
        symbol, item = self.file.symbols[index], self.item
        with ui.row("symbol", gap=6, height=ROW_PX):
            if symbol.depth:
                ui.gap(14 * min(symbol.depth, 6))
            if item is not None:
                is_ticked = ui.checkbox(
                    "tick", "", symbol.name in item.symbols, tip=tr("Send {name}", name=symbol.name)
                )
                if is_ticked is not None and self.preset is not None:
                    change_item(
                        self.desk, self.preset, item, with_symbol(item, symbol.name, is_ticked=is_ticked)
                    )
            ui.icon("kind", KIND_ICONS.get(symbol.kind, "code"), tone="faint", tip=symbol.kind)
            ui.text("name", symbol.name.rpartition(".")[2], style="mono_small", width=0, tip=symbol.signature)
            lines = f"{symbol.lines.first}-{symbol.lines.last}"
            ui.text("lines", lines, tone="faint", style="small")
