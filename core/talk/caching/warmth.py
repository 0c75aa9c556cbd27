"""Standing of a discussion's cache as one value: all that a person must know of what is held, until when, and what the next send pays.

Every front end derives its sentences from it, so that no two of them can contradict. Pure.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from itertools import islice

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.messages import Message
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.services.spending.estimates import NextRequest, next_request
from core.talk.caching.accounts import held_tokens, is_alive, last_expiry, warm_until

RECENT = 8
"""Number of messages back in which the last reply's usage is looked for."""
OFFERED_FROM_USD = 0.25
"""A cold send of more than this offers the note once, where the person never chose."""


class CacheStatus(StrEnum):
    """State of what a provider was given of a discussion."""

    NONE = "none"
    """Nothing was cached, as far as is known."""
    HELD = "held"
    ENDED = "ended"


class CacheEnd(msgspec.Struct, frozen=True):
    """End of a part of what is held."""

    at: datetime
    tokens: int


class CacheStanding(msgspec.Struct, frozen=True):
    """Standing of a discussion's cache.

    Args:
        is_on: caching is not turned off for the discussion; provider: id of who holds it or held it.
        tokens: believed to be held; hits: requests that read it.
        ends: of what is held, the larger part first; empty where the provider manages the lifetime.
        ended_at: when the last of it ended. None: not known, or something is held.
        request: the next one by its one estimate; is_planned: a cache plan was made for it.
    """

    status: CacheStatus
    is_on: bool = True
    provider: str = ""
    tokens: int = 0
    hits: int = 0
    ends: tuple[CacheEnd, ...] = ()
    ended_at: datetime | None = None
    request: NextRequest | None = None
    is_planned: bool = False

    @property
    def is_missed(self) -> bool:
        """True if something is held and the next request reads nothing of it: its model, tools or text changed."""
        return self.status is CacheStatus.HELD and self.is_planned and not self.read_tokens

    @property
    def read_tokens(self) -> int:
        """Tokens that the next request is expected to read from a cache, this discussion's or one that it shares."""
        return self.request.read_tokens_est if self.request is not None and self.is_planned else 0


def standing_of(state: AppState, discussion_id: str) -> CacheStanding:
    """Standing of a discussion's cache at `state.now`."""
    cache, row = state.caching.caches.get(discussion_id), state.discussions.summaries.get(discussion_id)
    base = CacheStanding(
        status=CacheStatus.NONE,
        is_on=row is None or row.meta.caching_enabled,
        request=next_request(state, discussion_id),
        is_planned=discussion_id in state.caching.plans,
    )
    if cache is None:
        return base
    held = msgspec.structs.replace(
        base, provider=cache.provider, tokens=held_tokens(cache, state.now), hits=cache.hit_count
    )
    if is_alive(cache, state.now):
        return msgspec.structs.replace(held, status=CacheStatus.HELD, ends=_ends(cache, state.now))
    at = last_expiry(cache)
    if at is None or state.now is None or at > state.now:
        return held
    return msgspec.structs.replace(held, status=CacheStatus.ENDED, ended_at=at)


def _ends(cache: DiscussionCacheState, now: datetime | None) -> tuple[CacheEnd, ...]:
    """Ends of the parts that live, that of the larger part first; one where all of it ends at once."""
    first = warm_until(cache, now)
    if first is None or cache.expires_at is None:
        return ()
    if cache.long_until is None or cache.long_tokens >= cache.tokens_cached or not cache.long_tokens:
        return (CacheEnd(first, held_tokens(cache, now)),)
    if now is not None and min(cache.expires_at, cache.long_until) <= now:
        return (CacheEnd(first, held_tokens(cache, now)),)
    parts = {
        cache.long_until: cache.long_tokens,
        cache.expires_at: cache.tokens_cached - cache.long_tokens,
    }
    return tuple(
        CacheEnd(at, tokens) for at, tokens in sorted(parts.items(), key=lambda one: one[0] != first)
    )


def is_of_model(state: AppState, discussion_id: str) -> bool:
    """True if what is cached of a discussion is its model's: not that of one which was chosen before."""
    cache, row = state.caching.caches.get(discussion_id), state.discussions.summaries.get(discussion_id)
    if cache is None or row is None or cache.provider != row.meta.provider:
        return False
    opened = state.discussions.open.get(discussion_id)
    replies = (one for one in reversed(opened.entries if opened else ()) if isinstance(one, Message))
    recent = islice((one for one in replies if not one.is_deleted), RECENT)
    last = next((one for one in recent if one.usage is not None), None)
    return last is None or (last.provider, last.model) == (row.meta.provider, row.meta.model)


# The note before a cold send: a rule about money, which the composer and the command line only say.


class ColdSend(msgspec.Struct, frozen=True):
    """A send that pays for a whole prefix once more, because its cache has ended.

    Args:
        tokens: that no cache holds; usd: their price, None where unknown; ended_at: of the cache.
        is_offer: the person never said from which amount on they want to know.
    """

    tokens: int
    usd: float | None
    ended_at: datetime
    is_offer: bool = False


def cold_send(state: AppState, discussion_id: str) -> ColdSend | None:
    """The note that is due before a discussion's next send.

    Returns:
        None while something is held, while a turn runs, where the amount of the settings is not passed, or where it is 0. An
        unknown price counts as more than any amount; it alone offers nothing to who never chose an amount.
    """
    standing = standing_of(state, discussion_id)
    request = standing.request
    if standing.ended_at is None or not standing.is_on or request is None or is_busy(state, discussion_id):
        return None
    tokens, usd = request.write_tokens_est + request.fresh_tokens_est, request.new_cost_usd
    amount = state.config.settings.caching.cold_send_usd
    is_offer = amount is None
    if amount == 0 or not tokens or (usd is None and is_offer):
        return None
    if usd is not None and usd <= (OFFERED_FROM_USD if amount is None else amount):
        return None
    return ColdSend(tokens=tokens, usd=usd, ended_at=standing.ended_at, is_offer=is_offer)


def cold_words(state: AppState, cold: ColdSend) -> str:
    """The note in a sentence: `The cache ended 2 hours ago: this send writes ≈120k tokens again, about $0.45.`"""
    cost = tr("at an unknown price") if cold.usd is None else tr("for about {usd}", usd=fmt.money(cold.usd))
    ended = fmt.at_moment(cold.ended_at, state.now)
    return tr(
        "The cache went cold {ended}. The next send pays for {tokens} tokens again, {cost}.",
        ended=ended,
        tokens=fmt.tokens_est(cold.tokens),
        cost=cost,
    )
