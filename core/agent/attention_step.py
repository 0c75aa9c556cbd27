"""Attention's part of the step: the one autonomous discussion, joined to the turn loop by what every step leaves."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.agent import agent_pages
from core.agent import agent_step as agent
from core.agent import attention_machine as machine
from core.agent.agent_messages import NoteActivity, StartAutonomy, StopAutonomy
from core.agent.delegation import children_at_work
from core.kernel.codecs import from_json
from core.kernel.figures import count
from core.kernel.frame import one_line
from core.kernel.ids import Stamp
from core.kernel.language import spliced, tr
from core.kernel.values.agent import STOP_NOTICE, Attention, Autonomy, CallState, ToolCall
from core.kernel.values.discussion import HAND_OVER, OpenDiscussion
from core.kernel.values.harvest import ArtifactClass, HarvestPhase, HarvestPreview, ProposedItem
from core.kernel.values.knowledge import CATEGORY_WORDS, Category
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import DeleteRecord, MessageRecord, Record, UsageRecord
from core.kernel.values.signals import Signal
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import (
    Handlers,
    Result,
    conclude,
    decline,
    dismiss,
    follow,
    is_busy,
    message_at_work,
    on_stamped,
)
from core.knowledge.harvest import harvest_step as harvest
from core.knowledge.harvest.harvest_messages import CancelHarvest, LookForHarvest, PreviewHarvest
from core.knowledge.harvest.modes import harvest_reader, is_recall_only
from core.services.spending.limits import is_counted, limit_reached
from core.signals.signals_step import given_back, taken
from core.talk.caching.caching_messages import PaceCache
from core.talk.discussion.discussion_messages import CreateOnDisk, RecordsAppended
from core.talk.turn import sending
from core.talk.turn import turn_step as turn
from core.talk.turn.turn_messages import CancelReply, ContinueReply, RegenerateReply, RetrySend, SendQueued

# Dreams: at rest, a preview of the harvest over a few conversations, which reports what it would keep and
# writes nothing.

MOST_CONVERSATIONS = 3
"""Conversations that one dream reads, the newest first: nobody has asked for it, and it is paid for."""

MOST_TOLD = 5
"""Finds of a dream that its note names, with why; the preview has them all."""

_HEAD_CHARS, _WHY_CHARS = 160, 160


def is_dreaming(autonomy: Autonomy) -> bool:
    """True while it dreams."""
    return autonomy.state is Attention.DREAMING


def is_left(state: AppState) -> bool:
    """True if a dream's preview runs though nothing dreams any more: the person came, or stopped autonomy."""
    is_running = state.harvest.is_dream and state.harvest.phase is HarvestPhase.PREVIEWING
    autonomy = state.attention.autonomy
    is_gone = autonomy is None or not is_dreaming(autonomy)
    return is_running and is_gone and not state.harvest.is_cancelling


def may_dream(state: AppState, autonomy: Autonomy) -> bool:
    """True if there is leisure for a dream: at rest, once since the person came, and no review of theirs in its way."""
    settings, program = state.config.settings, state.program
    is_at_rest = autonomy.state is Attention.RESTING and not autonomy.has_dreamt and not autonomy.errors
    is_free = not state.harvest.is_working and state.harvest.preview is None and not program.is_home_read_only
    return is_at_rest and is_free and settings.agent.dreams and not is_recall_only(settings.knowledge)


def begin(state: AppState, autonomy: Autonomy, now: datetime) -> Result:
    """Fall asleep: first a look at what there is to read."""
    autonomy = machine.dreaming(autonomy, now)
    state, effects = harvest.HANDLERS(_with(state, autonomy), LookForHarvest())
    provider, model = harvest_reader(state)
    return state, (*effects, *machine.price_wanted(state, provider, model))


