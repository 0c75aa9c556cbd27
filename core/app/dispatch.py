"""From each message to the room that decides it, what follows from a change of the state, and the rescue where a step fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, get_args

from msgspec.structs import replace

from core.agent import agent_step as agent
from core.agent import attention_step as attention
from core.agent import compaction, rounds
from core.agent.agent_messages import CommandEnded, CompactionCommand
from core.agent.calls import end_words
from core.app import lifecycle
from core.app.app_messages import Command, Effect, Event, Input
from core.app.forgetting import forgetting_step as forgetting
from core.app.forgetting.forgetting_messages import ForgetDiscussion, ForgetItem
from core.app.lifecycle import expire
from core.imports import imports_step as imports
from core.imports.imports_messages import ImportConversations
from core.kernel.errors import FailureKind
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.values.agent import CallState
from core.kernel.values.discussion import CallPhase, Draft, LiveCall
from core.kernel.values.messages import TextPart
from core.kernel.values.provider import Failure
from core.kernel.values.state import AppState, CommandOutcome, Level, Unshown
from core.kernel.values.updates import (
    Follow,
    Handlers,
    Moment,
    OperationDone,
    OperationFailed,
    PathsChanged,
    Result,
    Tick,
    Watched,
    WorkerReported,
    WritesCaughtUp,
    command_id_of,
    conclude,
    dismiss,
    follow_effects,
    notify,
    on,
    on_stamped,
    without_call,
)
from core.kernel.values.usage import SpentElsewhere, Usage
from core.knowledge import knowledge_step as knowledge
from core.knowledge.harvest import harvest_step as harvest
from core.knowledge.harvest.harvest_messages import RunCommand
from core.knowledge.harvest.modes import harvest_reader
from core.knowledge.mcp_server import proposal_step as mcp_server
from core.knowledge.mcp_server.proposal_messages import ReadProposals
from core.mcp import mcp_step as mcp
from core.retrieval import retrieval_step as retrieval
from core.services.settings import settings_step as settings
from core.services.settings.settings_messages import (
    LoadSettings,
    ModelsListed,
    SettingsEvent,
    SettingsSettled,
    StoreKey,
    TellSettled,
)
from core.services.spending import spending_step as spending
from core.services.spending.limits import call_of, new_day
from core.services.spending.spending_messages import (
    ClaimReserve,
    LookAtReserves,
    PaidElsewhere,
    ReserveClaimed,
    SpendingEvent,
    UpkeepCut,
)
from core.signals import signals_step as signals
from core.talk.caching import caching_step as caching
from core.talk.caching.caching_messages import CacheReported
from core.talk.caching.rewrites import rewrite_effects
from core.talk.context import context_step as context
from core.talk.context.context_spec import context_effects, left_effects
from core.talk.discussion import discussion_step as discussion
from core.talk.discussion import durability
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    DiscussionChangedOutside,
    DiscussionCreated,
    DiscussionLoaded,
    DiscussionTrashed,
    IndexDiscussion,
    LookAtDiscussions,
    LookForChanges,
    PromptGone,
    QueueWritten,
    ReadDiscussion,
    RecordsAppended,
    SummariesChanged,
    SummariesLoaded,
    WriteFailed,
)
from core.talk.turn import sending
from core.talk.turn import turn_step as turn
from core.talk.turn.sending import admit_held, find_call, grown
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelReply,
    KnowledgeSent,
    PaidCommand,
    ReplyArrived,
    SendRequest,
    TurnCommand,
)
from core.talk.turn.turn_step import failed

# Follow-ups of the rooms to a change of the state, in their order, and the work that only shows.

ORDER: tuple[Follow, ...] = (
    *mcp.FOLLOWS,  # first: a turn that goes on below is offered the servers that stand now
    agent.FOLLOWS,  # ends rounds or asks again, before anybody takes the discussion for free
    caching.FOLLOWS_BEGINNING,  # holds money back for what was just opened, before a limit lets more go
    turn.FOLLOWS,  # lets go what a raised limit held: a person's words go before a turn of its own
    attention.FOLLOWS,  # begins a turn of its own only where all above left the discussion free
    compaction.FOLLOWS,  # cuts the view of calls, those too that were begun above
    retrieval.FOLLOWS,  # asks for an index of the places as they are now
    harvest.FOLLOWS_MODE,  # drops a notice that does not hold any more, before a person is told of notices
    *signals.FOLLOWS,  # tells of what ended, after all that could have begun anew has
    lifecycle.FOLLOWS,  # lets go of discussions that none of the above has begun anything in
    *spending.FOLLOWS,  # shares what is held back: last of those that change money, so that it sees all of it
    # From here on nothing changes the state: effects alone, in the order in which they are begun.
    lifecycle.FOLLOWS_FILES,  # first, so that no change of a file is missed while the others work
    settings.FOLLOWS_SHOWN,
    settings.FOLLOWS_CACHED,
    follow_effects(  # the prices that a limit asks for
        "config discussions", lambda before, after: spending.price_effects(before, after, harvest_reader)
    ),
    knowledge.FOLLOWS,
    harvest.FOLLOWS_MONEY,  # ends a preview by the money as it is after this step
    caching.FOLLOWS_KNOWLEDGE,
    caching.FOLLOWS_ENDS,  # pings end before the stacks that they were made of are dropped
    follow_effects("discussions.open", left_effects),
    lifecycle.FOLLOWS_DAYS,
    lifecycle.FOLLOWS_SELECTED,
)
"""Follow-ups of all rooms, each seeing what those above it changed, with the reason for its place."""


def _watched() -> dict[str, tuple[tuple[str, str], ...]]:
    """Groups of the state that a row of `ORDER` watches, whole or in part, with the fields that are watched: name in the
    group, name in the table.
    """
    names = sorted(frozenset().union(*(row.watches for row in ORDER)) - {"now"})
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for name in names:
        group, _, field = name.partition(".")
        found[group] = (*found.get(group, ()), *(((field, name),) if field else ()))
    return found


_WATCHED = _watched()


def followed_up(before: AppState, after: AppState, moment: Moment) -> Result:
    """The state and all effects once each follow-up has run that watches something that is another object than before.

    What one changes for those above it, they see in the next step: `changed_late` keeps its name until then.

    Args:
        before: the message; after: what the message itself changed; moment: with the message's own effects.
    """
    changed = {"now", *before.changed_late, *_changed(before, after)}
    late: set[str] = set()
    effects = list(moment.effects)
    for row in ORDER:
        if row.watches.isdisjoint(changed) and type(moment.body) not in row.messages:
            continue
        if not row.is_needed(before, after):
            continue
        following, more = row.decide(before, after, moment)
        effects.extend(more)
        if following is not after:
            late.update(_changed(after, following))
            changed |= late
            after = following
    if late != before.changed_late:
        after = replace(after, changed_late=frozenset(late))
    return after, tuple(effects)


def _changed(before: AppState, after: AppState) -> list[str]:
    """Names that rows watch: groups that are other objects, and fields of these."""
    names: list[str] = []
    for group, fields in _WATCHED.items():
        was, now = getattr(before, group), getattr(after, group)
        if was is not now:
            names.append(group)
            names.extend(name for field, name in fields if getattr(was, field) is not getattr(now, field))
    return names


# Work that only shows: previews, prices of rewrites and the list's index wait while a turn goes on to its
# next request, so that the two threads which do it do not delay that one.

LONGEST = timedelta(seconds=2)
"""Time for which it is put off at most; it ends with the first message behind that, a tick at the latest."""
UNANSWERED = timedelta(seconds=1)
"""The same while the program waits for the model's first words: the work then delays nobody. A plain reply that is over sooner
does not wait for it.
"""
ANSWERED = timedelta(milliseconds=250)
"""The same while the model answers in a turn with tools: a reply that is over sooner, because it only asks for a tool, does not
wait for it.
"""

_BETWEEN = frozenset({CallPhase.SAVING, CallPhase.WAITING, CallPhase.STORING})


def with_shown(
    before: AppState, after: AppState, effects: tuple[Effect, ...], was: datetime | None, *, is_added: bool
) -> Result:
    """The effects with the work that only shows, or without it and with a note that it is owed.

    The index waits for what was added to a discussion. What tells a discussion from others, as its name, does not wait: the next
    start reads it from there, and a kill would have it begin with what was before.

    Args:
        effects: of the step so far; was: time of the step before; is_added: these follow from words that were added.
    """
    owed, now = after.unshown, after.now
    if now is not None and _must_wait(after, timedelta() if owed is None else now - owed.since):
        since = owed or Unshown(before=replace(before, unshown=None), since=was or now)
        then = since.before.turns
        if after.turns.calls.keys() - then.calls.keys():  # begun meanwhile: their end is to be seen
            then = replace(then, calls={**after.turns.calls, **then.calls})
            since = replace(since, before=replace(since.before, turns=then))
        since = replace(since, indexed=since.indexed.union(_indexed(effects) if is_added else ()))
        rest = tuple([one for one in effects if not (is_added and isinstance(one, IndexDiscussion))])
        return replace(after, unshown=since), rest
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
    """True while a turn is between what was written of it and the answer to its next request, and nobody is asked anything."""
    if waited >= LONGEST:
        return False
    answered = ANSWERED if state.agent.turns else UNANSWERED
    for call in state.turns.calls.values():
        running = state.agent.turns.get(call.discussion_id)
        if running is None and (call.refused or call.held or _is_looked_at(state)):
            continue
        if running is not None and (running.is_left or running.is_stopping):
            continue
        if call.phase in _BETWEEN:
            if not call.is_out or call.phase is CallPhase.STORING or waited < UNANSWERED:
                return True
        elif call.phase is CallPhase.STREAMING and state.unshown is not None and waited < answered:
            return True
    return any(
        not (turn.is_left or turn.is_stopping or turn.discussion_id in state.turns.calls)
        and not any(one.state is CallState.ASKING for one in turn.calls)
        for turn in state.agent.turns.values()
    )


def _is_looked_at(state: AppState) -> bool:
    """True if a person chose another discussion while the work is put off, or writes on: beside a plain turn that is shown at once."""
    chosen, owed = state.discussions.selected_id, state.unshown
    if owed is None or owed.before.discussions.selected_id != chosen:
        return owed is not None
    was, now = owed.before.discussions.open.get(chosen), state.discussions.open.get(chosen)
    if was is None or now is None:
        return was is not now
    is_written = now.draft not in (Draft(), was.draft)
    return is_written or now.kept_out not in ((), was.kept_out)


# The way from each message to the room that decides it, and what follows from a change of the state.

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
    body = given.body
    owed = state.unshown
    is_due = owed is not None and given.at - owed.since >= (ANSWERED if state.agent.turns else UNANSWERED)
    if isinstance(body, ReplyArrived) and not is_due and (more := grown(state, given, body)):
        return more, ()  # hundreds a second: nothing follows until the next message of another kind
    before = new_day(mcp.thawed(replace(state, now=given.at, followed_at=given.at)))
    decide: Callable[[AppState, Stamp, Any], Result] = _command if type(body) in _COMMANDS else _decided
    after, effects = decide(before, given, body)
    after, effects = followed_up(before, after, Moment(given=given, body=body, effects=effects))
    after, effects = with_shown(
        before, after, effects, state.followed_at, is_added=isinstance(body, RecordsAppended)
    )
    after, told = settings.followed(after, effects)
    return after, (*effects, *told)


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


def _decided(state: AppState, given: Stamp, message: Command | Event) -> Result:
    """Have the one function decide that the tables name for this type."""
    _, decide, is_stamped = HANDLERS[type(message)]
    return decide(state, given, message) if is_stamped else decide(state, message)


def _by_room(state: AppState, given: Stamp, message: Command | Event) -> Result:
    """The same by the message's own room, for one that means something to other rooms too."""
    _, decide, is_stamped = _OWN[type(message)]
    return decide(state, given, message) if is_stamped else decide(state, message)


