"""Start-up, watching, workers' states, the end, and letting go of discussions that nobody looks at.

A discussion that was let go is read again from the disk. Its place, its folds and its draft are kept elsewhere. Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from core.app.app_messages import (
    DismissNotice,
    HomeOpened,
    OwnerChanged,
    Quit,
    RaiseRequested,
    SaveWindow,
    WatchFiles,
    WriteWindow,
)
from core.app.forgetting.forgetting_messages import RunForget
from core.kernel.language import joined, tr
from core.kernel.structures import with_entry
from core.kernel.values.agent import AgentPage
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.harvest import HarvestPhase
from core.kernel.values.state import AppState, Level, WorkerStatus
from core.kernel.values.updates import (
    Handlers,
    Result,
    WorkerReported,
    dismiss,
    follow,
    follow_effects,
    is_busy,
    notify,
    on,
    read_notice,
)
from core.knowledge.harvest.harvest_messages import FindBatches
from core.services.settings.settings_messages import LoadSettings
from core.talk.caching.accounts import is_warm, last_expiry
from core.talk.discussion.discussion_messages import EmptyTrash, LoadSummaries

OWNER_NOTICE = "home-owner"
LOST_HOME = tr(
    "Until the other program ends, this one reads no inbox or channel. It sends no keepalives and runs no autonomy. Close one of the two programs: the data folder's lock was removed while this one ran."
)


def _raise_requested(state: AppState, _happened: RaiseRequested) -> Result:
    return replace(state, program=replace(state.program, raise_count=state.program.raise_count + 1)), ()


def _save_window(state: AppState, window_toml: str) -> Result:
    if window_toml == state.program.window_toml:
        return state, ()
    return replace(state, program=replace(state.program, window_toml=window_toml)), (
        WriteWindow(window_toml, state.discussions.selected_id),
    )


def home_opened(state: AppState, event: HomeOpened) -> Result:
    """The home is ours: read settings, then the list of discussions."""
    state = replace(
        state,
        program=replace(
            state.program,
            home=event.home,
            is_home_read_only=event.is_read_only,
            window_toml=event.window_toml,
        ),
        discussions=replace(state.discussions, selected_id=event.selected_id),
        agent=replace(state.agent, is_headless=event.is_headless),
    )
    if event.is_read_only:
        state = notify(
            state,
            "home",
            Level.ERROR,
            tr("The data folder is read-only: the program cannot save new messages."),
            tr(
                "Make the data folder writable, or start with another data folder (--home). {home}",
                home=event.home,
            ),
        )
    if event.repaired:
        state = notify(
            state,
            "home-repaired",
            Level.WARNING,
            tr("The program repaired files in the data folder."),
            joined("\n", event.repaired),
        )
    if event.odd:
        text = tr("The program skips entries in the data folder that are not plain files.")
        state = notify(state, "home-odd", Level.WARNING, text, joined("\n", event.odd))
    if event.crash:
        text = tr("The program ended unexpectedly last time. What you wrote is kept.")
        detail = tr(
            "The crash report names lines of the program's code, and none of your words: {report}",
            report=event.crash,
        )
        state = notify(state, "crash", Level.WARNING, text, detail)
    going_on = () if event.is_read_only else (RunForget(), FindBatches())
    return state, (LoadSettings(), LoadSummaries(event.selected_id), *going_on)


def owner_changed(state: AppState, holder: str) -> Result:
    """Another program owns the home, or this one does again: then it goes on with what that one left, but not with autonomy."""
    state = replace(state, program=replace(state.program, holder=holder))
    if holder:
        text = tr("Another program now uses this data folder: {holder}.", holder=holder)
        return notify(state, OWNER_NOTICE, Level.WARNING, text, LOST_HOME, is_standing=True), ()
    state = dismiss(state, OWNER_NOTICE)
    text = tr("This program uses the data folder again: the other program has ended.")
    state = notify(state, "home-regained", Level.INFO, text, tr("Autonomy stays off until you start it."))
    return state, (RunForget(), FindBatches())


def worker_reported(state: AppState, event: WorkerReported) -> AppState:
    """A worker's state for the status bar."""
    status = WorkerStatus(name=event.name, status=event.status, detail=event.detail, fraction=event.fraction)
    return replace(
        state, program=replace(state.program, workers=with_entry(state.program.workers, event.name, status))
    )