def dreams_followed(before: AppState, after: AppState, autonomy: Autonomy, now: datetime) -> Result:
    """Go on with a dream when its look, or its preview, is over."""
    was, phase = before.harvest.phase, after.harvest.phase
    if after.harvest.is_working:
        return after, ()
    if was is HarvestPhase.PREVIEWING and after.harvest.is_dream:
        return _with(after, machine.dreamt(autonomy, now, _finding(after))), ()
    assert phase is HarvestPhase.IDLE
    why = after.harvest.problem or _against(after)
    paths = _paths(after)
    if why or not paths:
        told = (
            tr("The program read nothing: {why}", why=why)
            if why
            else tr("There is nothing new to read, so nothing to keep.")
        )
        return _with(after, machine.dreamt(autonomy, now, told)), ()
    state, effects = harvest.HANDLERS(after, PreviewHarvest(paths=paths, is_dream=True))
    if state.harvest.phase is HarvestPhase.PREVIEWING:
        return state, effects
    return _with(
        after, machine.dreamt(autonomy, now, tr("The program read nothing: the harvest cannot begin now."))
    ), ()


def _against(state: AppState) -> str:
    """Sentence on the money that stands against reading, empty while none does."""
    provider, model = harvest_reader(state)
    if machine.price_wanted(state, provider, model):
        return tr("The price of {model!r} is unknown.", model=model)
    if not is_counted(state):
        return tr("The program has not added up today's spend yet.")
    return limit_reached(state, model=(provider, model)) or machine.unpriced(state, provider, model)


def _paths(state: AppState) -> tuple[str, ...]:
    own = (one.facts for one in state.harvest.look.artifacts if one.kind is ArtifactClass.HARVEST)
    newest = sorted(own, key=lambda facts: (facts.updated_at, facts.path), reverse=True)
    return tuple(facts.path for facts in newest[:MOST_CONVERSATIONS])


def _finding(state: AppState) -> str:
    """Finding of a dream in lines: the items that it would keep and why, also that there are none."""
    preview, problem = state.harvest.preview or HarvestPreview(), state.harvest.problem
    read = count(len(preview.sources), tr("conversation"), tr("conversations"))
    new = [one for one in preview.items if not one.is_known]
    early = tr("The preview ended early: {problem}", problem=problem) if problem else ""
    if not new:
        return tr(
            "The preview read {read} and found nothing new and useful to keep.{early}", read=read, early=early
        )
    kinds = Counter(one.item.category for one in new)
    some = ", ".join(count(kinds[kind], *CATEGORY_WORDS[kind]) for kind in Category if kinds[kind])
    told = tuple(dict.fromkeys(map(_line, new)))[
        :MOST_TOLD
    ]  # a model may find the same in several conversations
    lines = "\n".join(told)
    more = tr("\nand {new} more of the items", new=len(new) - len(told)) if len(new) > len(told) else ""
    return tr(
        "The preview read {conversations} and would keep {items} ({kinds}). Nothing is written yet.{early}\n{lines}{more}",
        conversations=read,
        items=count(len(new), tr("item"), tr("items")),
        kinds=some,
        early=early,
        lines=lines,
        more=more,
    )


def _line(one: ProposedItem) -> str:
    why = one.item.reason or one.item.quote.text
    head = one_line(one.item.head, _HEAD_CHARS)
    return spliced(
        "- {}", tr("{item}: because of “{why}”", item=head, why=one_line(why, _WHY_CHARS)) if why else head
    )


def _with(state: AppState, autonomy: Autonomy) -> AppState:
    return replace(state, attention=replace(state.attention, autonomy=autonomy))


_Again = RetrySend | RegenerateReply | ContinueReply | SendQueued


def _note_activity(state: AppState, given: Stamp, asked: NoteActivity) -> Result:
    known = state.attention
    if asked.is_elsewhere:
        return replace(state, attention=replace(known, desktop_at=given.at)), ()
    return replace(state, attention=replace(known, active_at=given.at)), ()


