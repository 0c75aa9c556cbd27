"""Discussions as a list: create, select, branch, trash, bring back, list anew; the choices of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.ids import Stamp, is_id
from core.kernel.language import as_sentences, joined, tr
from core.kernel.secrets import scrubbed_line
from core.kernel.structures import without
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import (
    CHOICES,
    MAX_OUTPUT_TOKENS,
    MAX_TEMPERATURE,
    MIN_TOP_P,
    NOT_INHERITED,
    DiscussionMeta,
    DiscussionSummary,
    Draft,
    OpenDiscussion,
)
from core.kernel.values.messages import Message
from core.kernel.values.provider import Effort
from core.kernel.values.records import MarkRecord
from core.kernel.values.state import AppState, Level, SearchHits
from core.kernel.values.updates import (
    Result,
    decline,
    is_busy,
    notify,
    with_open,
    with_selected,
    with_summary,
)
from core.services.settings.settings_rules import (
    closed_models,
    default_model,
    model_label,
    profile_of,
    starting_model,
)
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    BranchDiscussion,
    ChangeDiscussion,
    CreateDiscussion,
    CreateOnDisk,
    DeleteDiscussion,
    DiscardDiscussion,
    DiscussionChangedOutside,
    DiscussionCreated,
    DiscussionEffect,
    DiscussionLoaded,
    DiscussionRestored,
    DiscussionTrashed,
    IndexDiscussion,
    ReadDiscussion,
    SummariesChanged,
    SummariesLoaded,
    TrashOnDisk,
    UndoDelete,
    WriteMeta,
)

# Choices of a discussion: its name, its place in the list, its preset, persona and model, and how it
# answers.


def change(state: AppState, given: Stamp, command: ChangeDiscussion) -> Result:
    """Take all that a person chose for a discussion, or nothing where one of the values is refused."""
    summary = state.discussions.summaries.get(command.discussion_id)
    meta = None if summary is None else summary.meta
    try:
        wanted = _checked(state, meta, command.changes)
    except SlopError as error:
        return decline(state, command.command_id, "choice", error.what, error.remedy), ()
    if meta is None:
        return state, ()
    state, effects = change_meta(state, meta.id, **wanted)
    return state, (*effects, *_switch_mark(state, given, meta))


def _checked(state: AppState, meta: DiscussionMeta | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as they are kept.

    Raises:
        SlopError: one of them is no choice of a discussion, or cannot be taken.
    """
    unknown = ", ".join(sorted({*changes} - {*CHOICES}))
    if unknown:
        raise SlopError(
            tr("A discussion has no setting {unknown}.", unknown=unknown),
            remedy=tr("There are: {CHOICES}.", CHOICES=", ".join(CHOICES)),
        )
    wanted = {name: _CHECKS.get(name, _as_it_is)(state, meta, value) for name, value in changes.items()}
    if meta is not None and ("provider" in wanted or "model" in wanted):
        provider, model = wanted.get("provider", meta.provider), wanted.get("model", "")
        wanted["model"] = _sound(model, unknown_model(state, provider, model)) or default_model(
            state, provider
        )
    return wanted


def _as_it_is(_state: AppState, _meta: DiscussionMeta | None, value: Any) -> Any:
    return value


def _name(_state: AppState, meta: DiscussionMeta | None, value: str) -> str:
    """An empty name is ignored."""
    name = " ".join(clean(value).split())
    return name if name or meta is None else meta.name


def _effort(_state: AppState, meta: DiscussionMeta | None, value: str) -> str:
    """An unknown level is ignored."""
    return value if value in set(Effort) or meta is None else meta.effort


def _temperature(state: AppState, meta: DiscussionMeta | None, value: float | None) -> float | None:
    """Refuse what no model takes, and any temperature where the discussion's model takes none."""
    if meta is not None and value is not None:
        model = profile_of(state, meta.provider, meta.model)
        if model.max_temperature is None:
            text = tr(
                "{model} uses its own temperature; you cannot set one.", model=model.label or meta.model
            )
            raise SlopError(text, remedy=tr("Choose another model, or no temperature."))
    if value is not None and not 0 <= value <= MAX_TEMPERATURE:
        raise SlopError(
            tr(
                "A temperature lies between 0 and {MAX_TEMPERATURE:g}, not at {value:g}.",
                MAX_TEMPERATURE=MAX_TEMPERATURE,
                value=value,
            )
        )
    return value


