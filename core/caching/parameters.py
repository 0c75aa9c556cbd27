"""The person's switches as the planner takes them, and stored prefixes in the ledger."""

from __future__ import annotations

from msgspec.structs import replace

from core.caching.ledger import life_s
from core.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    CachePrices,
    CacheSettings,
    LedgerScope,
    Mechanism,
)
from core.values.provider import ContentsReport, ProviderKind
from core.values.settings import CachingSettings


def with_contents(
    ledger: CacheLedger, scope: LedgerScope, plan: CachePlan, contents: ContentsReport | None
) -> CacheLedger:
    """Note the name and the end of a stored prefix that a call made or used, and drop one that was lost."""
    if contents is None:
        return ledger
    entries = dict(ledger.entries.get(scope, {}))
    for prefix, entry in tuple(entries.items()):
        if contents.lost_name and entry.name == contents.lost_name:
            del entries[prefix]
    stored = contents.stored
    if stored is not None and plan.contents is not None:
        prefix = plan.contents.prefix_hash
        tokens = next(
            (write.tokens for write in plan.writes if write.prefix_hash == prefix), plan.read_tokens
        )
        ttl_s = life_s(stored)
        known = entries.get(
            prefix, CacheLedgerEntry(prefix, tokens, ttl_s, stored.expires_at, stored.discussion_id)
        )
        entries[prefix] = replace(known, ttl_s=ttl_s, expires_at=stored.expires_at, name=stored.name)
    return replace(ledger, entries={**ledger.entries, scope: entries})


def scope_settings(effort: str) -> str:
    """All that enters a prefix beside its text, canonical JSON: `LedgerScope.settings`."""
    return f'{{"effort":"{effort}"}}'


def settings_for(
    kind: ProviderKind, prices: CachePrices, settings: CachingSettings, is_enabled: bool
) -> CacheSettings:
    """The person's switches as the planner takes them."""
    found = CacheSettings(
        is_enabled=is_enabled,
        appends_changes=settings.appends_changes,
        keepalive=settings.keepalive,
        keepalive_cap_usd=settings.keepalive_cap_usd,
    )
    match kind:
        case ProviderKind.ANTHROPIC:
            ttl_s = {"5m": 300, "1h": 3600}.get(settings.anthropic_ttl)
            return replace(found, is_enabled=is_enabled and settings.anthropic_enabled, ttl_s=ttl_s)
        case ProviderKind.OPENAI:
            ttl_s = {"30m": 1800, "12h": 43_200}.get(settings.openai_ttl)
            return replace(found, ttl_s=ttl_s, longest_ttl_s=43_200)
        case ProviderKind.GEMINI:
            most = 10_080 if settings.gemini_allow_long else 60
            longest_s = min(settings.gemini_ttl_minutes, most) * 60
            wants = settings.gemini_enabled or prices.mechanism is not Mechanism.CONTENTS
            return replace(found, is_enabled=is_enabled and wants, longest_ttl_s=longest_s)
        case _:
            return found
