"""Sample states of caches: warm, managed by the provider, expired, switched off, with usage by turn."""

from __future__ import annotations

import math
from datetime import timedelta

from msgspec.structs import replace

from core.kernel.structures import with_entry
from core.kernel.values.cache import CacheOrphan, CachePlan, DiscussionCacheState, Rewrite
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Entry
from core.kernel.values.settings import AiSettings, CachingSettings, Settings
from core.kernel.values.state import AppState, ProviderTotals
from core.kernel.values.usage import Usage
from tests.panels import states
from tests.state_fields import with_fields

LEFT = timedelta(minutes=4, seconds=32)
MISSED = "the tools changed, so everything behind them was written again"


def cached(discussion_id: str, provider: str, **changes: object) -> DiscussionCacheState:
    """What a provider holds, warm for 4:32."""
    warm = DiscussionCacheState(
        discussion_id, provider, states.NOW - timedelta(minutes=2), states.NOW + LEFT, 14, 11_900
    )
    return replace(warm, **changes)  # type: ignore[arg-type]


def caches() -> dict[str, DiscussionCacheState]:
    """One in every condition."""
    return {
        "d1": cached("d1", "anthropic"),
        "d2": cached("d2", "gemini", expires_at=None, tokens_cached=9_100, hit_count=3),
        "d3": cached("d3", "anthropic", expires_at=states.NOW - timedelta(minutes=1), hit_count=1),
        "d5": cached("d5", "openai", expires_at=None, tokens_cached=3_300, hit_count=6),
    }


def plan(**changes: object) -> CachePlan:
    """What the next request is expected to read and write."""
    known = CachePlan(
        read_tokens=11_900, write_tokens=900, fresh_tokens=320, cost_usd=0.0135, cost_without_usd=0.0656,
        superseded_tokens=1_240,
        sentences=(
            "A mark behind the stable layers (5,810 tokens) costs nothing and keeps that prefix alive.",
            "The breakpoint after your message (13,100 tokens) writes the cache for 5 min.",
            "The program chose 5 min: 84 % of your turns should find the cache warm.",
        ),
    )  # fmt: skip
    return replace(known, **changes)  # type: ignore[arg-type]


def talk(turns: int = 24) -> tuple[Entry, ...]:
    """A conversation whose replies tell their usage: two misses, one reply that reported nothing."""
    entries: list[Entry] = []
    for turn in range(1, turns + 1):
        sent = 4_000 + 520 * turn
        share = 0.0 if turn in (1, 13) else 0.95 - 0.5 * math.exp(-turn / 3)
        read = None if turn == 8 else round(sent * share)
        cost = (sent - 0.9 * (read or 0)) * 5e-6 + 0.004
        usage = Usage(sent, 400, read, 500, cost_usd=cost)
        entries.append(states.user(f"u{turn}", f"Question {turn}?"))
        entries.append(states.reply(f"a{turn}", f"Answer {turn}.", usage=usage))
    return tuple(entries)


def totals() -> dict[str, ProviderTotals]:
    """Two providers that were used, one whose prices nobody knows."""
    return {
        "anthropic": ProviderTotals("anthropic", Usage(340, 20, 80, 100, cost_usd=0.4), 1.94),
        "gemini": ProviderTotals("gemini", Usage(18_400, 20, None, None)),
    }


def caching(**changes: object) -> AppState:
    """A normal day with caches."""
    state = states.working(
        caches=caches(),
        plans={"d1": plan()},
        miss_reasons={"d1": MISSED},
        totals=totals(),
        spent_today_usd=1.25,
        settings=Settings(
            ai=AiSettings(spend_limit_usd=5.0),
            caching=CachingSettings(day_limit_usd=10.0),
        ),
    )
    opened = replace(state.discussions.open["d1"], entries=talk())
    state = replace(
        state, discussions=replace(state.discussions, open=with_entry(state.discussions.open, "d1", opened))
    )
    return with_fields(state, **changes)


def fresh() -> AppState:
    """Nothing was sent yet: a plan for the first request, no usage anywhere."""
    state = states.working(plans={"d1": plan(read_tokens=0, write_tokens=12_800, sentences=())})  # fmt: skip
    return replace(
        state,
        discussions=replace(
            state.discussions, open=with_entry(state.discussions.open, "d1", OpenDiscussion("d1"))
        ),
    )


def orphans() -> tuple[CacheOrphan, ...]:
    """Stored prefixes of discussions that are gone, one of them in the trash, one of a model without a price."""
    first = CacheOrphan(
        "gemini",
        "cachedContents/4f1c",
        "20261118-091204-tidesx",
        "gemini-3.8-flash",
        38_400,
        states.NOW + timedelta(minutes=47),
        0.0192,
    )
    return (
        first,
        replace(first, name="cachedContents/77ab", discussion_id="", tokens=9_200, usd_per_hour=0.0046),
        replace(first, name="cachedContents/90de", model="gemini-9", tokens=5_100, usd_per_hour=None),
    )


def rewrites() -> dict[str, Rewrite]:
    """Warm discussions that a change of knowledge rewrites: priced, of unknown price, free."""
    until = states.NOW + LEFT
    return {
        "d1": Rewrite("d1", "the digest changed", 12_300, 0.0414, until),
        "d2": Rewrite("d2", "the digest changed and notes on tides.py changed", 9_400, None),
        "d5": Rewrite("d5", "notes on 3 files changed", 3_500, 0.0, until),
    }


def with_price_of_deletion(state: AppState) -> AppState:
    """A state in which a warm discussion holds knowledge: taking something out of it costs."""
    name = next(iter(state.discussions.summaries))
    held = DiscussionCacheState(name, "anthropic", states.NOW, states.NOW + LEFT, tokens_cached=12_000)
    price = Rewrite(name, "", 12_300, 0.0414, states.NOW + LEFT)
    less = replace(price, tokens=11_400, cost_usd=0.0321)
    found = replace(state.caching, caches={name: held}, withdrawals={name: price}, switch_offs={name: less})
    return replace(state, caching=found)


def due(**changes: object) -> AppState:
    """A harvest has changed the digest, and a crash has left stored prefixes."""
    state = caching(orphans=orphans(), rewrites=rewrites(), reports={})
    return with_fields(state, **changes)


def many(count: int = 10_000) -> AppState:
    """As many cached discussions as a person could ever have."""
    state = states.many(count)
    held = {name: cached(name, "anthropic") for name in state.discussions.summaries}
    return replace(state, caching=replace(state.caching, caches=held, totals=totals()))
