"""Imports in the state: one run at a time, its progress, its report."""

from __future__ import annotations

from msgspec.structs import replace

from core.imports.import_plan import sum_text
from core.imports.imports_messages import (
    CancelImport,
    DismissImport,
    ImportConversations,
    ImportEnded,
    ImportProgressed,
    RunImport,
)
from core.kernel.values.imports import ImportState
from core.kernel.values.outcomes import CommandOutcome
from core.kernel.values.state import AppState, Level
from core.kernel.values.tables import Handlers, on
from core.kernel.values.updates import Result, conclude, decline, notify
from core.services.settings.starting_model import starting_model
from core.talk.discussion.discussion_messages import LoadSummaries, LookAtDiscussions

NOTICE = "import"


def _dismiss_import(state: AppState, _asked: DismissImport) -> Result:
    return (state if state.imports.is_running else replace(state, imports=ImportState())), ()


def _import_progressed(state: AppState, happened: ImportProgressed) -> Result:
    imports = replace(state.imports, count=happened.count, doing=happened.doing)
    return replace(state, imports=imports), ()


def _begin(state: AppState, asked: ImportConversations) -> Result:
    if state.imports.is_running:
        return decline(
            state, asked.command_id, NOTICE, "Another import is under way", "Wait for its end, or cancel it"
        ), ()
    if not any(path.strip() for path in asked.paths):
        return decline(state, asked.command_id, NOTICE, "Nothing is named", "Name a file or a folder"), ()
    if state.program.is_home_read_only and not asked.is_dry:
        return decline(
            state, asked.command_id, NOTICE, "Nothing can be written in this home", "Make it writable"
        ), ()
    first = starting_model(state)
    running = ImportState(
        paths=asked.paths, is_running=True, is_dry=asked.is_dry, command_id=asked.command_id
    )
    state = replace(state, imports=running)
    return state, (
        RunImport(
            paths=asked.paths,
            is_dry=asked.is_dry,
            provider=first.provider,
            model=first.model,
            without=asked.without,
        ),
    )


def _ended(state: AppState, happened: ImportEnded) -> Result:
    """Keep the report, tell it, and have the list read again where something was written."""
    before, report = state.imports, happened.report
    why = happened.problem or (report.stopped if report is not None else "")
    ended = replace(
        before, is_running=False, doing="", report=report, problem=why, remedy=happened.remedy, command_id=""
    )
    state = replace(state, imports=ended)
    state = conclude(
        state, CommandOutcome(command_id=before.command_id, problem=happened.problem, remedy=happened.remedy)
    )
    if why:
        state = notify(state, NOTICE, Level.WARNING, f"The import ended early: {why}", happened.remedy)
    elif report is not None and not report.is_dry:
        state = notify(state, NOTICE, Level.INFO, f"Imported: {sum_text(report)}.")
    if not happened.written:
        return state, ()
    shown = tuple(one for one in happened.written if one in state.discussions.open)
    looks = (LookAtDiscussions(shown),) if shown else ()
    return state, (*looks, LoadSummaries(state.config.settings.trash_days))


HANDLERS = Handlers(
    on(ImportConversations, _begin),
    on(CancelImport, lambda state, asked: (state, (asked,) if state.imports.is_running else ())),
    on(DismissImport, _dismiss_import),
    on(ImportProgressed, _import_progressed),
    on(ImportEnded, _ended),
)
"""Each message of this room, with the function that decides what follows from it."""
