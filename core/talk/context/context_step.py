"""The context's part of the step: presets, curated files, and the stack that is shown."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.frame import clean, one_line
from core.kernel.language import as_sentences, tr
from core.kernel.structures import with_entry, without
from core.kernel.values.curation import FileItem, FilesLookedUp, ItemFiles, Preset
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Handlers, Result, decline, notify, on, with_project
from core.services.settings.asked_values import may_not_write, refuse_write
from core.services.settings.settings_messages import (
    KeepPresets,
    LoadSettings,
    NamedTextStored,
    PresetStored,
    WritePreset,
)
from core.services.settings.settings_schema import MOST_PATH_CHARS
from core.talk.context import file_layers
from core.talk.context import report as inspection
from core.talk.context.context_messages import (
    AddItems,
    ChangePreset,
    ContextAssembled,
    CreatePreset,
    DeleteNamedText,
    DeletePreset,
    FileInspected,
    FilesFound,
    FilesRead,
    GlobLoss,
    InspectFile,
    KeepOut,
    LookUpFiles,
    MeasureContext,
    RenamePreset,
    RevertPreset,
    SaveNamedText,
    SavePreset,
)
from core.talk.context.file_layers import DEFAULT_PRESET, free_name
from core.talk.discussion.discussion_messages import WriteMeta
from core.talk.discussion.lifecycle import change_meta

# Presets as they are edited: work counts at once, is kept in the home, and enters the project's file on
# Save.

PresetEffect = KeepPresets | WriteMeta
"""Keeping presets, and pointing discussions at them."""


def create(state: AppState, command: CreatePreset) -> Result:
    """Make a preset: empty, with items, or as a copy. The selected discussion uses it unless `is_used` is False."""
    name = _name(command.name)
    if not name or name in state.config.project.presets:
        return decline(state, command.command_id, "preset", _name_problem(name)), ()
    source = state.config.project.presets.get(command.copy_of)
    items = command.items or (source.items if source is not None else ())
    kept_items, problem, remedy = _keepable(items)
    if items and not kept_items:
        return decline(state, command.command_id, "preset", problem, remedy), ()
    state, kept = _put(_told(state, problem, remedy), Preset(name, kept_items))
    if not state.discussions.selected_id or not command.is_used:
        return state, kept
    state, effects = change_meta(state, state.discussions.selected_id, preset=name)
    return state, (*kept, *effects)


def _name(given: str) -> str:
    return " ".join(clean(given).split())


def _name_problem(name: str) -> str:
    return (
        tr("A preset named {name!r} exists. Choose another name.", name=name)
        if name
        else tr("A preset needs a name.")
    )


def change(state: AppState, command: ChangePreset) -> Result:
    """Replace the items of a preset."""
    present = state.config.project.presets.get(command.name)
    items, problem, remedy = _keepable(command.items)
    state = _told(state, problem, remedy)
    if present is None or present.items == items:
        return state, ()
    return _put(state, replace(present, items=items))


def _keepable(items: tuple[FileItem, ...]) -> tuple[tuple[FileItem, ...], str, str]:
    """The items whose paths the project's file can hold, and what is said of the others: the problem and the remedy."""
    short = tuple(item for item in items if len(item.path) <= MOST_PATH_CHARS)
    kept = tuple(item for item in short if clean(item.path) == item.path)
    problem = remedy = ""
    if len(short) < len(items):
        long = next(item.path for item in items if item not in short)
        problem = tr(
            "{long!r} is too long for a path: it has {long2:,} characters, over {MOST_PATH_CHARS:,}.",
            long=one_line(long, 60),
            long2=len(long),
            MOST_PATH_CHARS=MOST_PATH_CHARS,
        )
        remedy = tr("Enter a file's path or a glob; text goes into the message.")
    elif len(kept) < len(items):
        names = ", ".join(repr(item.path) for item in items if item not in kept)
        problem = tr("The name of {names} is not UTF-8 text, so no preset can hold it.", names=names)
        remedy = tr("Rename the file, or include it through a glob.")
    return tuple(replace(item, notes=clean(item.notes)) for item in kept), problem, remedy


def _told(state: AppState, problem: str, remedy: str) -> AppState:
    return notify(state, "preset", Level.WARNING, problem, remedy) if problem else state


def _put(state: AppState, preset: Preset) -> Result:
    """Put unsaved work in place and keep it in the home. Pinned items come first, here as in what is sent."""
    preset = replace(preset, items=tuple(sorted(preset.items, key=lambda item: not item.pinned)))
    project = replace(
        state.config.project,
        presets=with_entry(state.config.project.presets, preset.name, preset),
        unsaved_presets=state.config.project.unsaved_presets | {preset.name},
    )
    state = with_project(state, project)
    return state, (_keep(state),)


