"""The way from each message to the room that decides it, and what follows from a change of the state."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import assert_never

from msgspec.structs import replace

from core.agent import agent_step as agent
from core.agent import compaction
from core.agent.agent_messages import AgentCommand, AgentEvent, CommandEnded
from core.agent.attention import attention_step as attention
from core.agent.attention.attention_messages import AttentionCommand
from core.agent.background import end_words
from core.agent.compaction_messages import CompactionCommand, CompactionEvent
from core.app import lifecycle
from core.app.app_messages import AppCommand, AppEvent, Command, Effect, Event, Input, WriteWindow
from core.app.forgetting import forgetting_step as forgetting
from core.app.forgetting.forgetting_messages import (
    ForgetDiscussion,
    ForgetItem,
    ForgettingCommand,
    ForgettingEvent,
)
from core.app.lifecycle import expire
from core.imports import imports_step as imports
from core.imports.imports_messages import ImportCommand, ImportConversations, ImportEvent
from core.kernel.ids import Stamp
from core.kernel.reports import (
    OperationDone,
    OperationEnded,
    OperationFailed,
    Report,
    Tick,
    WorkerReported,
    WritesCaughtUp,
    command_id_of,
)
from core.kernel.values.agent import CallState
from core.kernel.values.discussion import CallPhase
from core.kernel.values.outcomes import CommandOutcome
from core.kernel.values.state import AppState, Level, Unshown
from core.kernel.values.updates import Result, conclude, dismiss, notify
from core.knowledge import knowledge_step as knowledge
from core.knowledge.harvest import harvest_step as harvest
from core.knowledge.harvest.harvest_messages import HarvestCommand, HarvestEvent, RunCommand
from core.knowledge.harvest.modes import harvest_reader, without_old_notice
from core.knowledge.knowledge_messages import KnowledgeCommand, KnowledgeEvent
from core.knowledge.mcp_server import proposal_step as mcp_server
from core.knowledge.mcp_server.proposal_messages import McpServerCommand, McpServerEvent
from core.mcp import mcp_step as mcp
from core.mcp.mcp_messages import McpCommand, McpEvent
from core.retrieval import retrieval_step as retrieval
from core.retrieval.retrieval_messages import RetrievalCommand, RetrievalEvent
from core.services.settings import settings_step as settings
from core.services.settings.settings_messages import (
    ModelsListed,
    SettingsCommand,
    SettingsEvent,
    SettingsSettled,
    StoreKey,
)
from core.services.spending import spending_step as spending
from core.services.spending.limits import call_of, new_day
from core.services.spending.spending_messages import PaidElsewhere, ReserveClaimed, SpendingEvent, UpkeepCut
from core.signals import signals_step as signals
from core.signals.signals_messages import SignalCommand, SignalEvent
from core.talk.caching import caching_step as caching
from core.talk.caching.caching_messages import CacheReported, CachingCommand, CachingEvent
from core.talk.caching.rewrites import rewrite_effects, stop_effects, withdrawal_effects
from core.talk.context import context_step as context
from core.talk.context.context_messages import ContextCommand, ContextEvent
from core.talk.context.context_spec import context_effects, left_effects
from core.talk.discussion import discussion_step as discussion
from core.talk.discussion import durability
from core.talk.discussion.discussion_messages import (
    DiscussionChangedOutside,
    DiscussionCommand,
    DiscussionCreated,
    DiscussionEvent,
    DiscussionLoaded,
    DiscussionTrashed,
    IndexDiscussion,
    LookForChanges,
    PromptGone,
    QueueWritten,
    RecordsAppended,
    WriteFailed,
)
from core.talk.turn import turn_step as turn
from core.talk.turn.turn_messages import (
    CallEnded,
    CancelReply,
    KnowledgeSent,
    PaidCommand,
    TurnCommand,
    TurnEvent,
)

# Work that only shows: previews, prices of rewrites and the list's index wait while a turn goes on to its
# next request.

LONGEST = timedelta(seconds=2)
"""Time for which it is put off at most; it ends with the first message behind that, a tick at the latest."""
UNANSWERED = timedelta(seconds=1)
"""The same while the model is asked and says nothing: then it is in nobody's way."""
ANSWERED = timedelta(milliseconds=250)
"""The same while the model answers: a reply that is over sooner, because it only asks for a tool, does not wait for it."""

_BETWEEN = frozenset({CallPhase.SAVING, CallPhase.WAITING, CallPhase.STORING})


