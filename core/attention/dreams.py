"""Dreams: at rest, a preview of the harvest over a few conversations, which reports what it would keep and writes nothing."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from msgspec.structs import replace

from core.attention import machine, spending
from core.base.figures import count
from core.base.text import one_line
from core.harvest import step as harvest
from core.harvest.messages import LookForHarvest, PreviewHarvest
from core.harvest.modes import is_recall_only
from core.harvest.reader import harvest_reader
from core.spending.limits import is_counted, limit_reached
from core.values.attention import Attention, Autonomy
from core.values.harvest import ArtifactClass, HarvestPhase, HarvestPreview, ProposedItem
from core.values.knowledge import CATEGORY_WORDS, Category
from core.values.state import AppState
from core.values.updates import Result

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
    state, effects = harvest.command(_with(state, autonomy), LookForHarvest())
    provider, model = harvest_reader(state)
    return state, (*effects, *spending.price_wanted(state, provider, model))


def followed(before: AppState, after: AppState, autonomy: Autonomy, now: datetime) -> Result:
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
        told = f"Nothing was read: {why}" if why else "Nothing is new to read: it would keep nothing."
        return _with(after, machine.dreamt(autonomy, now, told)), ()
    state, effects = harvest.command(after, PreviewHarvest(paths, is_dream=True))
    if state.harvest.phase is HarvestPhase.PREVIEWING:
        return state, effects
    return _with(after, machine.dreamt(autonomy, now, "Nothing was read: the harvest cannot begin now.")), ()


def _against(state: AppState) -> str:
    """Sentence on the money that stands against reading, empty while none does."""
    provider, model = harvest_reader(state)
    if spending.price_wanted(state, provider, model):
        return f"The price of {model!r} is not known."
    if not is_counted(state):
        return "What was spent today is not added up yet."
    return limit_reached(state, model=(provider, model)) or spending.unpriced(state, provider, model)


def _paths(state: AppState) -> tuple[str, ...]:
    own = (one.facts for one in state.harvest.look.artifacts if one.kind is ArtifactClass.HARVEST)
    newest = sorted(own, key=lambda facts: (facts.updated_at, facts.path), reverse=True)
    return tuple(facts.path for facts in newest[:MOST_CONVERSATIONS])


def _finding(state: AppState) -> str:
    """Finding of a dream in lines: the items that it would keep and why, also that there are none."""
    preview, problem = state.harvest.preview or HarvestPreview(), state.harvest.problem
    read = count(len(preview.sources), "conversation")
    new = [one for one in preview.items if not one.is_known]
    early = f" It ended early: {problem}" if problem else ""
    if not new:
        return f"It read {read} and would keep nothing: nothing in them is new and stays useful.{early}"
    kinds = Counter(one.item.category for one in new)
    some = ", ".join(count(kinds[kind], *CATEGORY_WORDS[kind]) for kind in Category if kinds[kind])
    told = tuple(dict.fromkeys(map(_line, new)))[
        :MOST_TOLD
    ]  # a model may find the same in several conversations
    lines = "\n".join(told)
    more = f"\nand {len(new) - len(told)} more" if len(new) > len(told) else ""
    return f"It read {read} and would keep {count(len(new), 'item')} ({some}). Nothing is applied.{early}\n{lines}{more}"


def _line(one: ProposedItem) -> str:
    why = one.item.reason or one.item.quote.text
    told = f": because of “{one_line(why, _WHY_CHARS)}”" if why else ""
    return f"- {one_line(one.item.head, _HEAD_CHARS)}{told}"


def _with(state: AppState, autonomy: Autonomy) -> AppState:
    return replace(state, attention=replace(state.attention, autonomy=autonomy))