def _keep(state: AppState) -> PresetEffect:
    project = state.config.project
    unsaved = tuple(p for name, p in project.presets.items() if name in project.unsaved_presets)
    return KeepPresets(project.root, unsaved)


def save(state: AppState, command: SavePreset) -> Result:
    """Write a preset to the project's file."""
    project = state.config.project
    preset = project.presets.get(command.name)
    if preset is None:
        return state, ()
    if may_not_write(project, "presets", command.name):
        return refuse_write(
            state, command.command_id, "preset", tr("The program did not save {name!r}", name=command.name)
        ), ()
    return state, (WritePreset(root=project.root, preset=preset),)


def stored(state: AppState, event: PresetStored) -> Result:
    """The file holds it: it is no longer unsaved work. The file's settings are read again."""
    project = replace(
        state.config.project, unsaved_presets=state.config.project.unsaved_presets - {event.name}
    )
    state = with_project(state, project)
    return state, (_keep(state), LoadSettings())


def revert(state: AppState, command: RevertPreset) -> Result:
    """Forget unsaved work on a preset; the file's version comes back with the settings."""
    project = state.config.project
    if command.name not in project.unsaved_presets:
        return state, ()
    project = replace(project, unsaved_presets=project.unsaved_presets - {command.name})
    state = with_project(state, replace(project, presets=without(project.presets, command.name)))
    return state, (_keep(state), LoadSettings())


def rename(state: AppState, command: RenamePreset) -> Result:
    """Rename a preset, in the file and in every discussion that uses it."""
    new, project = _name(command.new_name), state.config.project
    preset = project.presets.get(command.name)
    if preset is None or new == command.name:
        return state, ()
    if not new or new in project.presets:
        return notify(state, "preset", Level.WARNING, _name_problem(new)), ()
    renamed = replace(preset, name=new)
    presets = {
        (new if name == command.name else name): (renamed if name == command.name else p)
        for name, p in project.presets.items()
    }
    unsaved = frozenset(new if name == command.name else name for name in project.unsaved_presets)
    state = with_project(state, replace(project, presets=presets, unsaved_presets=unsaved))
    state, metas = _repoint(state, command.name, new)
    return state, (
        _keep(state),
        WritePreset(root=project.root, preset=renamed, old_name=command.name),
        *metas,
    )


def delete(state: AppState, command: DeletePreset) -> Result:
    """Delete a preset from the file. Discussions that used it send no files from now on; it can be taken back."""
    project = state.config.project
    gone = project.presets.get(command.name)
    if gone is None:
        return state, ()
    project = replace(
        project,
        presets=without(project.presets, command.name),
        unsaved_presets=project.unsaved_presets - {command.name},
    )
    state, metas = _repoint(with_project(state, project), command.name, "")
    count = len(metas)
    state = notify(
        state,
        "preset",
        Level.INFO,
        as_sentences(
            tr("Preset {name!r} is deleted.", name=command.name),
            tr("{count} discussions used it.", count=count) if count > 1 else "",
        ),
        action=CreatePreset(name=gone.name, items=gone.items),
        action_label=tr("Undo"),
    )
    return state, (WritePreset(root=project.root, preset=None, old_name=command.name), _keep(state), *metas)


def _repoint(state: AppState, old: str, new: str) -> Result:
    effects: list[PresetEffect] = []
    rows = dict(state.discussions.summaries)
    for key, row in state.discussions.summaries.items():
        if row.meta.preset == old:
            rows[key] = replace(row, meta=replace(row.meta, preset=new))
            effects.append(WriteMeta(rows[key].meta))
    return replace(state, discussions=replace(state.discussions, summaries=rows)), tuple(effects)


def files_read(state: AppState, event: FilesRead) -> Result:
    """A preset's files as they are now. What its globs lost to .gitignore is said, once."""
    if event.losses:
        state = _say_losses(state, event)
    known = state.context.files.get(event.preset, ())
    if known == event.items:
        return state, ()
    if (passed_over := _passed_over(event.items)) and passed_over != _passed_over(known):
        state = _say_passed_over(state, event.preset, passed_over)
    return replace(
        state,
        context=replace(state.context, files=with_entry(state.context.files, event.preset, event.items)),
    ), ()


def _passed_over(items: tuple[ItemFiles, ...]) -> int:
    return max((item.rules_passed_over for item in items), default=0)


def _say_passed_over(state: AppState, preset: str, rules: int) -> AppState:
    return notify(
        state,
        f"rules/{preset}",
        Level.WARNING,
        tr(
            "Preset {preset!r} may send files that .gitignore excludes. The program does not understand {rules:,} of the rules in .gitignore.",
            preset=preset,
            rules=rules,
        ),
        tr(
            ".gitignore holds too many wildcard rules, or rules that the program does not understand. Check the preset's files, or write fewer or simpler rules."
        ),
        is_standing=True,
    )


