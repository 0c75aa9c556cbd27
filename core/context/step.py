"""The context's part of the step: presets, curated files, and the stack that is shown."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from core.base.mapping import with_entry
from core.context import inspection, named_texts, presets
from core.context.messages import (
    ChangePreset,
    ContextAssembled,
    ContextCommand,
    ContextEvent,
    CreatePreset,
    DeleteNamedText,
    DeletePreset,
    FileInspected,
    FilesChanged,
    FilesRead,
    InspectFile,
    KeepOut,
    MeasureContext,
    RenamePreset,
    RevertPreset,
    SaveNamedText,
    SavePreset,
)
from core.settings.messages import NamedTextStored, PresetStored
from core.values.state import AppState
from core.values.updates import Result


def command(state: AppState, asked: ContextCommand) -> Result:
    """Decide what follows from a command."""
    match asked:
        case MeasureContext():
            return inspection.measure(state, asked.discussion_id)
        case KeepOut():
            return inspection.keep_out(state, asked)
        case InspectFile():
            return inspection.inspect(state, asked.path)
        case CreatePreset():
            return presets.create(state, asked)
        case ChangePreset():
            return presets.change(state, asked)
        case SavePreset():
            return presets.save(state, asked)
        case RevertPreset():
            return presets.revert(state, asked)
        case RenamePreset():
            return presets.rename(state, asked)
        case DeletePreset():
            return presets.delete(state, asked)
        case SaveNamedText():
            return named_texts.save(state, asked)
        case DeleteNamedText():
            return named_texts.delete(state, asked)
        case _:
            assert_never(asked)


def event(state: AppState, happened: ContextEvent) -> Result:
    """Decide what follows from an event."""
    match happened:
        case FilesRead():
            return presets.files_read(state, happened)
        case FilesChanged():
            return replace(
                state, context=replace(state.context, files_revision=state.context.files_revision + 1)
            ), ()
        case FileInspected():
            return replace(state, context=replace(state.context, inspected=happened.snapshot)), ()
        case PresetStored():
            return presets.stored(state, happened)
        case NamedTextStored():
            return named_texts.stored(state, happened)
        case ContextAssembled():
            return assembled(state, happened), ()
        case _:
            assert_never(happened)


def assembled(state: AppState, event: ContextAssembled) -> AppState:
    """A stack and the plan of its next request."""
    reports = with_entry(state.context.reports, event.discussion_id, event.report)
    plans = state.caching.plans
    if event.plan is not None:
        plans = with_entry(plans, event.discussion_id, event.plan)
    return replace(
        state, context=replace(state.context, reports=reports), caching=replace(state.caching, plans=plans)
    )
