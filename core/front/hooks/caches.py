"""Caches over HTTP: what is known of each discussion's, and switching it."""

from __future__ import annotations

from typing import Any, get_args

from core.app.app_messages import Command
from core.app.warm_loss import warm_loss
from core.front.hooks.fields import (
    Count,
    Data,
    Figure,
    Money,
    RefusedError,
    Time,
    UpkeepData,
    UsageData,
    filled,
    unknown,
)
from core.front.hooks.operation import NO_DISCUSSION, Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.state import AppState, ProviderTotals
from core.talk.caching.accounts import Expiries, newest_expiries, provider_line, used_providers
from core.talk.caching.caching_messages import CachingCommand, DisableCaching, EnableCaching, InvalidateCache
from core.talk.caching.caching_step import abilities_of
from core.talk.caching.contents import living
from core.talk.caching.warmth import next_words, why_of


class AbilitiesData(Data, frozen=True):
    """Abilities of the discussion's provider, with the reasons for those it lacks."""

    can_disable: bool
    can_invalidate: bool
    can_set_ttl: bool
    disable_text: str
    invalidate_text: str


class RewriteData(Data, frozen=True):
    """Cost of changes of layers 6 or 7, which the next turn sends anew. Null cost: the price is not known.

    `most_usd`: where the provider kept less than it was asked to, null where that is the same.
    `is_appended`: what was sent stays, and the change joins the next message.
    """

    why: str
    tokens: Count
    cost_usd: Money
    most_usd: Money
    until: Time | None
    is_appended: bool


class BreakData(Data, frozen=True):
    """A request that did not begin with all that the one before it sent. `text`: layer, byte, reason, tokens and price."""

    at: Time
    model: str
    text: str


class WhyData(Data, frozen=True):
    """Reasons for what a cache has cost and will cost, as `manual-slop why` tells them. Null: not known, or nothing.

    `breaks`: the newest last; `missed`: why the last request read less than was expected; `coming`: what the next request pays
    for again, or appends; `next`: what it reads and costs, in a sentence; `reasons`: of its plan.
    """

    discussion_id: str
    breaks: list[BreakData]
    missed: str
    coming: str
    next: str
    reasons: list[str]


class CacheData(Data, frozen=True):
    """Knowledge of a discussion's cache. Null: not known, or nothing there; never an invented figure."""

    discussion_id: str
    name: str
    provider: str
    model: str
    caching_enabled: bool
    cache_epoch: Count
    cached_by: str | None
    cached_at: Time | None
    expires_at: Time | None
    long_until: Time | None
    long_tokens: Figure
    hit_count: Figure
    tokens_cached: Figure
    last_invalidated_at: Time | None
    last_miss_reason: str
    input_tokens: Figure
    cache_read_tokens: Figure
    cache_write_tokens: Figure
    upkeep: UpkeepData
    abilities: AbilitiesData | None
    rewrite: RewriteData | None

    @classmethod
    def of(cls, state: AppState, row: DiscussionSummary) -> CacheData:
        """The cache of a row of the list."""
        held, usage, chosen = state.caching.caches.get(row.meta.id), row.usage, row.meta.id
        abilities, rewrite = abilities_of(state, chosen), state.caching.rewrites.get(chosen)
        return filled(
            cls,
            row.meta,
            discussion_id=chosen,
            cached_by=None if held is None else held.provider,
            cached_at=None if held is None else held.cached_at,
            expires_at=None if held is None else held.expires_at,
            long_until=None if held is None else held.long_until,
            long_tokens=None if held is None else held.long_tokens,
            hit_count=None if held is None else held.hit_count,
            tokens_cached=None if held is None else held.tokens_cached,
            last_invalidated_at=None if held is None else held.last_invalidated_at,
            last_miss_reason=state.caching.miss_reasons.get(chosen, ""),
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            upkeep=UpkeepData.of(row.upkeep),
            abilities=None if abilities is None else filled(AbilitiesData, abilities),
            rewrite=None if rewrite is None else filled(RewriteData, rewrite),
        )


class OrphanData(Data, frozen=True):
    """A prefix that is stored, and billed, for a discussion that is gone. Null rent: the price is not known."""

    provider: str
    name: str
    discussion_id: str
    model: str
    tokens: Count
    expires_at: Time
    usd_per_hour: Money


class ProviderCacheData(Data, frozen=True):
    """Cache of a provider since the program started. `line`: `[Anthropic] in:340 cache:80 hit:23% ttl:4:32`.

    `saved_usd`: what the same calls would have cost more without caching, null where a price is unknown. `upkeep`: the
    pings, prewarms and rent among `usage`.
    """

    provider: str
    line: str
    usage: UsageData
    saved_usd: Money
    upkeep: UpkeepData

    @classmethod
    def of(cls, state: AppState, newest: Expiries, provider: str) -> ProviderCacheData:
        """The provider's line and money; zero before its first call."""
        totals = state.caching.totals.get(provider, ProviderTotals(provider=provider, saved_usd=0.0))
        line = provider_line(state, newest, provider)
        usage, upkeep = UsageData.of(totals.usage), UpkeepData.of(totals.upkeep)
        return cls(provider=provider, line=line, usage=usage, saved_usd=totals.saved_usd, upkeep=upkeep)