def _top_p(state: AppState, meta: DiscussionMeta | None, value: float | None) -> float | None:
    """Refuse what no model takes, and any top-p where the discussion's model takes none."""
    if meta is not None and value is not None:
        model = profile_of(state, meta.provider, meta.model)
        if model.max_temperature is None:
            text = tr("{model} uses its own top-p; you cannot set one.", model=model.label or meta.model)
            raise SlopError(text, remedy=tr("Choose another model, or no top-p."))
    if value is not None and not MIN_TOP_P <= value <= 1:
        least = f"{MIN_TOP_P:g}"
        raise SlopError(tr("Top-p lies between {least} and 1, not at {value:g}.", least=least, value=value))
    return value


def _max_output(_state: AppState, _meta: DiscussionMeta | None, value: int | None) -> int | None:
    if value is not None and not 1 <= value <= MAX_OUTPUT_TOKENS:
        raise SlopError(
            tr(
                "A reply has between 1 and {MAX_OUTPUT_TOKENS:,} tokens, not {value:,}.",
                MAX_OUTPUT_TOKENS=MAX_OUTPUT_TOKENS,
                value=value,
            )
        )
    return value


_CHECKS: Mapping[str, Callable[[AppState, DiscussionMeta | None, Any], Any]] = {
    "name": _name,
    "effort": _effort,
    "temperature": _temperature,
    "top_p": _top_p,
    "max_output_tokens": _max_output,
    # A preset that there is not is refused: without its files a call would be paid for nothing.
    "preset": lambda state, _meta, name: _sound(name, unknown_preset(state, name)),
    "persona": lambda state, _meta, name: _sound(
        name, _unknown("persona", name, state.config.project.personas)
    ),
    "system_preset": lambda state, _meta, name: _sound(
        name, _unknown(tr("system prompt"), name, state.config.project.system_prompts)
    ),
}
"""Checks of choices: each gives the value that is kept, or raises SlopError. The others are kept as they are."""


def _sound(name: str, problem: tuple[str, str] | None) -> str:
    """The name, where nothing is wrong with it. Raises SlopError."""
    if problem:
        raise SlopError(problem[0], remedy=problem[1])
    return name


def _switch_mark(state: AppState, given: Stamp, before: DiscussionMeta) -> tuple[DiscussionEffect, ...]:
    """A mark stands where a model was switched in the middle of the talk."""
    summary = state.discussions.summaries[before.id]
    now = summary.meta
    if not summary.turns or (now.provider, now.model) == (before.provider, before.model):
        return ()
    old, new = (model_label(state, meta.provider, meta.model) for meta in (before, now))
    mark = MarkRecord(id=given.make_id(), at=given.at, kind="model", text=f"{old} → {new}")
    return (AppendRecords(discussion_id=before.id, records=(mark,)),)


def take_model(state: AppState, discussion_id: str) -> Result:
    """Give a discussion that has no model yet its provider's usual one, once that is known: a server's first."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None or summary.meta.model:
        return state, ()
    return change_meta(state, discussion_id, model=default_model(state, summary.meta.provider))


def take_models(state: AppState, provider: str) -> Result:
    """Give its open discussions without a model the first that a server has listed."""
    effects: tuple[DiscussionEffect, ...] = ()
    for discussion_id in state.discussions.open:
        summary = state.discussions.summaries.get(discussion_id)
        if summary is not None and summary.meta.provider == provider:
            state, more = take_model(state, discussion_id)
            effects = (*effects, *more)
    return state, effects


def _unknown(what: str, name: str, known: Iterable[str]) -> tuple[str, str] | None:
    """Fault of a name, with what to do; None where the name is known or empty."""
    known = tuple(known)
    if not name or name in known:
        return None
    listed = (
        tr("There are: {known}", known=", ".join(known))
        if known
        else tr("Nothing with such a name exists yet: leave the name out, or create it first")
    )
    return tr("There is no {what} {name!r}.", what=what, name=name), as_sentences(listed, is_closed=True)


def unknown_preset(state: AppState, name: str) -> tuple[str, str] | None:
    """Fault of a preset's name, with what to do; None where the project has it or none is named."""
    return _unknown("preset", name, state.config.project.presets)


