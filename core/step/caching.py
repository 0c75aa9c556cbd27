"""Caching of one discussion: invalidate, disable, enable, as far as the provider can."""

from __future__ import annotations

from dataclasses import replace

from core.cache.abilities import Abilities, cache_abilities
from core.step.base import Result, notify
from core.step.discussions import change_meta
from core.values.commands import DisableCaching, EnableCaching, InvalidateCache
from core.values.effects import ForgetCache
from core.values.events import CacheReported, ContextAssembled
from core.values.mapping import with_entry
from core.values.state import AppState, Level


def abilities_of(state: AppState, discussion_id: str) -> Abilities | None:
    """What can be asked of the provider of a discussion, None where either is unknown."""
    summary = state.summaries.get(discussion_id)
    status = state.providers.get(summary.meta.provider) if summary is not None else None
    if summary is None or status is None:
        return None
    return cache_abilities(status.kind, summary.meta.model)


def decide(state: AppState, command: InvalidateCache | DisableCaching | EnableCaching) -> Result:
    """Change how a discussion is cached."""
    match command:
        case InvalidateCache():
            return _invalidate(state, command)
        case DisableCaching():
            return _disable(state, command)
        case EnableCaching():
            return change_meta(state, command.discussion_id, caching_enabled=True)


def _invalidate(state: AppState, command: InvalidateCache) -> Result:
    """Count the epoch on: it salts the head of the prefix, so that the next request shares none."""
    summary = state.summaries.get(command.discussion_id)
    if summary is None:
        return state, ()
    state, effects = change_meta(state, command.discussion_id, cache_epoch=summary.meta.cache_epoch + 1)
    return state, (*effects, ForgetCache(command.discussion_id, summary.meta.provider))


def assembled(state: AppState, event: ContextAssembled) -> AppState:
    """A stack and the plan of its next request."""
    reports = with_entry(state.reports, event.discussion_id, event.report)
    plans = state.plans
    if event.plan is not None:
        plans = with_entry(plans, event.discussion_id, event.plan)
    return replace(state, reports=reports, plans=plans)


def reported(state: AppState, event: CacheReported) -> AppState:
    """What a provider holds for a discussion."""
    chosen = event.state.discussion_id
    state = replace(
        state,
        caches=with_entry(state.caches, chosen, event.state),
        miss_reasons=with_entry(state.miss_reasons, chosen, event.miss_reason),
    )
    if event.totals is None:
        return state
    return replace(state, totals=with_entry(state.totals, event.totals.provider, event.totals))


def _disable(state: AppState, command: DisableCaching) -> Result:
    """Cache nothing more of a discussion; a provider that cannot be told so is named."""
    abilities = abilities_of(state, command.discussion_id)
    if abilities is not None and not abilities.can_disable:
        return notify(state, f"caching/{command.discussion_id}", Level.WARNING, abilities.disable_text), ()
    return change_meta(state, command.discussion_id, caching_enabled=False)
