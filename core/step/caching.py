"""Caching of one discussion: invalidate, disable, enable, as far as the provider can."""

from __future__ import annotations

from dataclasses import replace

from core.cache.abilities import Abilities, cache_abilities
from core.cache.contents import living
from core.cache.rewrite import is_warm
from core.step.base import Input, Result, notify
from core.step.context import stack_spec
from core.step.discussions import change_meta
from core.step.spending import limit_reached
from core.values.cache import DiscussionCacheState
from core.values.commands import DeleteOrphanedCaches, DisableCaching, EnableCaching, InvalidateCache
from core.values.discussion import DiscussionMeta
from core.values.effects import (
    AdoptContents,
    AppendRecords,
    DeleteContents,
    Effect,
    ForgetCache,
    PingCaches,
    Prewarm,
    ReleaseCache,
    ReleaseIdle,
)
from core.values.events import CacheRead, CacheReported, ContentsDeleted, ContextAssembled, OrphansFound
from core.values.mapping import with_entry
from core.values.provider import KeySource, ProviderKind, ProviderStatus
from core.values.records import UsageRecord
from core.values.state import AppState, Level


def abilities_of(state: AppState, discussion_id: str) -> Abilities | None:
    """What can be asked of the provider of a discussion, None where either is unknown."""
    summary = state.summaries.get(discussion_id)
    return None if summary is None else abilities_for(state, summary.meta)


def abilities_for(state: AppState, meta: DiscussionMeta) -> Abilities | None:
    """As `abilities_of`, for what stands in a discussion's head."""
    status = state.providers.get(meta.provider)
    if status is None:
        return None
    takes_it = any(model.takes_cache_prompt for model in state.models.get(meta.provider, ()))
    return cache_abilities(status.kind, meta.model, takes_cache_prompt=takes_it)


def decide(state: AppState, command: InvalidateCache | DisableCaching | EnableCaching) -> Result:
    """Change how a discussion is cached."""
    match command:
        case InvalidateCache():
            return _invalidate(state, command)
        case DisableCaching():
            return _disable(state, command)
        case EnableCaching():
            return _switched(state, command.discussion_id, is_enabled=True)


def adopt_effects(state: AppState) -> Result:
    """Ask once, when nothing else is to be done, what a provider with a key still stores and bills."""
    if state.is_loading or not state.settings_paths:
        return state, ()
    asked = [
        name for name, status in state.providers.items() if _may_store(status) and name not in state.adopted
    ]
    if not asked:
        return state, ()
    efforts = {name: summary.meta.effort for name, summary in state.summaries.items()}
    state = replace(state, adopted=state.adopted.union(asked))
    return state, tuple(AdoptContents(name, efforts) for name in asked)


def _may_store(status: ProviderStatus) -> bool:
    has_key = status.key_source not in {KeySource.MISSING, KeySource.NOT_NEEDED}
    return status.kind is ProviderKind.GEMINI and status.is_ready and has_key


def orphans_found(state: AppState, event: OrphansFound) -> AppState:
    """What a provider stores of discussions that are gone."""
    others = tuple(one for one in state.orphans if one.provider != event.provider)
    return replace(state, orphans=(*others, *event.orphans))


def contents_deleted(state: AppState, event: ContentsDeleted) -> AppState:
    """Stored prefixes are gone; of orphans none is left to be told of."""
    kept = tuple(o for o in state.orphans if o.provider != event.provider or o.name not in event.names)
    return state if len(kept) == len(state.orphans) else replace(state, orphans=kept)


def delete_orphans(state: AppState, command: DeleteOrphanedCaches) -> Result:
    """Delete what is known to be orphaned, and nothing else, whatever is named."""
    names: dict[str, list[str]] = {}
    for orphan in state.orphans:
        if command.name in {"", orphan.name}:
            names.setdefault(orphan.provider, []).append(orphan.name)
    return state, tuple(DeleteContents(provider, tuple(found)) for provider, found in names.items())


def forget_adopted(state: AppState, provider: str) -> AppState:
    """The provider's key changes: what another one stores is to be asked, and what this one does is out of reach."""
    kept = tuple(one for one in state.orphans if one.provider != provider)
    return replace(state, adopted=state.adopted - {provider}, orphans=kept)


def tick(state: AppState) -> Result:
    """Time passed: what has expired goes, and the providers are asked for what they store."""
    state, effects = adopt_effects(expire_orphans(state))
    return state, (*effects, *ping_effects(state), *idle_effects(state))


def expire_orphans(state: AppState) -> AppState:
    """What has expired is billed no more."""
    kept = living(state.orphans, state.now)
    return state if len(kept) == len(state.orphans) else replace(state, orphans=kept)


def idle_effects(state: AppState) -> tuple[Effect, ...]:
    """Look for stored prefixes that are not worth their rent any more, while something is stored."""
    stored = (
        state.providers[cache.provider].kind is ProviderKind.GEMINI and cache.expires_at is not None
        for cache in state.caches.values()
        if cache.provider in state.providers and is_warm(cache, state.now)
    )
    return (ReleaseIdle(),) if any(stored) else ()


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

    Never of a discussion whose own limit is reached, nor of one whose caching is off: a ping is a request with marks.
    """
    if not state.settings.caching.keepalive or limit_reached(state):
        return ()
    off = (n for n, cache in state.caches.items() if not cache.caching_enabled or limit_reached(state, n))
    return (PingCaches(tuple(off)),)


def prewarm_effects(before: AppState, after: AppState) -> tuple[Effect, ...]:
    """Read the prefix of a discussion that has just been opened, where that is free, or asked for and within the limits.

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
    is_paid_for = after.settings.caching.prewarm and not limit_reached(after, chosen)
    return (Prewarm(stack_spec(after, chosen)),) if is_free or is_paid_for else ()


def _disable(state: AppState, command: DisableCaching) -> Result:
    """Cache nothing more of a discussion; a provider that cannot be told so is named."""
    abilities = abilities_of(state, command.discussion_id)
    if abilities is not None and not abilities.can_disable:
        return notify(state, f"caching/{command.discussion_id}", Level.WARNING, abilities.disable_text), ()
    summary = state.summaries.get(command.discussion_id)
    state, effects = _switched(state, command.discussion_id, is_enabled=False)
    if summary is None:
        return state, effects
    return state, (*effects, ReleaseCache(command.discussion_id, summary.meta.provider))


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