def with_shown(
    before: AppState, after: AppState, effects: tuple[Effect, ...], was: datetime | None
) -> Result:
    """The effects with the work that only shows, or without it and with a note that it is owed.

    Args:
        effects: of the step so far; was: time of the step before.
    """
    owed, now = after.unshown, after.now
    if now is not None and _must_wait(after, timedelta() if owed is None else now - owed.since):
        since = owed or Unshown(before=replace(before, unshown=None), since=was or now)
        indexed = since.indexed.union(_indexed(effects))
        rest = tuple([one for one in effects if not isinstance(one, IndexDiscussion)])
        return replace(after, unshown=replace(since, indexed=indexed)), rest
    if owed is None:
        return after, (*effects, *context_effects(before, after, was), *rewrite_effects(before, after))
    indexed = owed.indexed.difference(_indexed(effects))
    return replace(after, unshown=None), (
        *effects,
        *map(IndexDiscussion, sorted(indexed)),
        *context_effects(owed.before, after, owed.since),
        *rewrite_effects(owed.before, after),
    )


def _indexed(effects: Iterable[Effect]) -> Iterable[str]:
    return [one.discussion_id for one in effects if isinstance(one, IndexDiscussion)]


def _must_wait(state: AppState, waited: timedelta) -> bool:
    """True while a turn with tools is between a reply and the answer to its next request, and nobody is asked anything."""
    if waited >= LONGEST:
        return False
    for running in state.agent.turns.values():
        if running.is_left or running.is_stopping:
            continue
        call = state.turns.calls.get(running.discussion_id)
        if call is not None and call.phase in _BETWEEN:
            return not call.is_out or call.phase is CallPhase.STORING or waited < UNANSWERED
        if call is not None and call.phase is CallPhase.STREAMING:
            return state.unshown is not None and waited < ANSWERED
        if call is None and not any(one.state is CallState.ASKING for one in running.calls):
            return True
    return False


_TELLS_ITSELF = (
    TurnCommand | RunCommand | ImportConversations | ForgetDiscussion | ForgetItem | CompactionCommand
)
"""Commands that conclude themselves: a turn when its words are on disk, the others when they have ended."""


def step(state: AppState, given: Input) -> Result:
    """Decide what follows from one command or event.

    Args:
        state: the state before.
        given: the command or event, stamped with time and a seed for ids.

    Returns:
        The state after, and the effects in the order in which they must be begun.

    Raises:
        Nothing. Commands that name what is not there are ignored; I/O is the workers'.
    """
    before = new_day(mcp.thawed(replace(state, now=given.at)))
    body = given.body
    after, effects = _event(before, given, body) if isinstance(body, Event) else _command(before, given, body)
    after, served = mcp.followed(before, after, effects)
    after, asked = agent.followed(after, given)
    after, warmed = caching.prewarm(before, after, given)
    after, sent = turn.limits_changed(before, after, given)
    after, alone = attention.followed(before, after, given, body, effects)
    after, viewed = compaction.followed(before, after, given)
    after, indexed = retrieval.retrieval_effects(before, after, body)
    after = without_old_notice(before, after)
    after, noticed = signals.followed(before, after)
    after, shared = spending.followed(before, after, body)
    effects = (
        *effects,
        *served,
        *asked,
        *warmed,
        *sent,
        *alone,
        *viewed,
        *indexed,
        *noticed,
        *shared,
        *_follow_ups(before, after),
    )
    after, effects = with_shown(before, after, effects, state.now)
    after, told = settings.followed(after, effects)
    return after, (*effects, *told)


def _follow_ups(before: AppState, after: AppState) -> tuple[Effect, ...]:
    effects: tuple[Effect, ...] = (
        *lifecycle.watch_effects(before, after),
        *settings.warm_up_effects(before, after),
        *settings.price_effects(before, after),
        *spending.price_effects(before, after, harvest_reader),
        *knowledge.knowledge_effects(before, after),
        *harvest.limit_effects(before, after),
        *withdrawal_effects(before, after),
        *stop_effects(before, after),
        *left_effects(before, after),
    )
    if (
        before.discussions.selected_id != after.discussions.selected_id
        and after.program.home
        and not after.program.is_loading
    ):
        effects = (*effects, WriteWindow(after.program.window_toml, after.discussions.selected_id))
    return effects


def _command(state: AppState, given: Stamp, command: Command) -> Result:
    """Decide what follows, once changes of settings that were asked for before hold, where it depends on them."""
    if not state.config.is_settled and _needs_settings(state, command):
        held = (*state.config.held_commands, command)
        return replace(state, config=replace(state.config, held_commands=held)), ()
    return _command_now(state, given, command)


def _needs_settings(state: AppState, command: Command) -> bool:
    """True for a run of the harvest, for a call that a limit stands against, which may be raised already, and for one whose
    price a limit asks for and that is being looked up.
    """
    if isinstance(command, TurnCommand):
        return turn.is_past_limit(state, command) or turn.wants_price(state, command)
    return isinstance(command, RunCommand)


