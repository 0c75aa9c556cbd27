"""Imports in the state: one run at a time, its progress, its report."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.imports.import_plan import fault_text, sum_text
from core.imports.imports_messages import (
    CancelImport,
    DismissImport,
    ImportConversations,
    ImportEnded,
    ImportProgressed,
    LookForSessions,
    RunImport,
)
from core.kernel.figures import count
from core.kernel.language import joined, tr
from core.kernel.values.imports import FollowState, ImportReport, ImportState
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import Handlers, Result, conclude, decline, notify, on
from core.services.settings.settings_rules import starting_model
from core.talk.discussion.discussion_messages import LoadSummaries, LookAtDiscussions

NOTICE = "import"
FOLLOW_NOTICE = "import-follow"

LOOK_EVERY = timedelta(seconds=30)
"""Between two looks at the places that are followed. A look at 2,000 files that did not change asks for their dates alone."""


def _dismiss_import(state: AppState, _asked: DismissImport) -> Result:
    if state.imports.is_running:
        return state, ()
    return replace(state, imports=ImportState()), ()


def _import_progressed(state: AppState, happened: ImportProgressed) -> Result:
    imports = replace(state.imports, count=happened.count, doing=happened.doing)
    return replace(state, imports=imports), ()


def _begin(state: AppState, asked: ImportConversations) -> Result:
    if state.imports.is_running:
        return decline(
            state,
            asked.command_id,
            NOTICE,
            tr("Another import is running"),
            tr("Wait until that is done, or cancel it"),
        ), ()
    if not any(path.strip() for path in asked.paths):
        return decline(
            state, asked.command_id, NOTICE, tr("You named no file or folder"), tr("Name a file or a folder")
        ), ()
    if state.program.is_home_read_only and not asked.is_dry:
        return decline(
            state,
            asked.command_id,
            NOTICE,
            tr("The program cannot write in this data folder"),
            tr("Make the data folder writable"),
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
    if happened.is_followed:
        return _taken(state, happened)
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
        state = notify(
            state, NOTICE, Level.WARNING, tr("The import ended early: {why}", why=why), happened.remedy
        )
    elif report is not None and not report.is_dry:
        state = notify(state, NOTICE, Level.INFO, tr("Imported: {report}.", report=sum_text(report)))
    return state, _seen(state, happened.written)


def _seen(state: AppState, written: tuple[str, ...]) -> tuple[LookAtDiscussions | LoadSummaries, ...]:
    """Have read again what was written."""
    if not written:
        return ()
    shown = tuple(one for one in written if one in state.discussions.open)
    looks = (LookAtDiscussions(shown),) if shown else ()
    return (*looks, LoadSummaries())


def tick(state: AppState) -> Result:
    """Look into the followed places that are due. Only a person adds a place to this list."""
    follow, places, now = state.following, state.config.settings.imports.follow, state.now
    if follow.places != places:
        follow = FollowState(places=places, is_looking=follow.is_looking)
        state = replace(state, following=follow)
    is_busy = state.imports.is_running or follow.is_looking or state.program.is_loading
    if not places or now is None or is_busy or state.program.is_closing or state.program.is_home_read_only:
        return state, ()
    if follow.at is not None and now < follow.at <= now + LOOK_EVERY:
        return state, ()
    first = starting_model(state)
    state = replace(state, following=replace(follow, is_looking=True, at=now + LOOK_EVERY))
    return state, (LookForSessions(places=places, provider=first.provider, model=first.model),)


def _taken(state: AppState, happened: ImportEnded) -> Result:
    """Say what was taken, and once what was wrong. A session that another program still writes may end in the middle: that is no
    fault.
    """
    follow, report = replace(state.following, is_looking=False), happened.report
    faults = () if report is None else tuple(one for one in report.faults if not one.is_cut)
    why = happened.problem or (report.stopped if report is not None else "")
    why = why or (fault_text(faults[0]) if faults else "")
    if why and why != follow.told and not state.program.is_closing:
        text = tr("The automatic import could not read everything: {why}", why=why)
        state = notify(state, FOLLOW_NOTICE, Level.WARNING, text, happened.remedy)
    elif report is not None and happened.written:
        state = notify(
            state,
            FOLLOW_NOTICE,
            Level.INFO,
            tr("Imported by itself from other programs and folders: {report}.", report=_sum(report)),
        )
    if why or report is not None:
        follow = replace(follow, told=why)
    return replace(state, following=follow), _seen(state, happened.written)


def _sum(report: ImportReport) -> str:
    made = count(report.made, tr("new discussion"), tr("new discussions")) if report.made else ""
    grown = tr("{discussions:,} continued", discussions=report.grown) if report.grown else ""
    messages = count(report.new_messages, tr("message"), tr("messages"))
    return joined(", ", filter(None, (made, grown, messages)))


HANDLERS = Handlers(
    on(ImportConversations, _begin),
    on(CancelImport, lambda state, asked: (state, (asked,) if state.imports.is_running else ())),
    on(DismissImport, _dismiss_import),
    on(ImportProgressed, _import_progressed),
    on(ImportEnded, _ended),
)
"""Each message of this room, with the function that decides what follows from it."""
