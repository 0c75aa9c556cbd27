"""Accounts of a discussion's cache state after usage and invalidation, and when money has run out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from operator import itemgetter

from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.figures import lifetime
from core.kernel.language import as_sentences, tr
from core.kernel.values.cache import (
    Balance,
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    CachePrices,
    CacheSettings,
    DiscussionCache,
    DiscussionCacheState,
    ExtensionEvidence,
    Mechanism,
    SentKnowledge,
)
from core.kernel.values.provider import ContentsReport, ProviderKind, StoredContent
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.services.providers.blocks import MarkPlace, Wire, eve_of
from core.talk.caching.cache_ledger import CLOCK_SLACK, CacheHit, live_entries
from core.talk.caching.economy import Outlook
from core.talk.caching.view import DIGEST_KEY

MOST_LOST = 2.0
"""Caching never loses more on one discussion, pings, prewarms and rent included, than so many times its largest request's input costs fresh.

A write is a bet on another turn. One that is lost costs a quarter of the request (5 minutes) or all of it (an hour) more
than no caching; what was lost counts against the bets that follow until reads have earned it back."""


def total_allowed(balance: Balance, total_tokens: int) -> float:
    """Amount that a request may cost more than without caching, in tokens of fresh input."""
    return balance.saved + MOST_LOST * max(balance.largest_tokens, total_tokens)


def balanced(
    balance: Balance, plan: CachePlan, usage: Usage, prices: CachePrices, rent_usd: float | None = 0.0
) -> Balance:
    """The balance after a call: what its input would have cost without caching, less what it cost.

    Args:
        rent_usd: what storing cost beside its tokens.

    Returns:
        Without superseded text, which nobody would send who does not cache. Unchanged where the provider did not
        report what it read and wrote.
    """
    total = usage.input_tokens
    if total is None or (usage.cache_read_tokens is None and usage.cache_write_tokens is None):
        return balance
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    longest = max([*(one.ttl_s for one in plan.writes), *(one.ttl_s for one in plan.marks)], default=0)
    long = (
        usage.cache_write_1h_tokens if usage.cache_write_12h_tokens is None else usage.cache_write_12h_tokens
    )
    short = 0 if long is None else max(0, written - long)
    extra = short * (prices.write_at(prices.writes[0].ttl_s) - 1.0) if prices.writes else 0.0
    extra += (written - short) * (prices.write_at(longest) - 1.0)
    if rent_usd and prices.input_usd:
        extra += rent_usd / prices.input_usd
    planned = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
    superseded = plan.superseded_tokens * total / planned if planned else 0.0
    saved = balance.saved + read * (1.0 - prices.read) - extra - superseded
    return Balance(saved, max(balance.largest_tokens, total))


def after_upkeep(balance: Balance, usage: Usage, prices: CachePrices) -> Balance:
    """The balance after a keepalive or prewarm. Without caching nobody sends one, so its whole price counts as a cost."""
    if prices.input_usd == 0.0:
        return balance
    total = usage.input_tokens or 0
    read = min(total, usage.cache_read_tokens or 0)
    written = min(total - read, usage.cache_write_tokens or 0)
    longest = prices.writes[-1].ttl_s if prices.writes else 0
    short = 0 if usage.cache_write_1h_tokens is None else max(0, written - usage.cache_write_1h_tokens)
    cost = read * prices.read + (written - short) * prices.write_at(longest) + total - read - written
    cost += short * prices.write_at(prices.writes[0].ttl_s) if prices.writes else short
    return replace(balance, saved=balance.saved - cost)


def after_rent(balance: Balance, usd: float | None, input_usd: float | None) -> Balance:
    """The balance after rent of what was stored for the discussion; `input_usd`: price of a fresh token."""
    return replace(balance, saved=balance.saved - usd / input_usd) if usd and input_usd else balance


def after_usage(
    state: DiscussionCacheState | None,
    discussion_id: str,
    provider: str,
    plan: CachePlan,
    usage: Usage,
    started_at: datetime,
) -> DiscussionCacheState | None:
    """The state after a call's usage came.

    Args:
        started_at: start of the request: lifetimes count from there.

    Returns:
        Unchanged where the provider reported no cache fields, or neither read nor wrote.
    """
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    if read is None and written is None:
        return state
    held = (read or 0) + (written or 0)
    if not held:
        return state
    ttl_s = max((w.ttl_s for w in plan.writes[-1:]), default=plan.hit_ttl_s)
    old = state or DiscussionCacheState(
        discussion_id=discussion_id, provider=provider, cached_at=started_at, expires_at=None
    )
    long_s, long_tokens = _longest(plan, ttl_s, held)
    return replace(
        old,
        long_until=started_at + timedelta(seconds=long_s) if long_tokens else None,
        long_tokens=long_tokens,
        provider=provider,
        cached_at=started_at if written or state is None else old.cached_at,
        expires_at=started_at + timedelta(seconds=ttl_s) if plan.marks or plan.contents is not None else None,
        hit_count=old.hit_count + (1 if read else 0),
        tokens_cached=held,
    )


def _longest(plan: CachePlan, ttl_s: int, held: int) -> tuple[int, int]:
    """The lifetime and the tokens of what a request leaves that outlives its last mark; no tokens where nothing does.

    The plan's tokens are estimates: they are scaled by what was reported.
    """
    entries = [(write.ttl_s, write.tokens) for write in plan.writes]
    if plan.read_tokens:
        entries.append((plan.hit_ttl_s, plan.read_tokens))
    longest = max((ttl for ttl, _ in entries), default=0)
    if not plan.marks or longest <= ttl_s:
        return 0, 0
    tokens = max(tokens for ttl, tokens in entries if ttl == longest)
    planned = max(plan.read_tokens + plan.write_tokens, tokens)
    return longest, round(held * tokens / planned)


def after_contents(
    state: DiscussionCacheState | None, contents: ContentsReport, now: datetime
) -> DiscussionCacheState | None:
    """The state after a call by a stored prefix: it ends when the provider says, which use does not put off.

    One that was gone when it was to be used is held no longer.
    """
    if state is None:
        return None
    if contents.stored is not None:
        return replace(state, expires_at=contents.stored.expires_at)
    return released(state, now) if contents.lost_name else state


def adopted(
    state: DiscussionCacheState | None, provider: str, content: StoredContent
) -> DiscussionCacheState:
    """The state after a start that found what is still stored for the discussion."""
    old = state or DiscussionCacheState(
        discussion_id=content.discussion_id, provider=provider, cached_at=content.created_at, expires_at=None
    )
    return replace(
        old,
        provider=provider,
        cached_at=content.created_at,
        expires_at=content.expires_at,
        tokens_cached=content.tokens,
    )


def released(state: DiscussionCacheState, now: datetime) -> DiscussionCacheState:
    """The state after what was stored is deleted, by us or by someone else."""
    return replace(state, expires_at=now, tokens_cached=0, long_until=None, long_tokens=0)


def invalidated(cache: DiscussionCache, now: datetime) -> DiscussionCache:
    """The cache after Invalidate: nothing is known to be held, the salt of layer 1 is counted up.

    What the provider must be told beside (deleting a Gemini content, a saved prefix) is the caller's.
    """
    state = cache.state
    if state is not None:
        state = replace(released(state, now), last_invalidated_at=now)
    return replace(cache, state=state, ledger=CacheLedger(), epoch=cache.epoch + 1)


# Warmth of a discussion's prefix: one rule for the step, the window and what a change would lose. Pure.


def is_alive(cache: DiscussionCacheState, now: datetime | None) -> bool:
    """True while the lifetime of what a provider was given runs; None of either time: it is taken to.

    What was given after `now` is not believed, as no entry is that claims to outlive its lifetime: the clock was set back.
    """
    until = last_expiry(cache)
    runs = until is None or now is None or (until > now and cache.cached_at <= now + CLOCK_SLACK)
    return cache.caching_enabled and runs


def last_expiry(cache: DiscussionCacheState) -> datetime | None:
    """The time when the whole cache has expired; None if the provider decides."""
    if cache.expires_at is None or cache.long_until is None:
        return cache.expires_at
    return max(cache.expires_at, cache.long_until)


def warm_until(cache: DiscussionCacheState, now: datetime | None) -> datetime | None:
    """Time when most of what still lives ends, or when the last of it did; None where the provider manages that."""
    if cache.expires_at is None or cache.long_until is None:
        return cache.expires_at
    is_mostly_long = 2 * cache.long_tokens >= cache.tokens_cached
    if now is not None and (cache.expires_at <= now or (is_mostly_long and cache.long_until > now)):
        return last_expiry(cache)
    return cache.expires_at


def held_tokens(cache: DiscussionCacheState, now: datetime | None) -> int:
    """Tokens that the provider is believed to hold still: all, or the part that lives longer."""
    if now is None or cache.expires_at is None or cache.expires_at > now:
        return cache.tokens_cached
    return cache.long_tokens if cache.long_until is not None and cache.long_until > now else 0


def is_warm(cache: DiscussionCacheState, now: datetime | None) -> bool:
    """True if a provider is believed to hold something of a discussion, which it could lose."""
    return cache.tokens_cached > 0 and is_alive(cache, now)


# Summaries of what a provider's cache was worth: the specification's line for tooltips and scripts, and a
# sentence.

OWN_TTL = frozenset({ProviderKind.COMPATIBLE, ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE})
"""Kinds whose lifetime is never the person's choice."""