def quit_program(state: AppState) -> Result:
    """Stop workers after what is pending is written. A reply that the disk refuses is not left behind unasked."""
    if state.discussions.pending and not any(notice.id == "quit" for notice in state.program.notices):
        text = tr("A reply is not saved yet: the disk refuses to write.")
        return notify(
            state, "quit", Level.ERROR, text, tr("Free some space, or quit again and lose the reply.")
        ), ()
    return replace(state, program=replace(state.program, is_closing=True)), (
        WriteWindow(state.program.window_toml, state.discussions.selected_id),
        Quit(),
    )


def window_effects(before: AppState, after: AppState) -> tuple[WriteWindow, ...]:
    """Keep which discussion is selected."""
    program, selected = after.program, after.discussions.selected_id
    if before.discussions.selected_id == selected or not program.home or program.is_loading:
        return ()
    return (WriteWindow(program.window_toml, selected),)


def trash_effects(before: AppState, after: AppState) -> tuple[EmptyTrash, ...]:
    """Empty the trash when the person's settings are first known, and with each new day.

    Where their file cannot be read, nobody knows how long they keep what they deleted: then nothing goes.
    """
    config, settings = after.config, after.config.settings
    is_first = bool(config.settings_paths) and not before.config.settings_paths
    is_new_day = before.spending.day_start not in {None, after.spending.day_start}
    if not (is_first or is_new_day):
        return ()
    is_told = "trash_days" in settings.sources or not any(fault.is_grave for fault in config.settings_faults)
    return (EmptyTrash(settings.trash_days),) if is_told and not settings.unread else ()


def watch_effects(before: AppState, after: AppState) -> tuple[WatchFiles, ...]:
    """Watch the files of presets in use, the settings' own files and the open discussions; tell only of changes."""
    then, now = before.discussions.open, after.discussions.open
    is_same = before.context.files is after.context.files and (then is now or then.keys() == now.keys())
    is_same = is_same and before.knowledge.watched == after.knowledge.watched
    is_same = is_same and before.retrieval.folders is after.retrieval.folders
    if is_same and before.config.settings_paths == after.config.settings_paths:
        return ()
    wanted = _watched(after)
    return () if wanted == _watched(before) else (wanted,)


def _watched(state: AppState) -> WatchFiles:
    curated = {
        f.absolute_path for items in state.context.files.values() for item in items for f in item.files
    }
    curated |= {path for items in state.context.files.values() for item in items for path in item.rule_files}
    settings = tuple(sorted(state.config.settings_paths))
    return WatchFiles(
        paths=tuple(sorted(curated - {""})),
        settings_paths=settings,
        home=state.program.home,
        discussion_ids=tuple(sorted(state.discussions.open)),
        knowledge_paths=state.knowledge.watched,
        source_folders=state.retrieval.folders,
    )


# Time passes more slowly while nothing waits for it.


def is_calm(state: AppState) -> bool:
    """True while nothing is under way, counted down or owed: then time need not be told each second."""
    agent, config, program = state.agent, state.config, state.program
    under_way = (
        (state.turns.calls, agent.turns, agent.compactions, agent.delegations, state.spending.reserved),
        (state.discussions.pending, config.held_commands),
        (state.attention.autonomy, state.unshown, state.changed_late, state.imports.is_running),
        (program.is_loading, program.is_closing, not config.is_settled),
    )
    is_harvesting = state.harvest.phase is not HarvestPhase.IDLE
    ends = (at for one in state.caching.caches.values() for at in (one.expires_at, one.long_until))
    is_counted_down = any(at is not None and (state.now is None or at > state.now) for at in ends)
    is_kept = config.settings.caching.keepalive and any(
        is_warm(one, state.now) for one in state.caching.caches.values()
    )
    return not (is_harvesting or is_counted_down or is_kept or any(map(any, under_way)))


# Notices pass when they have been up long enough to be read.

INFO_STAYS = timedelta(seconds=12)


def expire(state: AppState) -> AppState:
    """Drop notices of level INFO that have been up long enough to read. Warnings and errors stay."""
    now = state.now
    if now is None or not state.program.notices:
        return state
    kept = tuple(
        n
        for n in state.program.notices
        if n.level is not Level.INFO or n.action is not None or n.at is None or abs(now - n.at) < INFO_STAYS
    )
    return (
        state
        if len(kept) == len(state.program.notices)
        else replace(state, program=replace(state.program, notices=kept))
    )