def _settled(state: AppState, given: Stamp) -> Result:
    """Changes of settings hold: calls and commands that waited for them go on, in the order in which they came."""
    state, effects = turn.settled(state, given)
    if not state.config.is_settled:
        return state, effects
    held = state.config.held_commands
    state = replace(state, config=replace(state.config, held_commands=()))
    for number, command in enumerate(held):
        if isinstance(command, Command):
            state, more = _command_now(state, Stamp(given.at, f"{given.seed}/held/{number}"), command)
            effects = (*effects, *more)
    return state, effects


def _command_now(state: AppState, given: Stamp, command: Command) -> Result:
    """Decide what follows; the effect that a front end waits for carries the command's id."""
    state, effects = _decided(state, given, command)
    command_id = command_id_of(command)
    if not command_id or isinstance(command, _TELLS_ITSELF):
        return state, effects
    is_awaited = tuple(hasattr(effect, "command_id") for effect in effects)
    if not any(is_awaited):
        return conclude(state, CommandOutcome(command_id=command_id)), effects
    tagged = (
        replace(effect, command_id=command_id) if is_one else effect
        for effect, is_one in zip(effects, is_awaited, strict=True)
    )
    return state, tuple(tagged)


def _decided(state: AppState, given: Stamp, command: Command) -> Result:
    if isinstance(command, DiscussionCommand):
        return discussion.command(state, given, command)
    if isinstance(command, TurnCommand):
        return _turn_command(state, given, command)
    if isinstance(command, AgentCommand):
        return agent.command(state, given, command)
    if isinstance(command, McpCommand):
        return mcp.command(state, command)
    if isinstance(command, ContextCommand):
        return context.command(state, command)
    if isinstance(command, CachingCommand):
        return caching.command(state, command)
    if isinstance(command, SettingsCommand):
        if isinstance(command, StoreKey):
            state = caching.forget_adopted(state, command.provider)
        return settings.command(state, command)
    if isinstance(command, KnowledgeCommand):
        return knowledge.command(state, command)
    if isinstance(command, HarvestCommand):
        return harvest.command(state, command)
    if isinstance(command, McpServerCommand):
        return mcp_server.command(state, command)
    if isinstance(command, RetrievalCommand):
        return retrieval.command(state, command)
    if isinstance(command, ImportCommand):
        return imports.command(state, command)
    if isinstance(command, ForgettingCommand):
        return forgetting.command(state, command)
    if isinstance(command, CompactionCommand):
        return compaction.command(state, given, command)
    if isinstance(command, AttentionCommand):
        return attention.command(state, given, command)
    if isinstance(command, SignalCommand):
        return signals.command(state, given, command)
    if isinstance(command, AppCommand):
        return lifecycle.command(state, command)
    assert_never(command)


def _turn_command(state: AppState, given: Stamp, command: TurnCommand) -> Result:
    """A turn's command; what it means for tools that are at work comes first."""
    own = Stamp(given.at, f"{given.seed}/tools")
    if isinstance(command, CancelReply):
        state, stopped = agent.interrupt(state, own, command.discussion_id)
    elif isinstance(command, PaidCommand):
        state, stopped = agent.set_aside(state, own, command.discussion_id)
    else:
        stopped = ()
    state, effects = turn.command(state, given, command)
    return state, (*stopped, *effects)


def _event(state: AppState, given: Stamp, event: Event) -> Result:
    if isinstance(event, CallEnded) and (again := agent.ended(state, given, event)) is not None:
        return again
    if isinstance(event, TurnEvent):
        state, effects = turn.event(state, given, event)
        if isinstance(event, KnowledgeSent):
            effects = (*effects, *knowledge.sent(state, event))
        return state, effects
    if isinstance(event, DiscussionEvent):
        return _discussion_event(state, given, event)
    if isinstance(event, ContextEvent):
        return context.event(state, event)
    if isinstance(event, CachingEvent):
        after, effects = caching.event(state, given, event)
        return (mcp.recalled(after, event) if isinstance(event, CacheReported) else after), effects
    if isinstance(event, SettingsEvent):
        before = state
        state, effects = settings.event(state, event)
        state, judged = agent.moved(before, state, given)
        effects = (*effects, *judged)
        if isinstance(event, ModelsListed):
            state, named = discussion.models_listed(state, event.provider)
            effects = (*effects, *named)
        if isinstance(event, SettingsSettled):
            state, effects = _settled(state, given)
        return state, effects
    if isinstance(event, SpendingEvent):
        state, effects = spending.event(state, event)
        if isinstance(event, ReserveClaimed):
            state, effects = _claimed(state, given, event)
        if isinstance(event, UpkeepCut):
            state, effects = caching.upkeep_cut(state, event)
        if isinstance(event, PaidElsewhere):
            effects = (*effects, LookForChanges(), *caching.recall_recent(state))
        state, sent = turn.admit_held(state)
        return state, (*effects, *sent)
    if isinstance(event, KnowledgeEvent):
        return knowledge.event(state, event)
    if isinstance(event, HarvestEvent):
        return harvest.event(state, event)
    if isinstance(event, McpServerEvent):
        return mcp_server.event(state, event)
    if isinstance(event, RetrievalEvent):
        return retrieval.event(state, event)
    if isinstance(event, AgentEvent):
        state, effects = agent.event(state, given, event)
        if isinstance(event, CommandEnded) and not event.is_wanted:
            about = event.discussion_id, event.call_id, end_words(event), event.tail
            state = signals.command_ended(state, Stamp(given.at, f"{given.seed}/signal"), *about)
        return state, effects
    if isinstance(event, McpEvent):
        return mcp.event(state, event)
    if isinstance(event, ImportEvent):
        return imports.event(state, event)
    if isinstance(event, ForgettingEvent):
        return forgetting.event(state, event)
    if isinstance(event, CompactionEvent):
        return compaction.event(state, given, event)
    if isinstance(event, SignalEvent):
        return signals.event(state, given, event)
    if isinstance(event, Report):
        return _report(state, given, event)
    if isinstance(event, AppEvent):
        return lifecycle.event(state, event)
    assert_never(event)