Expiries = Mapping[str, datetime | None]
"""The latest expiry by provider; None where the provider manages all that it holds."""


def newest_expiries(caches: Mapping[str, DiscussionCacheState]) -> Expiries:
    """The latest expiry of each provider that holds something. What is off does not count. O(caches)."""
    found: dict[str, datetime | None] = {}
    for cache in caches.values():
        if cache.caching_enabled:
            both = (found.get(cache.provider), last_expiry(cache))
            found[cache.provider] = max(filter(None, both), default=None)
    return found


def used_providers(state: AppState, newest: Expiries) -> tuple[str, ...]:
    """Providers that were called since the start, or that hold something, in the order of the settings."""
    used = {name for name, totals in state.caching.totals.items() if totals.usage != Usage()}
    used |= newest.keys()
    known = [name for name in state.config.providers if name in used]
    return (*known, *sorted(used.difference(known)))


def hit_percent(usage: Usage) -> int | None:
    """Cache read over input in whole per cent, rounded down; None where either was not reported."""
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens // usage.input_tokens


def tells_no_hits(state: AppState, provider: str) -> bool:
    """True if a provider has taken tokens since the start and never said how many it read from its cache."""
    usage = _usage(state, provider)
    return bool(usage.input_tokens) and usage.cache_read_tokens is None


