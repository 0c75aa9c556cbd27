"""One item of a preset: name, mode, tokens, what is wrong with it, what can be done with it, and how it changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.curation import FileItem, FileMode, ItemFiles, LineRange, Preset
from core.kernel.values.stack import ContextReport, LayerId
from core.kernel.values.state import AppState
from core.talk.context.context_messages import ChangePreset, CreatePreset, InspectFile
from core.talk.context.file_layers import DEFAULT_PRESET, free_name
from panels.base.desk import Desk
from panels.base.ui import Option, Tone
from panels.base.view import Memo
from panels.context.context_room import ContextPanelView, StructureView

# Changes of a preset's items, and what is known of each item's files. Pure.


def change_item(desk: Desk, preset: Preset, item: FileItem, changed: FileItem) -> None:
    """Replace one item of a preset. Sends ChangePreset."""
    items = tuple(changed if known is item else known for known in preset.items)
    desk.send(ChangePreset(name=preset.name, items=items))


def move_item(desk: Desk, preset: Preset, index: int, target: int) -> None:
    """Put the item at `index` at `target`. Sends ChangePreset."""
    items = list(preset.items)
    if 0 <= index < len(items) and 0 <= target < len(items) and index != target:
        items.insert(target, items.pop(index))
        desk.send(ChangePreset(name=preset.name, items=tuple(items)))


def remove_item(desk: Desk, preset: Preset, item: FileItem) -> None:
    """Take an item out of a preset. Sends ChangePreset."""
    desk.send(
        ChangePreset(name=preset.name, items=tuple(known for known in preset.items if known is not item))
    )


def add_paths(desk: Desk, preset: Preset | None, paths: tuple[str, ...]) -> None:
    """Add files or globs that are not in the preset yet; without a preset, make one and use it."""
    root = desk.state.config.project.root
    known = {item.path for item in preset.items} if preset else set()
    fresh = dict.fromkeys(project_path(path, root) for path in paths)
    add_items(desk, preset, tuple(FileItem(path=path) for path in fresh if path and path not in known))


def add_items(desk: Desk, preset: Preset | None, items: tuple[FileItem, ...]) -> None:
    """Add items to a preset; without one, make one and use it. Sends ChangePreset, CreatePreset."""
    if not items:
        return
    if preset is not None:
        desk.send(ChangePreset(name=preset.name, items=(*preset.items, *items)))
        return
    name = free_name(desk.state.config.project.presets, DEFAULT_PRESET)
    desk.send(CreatePreset(name=name, items=items))  # the selected discussion uses it, where it comes about


def project_path(path: str, root: str) -> str:
    """A path as a preset keeps it: POSIX, relative to the project's root where it lies inside."""
    text = path.strip().strip("\"'")
    if not text:
        return ""
    pure = PurePath(text)
    if root and pure.is_absolute() and pure.is_relative_to(root):
        pure = pure.relative_to(root)
    return pure.as_posix()


def files_by_path(state: AppState, memo: Memo, preset: str) -> Mapping[str, ItemFiles]:
    """Files that each item of a preset stands for, by the item's path."""
    files = state.context.files.get(preset, ())
    return memo.get(("files", preset), (files,), lambda: {entry.item.path: entry for entry in files})


def tokens_by_file(memo: Memo, report: ContextReport | None) -> Mapping[str, int]:
    """Estimated tokens that each file takes in the context as it would be sent, by its path."""
    layer = (
        next((known for known in report.layers if known.layer is LayerId.FILE_DETAILS), None)
        if report
        else None
    )
    if layer is None:
        return {}
    segments = layer.segments
    return memo.get(
        "tokens by file", (segments,), lambda: {s.key.partition("/")[2]: s.tokens_est for s in segments}
    )


def item_tokens(item: FileItem, files: ItemFiles | None, sent: Mapping[str, int]) -> int | None:
    """Tokens of an item: as it is sent where the stack says so, else whole files, None while not counted."""
    if files is None:
        return None
    paths = [file.path for file in files.files]
    if paths and all(path in sent for path in paths):
        return sum(sent[path] for path in paths)
    if item.mode is not FileMode.WHOLE:
        return None
    counted = [file.tokens for file in files.files if file.problem is None]
    return None if None in counted else sum(tokens or 0 for tokens in counted)