def _start(state: AppState, given: Stamp, asked: StartAutonomy) -> Result:
    discussion_id = asked.discussion_id
    autonomy = state.attention.autonomy
    if discussion_id not in state.discussions.open or discussion_id not in state.discussions.summaries:
        return decline(
            state,
            asked.command_id,
            STOP_NOTICE,
            tr("Open the discussion first: only an open discussion can be autonomous."),
        ), ()
    if state.program.is_home_read_only:
        text = tr("Autonomy cannot run here: the program cannot write to your data folder.")
        return decline(state, asked.command_id, STOP_NOTICE, text), ()
    if state.program.holder:
        text = tr(
            "Autonomy cannot run here: another program uses this data folder ({holder}).",
            holder=state.program.holder,
        )
        return decline(state, asked.command_id, STOP_NOTICE, text), ()
    if autonomy is not None and autonomy.discussion_id != discussion_id:
        meta = state.discussions.summaries[autonomy.discussion_id].meta
        text = tr(
            "{name!r} is autonomous already. Stop that discussion first: only one can be autonomous.",
            name=meta.name,
        )
        return decline(state, asked.command_id, STOP_NOTICE, text), ()
    against = machine.refusal(state, discussion_id)
    if against:
        return decline(state, asked.command_id, STOP_NOTICE, against), ()
    state, asks = agent_pages.unwatched(state, discussion_id)
    state = dismiss(_with(state, machine.started(discussion_id, given.at)), STOP_NOTICE)
    state = conclude(state, CommandOutcome(command_id=asked.command_id, made_id=discussion_id))
    meta = state.discussions.summaries[discussion_id].meta
    return state, (*asks, *machine.price_wanted(state, meta.provider, meta.model))


def _stop(state: AppState, given: Stamp, asked: StopAutonomy) -> Result:
    autonomy = state.attention.autonomy
    if autonomy is None:
        return conclude(
            state, CommandOutcome(command_id=asked.command_id, problem=tr("No discussion is autonomous."))
        ), ()
    state = conclude(state, CommandOutcome(command_id=asked.command_id))
    return _ended_now(state, given, autonomy, tr("You stopped autonomy."))


def _ended_now(state: AppState, given: Stamp, autonomy: Autonomy, why: str) -> Result:
    """Autonomy ends, and with it the turn of its own that runs."""
    state = _over(state, autonomy, given.at, why)
    if not autonomy.message_id or message_at_work(state, autonomy.discussion_id) != autonomy.message_id:
        return state, ()
    state, stopped = agent.interrupt(state, Stamp(given.at, f"{given.seed}/tools"), autonomy.discussion_id)
    state, effects = turn.HANDLERS(state, CancelReply(autonomy.discussion_id), given)
    return state, (*stopped, *effects)


def followed(
    before: AppState, after: AppState, given: Stamp, body: object, effects: tuple[object, ...]
) -> Result:
    """Take in what a message has changed, and begin the next turn of its own when it is time; caches follow its pace."""
    after, more = _followed(before, after, given, body, effects)
    if is_left(after):
        after, woken = harvest.HANDLERS(after, CancelHarvest())
        more = (*more, *woken)
    return after, (*more, *_paces(before.attention.autonomy, after.attention.autonomy))


def _paces(before: Autonomy | None, after: Autonomy | None) -> tuple[PaceCache, ...]:
    """Pace that caches are to count on: the interval of its state, none where only the person wakes it."""
    if before is after:
        return ()
    was, now = _pace(before), _pace(after)
    gone = (PaceCache(was[0]),) if was is not None and (now is None or was[0] != now[0]) else ()
    return gone if now is None or now == was else (*gone, PaceCache(*now))


def _pace(autonomy: Autonomy | None) -> tuple[str, float] | None:
    if autonomy is None or autonomy.stopped or autonomy.state is Attention.STORED:
        return None
    return autonomy.discussion_id, float(machine.interval_s(autonomy))


def _followed(
    before: AppState, after: AppState, given: Stamp, body: object, effects: tuple[object, ...]
) -> Result:
    autonomy = after.attention.autonomy
    if autonomy is None or after.program.is_closing:
        return after, ()
    if after.program.holder:
        stamp = Stamp(given.at, f"{given.seed}/attention")
        return _ended_now(
            after,
            stamp,
            autonomy,
            tr(
                "Autonomy ends: another Manual Slop took over the data folder ({holder}).",
                holder=after.program.holder,
            ),
        )
    discussion_id = autonomy.discussion_id
    if discussion_id not in after.discussions.open or discussion_id not in after.discussions.summaries:
        return _over(after, autonomy, given.at, tr("Autonomy ends: the discussion is gone.")), ()
    made = (one.meta for one in effects if isinstance(one, CreateOnDisk))
    if any(
        meta.parent_id == discussion_id and meta.branch_message_id for meta in made
    ):  # a task has no such message
        return _over(after, autonomy, given.at, tr("Autonomy ends: you continue in a branch.")), ()
    autonomy = _with_cost(before, autonomy, body)
    if isinstance(body, CancelReply) and body.discussion_id == discussion_id:
        autonomy = replace(autonomy, is_interrupted=True)
        if not is_busy(after, discussion_id) and not is_busy(before, discussion_id):
            autonomy = machine.interrupted(autonomy, given.at)
    was, now = message_at_work(before, discussion_id), message_at_work(after, discussion_id)
    if was and was != now:
        end = _turn_end(before, after, autonomy, was)
        if end.has_failed and was == autonomy.message_id:
            after = given_back(after, autonomy.signals)
        most = after.config.settings.agent.max_turns
        autonomy = machine.ended(autonomy, given.at, end, most)
    if _person_came(before, after, autonomy, body):
        autonomy = machine.person_came(autonomy, given.at)
    autonomy = machine.timed(autonomy, given.at)
    after = _told(after, autonomy)
    if is_dreaming(autonomy):
        return dreams_followed(before, after, autonomy, given.at)
    if is_left(after):
        return after, ()
    return _go_on(after, Stamp(given.at, f"{given.seed}/attention"), autonomy)