def provider_sentence(state: AppState, provider: str) -> str:
    """Tokens that a provider read from its cache since the start: `Anthropic: 836 of 82,100 tokens from the cache`."""
    usage, label = _usage(state, provider), _label(state, provider)
    if usage.input_tokens == 0:
        return tr("{label}: no message sent yet", label=label)
    if usage.input_tokens is None:
        return tr("{label}: the provider does not report the sent tokens", label=label)
    if tells_no_hits(state, provider):
        return tr(
            "{label}: {input_tokens:,} tokens sent; the provider does not report cache hits",
            label=label,
            input_tokens=usage.input_tokens,
        )
    return tr(
        "{label}: {cache_read_tokens:,} of {input_tokens:,} tokens from the cache",
        label=label,
        cache_read_tokens=usage.cache_read_tokens,
        input_tokens=usage.input_tokens,
    )


def provider_line(state: AppState, newest: Expiries, provider: str) -> str:
    """A provider's summary: `[Anthropic] in:340 cache:80 hit:23% ttl:4:32`."""
    usage = _usage(state, provider)
    percent = hit_percent(usage)
    hit = "n/a" if usage.input_tokens == 0 else fmt.NOT_REPORTED if percent is None else f"{percent}%"
    figures = f"in:{fmt.tokens(usage.input_tokens)} cache:{fmt.tokens(usage.cache_read_tokens)}"
    return f"[{_label(state, provider)}] {figures} hit:{hit} ttl:{_ttl_word(state, newest, provider)}"