def _cancel(state: AppState, given: Stamp, asked: CancelReply) -> Result:
    """Tools that are at work hear of it first."""
    state, stopped = agent.interrupt(state, Stamp(given.at, f"{given.seed}/tools"), asked.discussion_id)
    state, effects = _by_room(state, given, asked)
    return state, (*stopped, *effects)


def _paid(state: AppState, given: Stamp, asked: PaidCommand) -> Result:
    """Calls that wait for an answer give way to what the person sends."""
    stopped: tuple[Effect, ...] = ()
    turn_left = state.agent.turns.get(asked.discussion_id)
    if turn_left is not None and turn_left.is_left:
        state, stopped = agent.set_aside(state, Stamp(given.at, f"{given.seed}/tools"), turn_left)
    state, effects = _by_room(state, given, asked)
    return state, (*stopped, *effects)


def _store_key(state: AppState, asked: StoreKey) -> Result:
    return settings.HANDLERS(caching.forget_adopted(state, asked.provider), asked)


def _call_ended(state: AppState, given: Stamp, event: CallEnded) -> Result:
    """A reply that asks for tools goes on by the room of tools."""
    again = rounds.nudged(state, given, event)
    return _by_room(state, given, event) if again is None else again


def _knowledge_sent(state: AppState, event: KnowledgeSent) -> Result:
    return state, knowledge.sent(state, event)