def _with_cost(state: AppState, autonomy: Autonomy, body: object) -> Autonomy:
    """Add what a call of a turn of its own cost, or one of a task that the turn gave away."""
    if not isinstance(body, RecordsAppended) or not autonomy.message_id:
        return autonomy
    chosen = autonomy.discussion_id
    if body.discussion_id not in {chosen, *children_at_work(state, chosen)}:
        return autonomy
    usd = sum(one.usage.cost_usd or 0.0 for one in body.records if isinstance(one, UsageRecord))
    return replace(autonomy, usd=autonomy.usd + usd) if usd else autonomy


def _turn_end(before: AppState, after: AppState, autonomy: Autonomy, message_id: str) -> machine.TurnEnd:
    """End of the turn of a message."""
    tools = before.agent.turns.get(autonomy.discussion_id)
    opened = after.discussions.open[autonomy.discussion_id]
    return machine.TurnEnd(
        has_yielded=tools is not None and tools.has_yielded,
        is_stored=tools is not None and any(map(_rests_until_person, tools.calls)),
        used_tools=tools is not None and bool(tools.calls),
        has_failed=_has_failed(opened, message_id),
        is_interrupted=autonomy.is_interrupted or (tools is not None and tools.is_stopping),
    )


def _has_failed(opened: OpenDiscussion, message_id: str) -> bool:
    """True if no reply came to a message, or its words never reached the disk."""
    if opened.failure is not None and opened.failed_message_id == message_id:
        return True
    return not any(one.id == message_id for one in reversed(opened.messages))


class _Rest(msgspec.Struct, frozen=True):
    """Arguments of `yield_to_user`, as far as they tell how long."""

    until_person: bool = False


def _rests_until_person(call: ToolCall) -> bool:
    if call.name != HAND_OVER or call.state is not CallState.DONE:
        return False
    try:
        return from_json(call.arguments_json, _Rest).until_person
    except msgspec.DecodeError:
        return False


def _person_came(before: AppState, after: AppState, autonomy: Autonomy, body: object) -> bool:
    """True if the person sent something, or has something sent again."""
    discussion_id = autonomy.discussion_id
    was, now = message_at_work(before, discussion_id), message_at_work(after, discussion_id)
    old, new = before.discussions.open.get(discussion_id), after.discussions.open[discussion_id]
    is_queued = old is not None and len(new.queue) > len(old.queue)
    is_again = isinstance(body, _Again) and body.discussion_id == discussion_id
    return is_queued or (bool(now) and now != was and (is_again or now != autonomy.message_id))


def _told(state: AppState, autonomy: Autonomy) -> AppState:
    """Keep it. Why it rests until the person acts is a notification's to say; it goes when that is over."""
    known = state.attention.autonomy
    if known is autonomy:
        return state
    was = known.stopped if known is not None else ""
    state = _with(state, autonomy)
    return dismiss(state, STOP_NOTICE) if was and not autonomy.stopped else state