def unknown_model(state: AppState, provider: str, model: str) -> tuple[str, str] | None:
    """Fault of a model's name, with what to do, at a provider that has these models and no others; else None."""
    known = closed_models(state, provider)
    return _unknown(tr("model of {provider}", provider=provider), model, known) if known else None


def change_meta(state: AppState, discussion_id: str, **fields: object) -> Result:
    """Replace fields of a discussion's meta and write it, when anything differs."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None:
        return state, ()
    meta = replace(summary.meta, **fields)  # type: ignore[arg-type]
    if meta == summary.meta:
        return state, ()
    return with_summary(state, replace(summary, meta=meta)), (WriteMeta(meta),)


# Discussions as a list: create, select, branch, trash, bring back, list anew.

UNNAMED = "New discussion"
"""Name of a discussion until its first prompt names it."""


HISTORY_LIMIT = 200
"""Prompts kept for the composer's history."""
WITH = "deleted with "
"""Begins why a task is in the trash: its discussion's id follows."""


def create(state: AppState, given: Stamp, command: CreateDiscussion) -> Result:
    """Create a discussion on disk and select it afterwards."""
    if command.keeps_empty and is_empty(state, state.discussions.selected_id):
        return state, ()
    ai = state.config.settings.ai
    first = starting_model(state, command.provider, command.model)
    if problem := unknown_preset(state, command.preset) or unknown_model(
        state, first.provider, command.model
    ):
        return decline(state, command.command_id, "choice", *problem), ()
    if first.instead_of:
        why = state.config.providers[first.instead_of].problem
        label = (
            state.config.providers[first.provider].label if first.provider in state.config.providers else ""
        )
        state = notify(
            state,
            "provider",
            Level.WARNING,
            tr(
                "{model} answers instead of {asked}.",
                model=label or first.provider,
                asked=first.instead_of,
            ),
            why,
            is_standing=True,
        )
    meta = DiscussionMeta(
        id=_free_id(state, command.id) or given.make_id(),
        name=" ".join(clean(command.name).split()) or UNNAMED,
        created_at=given.at,
        provider=first.provider,
        model=first.model,
        effort=ai.effort,
        preset=command.preset or _inherited_preset(state),
        persona=ai.persona,
        system_preset=ai.system_prompt_preset,
        folder=state.config.project.root,
    )
    return state, (CreateOnDisk(meta),)


def is_empty(state: AppState, discussion_id: str) -> bool:
    """True for a discussion of this project in which nothing was said, written or chosen yet."""
    opened, summary = (
        state.discussions.open.get(discussion_id),
        state.discussions.summaries.get(discussion_id),
    )
    if opened is None or summary is None or is_busy(state, discussion_id):
        return False
    meta = summary.meta
    has_words = opened.entries or opened.queue or opened.draft != Draft()
    is_put_away = meta.archived or meta.parent_id or meta.folder != state.config.project.root
    return meta.name == UNNAMED and not has_words and not is_put_away


def _free_id(state: AppState, wanted: str) -> str:
    """The id that a front end chose, empty where it is no valid id or is taken."""
    taken = wanted in state.discussions.summaries or any(
        item.discussion_id == wanted for item in state.discussions.trash
    )
    return wanted if is_id(wanted) and not taken else ""


def _inherited_preset(state: AppState) -> str:
    selected = state.discussions.summaries.get(state.discussions.selected_id)
    return selected.meta.preset if selected is not None else ""


def created(state: AppState, event: DiscussionCreated) -> Result:
    """A new discussion or branch stands on disk: show it. A delegated one is listed, and shown when the person wants it."""
    state = with_open(with_summary(state, event.summary), event.discussion)
    if event.summary.meta.delegated_by:
        return state, (IndexDiscussion(event.summary.meta.id),)
    return with_selected(state, event.summary.meta.id), (IndexDiscussion(event.summary.meta.id),)


def select(state: AppState, discussion_id: str) -> Result:
    """Show a discussion and read its log when it is not yet read."""
    if discussion_id not in state.discussions.summaries:
        return state, ()
    state = with_selected(state, discussion_id)
    if discussion_id in state.discussions.open:
        return state, ()
    return state, (_load(state, discussion_id),)


