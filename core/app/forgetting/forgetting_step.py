"""Forgetting in the state: confirmed or not begun, one at a time; what the window holds of it goes too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from core.agent.attention_machine import without_notes
from core.app.forgetting.forgetting_messages import (
    DismissReceipt,
    ForgetDiscussion,
    ForgetEnded,
    ForgetItem,
    ForgetLooked,
    LookAtForget,
    RunForget,
    RunForgetLook,
)
from core.app.forgetting.forgetting_places import WARNING, headline, place
from core.kernel.language import joined, spliced, tr
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.facts import EvidenceState
from core.kernel.values.harvest import HarvestLook
from core.kernel.values.imports import ImportState
from core.kernel.values.knowledge import ForgetTarget, ForgettingState
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState, CommandOutcome, Level, SearchHits
from core.kernel.values.updates import Handlers, Result, conclude, decline, dismiss, is_busy, notify, on
from core.knowledge import knowledge_step as knowledge
from core.knowledge.knowledge_messages import WAYS_BACK
from core.retrieval.retrieval_step import update_index
from core.signals.signals_step import without_told
from core.talk.discussion import lifecycle
from core.talk.discussion.cuts import without_recalled
from core.talk.discussion.discussion_messages import DiscussionEffect, LoadSummaries

NOTICE = "forget"

NOT_CONFIRMED = tr("The program forgets only after you confirm")


def _dismiss_receipt(state: AppState, _asked: DismissReceipt) -> Result:
    return (state if state.forgetting.is_running else replace(state, forgetting=ForgettingState())), ()


def _forget_looked(state: AppState, happened: ForgetLooked) -> Result:
    state = replace(state, forgetting=replace(state.forgetting, preview=happened.preview))
    return conclude(state, CommandOutcome(command_id=happened.command_id)), ()


def branches_of(state: AppState, discussion_id: str) -> tuple[str, ...]:
    """Branches of a discussion and theirs, which begin with its records; the nearest first."""
    found: list[str] = [discussion_id]
    for one in found:
        found += [
            row.meta.id
            for row in state.discussions.summaries.values()
            if row.meta.parent_id == one and row.meta.id not in found
        ]
    return tuple(found[1:])


def target_of(state: AppState, asked: ForgetDiscussion | ForgetItem | LookAtForget) -> ForgetTarget:
    """The target that a command names."""
    if not isinstance(asked, ForgetDiscussion) and asked.item is not None:
        return ForgetTarget(
            discussion_ids=(), category=asked.item.category, text=asked.item.text, file=asked.item.file
        )
    assert not isinstance(asked, ForgetItem)
    wanted = asked.discussion_id
    others = (
        branches_of(state, wanted)
        if asked.with_branches
        else tuple(one.id for one in lifecycle.tasks_of(state, wanted))
    )
    return ForgetTarget(discussion_ids=(wanted, *others))


def _look(state: AppState, asked: LookAtForget) -> Result:
    state = replace(state, forgetting=replace(state.forgetting, preview=None))
    return state, (RunForgetLook(target_of(state, asked), asked.command_id),)


def _forget_discussion(state: AppState, asked: ForgetDiscussion) -> Result:
    wanted = asked.discussion_id
    is_binned = any(item.discussion_id == wanted for item in state.discussions.trash)
    if wanted not in state.discussions.summaries and not is_binned:
        text = tr("There is no discussion {wanted!r}", wanted=wanted)
        return decline(state, asked.command_id, NOTICE, text, tr("Choose a discussion from the list")), ()
    target = target_of(state, asked)
    ids = target.discussion_ids
    if any(is_busy(state, one) for one in ids):
        text = tr("A reply is still arriving in this conversation")
        return decline(
            state, asked.command_id, NOTICE, text, tr("Stop the reply, then forget the conversation")
        ), ()
    state, effects = _begin(state, asked, target)
    if not effects:
        return state, ()
    listed: tuple[DiscussionEffect, ...] = ()
    for one in ids:
        state, more = lifecycle.forgotten(state, one)
        listed = (*listed, *more)
    return state, (*effects, *listed)


def _begin(state: AppState, asked: ForgetDiscussion | ForgetItem, target: ForgetTarget) -> Result:
    """Begin, unless the person was not asked or something else is at work on the same files."""
    why = _hindrance(state, is_confirmed=asked.is_confirmed)
    if why is not None:
        return decline(state, asked.command_id, NOTICE, *why), ()
    rows = state.discussions.summaries
    providers = tuple(
        (one, provider)
        for one in target.discussion_ids
        if one in rows
        for provider in dict.fromkeys((rows[one].meta.provider, *_stores(state)))
    )
    state = replace(state, forgetting=ForgettingState(target=target, command_id=asked.command_id))
    return state, (
        RunForget(target=target, providers=providers, server=state.config.settings.retrieval.server),
    )


def _hindrance(state: AppState, *, is_confirmed: bool) -> tuple[str, str] | None:
    if not is_confirmed:
        return NOT_CONFIRMED, WARNING
    if state.forgetting.is_running:
        return tr("The program is forgetting something else"), tr("Wait until that is done")
    if state.program.is_home_read_only:
        return tr("The program cannot write in this data folder"), tr("Make the data folder writable")
    if state.harvest.is_working:
        return tr("A harvest is still running ({phase})", phase=state.harvest.phase), tr(
            "Wait until that is done, or cancel it"
        )
    if state.imports.is_running:
        return tr("An import is running"), tr("Wait until that is done, or cancel it")
    return None


def _stores(state: AppState) -> tuple[str, ...]:
    """Providers that keep what was sent until it is deleted, or that hold it on this machine."""
    kept = {ProviderKind.GEMINI, ProviderKind.EMBEDDED}
    return tuple(name for name, one in state.config.providers.items() if one.kind in kept)


def _without_passages(state: AppState) -> AppState:
    """The state without what was searched and recalled: it may hold the words."""
    retrieval = replace(state.retrieval, answer=None, answers=(), tool_answer=None)
    return replace(state, retrieval=retrieval, context=replace(state.context, sent_recall=()))


def _ended(state: AppState, happened: ForgetEnded) -> Result:
    """Keep the receipt, tell it, and read anew what it was about. What was proposed may hold the words: it goes."""
    before, receipt = state.forgetting, happened.receipt
    state = _without_passages(state)
    under_way = before if happened.is_resumed else ForgettingState()  # what was asked for now goes on
    told = replace(under_way, receipt=receipt, problem=happened.problem, remedy=happened.remedy)
    state = replace(state, forgetting=told)
    if not happened.is_resumed:
        state = conclude(
            state,
            CommandOutcome(command_id=before.command_id, problem=happened.problem, remedy=happened.remedy),
        )
    if receipt is None:
        state = notify(state, NOTICE, Level.ERROR, happened.problem, happened.remedy)
    else:
        level = Level.WARNING if receipt.problems else Level.INFO
        lines = [spliced("{}: {}", place(one.place).label, one.problem) for one in receipt.problems]
        detail = joined("\n", lines)
        state = notify(state, NOTICE, level, headline(receipt), detail)
        state = replace(
            _without_proposals(state),
            evidence=EvidenceState(),
            signals=without_told(state.signals, receipt.discussion_ids),
            attention=without_notes(state.attention, receipt.discussion_ids),
            discussions=replace(
                state.discussions,
                prompt_history=(),
                search=SearchHits(),
                open=_without_recalled(state, receipt.recalls),
            ),
        )
    state, indexing = update_index(state)
    return state, (
        LoadSummaries(),
        *knowledge.read_again(state),
        *indexing,
    )


def _without_proposals(state: AppState) -> AppState:
    """The state without what was proposed, reported, or may be put back: it may hold the words."""
    harvest = replace(
        state.harvest,
        preview=None,
        review={},
        report=None,
        undone=None,
        batched=None,
        problem="",
        remedy="",
        looked_at=None,
        look=HarvestLook(batches=state.harvest.look.batches),
        merge=None,
        merged=None,
        drafted=None,
        question=None,
    )
    imports = state.imports if state.imports.is_running else ImportState()
    for notice in WAYS_BACK:
        state = dismiss(state, notice)
    return replace(state, harvest=harvest, imports=imports)


def _without_recalled(state: AppState, discussion_ids: Sequence[str]) -> Mapping[str, OpenDiscussion]:
    """Open discussions without what was recalled in those whose logs lost it: nothing sends it again."""
    return {
        key: replace(
            opened,
            retrieved={},
            told_turn=opened.told_turn and without_recalled(opened.told_turn),
            last_request=opened.last_request and replace(opened.last_request, retrieved=""),
        )
        if key in discussion_ids
        else opened
        for key, opened in state.discussions.open.items()
    }


HANDLERS = Handlers(
    on(ForgetDiscussion, _forget_discussion),
    on(ForgetItem, lambda state, asked: _begin(state, asked, target_of(state, asked))),
    on(LookAtForget, _look),
    on(DismissReceipt, _dismiss_receipt),
    on(ForgetEnded, _ended),
    on(ForgetLooked, _forget_looked),
)
"""Each message of this room, with the function that decides what follows from it."""