def _cache_reported(state: AppState, given: Stamp, event: CacheReported) -> Result:
    after, effects = _by_room(state, given, event)
    return mcp.recalled(after, event), effects


def _settings_event(before: AppState, given: Stamp, event: SettingsEvent) -> Result:
    """Turns with tools are judged anew; then comes what waited for it."""
    state, effects = _by_room(before, given, event)
    state, judged = agent.moved(before, state, given)
    more: tuple[Effect, ...] = ()
    if isinstance(event, ModelsListed):
        state, more = discussion.models_listed(state, event.provider)
    elif isinstance(event, SettingsSettled):
        state, more = _settled(state, given)
    return state, (*effects, *judged, *more)


def _spending_event(state: AppState, given: Stamp, event: SpendingEvent) -> Result:
    """Money has changed: what was held for its sake may go."""
    state, effects = _by_room(state, given, event)
    if isinstance(event, ReserveClaimed):
        state, effects = _claimed(state, given, event)
    if isinstance(event, UpkeepCut):
        state, effects = caching.upkeep_cut(state, event)
    if isinstance(event, PaidElsewhere):
        effects = (*effects, LookForChanges(), *caching.recall_recent(state))
    state, sent = admit_held(state)
    return state, (*effects, *sent)


def _command_ended(state: AppState, given: Stamp, event: CommandEnded) -> Result:
    state, effects = _by_room(state, given, event)
    if not event.is_wanted:
        about = event.discussion_id, event.call_id, end_words(event), event.tail
        state = signals.command_ended(state, Stamp(given.at, f"{given.seed}/signal"), *about)
    return state, effects