def read(state: AppState, discussion_id: str) -> Result:
    """Load a log that is not loaded yet; nothing else changes."""
    if discussion_id not in state.discussions.summaries or discussion_id in state.discussions.open:
        return state, ()
    return state, (_load(state, discussion_id),)


def _load(state: AppState, discussion_id: str) -> ReadDiscussion:
    """Reading of a discussion, with the tasks that it gave away and that nobody reads."""
    rows, opened = state.discussions.summaries, state.discussions.open
    tasks = (
        name
        for name, row in rows.items()
        if row.meta.delegated_by and row.meta.parent_id == discussion_id and name not in opened
    )
    return ReadDiscussion(discussion_id=discussion_id, task_ids=tuple(sorted(tasks)))


def loaded(state: AppState, event: DiscussionLoaded) -> AppState:
    """Take in a log after it was read. A running call keeps its text; the person hears of repairs."""
    opened = event.discussion
    state = _with_counted(with_open(state, opened), event.summary)
    if opened.repaired:
        name = _lifecycle_name(state, opened.id)
        state = notify(
            state,
            f"repair/{opened.id}",
            Level.WARNING,
            tr("The program repaired {name} while reading it.", name=name),
            joined("\n", opened.repaired),
            discussion_id=opened.id,
            is_standing=True,
        )
    if not state.discussions.prompt_history:
        state = replace(state, discussions=replace(state.discussions, prompt_history=_prompts(opened)))
    return state


def _with_counted(state: AppState, counted: DiscussionSummary | None) -> AppState:
    """Set a row right whose discussion has grown since the list was read, or was repaired: a call that a kill cut off
    is in its log, and in its money, from then on.
    """
    row = state.discussions.summaries.get(counted.meta.id) if counted is not None else None
    if row is None or counted is None or (row.turns, row.usage) == (counted.turns, counted.usage):
        return state
    return with_summary(state, replace(counted, meta=row.meta, problem=row.problem))


def _prompts(opened: OpenDiscussion) -> tuple[str, ...]:
    texts = (m.text for m in opened.messages if m.is_of_person and m.text)
    return tuple(texts)[-HISTORY_LIMIT:]


def _lifecycle_name(state: AppState, discussion_id: str) -> str:
    summary = state.discussions.summaries.get(discussion_id)
    return repr(summary.meta.name) if summary is not None else f"Discussion {discussion_id}"


def branch(state: AppState, given: Stamp, command: BranchDiscussion) -> Result:
    """Copy a discussion up to a message into a new one. The parent stays untouched."""
    summary = state.discussions.summaries.get(command.discussion_id)
    opened = state.discussions.open.get(command.discussion_id)
    if summary is None or opened is None or not _holds(opened, command.message_id):
        return state, ()
    meta = branch_meta(summary.meta, given, command.message_id, branch_name(opened, command.message_id))
    return state, (CreateOnDisk(meta),)


BRANCH = "Branch: "
"""Begins the name of a branch until its first own words name it."""


def branch_name(opened: OpenDiscussion, message_id: str) -> str:
    """Name of a new branch: words of its last shared message."""
    words = next((m.text for m in opened.messages if m.id == message_id), "")
    return BRANCH + (scrubbed_line(words, 40) or tr("without words"))


def is_unnamed(meta: DiscussionMeta, opened: OpenDiscussion) -> bool:
    """True until a person or the first own words have named a discussion."""
    if meta.parent_id and not meta.delegated_by:
        return meta.name == branch_name(opened, meta.branch_message_id)
    return meta.name == UNNAMED


def branch_meta(parent: DiscussionMeta, given: Stamp, message_id: str, name: str) -> DiscussionMeta:
    """Meta of a new branch. `message_id`: the branch point, the last message that both have."""
    return replace(
        parent,
        id=given.make_id(),
        name=name,
        created_at=given.at,
        **NOT_INHERITED,
        parent_id=parent.id,
        branch_message_id=message_id,
        delegated_by="",
        mode=Mode.ASK if parent.mode is Mode.ACCEPT_EDITS else parent.mode,  # it ends as grants do
    )


def _holds(opened: OpenDiscussion, message_id: str) -> bool:
    return any(isinstance(entry, Message) and entry.id == message_id for entry in opened.entries)