def item_problem(item: FileItem, files: ItemFiles | None) -> str:
    """Fault of an item in a sentence, empty when all is well or nothing is known yet."""
    if files is None:
        return ""
    if files.problem is not None:
        return files.problem.detail
    bad = [file for file in files.files if file.problem is not None]
    if not bad:
        return ""
    first = bad[0].problem
    assert first is not None
    return (
        first.detail
        if not item.is_glob
        else tr(
            "{bad} of {files} files cannot be read: {detail}",
            bad=len(bad),
            files=len(files.files),
            detail=first.detail,
        )
    )


def with_symbol(item: FileItem, symbol: str, *, is_ticked: bool) -> FileItem:
    """The item with a symbol ticked or not; a whole file becomes one of slices at its first tick."""
    symbols = tuple(s for s in item.symbols if s != symbol) + ((symbol,) if is_ticked else ())
    mode = FileMode.SLICES if is_ticked and item.mode is not FileMode.SLICES else item.mode
    return replace(item, symbols=symbols, mode=mode)


def with_lines(item: FileItem, lines: LineRange) -> FileItem:
    """The item with some lines sent of it; a whole file has them already."""
    if item.mode is FileMode.WHOLE:
        return item
    if item.mode is FileMode.SLICES and any(
        one.first <= lines.first and lines.last <= one.last for one in item.slices
    ):
        return item
    return replace(item, mode=FileMode.SLICES, slices=(*item.slices, lines))


# Line ranges as a person types them: `10-40, 55`.

_RANGE = late(r"(\d{1,9})(?:\s*(?:-|–|:|\.\.)\s*(\d{1,9}))?")


def parse_lines(text: str) -> tuple[tuple[LineRange, ...], str]:
    """Read line ranges.

    Returns:
        The ranges sorted, overlapping ones joined; and what is wrong in a sentence, empty when all is well.
    """
    ranges = []
    for piece in (p.strip() for p in re.split(r"[,;\n]", text) if p.strip()):
        found = _RANGE.fullmatch(piece)
        if found is None:
            return (), tr("{piece!r} is not a line range; write for example 10-40, 55", piece=piece)
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last:
            return (), tr(
                "{piece!r} must start at line 1 or later, and not end before its start", piece=piece
            )
        ranges.append(LineRange(first, last))
    return _joined(sorted(ranges)), ""


def _joined(ranges: list[LineRange]) -> tuple[LineRange, ...]:
    out: list[LineRange] = []
    for one in ranges:
        if out and one.first <= out[-1].last + 1:
            out[-1] = LineRange(out[-1].first, max(out[-1].last, one.last))
        else:
            out.append(one)
    return tuple(out)


def format_lines(ranges: tuple[LineRange, ...]) -> str:
    """The ranges as they are typed."""
    return ", ".join(str(r.first) if r.first == r.last else f"{r.first}-{r.last}" for r in ranges)


# One item of a preset: name, mode, tokens, what is wrong with it, and what can be done with it.

MODES = (
    Option(value=FileMode.WHOLE.value, label=tr("Whole file")),
    Option(value=FileMode.SLICES.value, label=tr("Slices")),
    Option(value=FileMode.OUTLINE.value, label=tr("Outline")),
    Option(value=FileMode.NOTES.value, label=tr("Notes only")),
)
SHOWN_FILES = 40


def item_row(
    desk: Desk, preset: Preset, index: int, files: ItemFiles | None, sent: Mapping[str, int]
) -> None:
    """Draw an item. Sends ChangePreset, InspectFile."""
    ui, view, item = desk.ui, desk.view, preset.items[index]
    key = (preset.name, item.path)
    problem = item_problem(item, files)
    with ui.surface(("item", item.path, index), "card", padding=(8, 6)), ui.group("lines", gap=4):
        _head(desk, preset, item, files, sent)
        with ui.row("second", gap=6):
            if problem:
                ui.icon("warning", "triangle-exclamation", tone="warn")
            tone: Tone = "warn" if problem else "muted"
            line = problem or _what(item, files)
            ui.text("what", line, tone=tone, style="small", width=0, wraps=bool(problem), tip=line)
        if key in view.of(ContextPanelView).open_items:
            _details(desk, preset, index, files, sent)