HANDLERS = Handlers(
    on(DismissNotice, lambda state, asked: (read_notice(state, asked.notice_id), ())),
    on(SaveWindow, lambda state, asked: _save_window(state, asked.data_toml)),
    on(Quit, lambda state, _asked: quit_program(state)),
    on(HomeOpened, home_opened),
    on(RaiseRequested, _raise_requested),
    on(OwnerChanged, lambda state, happened: owner_changed(state, happened.holder)),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS_FILES = follow_effects(
    "config.settings_paths discussions.open context.files knowledge.watched retrieval.folders", watch_effects
)
FOLLOWS_DAYS = follow_effects("config.settings_paths spending.day_start", trash_effects)
FOLLOWS_SELECTED = follow_effects("discussions.selected_id", window_effects)


# Letting go of loaded discussions: all but the newest leave in which nothing is under way and that a log
# gives back whole.

KEPT_OPEN = 8
"""Discussions that stay loaded, so that a person who goes back and forth between a few waits for none."""
RESTS = timedelta(seconds=20)
"""Time for which one stays loaded after it was shown, read or changed: longer than any front end waits for its answer."""
MANAGED = timedelta(hours=1)
"""Time for which a cache is taken to be warm whose end only the provider knows."""

_HERE_ALONE = [
    "asked_version",
    "awaits_limit",
    "comparison",
    "draft",
    "failure",
    "held_calls",
    "is_held_at_limit",
    "kept_out",
    "left_calls",
    "queue",
    "queue_hold",
    "refusal",
]
"""Fields that no log holds, or that wait for somebody: as long as one of them says something, the discussion stays."""
_FRESH = OpenDiscussion(id="")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def let_go(state: AppState) -> AppState:
    """The state without the discussions that nothing needs any more, oldest first. O(open discussions), mostly O(1)."""
    spare, now = len(state.discussions.open) - KEPT_OPEN, state.now
    if spare <= 0 or now is None:
        return state
    used = ((state.discussions.used.get(name, _LONG_AGO), name) for name in state.discussions.open)
    over = sorted((at, name) for at, name in used if not at <= now < at + RESTS)
    gone = [name for _, name in over if may_leave(state, name)][:spare]
    return _without(state, frozenset(gone)) if gone else state


def may_leave(state: AppState, discussion_id: str) -> bool:
    """True for an open discussion that nobody looks at, in which nothing is under way, and that a log gives back whole."""
    row, opened = state.discussions.summaries.get(discussion_id), state.discussions.open[discussion_id]
    if row is None or not row.meta.model or discussion_id == state.discussions.selected_id:
        return False
    if any(getattr(opened, name) != getattr(_FRESH, name) for name in _HERE_ALONE):
        return False
    return not (_is_at_work(state, discussion_id) or _is_warm(state, discussion_id))


def _is_at_work(state: AppState, discussion_id: str) -> bool:
    """True while a call, a tool, a cut, a task, a write or a payment of a discussion is under way, or it acts by itself."""
    agent, autonomy = state.agent, state.attention.autonomy
    if discussion_id in agent.turns or discussion_id in agent.compactions or is_busy(state, discussion_id):
        return True
    if discussion_id in agent.delegations or agent.pages.get(discussion_id, _NO_PAGE).commands:
        return True
    own = (
        *(one.parent_id for one in agent.delegations.values()),
        *(one.discussion_id for one in state.discussions.pending.values()),
        *(one.discussion_id for one in state.spending.reserved.values()),
        *(getattr(one, "discussion_id", "") for one in state.config.held_commands),
        "" if autonomy is None else autonomy.discussion_id,
    )
    return discussion_id in own


_NO_PAGE = AgentPage()


def _is_warm(state: AppState, discussion_id: str) -> bool:
    """True while a provider holds what the next request begins with: what was sent last is needed to extend it."""
    cache, now = state.caching.caches.get(discussion_id), state.now
    if cache is None or not is_warm(cache, now):
        return False
    return last_expiry(cache) is not None or now is None or now < cache.cached_at + MANAGED


def _without(state: AppState, gone: frozenset[str]) -> AppState:
    discussions, context, caching = state.discussions, state.context, state.caching
    return replace(
        state,
        discussions=replace(
            discussions,
            open={name: one for name, one in discussions.open.items() if name not in gone},
            used={name: at for name, at in discussions.used.items() if name not in gone},
        ),
        context=replace(
            context, reports={name: one for name, one in context.reports.items() if name not in gone}
        ),
        caching=replace(
            caching, plans={name: one for name, one in caching.plans.items() if name not in gone}
        ),
    )


FOLLOWS = follow("discussions now", lambda _before, after, _moment: (let_go(after), ()))