def delete(state: AppState, command: DeleteDiscussion) -> Result:
    """Move to the trash with the tasks that it gave away, unless a reply is under way."""
    summary = state.discussions.summaries.get(command.discussion_id)
    if summary is None:
        return state, ()
    if is_busy(state, command.discussion_id):
        text = tr(
            "{name!r} is still receiving a reply. Stop the reply first, then delete.", name=summary.meta.name
        )
        return decline(state, command.command_id, f"delete/{command.discussion_id}", text), ()
    tasks = tasks_of(state, command.discussion_id)
    at_work = next((one for one in tasks if is_busy(state, one.id)), None)
    if at_work is not None:
        text = tr(
            "The discussion's task {name!r} is still receiving a reply. Stop the reply first, then delete.",
            name=at_work.name,
        )
        return decline(state, command.command_id, f"delete/{command.discussion_id}", text), ()
    why = f"{WITH}{command.discussion_id}"
    gone = TrashOnDisk(discussion_id=command.discussion_id, name=summary.meta.name, why="deleted")
    return state, (gone, *(TrashOnDisk(discussion_id=one.id, name=one.name, why=why) for one in tasks))


def tasks_of(state: AppState, discussion_id: str) -> tuple[DiscussionMeta, ...]:
    """Discussions that were given a discussion's tasks: they hold its words, and go where it goes. O(discussions)."""
    metas = (row.meta for row in state.discussions.summaries.values())
    return tuple(meta for meta in metas if meta.delegated_by and meta.parent_id == discussion_id)


def discard(state: AppState, command: DiscardDiscussion) -> Result:
    """Remove an empty discussion for good, which a front end made for a refused message."""
    opened = state.discussions.open.get(command.discussion_id)
    if opened is None:
        return state, ()
    is_used = is_busy(state, command.discussion_id) or state.discussions.pending
    if is_used or opened.entries or opened.queue or opened.draft != Draft():
        text = tr(
            "{discussion} is not empty, so the discussion stays.",
            discussion=_lifecycle_name(state, command.discussion_id),
        )
        return decline(state, command.command_id, f"delete/{command.discussion_id}", text), ()
    return state, (command,)


def trashed(state: AppState, event: DiscussionTrashed) -> Result:
    """It is in the trash: take it off the list and offer to undo. A task goes with its discussion, and is not told of."""
    gone = event.item.discussion_id
    if not event.item.why.startswith(WITH):
        state = notify(
            state,
            "deleted",
            Level.INFO,
            tr("{name!r} is in the trash.", name=event.item.name),
            action=UndoDelete(gone),
            action_label=tr("Undo"),
        )
    return _without(
        replace(state, discussions=replace(state.discussions, trash=(*state.discussions.trash, event.item))),
        gone,
    )


def _without(state: AppState, gone: str) -> Result:
    """Take a discussion off the list; the newest one is shown in its place."""
    state = replace(
        state,
        discussions=replace(
            state.discussions,
            summaries=without(state.discussions.summaries, gone),
            open=without(state.discussions.open, gone),
        ),
        context=replace(state.context, reports=without(state.context.reports, gone)),
    )
    if state.discussions.selected_id != gone:
        return state, (IndexDiscussion(gone),)
    state, effects = select(
        replace(state, discussions=replace(state.discussions, selected_id="")), newest(state)
    )
    return state, (IndexDiscussion(gone), *effects)


def forgotten(state: AppState, gone: str) -> Result:
    """It is being forgotten: off the list and the trash, with what was said of it. Prompts are kept no longer."""
    notices = tuple(one for one in state.program.notices if gone not in one.id and one.id != "deleted")
    state = replace(
        state,
        program=replace(state.program, notices=notices),
        discussions=replace(
            state.discussions,
            trash=tuple(item for item in state.discussions.trash if item.discussion_id != gone),
            prompt_history=(),
            search=SearchHits(),
        ),
    )
    return _without(state, gone)


def newest(state: AppState) -> str:
    """Id of the discussion touched last that is not archived and nobody's task, empty when there is none."""
    rows = [s for s in state.discussions.summaries.values() if not (s.meta.archived or s.meta.delegated_by)]
    return max(rows, key=lambda s: (s.updated_at, s.meta.id)).meta.id if rows else ""