def _head(
    desk: Desk, preset: Preset, item: FileItem, files: ItemFiles | None, sent: Mapping[str, int]
) -> None:
    own = desk.view.of(ContextPanelView)
    ui, key = desk.ui, (preset.name, item.path)
    with ui.row("head", gap=4):
        is_enabled = ui.checkbox("enabled", "", item.enabled, tip=tr("Send {path}", path=item.path))
        if is_enabled is not None:
            change_item(desk, preset, item, replace(item, enabled=is_enabled))
        name = item.path if item.is_glob else item.path.rpartition("/")[2]
        ui.text("name", name or item.path, style="strong" if item.enabled else "body",
                tone="text" if item.enabled else "faint", width=0, tip=item.path)  # fmt: skip
        ui.text(
            "tokens",
            _tokens(item, files, sent),
            tone="muted",
            style="small",
            tip=tr("Tokens of this item in the context"),
        )
        if ui.button("pin", "", icon="thumbtack", kind="plain" if item.pinned else "ghost", is_small=True,
                     tip=tr("Unpin") if item.pinned else tr("Pin to the top of the preset")):  # fmt: skip
            change_item(desk, preset, item, replace(item, pinned=not item.pinned))
        if ui.button(
            "remove",
            "",
            icon="xmark",
            kind="ghost",
            is_small=True,
            tip=tr("Remove {path} from the preset", path=item.path),
        ):
            remove_item(desk, preset, item)
        is_open = key in own.open_items
        if ui.button("open", "", icon="chevron-up" if is_open else "chevron-down", kind="ghost", is_small=True,
                     tip=tr("Show less") if is_open else tr("Show mode, lines and notes")):  # fmt: skip
            own.open_items.symmetric_difference_update({key})


def _tokens(item: FileItem, files: ItemFiles | None, sent: Mapping[str, int]) -> str:
    if not item.enabled:
        return tr("off")
    counted = item_tokens(item, files, sent)
    if not counted and item_problem(item, files):
        return "—"
    return "…" if counted is None else fmt.tokens_est(counted)


def _what(item: FileItem, files: ItemFiles | None) -> str:
    """Part of the file that is sent, in a few words."""
    parts = []
    if item.is_glob:
        parts.append(fmt.count(len(files.files), tr("file"), tr("files")) if files else tr("looking…"))
        if files is not None and files.ignored:
            parts.append(tr("{ignored:,} ignored", ignored=files.ignored))
        if files is not None and files.rules_passed_over:
            parts.append(
                tr(
                    "{rules_passed_over} of .gitignore not applied",
                    rules_passed_over=fmt.count(files.rules_passed_over, tr("rule"), tr("rules")),
                )
            )
        if item.include_ignored:
            parts.append(tr("with ignored files"))
    elif "/" in item.path:
        parts.append(item.path.rpartition("/")[0])
    match item.mode:
        case FileMode.WHOLE:
            parts.append(tr("whole"))
        case FileMode.SLICES:
            lines = tr("lines {slices}", slices=format_lines(item.slices)) if item.slices else ""
            symbols = fmt.count(len(item.symbols), tr("symbol"), tr("symbols")) if item.symbols else ""
            parts.append(", ".join(p for p in (lines, symbols) if p) or tr("no lines or symbols chosen yet"))
        case FileMode.OUTLINE:
            parts.append(tr("outline"))
        case FileMode.NOTES:
            parts.append(tr("notes only"))
    if item.pinned:
        parts.append(tr("pinned"))
    if item.notes and item.mode is not FileMode.NOTES:
        parts.append(tr("with notes"))
    return " · ".join(parts)


