"""Offers of caching with a model, prices and rules: genai-prices, and our dated table for what it lacks.

Source of every figure that is not from genai-prices: the providers' own documents on caching, read to 2026-11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    CachePrices,
    CacheSettings,
    LedgerScope,
    Mechanism,
    TtlPrice,
)
from core.kernel.values.provider import ContentsReport, ProviderKind
from core.kernel.values.settings import CachingSettings
from core.kernel.values.usage import Usage
from core.services.providers.profiles import has_gemini_contents, has_openai_breakpoints
from core.services.spending.pricing import OPENAI_LONG_WRITE, OPENAI_WRITE, TokenPrices, token_prices
from core.talk.caching.cache_ledger import life_s

_MINUTE = 60
_HOUR = 3600

_ANTHROPIC_MINIMUM = (
    ("claude-haiku-4-5", 4096),
    ("claude-opus-4-5", 4096),
    ("claude-opus-4-6", 4096),
    ("claude-opus-4-7", 2048),
    ("claude-mythos-preview", 2048),
    ("claude-haiku-3-5", 2048),
    ("claude-3-5-haiku", 2048),
    ("claude-opus-4", 1024),
    ("claude-sonnet-4", 1024),
    ("claude-sonnet-5-5", 512),
    ("claude-sonnet-5", 1024),
)
"""The first that the model's name begins with counts; 512 for the rest (Opus 5 and 5.5, Haiku 5.5, Fable, Mythos)."""

_UNPRICED_READ = 0.1
_GEMINI_STORAGE = (
    # USD for a million tokens and an hour; the row holds until its day. ai.google.dev pricing (read 2026-10-14).
    ("gemini-3.8-flash", 0.50, datetime(2027, 1, 1, tzinfo=UTC)),
    ("gemini-3.7-flash", 0.50, datetime(2027, 1, 1, tzinfo=UTC)),
    ("gemini-3.6-flash", 0.50, datetime(2027, 1, 1, tzinfo=UTC)),
    ("gemini-3.8-flash", 1.00, None),
    ("gemini-3.7-flash", 1.00, None),
    ("gemini-3.6-flash", 1.00, None),
    ("gemini-3", 0.50, None),
    ("gemini-2.5-flash", 1.00, None),
    ("gemini-2.5-pro", 4.50, None),
)
_GEMINI_PRO_STORAGE = 4.50


def cache_prices(
    provider: str, kind: ProviderKind, model: str, at: datetime, *, is_local: bool = False
) -> CachePrices:
    """Prices of a model, as a plan needs them. Raises nothing: an unknown price is None, its multiples are the
    vendor's usual.

    Args:
        provider: id of the server in the settings; kind: which client speaks to it.
        at: prices change by date; is_local: its models run on this machine.
    """
    found = offer(provider, kind, model, token_prices(provider, model, at), at)
    return replace(found, is_local=True) if is_local else found


def offer(
    provider: str, kind: ProviderKind, model: str, usd: TokenPrices | None, at: datetime
) -> CachePrices:
    """Prices of a model whose tokens cost `usd`, None where that is unknown: as `cache_prices`, nothing is looked up."""
    input_usd = usd.input_usd if usd is not None else None
    read = (
        usd.read_usd / usd.input_usd
        if usd is not None and usd.read_usd is not None and usd.input_usd
        else None
    )
    usual = _usual(provider, kind, model, input_usd, read, at)
    return usual if usd is None or usd.write_usd is None else _with_writes(usual, usd.write_usd)


def _with_writes(usual: CachePrices, write_usd: tuple[float, float, float]) -> CachePrices:
    """Prices with what the person says that writing costs: each lifetime by the nearest that has a price of its own."""
    fresh = usual.input_usd
    if not fresh:
        return usual
    short, hour, long = write_usd
    own = (
        (one.ttl_s, long if one.ttl_s > _HOUR else hour if one.ttl_s == _HOUR else short)
        for one in usual.writes
    )
    return replace(usual, writes=tuple(TtlPrice(ttl_s, usd / fresh) for ttl_s, usd in own))


def _usual(
    provider: str, kind: ProviderKind, model: str, input_usd: float | None, read: float | None, at: datetime
) -> CachePrices:
    match kind:
        case ProviderKind.ANTHROPIC:
            return _anthropic(provider, model, input_usd, read)
        case ProviderKind.OPENAI:
            return _openai(provider, model, input_usd, read)
        case ProviderKind.GEMINI:
            return _gemini(provider, model, input_usd, read, at)
        case ProviderKind.EMBEDDED | ProviderKind.COMPATIBLE | ProviderKind.CLAUDE_CODE:
            return _reused(provider, model, input_usd, read, is_free=kind is ProviderKind.EMBEDDED)


