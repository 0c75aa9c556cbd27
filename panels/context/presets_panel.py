"""Context Presets: which files a model sees; chooser, items, preview, and the dialogs of presets."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.curation import Preset
from core.kernel.values.stack import LayerId
from core.talk.context.context_messages import (
    CreatePreset,
    DeletePreset,
    LookUpFiles,
    RenamePreset,
    RevertPreset,
    SavePreset,
)
from core.talk.context.file_layers import count_files, free_name
from core.talk.discussion.discussion_messages import ChangeDiscussion
from panels.base import view as selection
from panels.base.desk import Desk, action_tip
from panels.base.ui import Surface, Tone
from panels.base.view import Dialog
from panels.context.context_room import ContextPanelView
from panels.context.preset_item import add_paths, files_by_path, item_row, move_item, tokens_by_file

# Context Presets: which files a model sees. Chooser, items, preview; the structure view is its own module.

PRESET_PX = 30.0
SHOWN_PRESETS = 6
FOOT_PX = 40.0


def presets_panel(desk: Desk) -> None:
    """Draw the panel. Sends ChangePreset and its kin, ChangeDiscussion, InspectFile."""
    own = desk.view.of(ContextPanelView)
    if desk.view.focus == "path":  # its field is not in these views
        own.structure, own.is_preview_open = None, False
    if own.structure is not None:
        from panels.context.structure_panel import structure_panel  # loaded behind the first frame

        structure_panel(desk, own.structure)
        return
    if own.is_preview_open:
        _preview(desk)
        return
    _chooser(desk)
    preset = selection.active_preset(desk.state)
    if preset is not None:
        _toolbar(desk, preset)
    _add_row(desk, preset)
    if preset is None:
        _say_no_files(desk)
        return
    with desk.ui.surface("items", "clear", height=-FOOT_PX, padding=(0, 0), scrolls=True):
        _items(desk, preset)
    _foot(desk, preset)


def _say_no_files(desk: Desk) -> None:
    missing = selection.missing_preset(desk.state)
    if missing:
        text = tr(
            "This project has no preset {missing!r}: the model sees no files. Choose a preset above.",
            missing=missing,
        )
        desk.ui.text("missing", text, tone="warn", style="small", wraps=True)
    else:
        text = tr("No preset: the model sees no files. Choose a preset above, or add a file to create one.")
        desk.ui.text("none", text, tone="muted", style="small", wraps=True)


def _chooser(desk: Desk) -> None:
    ui, presets = desk.ui, desk.state.config.project.presets
    with ui.row("title"):
        ui.text("title", tr("Presets"), style="strong")
        ui.text("count", fmt.count(len(presets), tr("preset"), tr("presets")), tone="muted", style="small")
        ui.push()
        if ui.button("new", tr("New preset"), icon="plus", kind="ghost", is_small=True):
            desk.view.dialog = Dialog(kind="new_preset")
    height = PRESET_PX * min(SHOWN_PRESETS, len(presets) + 1) + 4
    with ui.surface("choices", "clear", height=height, padding=(0, 0), scrolls=True), ui.group("list", gap=2):
        for name in ("", *presets):
            _choice(desk, name)


def _choice(desk: Desk, name: str) -> None:
    ui, summary = desk.ui, desk.summary
    is_current = summary is not None and summary.meta.preset == name
    kind: Surface = "card_selected" if is_current else "clear"
    with (
        ui.clickable(("choice", name), kind, height=PRESET_PX - 2, padding=(10, 3)) as clicks,
        ui.row("line", height=PRESET_PX - 8),
    ):
        ui.icon(
            "mark", "circle-dot" if is_current else "circle-empty", tone="accent" if is_current else "faint"
        )
        ui.text("name", name or tr("No preset"), width=0, tone="text" if name else "muted", tip=name)
        if name in desk.state.config.project.unsaved_presets:
            ui.badge(
                "unsaved", tr("unsaved"), tone="warn", tip=tr("Changes are not yet saved to manual_slop.toml")
            )
        elif name:
            count = len(desk.state.config.project.presets[name].items)
            ui.text("items", fmt.count(count, tr("item"), tr("items")), tone="faint", style="small")
    if clicks.clicked and summary is not None and not is_current:
        desk.send(ChangeDiscussion(discussion_id=summary.meta.id, changes={"preset": name}))


def _toolbar(desk: Desk, preset: Preset) -> None:
    ui = desk.ui
    is_unsaved = preset.name in desk.state.config.project.unsaved_presets
    ui.divider("toolbar line")
    with ui.row("toolbar"):
        ui.text("name", preset.name, style="strong", width=0, tip=preset.name)
        if ui.button("save", tr("Save"), icon="floppy-disk", kind="primary" if is_unsaved else "plain", is_small=True,
                     is_enabled=is_unsaved, tip=action_tip(desk, "save_preset")):  # fmt: skip
            desk.send(SavePreset(preset.name))
        if ui.button("revert", tr("Revert"), kind="ghost", is_small=True, is_enabled=is_unsaved,
                     tip=tr("Go back to the version in manual_slop.toml")):  # fmt: skip
            desk.send(RevertPreset(preset.name))
        with ui.menu("more", "", icon="ellipsis", tip=tr("More")) as is_open:
            if is_open:
                _preset_menu(desk, preset)


def _preset_menu(desk: Desk, preset: Preset) -> None:
    ui, view = desk.ui, desk.view
    if ui.menu_item("duplicate", tr("Duplicate…"), icon="copy"):
        view.dialog = Dialog(
            kind="duplicate_preset", subject=preset.name, text=tr("{name} copy", name=preset.name)
        )
    if ui.menu_item("rename", tr("Rename…"), icon="pen"):
        view.dialog = Dialog(kind="rename_preset", subject=preset.name, text=preset.name)
    if ui.menu_item("delete", tr("Delete…"), icon="trash-can", tone="error"):
        view.dialog = Dialog(kind="delete_preset", subject=preset.name)


def _add_row(desk: Desk, preset: Preset | None) -> None:
    ui = desk.ui
    with ui.row("add"):
        own = desk.view.of(ContextPanelView)
        typed = ui.text_input(
            "path", own.path_typed, hint=tr("Add a path or glob: src/**/*.py"), icon="plus", width=0,
            is_focused=desk.view.focus == "path",
        )  # fmt: skip
        desk.view.focus = "" if desk.view.focus == "path" else desk.view.focus
        if typed is not None:
            own.path_typed = typed
            desk.send(LookUpFiles(text=typed.strip(), is_glob=True))
        had_keyboard, own.is_path_typed = own.is_path_typed, ui.is_focused("path")
        is_entered = had_keyboard and ui.shortcut("Enter", while_typing=True)
        if is_entered and own.path_typed.strip():
            add_paths(desk, preset, (own.path_typed,))
            own.path_typed = ""
            desk.send(LookUpFiles(text="", is_glob=True))
            ui.focus("path")
        if ui.button("browse", "", icon="folder-open", tip=tr("Add files…")):
            desk.view.dialog = Dialog(kind="add_files", subject=preset.name if preset else "")
    _say_matches(desk)


def _say_matches(desk: Desk) -> None:
    """Say what the path or glob that is being typed finds."""
    typed = desk.view.of(ContextPanelView).path_typed.strip()
    found = desk.state.context.globbed
    if not typed:
        return
    if found is None or found.text != typed:
        desk.ui.text("matches", tr("Searching…"), tone="faint", style="small")
        return
    words = found.problem or fmt.count(found.total, tr("file"), tr("files"))
    tone: Tone = "warn" if found.problem else "muted" if found.total else "warn"
    desk.ui.text("matches", words, tone=tone, style="small", wraps=True)


def _items(desk: Desk, preset: Preset) -> None:
    files = files_by_path(desk.state, desk.view.memo, preset.name)
    sent = tokens_by_file(desk.view.memo, selection.report_of(desk.state))
    if not preset.items:
        desk.ui.text("empty", tr("This preset is empty."), tone="muted", style="small")

    def draw(index: int) -> None:
        item_row(desk, preset, index, files.get(preset.items[index].path), sent)

    moved = desk.ui.sortable(("items", preset.name), len(preset.items), draw)
    if moved is not None:
        move_item(desk, preset, *moved)


def _foot(desk: Desk, preset: Preset) -> None:
    ui = desk.ui
    files = files_by_path(desk.state, desk.view.memo, preset.name)
    sent = tokens_by_file(desk.view.memo, selection.report_of(desk.state))
    enabled = [item for item in preset.items if item.enabled]
    # As the preset stands now: what was read may be older than a switch or a new item.
    read = [replace(files[item.path], item=item) for item in enabled if item.path in files]
    counted = count_files(read, sent)
    more = "" if counted.is_whole and len(read) == len(enabled) else " +"
    total = tr(
        "{files} · {tokens_est}{or_more} tokens",
        files=fmt.count(counted.files, tr("file"), tr("files")),
        tokens_est=fmt.tokens_est(counted.tokens_est),
        or_more=more,
    )
    with ui.row("foot"):
        ui.text("total", total, tone="muted",
                style="small", tip=tr("The program is still counting some items") if more else "")  # fmt: skip
        ui.push()
        if ui.button(
            "preview",
            tr("Preview"),
            icon="eye",
            is_small=True,
            tip=tr("Show the text that is sent from these files"),
        ):
            desk.view.of(ContextPanelView).is_preview_open = True


def _preview(desk: Desk) -> None:
    ui, report = desk.ui, selection.report_of(desk.state)
    with ui.row("head"):
        if ui.button("back", tr("Back"), icon="chevron-left", kind="ghost", is_small=True):
            desk.view.of(ContextPanelView).is_preview_open = False
        ui.text("title", tr("Text that is sent"), style="strong")
    if report is None:
        ui.text("none", tr("The program is assembling the context…"), tone="muted", style="small")
        return
    shown = {LayerId.FILE_SET, LayerId.FILE_DETAILS}
    pairs = zip(report.layers, report.texts, strict=False)
    files = tuple(text for layer, text in pairs if layer.layer in shown)
    tokens = sum(layer.tokens_est for layer in report.layers if layer.layer in shown)
    ui.text(
        "size",
        tr("{tokens} tokens", tokens=fmt.tokens_est(tokens, is_exact=report.is_exact)),
        tone="muted",
        style="small",
    )
    text = desk.view.memo.get("preview", files, lambda: "\n".join(filter(None, (one.text for one in files))))
    ui.selectable_text("text", text or tr("No text: no file is enabled."), mono=True, height=0)


# The dialogs of context presets: their names, their end, and the chooser of files.


def context_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog that is open, one of the presets'."""
    match dialog.kind:
        case "new_preset":
            _new_preset(desk, dialog)
        case "duplicate_preset":
            _duplicate_preset(desk, dialog)
        case "rename_preset":
            _rename_preset(desk, dialog)
        case "delete_preset":
            _delete_preset(desk, dialog)
        case _:
            _add_files(desk, dialog)