def _usage(state: AppState, provider: str) -> Usage:
    totals = state.caching.totals.get(provider)
    return totals.usage if totals is not None else Usage(input_tokens=0, cache_read_tokens=0)


def _label(state: AppState, provider: str) -> str:
    status = state.config.providers.get(provider)
    return (status.label if status else "") or provider


def _ttl_word(state: AppState, newest: Expiries, provider: str) -> str:
    """Time left of the selected discussion's prefix where the provider holds it, else of the one that lives longest."""
    selected = state.caching.caches.get(state.discussions.selected_id)
    is_of = selected is not None and selected.provider == provider and selected.caching_enabled
    at = warm_until(selected, state.now) if selected is not None and is_of else None
    if at is None or (state.now is not None and at <= state.now):
        at = newest.get(provider)
    if at is not None and state.now is not None and at > state.now:
        return fmt.countdown((at - state.now).total_seconds())
    status = state.config.providers.get(provider)
    is_theirs = (provider in newest and at is None) or (status is not None and status.kind in OWN_TTL)
    return "n/a" if is_theirs else "none"


# Belief of what a provider still holds of the request that a discussion sent last: its state by the
# ledger's entries.

_TOKENS = itemgetter(0)


def believed(
    cache: DiscussionCache, ledger: CacheLedger, discussion_id: str, now: datetime
) -> DiscussionCacheState | None:
    """The state of a discussion's cache, with what lives longer than it says.

    A reply tells of its own entries alone; one of an earlier call, or of a call whose reply never ended, may
    outlive them.

    Args:
        cache: what is kept of the discussion; ledger: of all that is known.

    Returns:
        The state as it was where the provider manages the lifetime, where nothing lives longer, and where what was
        held was let go.
    """
    state, sent = cache.state, cache.sent
    held = [] if sent is None else _held(sent, ledger, now)
    if sent is None or not held or (state is not None and state.provider != sent.scope.provider):
        return state
    if state is None:
        tokens, deepest = held[-1]
        cached_at = deepest.expires_at - timedelta(seconds=deepest.ttl_s)
        state = DiscussionCacheState(
            discussion_id=discussion_id,
            provider=sent.scope.provider,
            cached_at=cached_at,
            expires_at=deepest.expires_at,
        )
        state = replace(state, tokens_cached=tokens)
    if state.expires_at is None or not state.tokens_cached:
        return state
    until = state.expires_at
    if state.long_until is not None and state.long_until > now:
        until = max(until, state.long_until)
    longer = [(tokens, entry) for tokens, entry in held if entry.expires_at > until]
    if not longer:
        return state
    last = max(entry.expires_at for _, entry in longer)
    tokens = max(tokens for tokens, entry in longer if entry.expires_at == last)
    return replace(state, long_until=last, long_tokens=min(tokens, state.tokens_cached))


def _held(sent: SentKnowledge, ledger: CacheLedger, now: datetime) -> list[tuple[int, CacheLedgerEntry]]:
    """Tokens up to each living entry of the request and that entry, deepest last. What has a name ends by its own rule."""
    live = live_entries(ledger, sent.scope, now)
    held = [(place.tokens, live[place.prefix_hash]) for place in sent.places if place.prefix_hash in live]
    return sorted([one for one in held if not one[1].name], key=_TOKENS)


# Wording of a plan's choices, in plain sentences.

_NAMES = {
    MarkPlace.STABLE: tr("the stable layers"),
    MarkPlace.BASE: tr("the files"),
    MarkPlace.TALK: tr("your message"),
    MarkPlace.TRANSIENT: tr("the text that belongs only to this turn"),
    MarkPlace.TAIL: tr("the discussion's metadata"),
}