class CachesData(Data, frozen=True):
    """Every cache, the tokens read from each provider's caches, and caches left by deleted discussions."""

    caches: list[CacheData]
    providers: list[ProviderCacheData]
    orphans: list[OrphanData]


async def list_caches(request: Request[None]) -> Answer:
    """The caches of all discussions, newest discussion first, and what is stored of those that are gone."""
    state = request.state
    orphans = [filled(OrphanData, orphan) for orphan in living(state.caching.orphans, state.now)]
    newest = newest_expiries(state.caching.caches)
    providers = [ProviderCacheData.of(state, newest, name) for name in used_providers(state, newest)]
    return Answer(
        data=CachesData(
            caches=[CacheData.of(state, row) for row in request.rows()], providers=providers, orphans=orphans
        )
    )


async def get_cache(request: Request[None]) -> Answer:
    """The cache of one discussion."""
    return Answer(data=CacheData.of(request.state, request.row()))


async def why_cache(request: Request[None]) -> Answer:
    """Reasons why the cache of a discussion was missed, and what its next message will cost."""
    opened = await request.opened()
    why = why_of(request.state, opened.id)
    return Answer(
        data=WhyData(
            discussion_id=opened.id,
            breaks=[filled(BreakData, one) for one in why.breaks],
            missed=why.missed,
            coming="" if why.coming is None else why.coming.text,
            next=next_words(why),
            reasons=list(why.reasons),
        )
    )


def kept_warm(request: Request[Any], command: Command, *, keeps: bool) -> str:
    """Loss of a warm cache by a command, in a sentence; empty where there is none.

    Raises:
        RefusedError: 409 there is one, and the caller asked to keep it.
    """
    loss = warm_loss(request.state, command)
    if loss is None:
        return ""
    if keeps:
        raise RefusedError(409, "warm_cache", loss.sentence, tr("To do this anyway, leave out `keeps_cache`"))
    return loss.sentence


async def invalidate_cache(request: Request[None]) -> Answer:
    """Let the next request share no prefix with what was sent before."""
    chosen = _cached_row(request, "can_invalidate", "invalidate_text")
    epoch, before = request.row().meta.cache_epoch, request.state.caching.caches.get(chosen)

    def is_forgotten(now: AppState) -> bool:
        row, held = now.discussions.summaries.get(chosen), now.caching.caches.get(chosen)
        is_told = before is None or held is None or held.last_invalidated_at != before.last_invalidated_at
        return row is None or (row.meta.cache_epoch > epoch and is_told)

    return _cache_answer(await request.do(InvalidateCache(chosen), is_forgotten), chosen)


async def disable_caching(request: Request[None]) -> Answer:
    """Cache nothing more of this discussion."""
    chosen = _cached_row(request, "can_disable", "disable_text")
    state = await request.do(DisableCaching(chosen), lambda now: not _is_cached(now, chosen))
    return _cache_answer(state, chosen)


async def enable_caching(request: Request[None]) -> Answer:
    """Cache this discussion again."""
    request.check_writable()
    chosen = request.row().meta.id
    state = await request.do(
        EnableCaching(chosen), lambda now: chosen not in now.discussions.summaries or _is_cached(now, chosen)
    )
    return _cache_answer(state, chosen)


def _cached_row(request: Request[None], ability: str, text: str) -> str:
    """The discussion's id, where its provider can do what is asked. Raises RefusedError (404, 409)."""
    chosen = request.row().meta.id
    request.check_writable()
    abilities = abilities_of(request.state, chosen)
    if abilities is not None and not getattr(abilities, ability):
        raise RefusedError(
            409, "not_possible", getattr(abilities, text), tr("Choose another provider or model")
        )
    return chosen


def _is_cached(state: AppState, chosen: str) -> bool:
    return chosen in state.discussions.summaries and state.discussions.summaries[chosen].meta.caching_enabled


def _cache_answer(state: AppState, chosen: str) -> Answer:
    row = state.discussions.summaries.get(chosen)
    if row is None:
        raise unknown("discussion", chosen, tr("The discussion was deleted meanwhile"))
    return Answer(data=CacheData.of(state, row))


_ONE = "/api/cache/{discussion_id}"
_ANSWER = {200: CacheData}
_ERRORS = {404: NO_DISCUSSION, 409: "the provider cannot do this, or the data folder is read-only"}

RESOURCE = Resource(
    operations=(
        operation("GET", "/api/cache", list_caches, {200: CachesData}),
        operation("GET", _ONE, get_cache, _ANSWER, {404: NO_DISCUSSION}),
        operation("GET", f"{_ONE}/why", why_cache, {200: WhyData}, {404: NO_DISCUSSION}),
        operation("POST", f"{_ONE}/invalidate", invalidate_cache, _ANSWER, _ERRORS),
        operation("POST", f"{_ONE}/disable", disable_caching, _ANSWER, _ERRORS),
        operation("POST", f"{_ONE}/enable", enable_caching, _ANSWER, _ERRORS),
    ),
    panels={"caching": get_args(CachingCommand)},
)