def _claimed(state: AppState, given: Stamp, event: ReserveClaimed) -> Result:
    """Other programs see the reserve: the room whose call it is has the last word. One that is over needs none."""
    if call_of(event.key):
        return turn.claimed(state, event.key, event.elsewhere)
    if state.spending.reserved.get(event.key) != event.reservation:
        return state, ()
    if compaction.discussion_of(event.key):
        return compaction.claimed(state, given, event.key, event.elsewhere)
    if event.key == harvest.HELD:
        return harvest.claimed(state, event.elsewhere)
    return caching.claimed(state, event.key, event.elsewhere)


def _discussion_event(state: AppState, given: Stamp, event: DiscussionEvent) -> Result:
    """First what it means for discussions, then for the turns that wait for it and the caches that go with it."""
    after, effects = discussion.event(state, given, event)
    if isinstance(event, RecordsAppended):
        after, begun = agent.saved(after, Stamp(given.at, f"{given.seed}/tools"), event)
        after, more = turn.saved(after, given, event)
        return after, (*begun, *more, *effects)
    if isinstance(event, DiscussionCreated):
        after, more = turn.branched(after, given, event)
        after, begun = agent.created(after, Stamp(given.at, f"{given.seed}/tools"), event)
        after, found = agent.branched(after, event.discussion.id)
        return after, (*effects, *more, *begun, *found)
    if isinstance(event, QueueWritten | PromptGone):
        return turn.queued(after, given, event)
    if isinstance(event, WriteFailed):
        after, more = compaction.unwritten(turn.unsaved(after, event), given, event)
        after, unbegun = agent.unsaved(after, given, event)
        return after, (*effects, *more, *unbegun)
    if isinstance(event, DiscussionLoaded | DiscussionChangedOutside):
        after, asked = agent.loaded(after, given, event.discussion.id)
        effects = (*effects, *asked)
    if isinstance(event, DiscussionTrashed) and event.item.discussion_id in after.agent.pages:
        after, ended = agent.gone(after, event.item.discussion_id)
        effects = (*effects, *ended)
    if isinstance(event, caching.Recalling):
        return after, (*effects, *caching.recall(state, after, event))
    return after, effects


def _report(state: AppState, given: Stamp, report: Report) -> Result:
    match report:
        case WritesCaughtUp():
            return (state if state.discussions.pending else dismiss(state, report.subject)), ()
        case OperationFailed():
            outcome = CommandOutcome(command_id=report.command_id, problem=report.text, remedy=report.detail)
            state = conclude(state, outcome)
            state = notify(
                state,
                report.subject,
                Level.ERROR,
                report.text,
                report.detail,
                discussion_id=report.discussion_id,
                is_standing=report.is_standing,
            )
            return state, ()
        case OperationEnded():
            return conclude(state, CommandOutcome(command_id=report.command_id)), ()
        case OperationDone():
            return notify(state, report.subject, Level.INFO, report.text, report.detail), ()
        case WorkerReported():
            return lifecycle.worker_reported(state, report), ()
        case Tick():
            state, effects = durability.retry_pending(expire(state), given)
            state, more = caching.tick(state)
            state, looked = harvest.tick(state)
            state, sent = turn.admit_held(state)  # a limit may have gone meanwhile
            state, late = agent.tick(state, given)
            state, inbox = signals.tick(state)
            return state, (*effects, *more, *looked, *sent, *late, *inbox, *discussion.tick(state))
        case _:
            assert_never(report)