def sentences(
    wire: Wire,
    prices: CachePrices,
    settings: CacheSettings,
    marks: tuple[tuple[int, int], ...],
    hit: CacheHit,
    own: Outlook,
) -> tuple[str, ...]:
    """One sentence for each choice."""
    if not settings.is_enabled:
        return (tr("Caching is off for this discussion: the program sets no breakpoints."),)
    return tuple(_said(wire, prices, settings, marks, hit, own))


def extension_text(lost: ExtensionEvidence) -> str:
    """Reason why long lifetimes cost more with a model, and by what that is known."""
    text = tr(
        "{model}: a breakpoint with a long lifetime does not extend text cached for less",
        model=lost.model,
    )
    learned = (
        tr("An earlier version of the program learned this")
        if lost.at is None
        else tr(
            "The program learned this on {at:%Y-%m-%d %H:%M} UTC in discussion {discussion_id}. It expected about {expected_tokens:,} tokens from the cache; the provider read {read_tokens:,}",
            at=lost.at,
            discussion_id=lost.discussion_id,
            expected_tokens=lost.expected_tokens,
            read_tokens=lost.read_tokens,
        )
    )
    result = tr("When the time to live is long, the program therefore writes the whole prefix.")
    return as_sentences(text, learned, result)


def _said(
    wire: Wire,
    prices: CachePrices,
    settings: CacheSettings,
    marks: tuple[tuple[int, int], ...],
    hit: CacheHit,
    own: Outlook,
) -> Iterator[str]:
    if not marks:
        yield _why_none(wire, prices)
        return
    if prices.mechanism is Mechanism.IMPLICIT:
        yield tr("The provider caches by itself; the program can set no breakpoints.")
        return
    for place, ttl_s in marks:
        yield _mark(wire, place, ttl_s, hit)
    if settings.ttl_s is not None:
        yield tr("Your settings fix the time to live at {ttl_s}.", ttl_s=lifetime(settings.ttl_s))
    elif own.offers:
        yield _lifetime(own, marks[-1][1])
    if own.lifted is not None and marks[-1] == (eve_of(wire), min(own.offers)):
        yield tr(
            "The first keepalive also caches your message. The provider then keeps the whole cache for {time}.",
            time=lifetime(max(own.offers)),
        )
    if wire.blocks and wire.blocks[-1].place is MarkPlace.TAIL:
        yield tr("The discussion's metadata comes after the last breakpoint, so it breaks no prefix.")


def _why_none(wire: Wire, prices: CachePrices) -> str:
    if prices.minimum_tokens and wire.total_tokens < prices.minimum_tokens:
        return tr(
            "The program sets no breakpoint: {model} caches from {minimum_tokens:,} tokens on.",
            model=prices.model,
            minimum_tokens=prices.minimum_tokens,
        )
    return tr("The program sets no breakpoint: a cache write would cost more than it saves.")


def _mark(wire: Wire, place: int, ttl_s: int, hit: CacheHit) -> str:
    block = wire.blocks[place]
    name = _NAMES[block.place]
    if block.place is MarkPlace.STABLE and place < wire.last(MarkPlace.STABLE):
        name = tr("the digest") if block.key == DIGEST_KEY else tr("everything before knowledge")
    tokens = tr("{ends:,} tokens", ends=wire.ends[place])
    if place == hit.index:
        return tr(
            "The breakpoint after {name} ({tokens}) reads and renews the cache.", name=name, tokens=tokens
        )
    if place < hit.index:
        return tr(
            "The breakpoint after {name} ({tokens}) costs nothing. Other requests can reuse the cache up to there.",
            name=name,
            tokens=tokens,
        )
    return tr(
        "The breakpoint after {name} ({tokens}) writes the cache for {ttl_s}.",
        name=name,
        tokens=tokens,
        ttl_s=lifetime(ttl_s),
    )


def _lifetime(own: Outlook, ttl_s: int) -> str:
    offer = own.offers.get(ttl_s)
    if offer is None:
        return tr("The provider keeps the cache for {duration} (its time to live).", duration=lifetime(ttl_s))
    share = round(100 * offer.alive)
    return tr(
        "The program chose {ttl_s}: {share} % of your turns should find the cache warm.",
        ttl_s=lifetime(ttl_s),
        share=share,
    )