def _anthropic(provider: str, model: str, input_usd: float | None, read: float | None) -> CachePrices:
    """Source: Anthropic "Prompt caching" (read 2026-08 to 2026-11): 4 marks, 20 positions, 1.25 and 2 times input."""
    minimum = next((tokens for name, tokens in _ANTHROPIC_MINIMUM if model.startswith(name)), 512)
    return CachePrices(
        provider=provider,
        model=model,
        mechanism=Mechanism.MARKS,
        input_usd=input_usd,
        read=0.1 if read is None else read,
        writes=(TtlPrice(5 * _MINUTE, 1.25), TtlPrice(_HOUR, 2.0)),
        minimum_tokens=minimum,
        lookback=20,
        max_marks=4,
    )


def _openai(provider: str, model: str, input_usd: float | None, read: float | None) -> CachePrices:
    """Source: OpenAI "Prompt caching" (read 2026-10), openai 3.51.0: from GPT-5.6 on writes cost, marks exist."""
    marks = has_openai_breakpoints(model)
    return CachePrices(
        provider=provider,
        model=model,
        mechanism=Mechanism.BREAKPOINTS if marks else Mechanism.IMPLICIT,
        input_usd=input_usd,
        read=0.1 if read is None else read,
        writes=(TtlPrice(30 * _MINUTE, OPENAI_WRITE), TtlPrice(12 * _HOUR, OPENAI_LONG_WRITE))
        if marks
        else (TtlPrice(5 * _MINUTE, 1.0),),
        minimum_tokens=1024,
        max_marks=4 if marks else 0,
    )


def _gemini(
    provider: str, model: str, input_usd: float | None, read: float | None, at: datetime
) -> CachePrices:
    """Source: Gemini API "Context caching" (read 2026-10-13): stored contents for 2.5 and 3.x, implicit from 4 on."""
    name = model.removeprefix("models/")
    is_explicit = has_gemini_contents(model)
    return CachePrices(
        provider=provider,
        model=model,
        mechanism=Mechanism.CONTENTS if is_explicit else Mechanism.IMPLICIT,
        input_usd=input_usd,
        read=0.1 if read is None else read,
        writes=(TtlPrice(5 * _MINUTE, 1.0),),
        minimum_tokens=2048 if name.startswith("gemini-2.5") else 4096,
        storage_usd=_storage(name, at) / 1e6 if is_explicit else 0.0,
    )


def _storage(name: str, at: datetime) -> float:
    if "-pro" in name:
        return _GEMINI_PRO_STORAGE
    for prefix, usd, until in _GEMINI_STORAGE:
        if name.startswith(prefix) and (until is None or at < until):
            return usd
    return _GEMINI_PRO_STORAGE


def _reused(
    provider: str, model: str, input_usd: float | None, read: float | None, *, is_free: bool
) -> CachePrices:
    """A server that reuses the longest prefix it still has, its own replies included: nothing to mark, no fee for writing.

    One that names a price of input and none of reads bills them in full. Where no price is known, what is read saves
    time at least.
    """
    usual = 1.0 if input_usd is not None else _UNPRICED_READ
    return CachePrices(
        provider=provider,
        model=model,
        mechanism=Mechanism.IMPLICIT,
        input_usd=0.0 if is_free else input_usd,
        read=0.0 if is_free else usual if read is None else read,
        writes=(TtlPrice(_HOUR, 1.0),),
        holds_replies=True,
    )


# Services of the rest of the program to the planning of caches.


class CacheSetup(msgspec.Struct, frozen=True):
    """Services of the rest of the program to planning.

    Args:
        prices: of a provider's kind and model at a time; kind: of a provider; key_id: names its key without telling.
        cost: of a usage in USD, None where unknown.
        counted: o200k tokens by sha256.
        label: a provider's name as the person knows it.
        may_store: whether contents may be made that are stored for rent: this program owns the home, and will tend them.
    """

    prices: Callable[[ProviderKind, str, str, datetime], CachePrices]
    kind: Callable[[str], ProviderKind]
    key_id: Callable[[str], str]
    cost: Callable[[str, str, Usage], float | None]
    counted: Callable[[], Mapping[str, int]]
    label: Callable[[str], str] = str
    may_store: Callable[[], bool] = lambda: True


# The person's switches as the planner takes them, and stored prefixes in the ledger.


def with_contents(
    ledger: CacheLedger, scope: LedgerScope, plan: CachePlan, contents: ContentsReport
) -> CacheLedger:
    """Note the name and the end of a stored prefix that a call made or used, and drop one that was lost."""
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
            prefix,
            CacheLedgerEntry(
                prefix_hash=prefix,
                tokens=tokens,
                ttl_s=ttl_s,
                expires_at=stored.expires_at,
                discussion_id=stored.discussion_id,
            ),
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