def _claimed(state: AppState, given: Stamp, event: ReserveClaimed) -> Result:
    """Other programs see the reserve: the room whose call it is has the last word. One that is over needs none."""
    if call_of(event.key):
        return sending.claimed(state, event.key, event.elsewhere)
    if state.spending.reserved.get(event.key) != event.reservation:
        return state, ()
    if compaction.discussion_of(event.key):
        return compaction.claimed(state, given, event.key, event.elsewhere)
    if event.key == harvest.HELD:
        return harvest.claimed(state, event.elsewhere)
    return caching.claimed(state, event.key, event.elsewhere)


def _records_appended(state: AppState, given: Stamp, event: RecordsAppended) -> Result:
    """Calls and turns that wait for the write go on first."""
    state, effects = _by_room(state, given, event)
    state, begun = agent.saved(state, Stamp(given.at, f"{given.seed}/tools"), event)
    state, more = turn.saved(state, given, event)
    return state, (*begun, *more, *effects, *knowledge.replied(state, event))


def _created(state: AppState, given: Stamp, event: DiscussionCreated) -> Result:
    state, effects = _by_room(state, given, event)
    state, begun = rounds.created(state, Stamp(given.at, f"{given.seed}/tools"), event.summary.meta.id)
    state, found = agent.branched(state, event.discussion.id)
    return state, (*effects, *begun, *found)


def _queued(state: AppState, given: Stamp, event: QueueWritten | PromptGone) -> Result:
    """The room of turns decides what goes next."""
    state, _ = _by_room(state, given, event)
    return turn.queued(state, given, event)


def _write_failed(state: AppState, given: Stamp, event: WriteFailed) -> Result:
    state, effects = _by_room(state, given, event)
    state, more = compaction.unwritten(turn.unsaved(state, event), given, event)
    state, unbegun = agent.unsaved(state, given, event)
    return state, (*effects, *more, *unbegun)


def _seen_anew(before: AppState, given: Stamp, event: DiscussionLoaded | DiscussionChangedOutside) -> Result:
    state, effects = _by_room(before, given, event)
    state, asked = agent.loaded(state, given, event.discussion.id)
    return state, (*effects, *asked, *caching.recall(before, state, event))


