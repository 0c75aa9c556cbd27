"""Caching of one discussion: invalidate, disable, enable, as far as the provider can."""

from __future__ import annotations

from core.cache.abilities import Abilities, cache_abilities
from core.step.base import Result, notify
from core.step.discussions import change_meta
from core.values.commands import DisableCaching, EnableCaching, InvalidateCache
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
    return change_meta(state, command.discussion_id, cache_epoch=summary.meta.cache_epoch + 1)


def _disable(state: AppState, command: DisableCaching) -> Result:
    """Cache nothing more of a discussion; a provider that cannot be told so is named."""
    abilities = abilities_of(state, command.discussion_id)
    if abilities is not None and not abilities.can_disable:
        return notify(state, f"caching/{command.discussion_id}", Level.WARNING, abilities.disable_text), ()
    return change_meta(state, command.discussion_id, caching_enabled=False)