def _details(
    desk: Desk, preset: Preset, index: int, files: ItemFiles | None, sent: Mapping[str, int]
) -> None:
    ui, item = desk.ui, preset.items[index]
    with ui.row("mode row"):
        mode = ui.combo("mode", MODES, item.mode.value, width=128, tip=tr("How much of the file is sent"))
        if mode is not None:
            change_item(desk, preset, item, replace(item, mode=FileMode(mode)))
        is_enabled = not item.is_glob
        if ui.button("structure", tr("Structure"), icon="list-check", is_small=True, is_enabled=is_enabled,
                     tip=tr("Show the outline, lines and text of this file")):  # fmt: skip
            inspect(desk, preset.name, item.path, item.path)
        ui.push()
        with ui.menu("move", "", icon="ellipsis", tip=tr("Move or remove")) as is_open:
            if is_open:
                _move_menu(desk, preset, index)
    notes_editor(desk, preset, item)
    if item.is_glob and files is not None:
        _glob_files(desk, preset, item, files, sent)


def _move_menu(desk: Desk, preset: Preset, index: int) -> None:
    ui, last = desk.ui, len(preset.items) - 1
    for key, label, icon, target in (
        ("top", tr("Move to the top"), "angles-up", 0),
        ("up", tr("Move up"), "arrow-up", index - 1),
        ("down", tr("Move down"), "arrow-down", index + 1),
        ("bottom", tr("Move to the bottom"), "angles-down", last),
    ):
        if ui.menu_item(key, label, icon=icon, is_enabled=0 <= target <= last and target != index):
            move_item(desk, preset, index, target)
    item = preset.items[index]
    if item.is_glob:
        ui.divider("ignored group")
        label = tr("Leave out ignored files") if item.include_ignored else tr("Include ignored files")
        if ui.menu_item("ignored", label):
            change_item(desk, preset, item, replace(item, include_ignored=not item.include_ignored))
    ui.divider("remove group")
    if ui.menu_item("remove", tr("Remove from preset"), icon="xmark", tone="error"):
        remove_item(desk, preset, preset.items[index])


def notes_editor(desk: Desk, preset: Preset, item: FileItem) -> None:
    """Draw the notes of an item. Sends ChangePreset at each change."""
    typing = desk.view.of(ContextPanelView).note(preset.name, item.path, item.notes)
    edited = desk.ui.editor("notes", typing.text, hint=tr("Notes for the model about this file"), height=64,
                            revision=typing.revision)  # fmt: skip
    if edited is not None and edited.text != typing.text:
        typing.typed(edited.text)
        change_item(desk, preset, item, replace(item, notes=edited.text))


def _glob_files(
    desk: Desk, preset: Preset, item: FileItem, files: ItemFiles, sent: Mapping[str, int]
) -> None:
    ui = desk.ui
    for file in files.files[:SHOWN_FILES]:
        with ui.row(("file", file.path), gap=6):
            tone: Tone = "warn" if file.problem else "muted"
            icon = "triangle-exclamation" if file.problem else "file-lines"
            ui.icon("icon", icon, tone=tone, tip=file.problem.detail if file.problem else "")
            ui.text("path", file.path, tone=tone, style="small", width=0, tip=file.path)
            counted = sent.get(file.path, file.tokens)
            if file.problem is None and item.enabled:
                shown = "…" if counted is None else fmt.tokens_est(counted)
                ui.text("tokens", shown, tone="faint", style="small")
            if ui.button(
                "open",
                "",
                icon="list-check",
                kind="ghost",
                is_small=True,
                tip=tr("Structure of {path}", path=file.path),
            ):
                inspect(desk, preset.name, item.path, file.path)
    if len(files.files) > SHOWN_FILES:
        ui.text(
            "rest",
            tr("and {files:,} more of the files", files=len(files.files) - SHOWN_FILES),
            tone="faint",
            style="small",
        )


def inspect(desk: Desk, preset: str, item_path: str, path: str) -> None:
    """Open the structure view of a file. Sends InspectFile."""
    desk.view.of(ContextPanelView).structure = StructureView(preset=preset, item_path=item_path, path=path)
    desk.send(InspectFile(path))