def _close(desk: Desk) -> None:
    desk.view.dialog = None


def _add_files(desk: Desk, dialog: Dialog) -> None:
    picked = desk.ui.file_dialog(
        "add files", tr("Add files to the preset"), start=desk.state.config.project.root
    )
    if picked is not None:
        _close(desk)
        add_paths(desk, desk.state.config.project.presets.get(dialog.subject), picked)


def _new_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, tr("New preset"), tr("Create"))
    if name:
        desk.send(CreatePreset(name=name))


def _duplicate_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, tr("Duplicate {name}", name=dialog.subject), tr("Duplicate"))
    if name:
        desk.send(CreatePreset(name=name, copy_of=dialog.subject))


def _rename_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, tr("Rename {name}", name=dialog.subject), tr("Rename"))
    if name and name != dialog.subject:
        desk.send(RenamePreset(dialog.subject, name))


def _name_form(desk: Desk, dialog: Dialog, title: str, verb: str) -> str:
    """Draw a dialog that asks for a preset's name. Returns the name once it was confirmed, and closes."""
    ui, presets = desk.ui, desk.state.config.project.presets
    confirmed = False
    with ui.dialog(dialog.kind, title, width=400) as closed:
        typed = ui.text_input("name", dialog.text, hint=tr("Preset name"), is_focused=True)
        dialog.text = dialog.text if typed is None else typed
        name = dialog.text.strip()
        is_taken = name in presets and name != dialog.subject
        if is_taken:
            text = tr(
                "A preset named {name!r} exists; {presets!r} is free",
                name=name,
                presets=free_name(presets, name),
            )
            ui.text("taken", text, tone="warn", style="small", wraps=True)
        with ui.row("buttons"):
            ui.push()
            if ui.button("cancel", tr("Cancel")):
                _close(desk)
            is_enabled = bool(name) and not is_taken
            confirmed = ui.button("confirm", verb, kind="primary", is_enabled=is_enabled)
            confirmed = confirmed or (is_enabled and ui.shortcut("Enter", while_typing=True))
    if confirmed or closed.clicked or ui.shortcut("Escape"):
        _close(desk)
    return name if confirmed else ""


def _delete_preset(desk: Desk, dialog: Dialog) -> None:
    ui = desk.ui
    with ui.dialog("delete preset", tr("Delete {subject}?", subject=dialog.subject), width=400) as closed:
        ui.text("what", tr("Your files stay where they are."), wraps=True)
        with ui.row("buttons"):
            ui.push()
            if ui.button("cancel", tr("Cancel")):
                _close(desk)
            if ui.button("delete", tr("Delete preset"), kind="danger"):
                desk.send(DeletePreset(dialog.subject))
                _close(desk)
    if closed.clicked or ui.shortcut("Escape"):
        _close(desk)