def undo_delete(state: AppState, command: UndoDelete) -> Result:
    """Bring one back from the trash with its tasks, the last one when none is named."""
    trash = state.discussions.trash
    own = [item.discussion_id for item in trash if not item.why.startswith(WITH)]
    wanted = command.discussion_id or (own[-1] if own else "")
    if not any(item.discussion_id == wanted for item in trash):
        return state, ()
    tasks = (item.discussion_id for item in trash if item.why == f"{WITH}{wanted}")
    return state, (UndoDelete(wanted), *map(UndoDelete, tasks))


def restored(state: AppState, event: DiscussionRestored) -> Result:
    """List and show a restored discussion. A task that came back with it is only listed."""
    back = event.summary.meta.id
    trash = state.discussions.trash
    why = next((item.why for item in reversed(trash) if item.discussion_id == back), "")
    is_with = why.startswith(WITH) and all(f"{WITH}{item.discussion_id}" != why for item in trash)
    state = with_summary(state, event.summary)
    state = replace(
        state,
        discussions=replace(
            state.discussions,
            trash=tuple(item for item in state.discussions.trash if item.discussion_id != back),
        ),
        program=replace(state.program, notices=tuple(n for n in state.program.notices if n.id != "deleted")),
    )
    state, effects = (state, ()) if is_with else select(state, back)
    return state, (IndexDiscussion(back), *effects)


def listed(state: AppState, event: SummariesLoaded) -> Result:
    """Discussions were found on disk. Rows that the program itself has changed since win.

    The one that was looked at last is opened as soon as its row is there, which the index tells before all others. Tasks of
    it that come to light later are read, so that what a kill left in them is booked as if they had been known.
    """
    selected, known = state.discussions.selected_id, state.discussions.summaries
    found = {s.meta.id: s for s in event.summaries}
    ours = {
        key: row
        for key, row in state.discussions.summaries.items()
        if key in state.discussions.open or not event.is_complete
    }
    state = replace(
        state,
        discussions=replace(state.discussions, summaries={**found, **ours}),
        program=replace(state.program, is_loading=not event.is_complete),
    )
    later = (
        ReadDiscussion(discussion_id=key)
        for key, row in found.items()
        if key not in known and row.meta.delegated_by and row.meta.parent_id == selected
    )
    effects = tuple(later) if selected in known else ()
    if not event.is_complete:
        return select(state, selected) if selected in found and selected not in known else (state, effects)
    ours_drafted = {one.id for one in state.discussions.open.values() if one.draft != Draft()}
    drafted = event.drafted.difference(state.discussions.open) | ours_drafted
    state = replace(state, discussions=replace(state.discussions, drafted=drafted))
    is_there = selected in state.discussions.summaries
    if selected in state.discussions.open or (is_there and selected in known):
        return state, effects
    wanted = selected if is_there else newest(state)
    if not wanted:
        return replace(state, discussions=replace(state.discussions, selected_id="")), ()
    return select(replace(state, discussions=replace(state.discussions, selected_id="")), wanted)


def listed_anew(state: AppState, event: SummariesChanged) -> AppState:
    """Another program changed discussions. What is open here is looked at by itself, with its messages."""
    discussions = state.discussions
    rows = {row.meta.id: row for row in event.summaries if row.meta.id not in discussions.open}
    summaries = {**discussions.summaries, **rows}
    return replace(state, discussions=replace(discussions, summaries=summaries)) if rows else state


def changed_outside(state: AppState, event: DiscussionChangedOutside) -> Result:
    """Another program wrote to a discussion: show it as it is. What the person types here stays."""
    fresh, changed = event.discussion, event.summary.meta.id
    state = with_summary(state, event.summary)
    opened = state.discussions.open.get(changed)
    if opened is not None:
        is_same = fresh.failed_message_id == opened.failed_message_id
        failure = opened.failure if is_same else None
        hold = opened.queue_hold if opened.queue else fresh.queue_hold
        is_limit = opened.is_held_at_limit and hold == opened.queue_hold
        fresh = replace(
            fresh,
            draft=opened.draft,
            failure=failure,
            queue_hold=hold,
            is_held_at_limit=is_limit,
            awaits_limit=opened.awaits_limit,
        )
        state = with_open(state, fresh)
    return state, (IndexDiscussion(changed),)


def vanished(state: AppState, gone: str) -> Result:
    """Another program moved a discussion away: take it off the list, unless a reply to it is under way."""
    if gone not in state.discussions.summaries or is_busy(state, gone):
        return state, ()
    return _without(state, gone)