def _trashed(before: AppState, given: Stamp, event: DiscussionTrashed) -> Result:
    state, effects = _by_room(before, given, event)
    ended: tuple[Effect, ...] = ()
    if event.item.discussion_id in state.agent.pages:
        state, ended = agent.gone(state, event.item.discussion_id)
    return state, (*effects, *ended, *caching.recall(before, state, event))


def _listed(before: AppState, given: Stamp, event: SummariesChanged | SummariesLoaded) -> Result:
    state, effects = _by_room(before, given, event)
    return state, (*effects, *caching.recall(before, state, event))


def _operation_failed(state: AppState, report: OperationFailed) -> Result:
    outcome = CommandOutcome(command_id=report.command_id, problem=report.text, remedy=report.detail)
    state = notify(
        conclude(state, outcome),
        report.subject,
        Level.ERROR,
        report.text,
        report.detail,
        discussion_id=report.discussion_id,
        is_standing=report.is_standing,
    )
    return state, ()


def _caught_up(state: AppState, report: WritesCaughtUp) -> Result:
    return (state if state.discussions.pending else dismiss(state, report.subject)), ()


def _operation_done(state: AppState, report: OperationDone) -> Result:
    if report.text:
        state = notify(state, report.subject, Level.INFO, report.text, report.detail)
    return conclude(state, CommandOutcome(command_id=report.command_id)), ()


def _paths_changed(state: AppState, given: Stamp, report: PathsChanged) -> Result:
    """Have what changed on disk read again by its room."""
    match report.watched:
        case Watched.CONTEXT:
            return context.files_changed(state)
        case Watched.CURATED:
            return signals.files_edited(state, given, report.names), ()
        case Watched.SETTINGS:
            return state, (LoadSettings(),)
        case Watched.KNOWLEDGE:
            return state, knowledge.read_again(state)
        case Watched.PROPOSALS:
            return state, (ReadProposals(),)
        case Watched.SOURCES:
            return state, ()  # the room of search follows all that is searched
        case Watched.DISCUSSIONS:
            return state, (LookAtDiscussions(report.names), *caching.read_touched(state, report.names))
        case Watched.CACHES:
            return state, caching.read_touched(state, report.names)
        case Watched.RESERVES:
            state, sent = admit_held(state)
            return state, (LookAtReserves(), *sent)
        case Watched.INBOX:
            return signals.inbox_changed(state)


def _tick(state: AppState, given: Stamp, _report: Tick) -> Result:
    state, effects = durability.retry_pending(expire(state), given)
    state, more = caching.tick(state)
    state, looked = harvest.tick(state)
    state, sent = admit_held(state)  # a limit may have gone meanwhile
    state, late = agent.tick(state, given)
    state, inbox = signals.tick(state)
    state, followed = imports.tick(state)
    return state, (*effects, *more, *looked, *sent, *late, *inbox, *followed, *discussion.tick(state))


ROOMS: tuple[Handlers, ...] = (
    discussion.HANDLERS,
    turn.HANDLERS,
    context.HANDLERS,
    caching.HANDLERS,
    settings.HANDLERS,
    spending.HANDLERS,
    knowledge.HANDLERS,
    harvest.HANDLERS,
    mcp_server.HANDLERS,
    retrieval.HANDLERS,
    imports.HANDLERS,
    mcp.HANDLERS,
    agent.HANDLERS,
    compaction.HANDLERS,
    attention.HANDLERS,
    signals.HANDLERS,
    forgetting.HANDLERS,
    lifecycle.HANDLERS,
    Handlers(
        on(WritesCaughtUp, _caught_up),
        on(OperationFailed, _operation_failed),
        on(OperationDone, _operation_done),
        on(WorkerReported, lambda state, report: (lifecycle.worker_reported(state, report), ())),
        on_stamped(PathsChanged, _paths_changed),
        on_stamped(Tick, _tick),
    ),
)
"""Each room's table. Together they name every command and event once."""