def _say_losses(state: AppState, event: FilesRead) -> AppState:
    text, detail = losses_sentences(event.preset, event.losses)
    return notify(state, f"ignored/{event.preset}", Level.WARNING, text, detail, is_standing=True)


def losses_sentences(preset: str, losses: Iterable[GlobLoss]) -> tuple[str, str]:
    """Sentences on what a preset's globs lost to .gitignore, and what to do about it."""
    lost = [
        tr("more than {files:,} files of {pattern!r}", files=loss.files, pattern=loss.path)
        if loss.is_more
        else tr("{files} of {pattern!r}", files=count(loss.files, tr("file"), tr("files")), pattern=loss.path)
        for loss in losses
    ]
    detail = tr(
        'Left out: {lost}. To send them, choose "Include ignored files" in the item\'s menu. Or set include_ignored = true in manual_slop.toml.',
        lost=", ".join(lost),
    )
    return tr("Globs follow .gitignore now: preset {preset!r} sends fewer files.", preset=preset), detail


def files_changed(state: AppState) -> Result:
    """Curated files have changed, or may have: whoever shows them reads them anew."""
    return replace(state, context=replace(state.context, files_revision=state.context.files_revision + 1)), ()


def _file_inspected(state: AppState, happened: FileInspected) -> Result:
    return replace(state, context=replace(state.context, inspected=happened.snapshot)), ()


def assembled(state: AppState, event: ContextAssembled) -> AppState:
    """A stack and the plan of its next request."""
    reports = with_entry(state.context.reports, event.discussion_id, event.report)
    plans = state.caching.plans
    if event.plan is not None:
        plans = with_entry(plans, event.discussion_id, event.plan)
    return replace(
        state, context=replace(state.context, reports=reports), caching=replace(state.caching, plans=plans)
    )


def look_up(state: AppState, asked: LookUpFiles) -> Result:
    """Look up what is typed; an empty text leaves the last answer behind."""
    project = state.config.project
    if (not asked.text and asked.is_glob) or not project.root:
        return _with_found(state, None, is_glob=asked.is_glob), ()
    return state, (
        replace(
            asked,
            root=project.root,
            allowed_roots=project.allowed_roots,
            limits=state.config.settings.files,
            shown=project.policies.shown,
        ),
    )


def _files_found(state: AppState, happened: FilesFound) -> Result:
    return _with_found(state, happened.found, is_glob=happened.found.is_glob), ()


def _with_found(state: AppState, found: FilesLookedUp | None, *, is_glob: bool) -> AppState:
    context = state.context
    context = replace(context, globbed=found) if is_glob else replace(context, mentioned=found)
    return replace(state, context=context)


def add_items(state: AppState, asked: AddItems) -> Result:
    """Add items that the discussion's preset does not hold yet; without a preset, make one that it uses."""
    summary = state.discussions.summaries.get(asked.discussion_id)
    if summary is None or not asked.items:
        return state, ()
    presets = state.config.project.presets
    present = presets.get(summary.meta.preset)
    if present is None:
        name = free_name(presets, DEFAULT_PRESET)
        state, kept = create(state, CreatePreset(name=name, items=asked.items, is_used=False))
        if name not in state.config.project.presets:
            return state, kept
        state, effects = change_meta(state, asked.discussion_id, preset=name)
        return state, (*kept, *effects)
    known = {(item.path, item.symbols, item.mode) for item in present.items}
    fresh = tuple(item for item in asked.items if (item.path, item.symbols, item.mode) not in known)
    return change(state, ChangePreset(name=present.name, items=(*present.items, *fresh)))


HANDLERS = Handlers(
    on(MeasureContext, inspection.measure),
    on(KeepOut, inspection.keep_out),
    on(InspectFile, lambda state, asked: inspection.inspect(state, asked.path)),
    on(LookUpFiles, look_up),
    on(FilesFound, _files_found),
    on(AddItems, add_items),
    on(CreatePreset, create),
    on(ChangePreset, change),
    on(SavePreset, save),
    on(RevertPreset, revert),
    on(RenamePreset, rename),
    on(DeletePreset, delete),
    on(SaveNamedText, file_layers.save),
    on(DeleteNamedText, file_layers.delete),
    on(FilesRead, files_read),
    on(FileInspected, _file_inspected),
    on(PresetStored, stored),
    on(NamedTextStored, file_layers.stored),
    on(ContextAssembled, lambda state, happened: (assembled(state, happened), ())),
)
"""Each message of this room, with the function that decides what follows from it."""