def _go_on(state: AppState, given: Stamp, autonomy: Autonomy) -> Result:
    """Begin the next turn if it is time, or a signal wakes it; nothing else is at work in the discussion then."""
    discussion_id = autonomy.discussion_id
    opened = state.discussions.open[discussion_id]
    if autonomy.next_at is None or is_busy(state, discussion_id) or opened.queue or opened.held_calls:
        return state, ()
    if discussion_id in state.agent.turns or discussion_id in state.agent.compactions:
        return state, ()
    signals = _signals(state, discussion_id)
    is_signal = (
        any(one.wakes for one in signals)
        and not machine.due(autonomy, given.at)
        and machine.wakes(autonomy, given.at)
    )
    if not is_signal and not machine.due(autonomy, given.at):
        return state, ()
    meta = state.discussions.summaries[discussion_id].meta
    wanted = machine.price_wanted(state, meta.provider, meta.model)
    if wanted or not is_counted(state):
        return state, wanted
    against = machine.refusal(state, discussion_id)
    if against:
        return _told(state, machine.stopped(autonomy, given.at, against)), ()
    if not signals and may_dream(state, autonomy):
        return begin(state, autonomy, given.at)
    return _begin(state, given, autonomy, signals, is_signal=is_signal)


def _begin(
    state: AppState, given: Stamp, autonomy: Autonomy, signals: tuple[Signal, ...], *, is_signal: bool
) -> Result:
    discussion_id = autonomy.discussion_id
    template = state.config.prompts.get(machine.prompt_name(autonomy), "")
    text = machine.opening_words(autonomy, template, _idle_s(state, autonomy, given.at), signals)
    record = MessageRecord(
        id=given.make_id(0), at=given.at, role=Role.USER, parts=(TextPart(text),), is_autonomous=True
    )
    records: tuple[Record, ...] = (*_unanswered(state, given, discussion_id), record)
    state, effects = sending.save_then_call(
        state, given, RetrySend(discussion_id=discussion_id), record.id, records
    )
    if discussion_id not in state.turns.calls:
        return state, effects
    state = taken(state, tuple(one.id for one in signals))
    why = machine.cause(signals)
    return _with(
        state, machine.begun(autonomy, given.at, record.id, why, signals, is_signal=is_signal)
    ), effects


def _unanswered(state: AppState, given: Stamp, discussion_id: str) -> tuple[DeleteRecord, ...]:
    """Words of ours that no reply came to leave the view: after an hour of failures one opening stands there, not ten."""
    last = state.discussions.open[discussion_id].messages[-1:]
    return tuple(
        DeleteRecord(id=given.make_id(40), at=given.at, target_id=one.id) for one in last if one.is_autonomous
    )


def _signals(state: AppState, discussion_id: str) -> tuple[Signal, ...]:
    """Signals for this discussion and its tasks that wait, as many as one turn takes."""
    own = (one for one in state.signals.waiting if _is_for(state, one, discussion_id))
    return tuple(own)[: machine.MOST_SIGNALS]


def _is_for(state: AppState, signal: Signal, discussion_id: str) -> bool:
    """True if a signal is for this discussion: one for nobody in particular, its own, or one of a task that it gave away.

    A task hears of nothing once it is over, and what it left running is its parent's.
    """
    if signal.discussion_id in {"", discussion_id}:
        return True
    row = state.discussions.summaries.get(signal.discussion_id)
    return row is not None and bool(row.meta.delegated_by) and row.meta.parent_id == discussion_id


def _idle_s(state: AppState, autonomy: Autonomy, now: datetime) -> float | None:
    """Seconds since the person was last active: in the window, by what they wrote, on the desktop where they set that."""
    known, is_wide = state.attention, state.config.settings.agent.desktop_idle
    desktop_at = known.desktop_at if is_wide else None
    moments = [at for at in (known.active_at, desktop_at, autonomy.person_at) if at is not None]
    return (now - max(moments)).total_seconds() if moments else None


def _over(state: AppState, autonomy: Autonomy, now: datetime, why: str) -> AppState:
    """Autonomy ends; its notes stay to be read."""
    over = machine.noted(replace(autonomy, next_at=None, message_id=""), now, why)
    return dismiss(replace(state, attention=replace(state.attention, autonomy=None, ended=over)), STOP_NOTICE)


HANDLERS = Handlers(
    on_stamped(StartAutonomy, _start),
    on_stamped(StopAutonomy, _stop),
    on_stamped(NoteActivity, _note_activity),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = follow(
    "now",  # its next turn begins at a time of its own
    lambda before, after, moment: followed(before, after, moment.given, moment.body, moment.effects),
    needs="attention.autonomy harvest.is_dream",
)
