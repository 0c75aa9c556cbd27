"""Standing of a discussion's cache as one value: all that a person must know of what is held, until when, and what the next send pays.

Every front end derives its sentences from it, so that no two of them can contradict. Pure.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from itertools import islice

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.stored_texts import retold
from core.kernel.values.cache import DiscussionCacheState, Rewrite, has_price
from core.kernel.values.discussion import SentBreak
from core.kernel.values.messages import Message
from core.kernel.values.stack import ContextChange, LayerId
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.services.spending.estimates import NextRequest, change_usd, next_request
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


# Breaks of a discussion's warm prefix, what they cost, and what the next send would pay again: one value
# for every front end. Pure.


class Coming(msgspec.Struct, frozen=True):
    """A part of what was sent that the next request pays for again, or appends.

    Args:
        text: with tokens and price; costs: something is paid again, so that it is worth a warning.
    """

    text: str
    costs: bool


class CacheWhy(msgspec.Struct, frozen=True):
    """Reasons for what a discussion's cache has cost and will cost.

    Args:
        breaks: requests that parted from the one before them, the newest last; is_last: the last request is one of them.
        missed: why the last request read less than was expected; is_over: what is held now is read again.
        coming: None where the next request extends the last one, as far as is known.
        request: the next one by its one estimate; reasons: of its cache plan, a sentence each.
    """

    breaks: tuple[SentBreak, ...] = ()
    is_last: bool = False
    missed: str = ""
    is_over: bool = False
    coming: Coming | None = None
    request: NextRequest | None = None
    reasons: tuple[str, ...] = ()

    @property
    def broken(self) -> str:
        """Sentence on what the last request paid again, and why; empty where it extended the one before."""
        return self.breaks[-1].text if self.is_last else ""


def why_of(state: AppState, discussion_id: str) -> CacheWhy:
    """Reasons for a discussion, as far as its log is loaded and its next request was planned."""
    opened, plan = state.discussions.open.get(discussion_id), state.caching.plans.get(discussion_id)
    cache = state.caching.caches.get(discussion_id)
    known = () if opened is None else opened.breaks
    breaks = tuple(replace(one, text=retold(one.text)) for one in known)
    last = None if opened is None else opened.last_request
    row = state.discussions.summaries.get(discussion_id)
    is_own = last is not None and row is not None and row.meta.model in ("", last.model)
    return CacheWhy(
        breaks=breaks,
        is_last=bool(breaks) and is_own and last is not None and breaks[-1].request_id == last.id,
        missed=retold(state.caching.miss_reasons.get(discussion_id, "")),
        is_over=cache is not None and is_alive(cache, state.now),
        coming=_coming(state, discussion_id),
        request=next_request(state, discussion_id),
        reasons=() if plan is None else plan.sentences,
    )


def next_words(why: CacheWhy) -> str:
    """Sentence on the next send: tokens that it reads and pays for anew; empty where it was not planned."""
    request = why.request
    if request is None:
        return ""
    anew = request.write_tokens_est + request.fresh_tokens_est
    if not request.read_tokens_est:
        return tr(
            "The next message sends {tokens_est} tokens, none of them from the cache; the message costs {cost_usd}.",
            tokens_est=fmt.tokens_est(request.tokens_est, is_exact=request.is_exact),
            cost_usd=fmt.estimated(request.cost_usd),
        )
    return tr(
        "The next message sends {tokens_est} tokens. The cache provides {read_tokens_est}, but not the other {anew}; the message costs {cost_usd}.",
        tokens_est=fmt.tokens_est(request.tokens_est, is_exact=request.is_exact),
        read_tokens_est=fmt.tokens(request.read_tokens_est),
        anew=fmt.tokens(anew),
        cost_usd=fmt.estimated(request.cost_usd),
    )


def _coming(state: AppState, discussion_id: str) -> Coming | None:
    report = state.context.reports.get(discussion_id)
    change = report.change if report is not None else None
    rewrite = state.caching.rewrites.get(discussion_id)
    if rewrite is not None and not is_busy(state, discussion_id) and not _is_before_knowledge(change):
        return _rewritten(rewrite)
    if report is None or change is None or discussion_id not in state.caching.caches:
        return None
    if not _is_rewritten(state, change):
        return None
    counted = fmt.tokens_est(change.rewritten_tokens_est, is_exact=report.is_exact)
    usd, why = change_usd(state, discussion_id), f": {change.reason}" if change.reason else ""
    text = tr(
        "The next turn rewrites the cache{why} ({counted} tokens, {usd})",
        why=why,
        counted=counted,
        usd=fmt.money(usd),
    )
    return Coming(text=text, costs=usd != 0)


def _rewritten(rewrite: Rewrite) -> Coming:
    what = (
        tr("The next message carries this change")
        if rewrite.is_appended
        else tr("The next turn rewrites the cache")
    )
    text = f"{what}: {rewrite.why} ({rewrite_text(rewrite)})"
    return Coming(text=text, costs=has_price(rewrite) and not rewrite.is_appended)


def rewrite_text(rewrite: Rewrite) -> str:
    """Tokens and cost of a rewrite: `≈12.3k tokens, est. $0.041`."""
    return tr(
        "{tokens} tokens, {cost_usd}",
        tokens=fmt.tokens_est(rewrite.tokens),
        cost_usd=estimate_text(rewrite.cost_usd, rewrite.most_usd),
    )


def estimate_text(cost_usd: float | None, most_usd: float | None) -> str:
    """An expected cost in words, with its upper bound."""
    if cost_usd is None:
        return fmt.money(None)
    shown = tr("free") if cost_usd <= 0 else fmt.estimated(cost_usd)
    if most_usd is None or most_usd <= cost_usd:
        return shown
    return tr("{cost}, up to {most_usd}", cost=shown, most_usd=fmt.money(most_usd))


def _is_before_knowledge(change: ContextChange | None) -> bool:
    """True if something that stands before layer 7 changed, so that it tells of all that is rewritten."""
    return change is not None and change.layer is not None and change.layer < LayerId.KNOWLEDGE


def _is_rewritten(state: AppState, change: ContextChange) -> bool:
    """True if a change voids what is cached: not what comes anew with every turn, nor what is appended.

    Of a change of knowledge `state.caching.rewrites` tells, and only while there is something to lose.
    """
    if change.layer in {None, LayerId.KNOWLEDGE, LayerId.METADATA, LayerId.USER}:
        return False
    is_curated = change.layer in {LayerId.FILE_SET, LayerId.FILE_DETAILS}
    return not (is_curated and state.config.settings.caching.appends_changes)
