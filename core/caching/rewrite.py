"""Which warm discussions a change of knowledge will rewrite on their next turn: how much of them, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.caching.decision import Market
from core.caching.ledger import hits
from core.caching.warmth import is_warm
from core.providers.blocks import CountTokens, Wire
from core.values.cache import (
    CacheLedgerEntry,
    CachePrices,
    DiscussionCache,
    DiscussionCacheState,
    LedgerScope,
    Mechanism,
    Rewrite,
    SentKnowledge,
    SentPart,
)
from core.values.provider import ProviderRequest
from core.values.stack import LayerId, Segment

DIGEST_KEY = "7/digest"


def sent_knowledge(
    request: ProviderRequest,
    wire: Wire,
    live: Mapping[str, CacheLedgerEntry],
    scope: LedgerScope,
    prices: CachePrices,
) -> SentKnowledge:
    """Layer 7 of a request that was sent, and what of its cache another layer 7 would leave.

    Marks, breakpoints and stored contents are read whole or not at all: of them only an entry that ends before the
    layer is left. A provider that caches by itself reads up to the first difference.

    Args:
        wire: of the request; live: entries of its scope.
    """
    layer = [segment for segment in request.system if segment.layer is LayerId.KNOWLEDGE]
    first = len(request.tools) + len(request.system) - len(layer)
    start, end = _ends(wire, first), _ends(wire, first + len(layer))
    found = hits(live, wire)
    kept = max((hit.tokens for hit in found if hit.index < first), default=0)
    deepest = live[found[0].prefix_hash] if found else None
    return SentKnowledge(
        scope,
        sent_parts(layer),
        tokens=end - start,
        kept_tokens=start if prices.mechanism is Mechanism.IMPLICIT else kept,
        ttl_s=deepest.ttl_s if deepest is not None else 0,
        expires_at=deepest.expires_at if deepest is not None else None,
    )


def sent_parts(layer: Sequence[Segment]) -> tuple[SentPart, ...]:
    """The pieces of layer 7 by what they say."""
    return tuple(SentPart(segment.key, segment.sha256) for segment in layer)


def rewrite_of(
    cache: DiscussionCache, layer: Sequence[Segment], market: Market, *, is_kept: bool
) -> Rewrite | None:
    """What a discussion's next turn writes anew, None where nothing, or where the cache is cold anyway.

    Args:
        layer: 7 as the next request would send it; is_kept: nothing but another prompt ends what is held.
    """
    state, sent = cache.state, cache.sent
    if state is None or sent is None or not is_warm(state, market.now):
        return None
    until = None if is_kept and state.expires_at is None else state.expires_at or sent.expires_at
    if until is not None and until <= market.now:
        return None
    return rewrite_due(sent, state, layer, market.scope, market.prices, market.count, until)


def rewrite_due(
    sent: SentKnowledge,
    cache: DiscussionCacheState,
    layer: Sequence[Segment],
    scope: LedgerScope,
    prices: CachePrices,
    count: CountTokens,
    until: datetime | None,
) -> Rewrite | None:
    """What the next turn writes anew because layer 7 is not what was sent.

    Args:
        cache: of the discussion, warm; layer: 7 as the next request would send it; scope: that it would be sent to.
        count: tokens of a part; until: when the cache is cold, None where the provider manages that.

    Returns:
        None where the layer says the same, nothing behind its start is cached, or another provider, model or
        effort answers next and reads nothing of it in any case.
    """
    parts = sent_parts(layer)
    lost = cache.tokens_cached - sent.kept_tokens
    if parts == sent.parts or scope != sent.scope or lost <= 0:
        return None
    tokens = max(0, lost - sent.tokens) + sum(count(segment) for segment in layer)
    cost = None
    if prices.input_usd is not None:
        more = tokens * prices.write_at(sent.ttl_s) - lost * prices.read
        cost = max(0.0, more) * prices.input_usd
    return Rewrite(cache.discussion_id, why_changed(sent.parts, parts), tokens, cost, until)


def why_changed(before: Sequence[SentPart], after: Sequence[SentPart]) -> str:
    """What of layer 7 is different, in words."""
    old, new = ({part.key: part.sha256 for part in parts} for parts in (before, after))
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if old and not new:
        return "knowledge is off"
    if new and not old:
        return "knowledge is on"
    words = []
    if DIGEST_KEY in changed:
        words.append("the digest is gone" if DIGEST_KEY not in new else "the digest changed")
    notes = [key for key in changed if key != DIGEST_KEY]
    if notes:
        words.append(_notes(notes))
    return " and ".join(words) or "knowledge changed"


def _notes(keys: Sequence[str]) -> str:
    if len(keys) > 1:
        return f"notes on {len(keys)} files changed"
    return f"notes on {keys[0].rpartition('/')[2]} changed"


def _ends(wire: Wire, count: int) -> int:
    """Tokens of so many leading blocks."""
    return wire.ends[count - 1] if count else 0
