"""Caching of one discussion: invalidate, disable, enable, as far as the provider can."""

from __future__ import annotations

from dataclasses import replace

from core.cache.abilities import Abilities, cache_abilities
from core.cache.accounts import spend_stop
from core.step.base import Input, Result, notify
from core.step.context import stack_spec
from core.step.discussions import change_meta
from core.values.cache import DiscussionCacheState, SpendLimits
from core.values.commands import DisableCaching, EnableCaching, InvalidateCache
from core.values.effects import AppendRecords, Effect, ForgetCache, PingCaches, Prewarm
from core.values.events import CacheRead, CacheReported, ContextAssembled
from core.values.mapping import with_entry
from core.values.provider import ProviderKind
from core.values.records import UsageRecord
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
            return _switched(state, command.discussion_id, is_enabled=True)


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
    chosen = event.discussion_id
    state = replace(state, miss_reasons=with_entry(state.miss_reasons, chosen, event.miss_reason))
    if event.state is not None:
        state = _with_cache(state, event.state)
    if event.totals is None:
        return state
    return replace(state, totals=with_entry(state.totals, event.totals.provider, event.totals))


def read(state: AppState, given: Input, event: CacheRead) -> Result:
    """Log what a ping or a prewarming used: it was paid for."""
    if event.totals is not None:
        state = replace(state, totals=with_entry(state.totals, event.totals.provider, event.totals))
    what = "keepalive" if event.is_ping else "prewarm"
    record = UsageRecord(given.make_id(), given.at, what, event.usage)
    return state, (AppendRecords(event.discussion_id, (record,)),)


def ping_effects(state: AppState) -> tuple[Effect, ...]:
    """Look for prefixes worth keeping, while keepalive is on and the day's limit is not reached.

    Never of a discussion whose caching is off: a ping is a request with marks.
    """
    settings = state.settings.caching
    if not settings.keepalive or spend_stop(
        SpendLimits(None, settings.day_limit_usd), 0.0, state.spent_today_usd or 0.0
    ):
        return ()
    off = (name for name, cache in state.caches.items() if not cache.caching_enabled)
    return (PingCaches(tuple(off)),)


def prewarm_effects(before: AppState, after: AppState) -> tuple[Effect, ...]:
    """Read the prefix of a discussion that has just been opened, where that is free or asked for.

    A discussion that says nothing yet and shows nothing to the model has no prefix worth the memory that
    calling a provider takes: the greeting of a first start costs nothing.
    """
    chosen = after.selected_id
    if chosen not in after.open or chosen not in after.summaries or not after.providers:
        return ()
    was_open = before.selected_id == chosen and chosen in before.open and bool(before.providers)
    status = after.providers.get(after.summaries[chosen].meta.provider)
    if was_open or status is None or not status.is_ready or chosen in after.calls:
        return ()
    if not (after.open[chosen].messages or after.summaries[chosen].meta.preset):
        return ()
    is_free = status.kind is ProviderKind.EMBEDDED
    return (Prewarm(stack_spec(after, chosen)),) if is_free or after.settings.caching.prewarm else ()


def _disable(state: AppState, command: DisableCaching) -> Result:
    """Cache nothing more of a discussion; a provider that cannot be told so is named."""
    abilities = abilities_of(state, command.discussion_id)
    if abilities is not None and not abilities.can_disable:
        return notify(state, f"caching/{command.discussion_id}", Level.WARNING, abilities.disable_text), ()
    return _switched(state, command.discussion_id, is_enabled=False)


def _switched(state: AppState, discussion_id: str, *, is_enabled: bool) -> Result:
    """What the provider still holds stays known until it expires, but is no cache of the discussion's while it is off."""
    state, effects = change_meta(state, discussion_id, caching_enabled=is_enabled)
    cache = state.caches.get(discussion_id)
    return (state if cache is None else _with_cache(state, cache)), effects


def _with_cache(state: AppState, cache: DiscussionCacheState) -> AppState:
    """Keep what is known of a cache; whether it is on, the discussion itself says."""
    summary = state.summaries.get(cache.discussion_id)
    if summary is not None:
        cache = replace(cache, caching_enabled=summary.meta.caching_enabled)
    return replace(state, caches=with_entry(state.caches, cache.discussion_id, cache))
