"""Retrieval in the state: whether it is on here, the run that keeps the index, the last question with its answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.language import tr, words_of
from core.kernel.values.retrieval import (
    ANSWERS_KEPT,
    AskedPlaces,
    Corpus,
    IndexProgress,
    IndexReport,
    MemoryToolAnswer,
    SearchAnswer,
    SearchHit,
)
from core.kernel.values.settings import Project
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import (
    Handlers,
    PathsChanged,
    Result,
    Watched,
    conclude,
    decline,
    follow,
    on,
)
from core.retrieval.retrieval_messages import (
    BuildNavigation,
    CancelIndexing,
    CheckNavigation,
    IndexEnded,
    IndexProgressed,
    LookAtSources,
    NavigationSurveyed,
    PauseIndexing,
    RecallAnswered,
    SearchAnswered,
    SearchMemory,
    SourcesFound,
    ToolUsed,
    UpdateIndex,
    UseMemoryTool,
)
from core.services.settings.asked_values import trust_command
from core.services.settings.settings_rules import asked_places, navigation_bounds, offered_places
from core.services.spending.spending_messages import PaidElsewhere

NOTICE = "retrieval"
OFF = tr("Search is off in this project")
DAY_REMEDY = tr("Write the day as year, month and day: 2026-01-31")

_CHANGED: Mapping[Watched, tuple[Corpus, ...]] = MappingProxyType(
    {
        Watched.SOURCES: (Corpus.NOTES, Corpus.PROJECT),
        Watched.KNOWLEDGE: (Corpus.KNOWLEDGE,),
        Watched.DISCUSSIONS: (Corpus.DISCUSSIONS,),
    }
)
"""Corpora whose files are among those that changed."""


def _pause_indexing(state: AppState, asked: PauseIndexing) -> Result:
    if state.retrieval.progress is None:
        return state, ()
    retrieval = replace(state.retrieval, is_paused=asked.is_paused)
    return replace(state, retrieval=retrieval), (asked,)


def _cancel_indexing(state: AppState, asked: CancelIndexing) -> Result:
    if state.retrieval.progress is None:
        return state, ()
    return replace(state, retrieval=replace(state.retrieval, is_stopped=True)), (asked,)


def _search_answered(state: AppState, happened: SearchAnswered) -> Result:
    answer = _named(state, happened.answer)
    own = ((happened.command_id, answer),) if happened.command_id else ()
    retrieval = replace(
        state.retrieval,
        answer=answer,
        answers=(*own, *state.retrieval.answers)[:ANSWERS_KEPT],
        places=happened.places,
        is_searching=False,
    )
    state = conclude(replace(state, retrieval=retrieval), CommandOutcome(command_id=happened.command_id))
    return update_index(state) if answer.needs_run and not retrieval.is_stopped else (state, ())


def _tool_used(state: AppState, happened: ToolUsed) -> Result:
    told = MemoryToolAnswer(happened.text, happened.is_error)
    retrieval = replace(state.retrieval, tool_answer=told, places=happened.places)
    return conclude(replace(state, retrieval=retrieval), CommandOutcome(command_id=happened.command_id)), ()


def _index_progressed(state: AppState, happened: IndexProgressed) -> Result:
    return replace(state, retrieval=replace(state.retrieval, progress=happened.progress)), ()


def _sources_found(state: AppState, happened: SourcesFound) -> Result:
    retrieval = replace(state.retrieval, preview=happened.preview)
    return conclude(replace(state, retrieval=retrieval), CommandOutcome(command_id=happened.command_id)), ()


def _recall_answered(state: AppState, happened: RecallAnswered) -> Result:
    before = state.retrieval.recall_problems
    rest = {one: said for one, said in before.items() if one != happened.discussion_id}
    problems = {**rest, happened.discussion_id: happened.problem} if happened.problem else rest
    if problems == before:
        return state, ()
    return replace(state, retrieval=replace(state.retrieval, recall_problems=problems)), ()


def _navigation_surveyed(state: AppState, happened: NavigationSurveyed) -> Result:
    retrieval = replace(state.retrieval, navigation=happened.report)
    return conclude(replace(state, retrieval=retrieval), CommandOutcome(command_id=happened.command_id)), ()


def retrieval_effects(before: AppState, after: AppState, happened: object) -> Result:
    """Keep the index where retrieval is switched on, or what it searches has changed: the places, or their files."""
    if before.config is after.config and before.program is after.program:
        return _changed(after, happened)
    asked = asked_places(after)
    if after.program.is_loading:
        return after, ()
    if asked == after.retrieval.asked:
        return _changed(after, happened)
    # An answer, and a check, are of the places that were asked: another project shows none of them.
    kept = replace(
        after.retrieval, asked=asked, places=None, folders=(), is_stopped=False, answer=None, navigation=None
    )
    after = replace(after, retrieval=kept)
    if asked is None:
        return after, (CancelIndexing(),) if after.retrieval.progress is not None else ()
    return _running(after), (UpdateIndex(asked=asked),)


def update_index(state: AppState) -> Result:
    """Have the index brought to what the files say now, where there is one."""
    asked = state.retrieval.asked
    return (state, ()) if asked is None else (_running(state), (UpdateIndex(asked=asked),))


def _changed(state: AppState, happened: object) -> Result:
    """Bring the index to what files say that changed, where they are searched."""
    asked = state.retrieval.asked
    if asked is None or state.retrieval.is_stopped:
        return state, ()
    changed: tuple[Corpus, ...] = ()
    if isinstance(happened, PathsChanged):
        changed = _CHANGED.get(happened.watched, ())
    elif isinstance(happened, PaidElsewhere):
        changed = (Corpus.DISCUSSIONS,)  # a call of another program ends up in a log
    only = tuple(corpus for corpus in changed if corpus in asked.corpora)
    return (_running(state), (UpdateIndex(asked=asked, only=only),)) if only else (state, ())


def _search(state: AppState, asked: SearchMemory) -> Result:
    places = asked_places(state)
    if places is None:
        return _off(state, asked.command_id)
    try:
        after, before = day_of(asked.filters.after), day_of(asked.filters.before)
    except ValueError as error:
        return decline(state, asked.command_id, NOTICE, words_of(error), DAY_REMEDY), ()
    state = replace(state, retrieval=replace(state.retrieval, is_searching=True))
    folder, tag = clean(asked.filters.folder), clean(asked.filters.tag)
    filters = replace(asked.filters, folder=folder, tag=tag, after=after, before=before)
    return state, (replace(asked, query=clean(asked.query), filters=filters, asked=places),)


def day_of(text: str) -> str:
    """A day as it is compared, empty for none. Raises ValueError with a phrase where it is no day."""
    try:
        return date.fromisoformat(text.strip()).isoformat() if text.strip() else ""
    except ValueError:
        raise ValueError(tr("{text!r} is not a day", text=text[:40])) from None


def _named(state: AppState, answer: SearchAnswer) -> SearchAnswer:
    """The answer with discussions by the names that they have now; one that is gone keeps its id."""
    rows = state.discussions.summaries

    def place(newer: str) -> str:
        path, _, number = newer.rpartition(":")
        return f"{rows[path].meta.name}, message {number}" if path in rows else newer

    def title(hit: SearchHit) -> str:
        is_known = hit.corpus is Corpus.DISCUSSIONS and hit.path in rows
        return rows[hit.path].meta.name if is_known else hit.title

    hits = [
        replace(
            hit,
            title=title(hit),
            newer=place(hit.newer),
            also=tuple(replace(one, newer=place(one.newer)) for one in hit.also),
        )
        for hit in answer.hits
    ]
    return replace(answer, hits=tuple(hits))


def _use_tool(state: AppState, asked: UseMemoryTool) -> Result:
    places = asked_places(state)
    if places is None:
        return _off(state, asked.command_id)
    return state, (replace(asked, asked=places),)


def _update(state: AppState, asked: UpdateIndex) -> Result:
    places = asked_places(state)
    if places is None:
        return _off(state, asked.command_id)
    state = replace(state, retrieval=replace(state.retrieval, is_stopped=False))
    return _running(state), (replace(asked, asked=places),)


def _survey(state: AppState, command_id: str, *, mends: bool) -> Result:
    config = state.config
    around = navigation_bounds(config.settings_faults, config.project)
    asked = asked_places(state) or AskedPlaces()
    return state, (CheckNavigation(command_id=command_id, mends=mends, asked=asked, around=around),)


def _off(state: AppState, command_id: str) -> Result:
    return decline(state, command_id, NOTICE, OFF, on_remedy(state.config.project)), ()


def on_remedy(project: Project) -> str:
    """Way to switch retrieval on in a project where it is off."""
    if any(one.place[:2] == ("settings", "retrieval.enabled") for one in project.asked):
        return tr(
            "manual_slop.toml asks for search, but you have not trusted it yet: `{root}`",
            root=trust_command(project.root),
        )
    return tr("Set `enabled = true` under `[retrieval]` in manual_slop.toml")


def _running(state: AppState) -> AppState:
    progress = state.retrieval.progress or IndexProgress()
    return replace(state, retrieval=replace(state.retrieval, progress=progress))


def _ended(state: AppState, happened: IndexEnded) -> Result:
    before = state.retrieval.folders
    retrieval = replace(
        state.retrieval,
        progress=None,
        is_paused=False,
        places=happened.places,
        report=_report(state.retrieval.report, happened.report),
        problem=happened.problem,
        remedy=happened.remedy,
        indexed_at=state.now
        if happened.report is not None and not happened.problem
        else state.retrieval.indexed_at,
        folders=before if happened.folders is None or happened.folders == before else happened.folders,
    )
    outcome = CommandOutcome(command_id=happened.command_id, problem=happened.problem, remedy=happened.remedy)
    # A pause ends with its run: asked for in the run's last moment, it would hold the next one, which nobody paused.
    effects = (PauseIndexing(is_paused=False),) if state.retrieval.is_paused else ()
    return conclude(replace(state, retrieval=retrieval), outcome), effects


def _report(before: IndexReport | None, now: IndexReport | None) -> IndexReport | None:
    """The newest report. What lies among the notes is told on where a run did not come to look there."""
    if now is None or before is None:
        return now or before
    is_unseen = now.left_out is None and (now.is_part or now.stopped)
    return replace(now, left_out=before.left_out) if is_unseen else now


HANDLERS = Handlers(
    on(SearchMemory, _search),
    on(UseMemoryTool, _use_tool),
    on(UpdateIndex, _update),
    on(PauseIndexing, _pause_indexing),
    on(CancelIndexing, _cancel_indexing),
    on(LookAtSources, lambda state, asked: (state, (replace(asked, asked=offered_places(state)),))),
    on(CheckNavigation, lambda state, asked: _survey(state, asked.command_id, mends=False)),
    on(BuildNavigation, lambda state, asked: _survey(state, asked.command_id, mends=True)),
    on(SearchAnswered, _search_answered),
    on(ToolUsed, _tool_used),
    on(IndexProgressed, _index_progressed),
    on(IndexEnded, _ended),
    on(SourcesFound, _sources_found),
    on(RecallAnswered, _recall_answered),
    on(NavigationSurveyed, _navigation_surveyed),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = follow(
    "program config",
    lambda before, after, moment: retrieval_effects(before, after, moment.body),
    messages=(PathsChanged, PaidElsewhere),
)