ACROSS = Handlers(
    on_stamped(CancelReply, _cancel),
    *(on_stamped(kind, _paid) for kind in get_args(PaidCommand)),
    on(StoreKey, _store_key),
    on_stamped(CallEnded, _call_ended),
    on(KnowledgeSent, _knowledge_sent),
    on_stamped(CacheReported, _cache_reported),
    *(on_stamped(kind, _settings_event) for kind in get_args(SettingsEvent)),
    *(on_stamped(kind, _spending_event) for kind in get_args(SpendingEvent)),
    on_stamped(CommandEnded, _command_ended),
    on_stamped(RecordsAppended, _records_appended),
    on_stamped(DiscussionCreated, _created),
    on_stamped(QueueWritten, _queued),
    on_stamped(PromptGone, _queued),
    on_stamped(WriteFailed, _write_failed),
    on_stamped(DiscussionLoaded, _seen_anew),
    on_stamped(DiscussionChangedOutside, _seen_anew),
    on_stamped(DiscussionTrashed, _trashed),
    on_stamped(SummariesChanged, _listed),
    on_stamped(SummariesLoaded, _listed),
)
"""Messages that mean something to several rooms: these functions ask each in its turn."""

_OWN = {entry.message: entry for room in ROOMS for entry in room}
HANDLERS = {**_OWN, **ACROSS.by_type}
_COMMANDS = frozenset(get_args(Command))


# Rescue of the loop where the program itself fails on a message: it is left out, and whoever waits for it
# is told.

LOOK = tr("Everything saved before is safe. See the log file, and report this fault.")


def after_failed_step(state: AppState, given: Input, error: Exception) -> Result:
    """Decide what follows from a command or an event that the step could not take.

    A call that it was about ends as a failed one, with the text that had arrived; one whose reply was being stored
    ends without a word more, and its discussion is read again.

    Args:
        state: before the message; given: the message; error: raised by the step.

    Raises:
        Nothing.
    """
    body = given.body
    text = tr(
        "The program failed on {name}: {name2}: {error}",
        name=type(body).__name__,
        name2=type(error).__name__,
        error=error,
    )
    state = conclude(
        replace(state, now=given.at),
        CommandOutcome(command_id=command_id_of(body), problem=text, remedy=LOOK),
    )
    call = _call_of(state, body)
    discussion_id = getattr(body, "discussion_id", "") if call is None else call.discussion_id
    if call is not None and call.phase is CallPhase.STORING:
        state = without_call(state, call)
        return _told(state, body, text, discussion_id), (ReadDiscussion(discussion_id=call.discussion_id),)
    if call is None:
        return _told(state, body, text, discussion_id), ()
    parts = (TextPart(call.text),) if call.text else ()
    failure = Failure(
        kind=FailureKind.BAD_REPLY,
        what=text,
        remedy=tr("The program keeps the part that arrived. See the log file."),
    )
    try:
        return failed(
            state,
            given,
            CallFailed(call_id=call.id, failure=failure, parts=parts, usage=call.usage or Usage()),
        )
    except Exception:  # noqa: BLE001 - what stands of the call is what the step failed on
        return _told(without_call(state, call), body, text, discussion_id), ()


def unbegun(effect: Effect, error: Exception) -> Event:
    """The event that ends an effect which the outside could not begin, where somebody or something waits for one."""
    text = tr(
        "The program could not start {name}: {name2}: {error}",
        name=type(effect).__name__,
        name2=type(error).__name__,
        error=error,
    )
    match effect:
        case CallProvider() | SendRequest():
            return CallFailed(
                call_id=effect.call_id,
                failure=Failure(kind=FailureKind.BAD_REPLY, what=text, remedy=LOOK),
                parts=(),
                usage=Usage(),
            )
        case ClaimReserve():
            return ReserveClaimed(key=effect.key, reservation=effect.reservation, elsewhere=SpentElsewhere())
        case TellSettled():
            return SettingsSettled(effect.number)
        case AppendRecords():
            return WriteFailed(
                discussion_id=effect.discussion_id,
                token=effect.token,
                text=text,
                detail=LOOK,
                records=effect.records,
            )
        case _:
            return OperationFailed(
                subject=type(effect).__name__, text=text, detail=LOOK, command_id=command_id_of(effect)
            )


def _call_of(state: AppState, body: object) -> LiveCall | None:
    call_id = getattr(body, "call_id", "") or getattr(getattr(body, "token", None), "call_id", "")
    if isinstance(body, ReserveClaimed):
        call_id = call_of(body.key)
    return find_call(state, call_id) if call_id else None


def _told(state: AppState, body: object, text: str, discussion_id: str) -> AppState:
    known = discussion_id if discussion_id in state.discussions.summaries else ""
    return notify(state, f"failed/{type(body).__name__}", Level.ERROR, text, LOOK, discussion_id=known)
