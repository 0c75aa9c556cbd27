"""Cost of a change of layers 6 and 7 in a warm discussion's next turn: appended, or written anew with all behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.caching.decision import Decision, Market
from core.caching.ledger import hits
from core.caching.view import DIGEST_KEY, carried_pieces, deletion, delta_tokens, updates, visible_known
from core.caching.warmth import is_warm
from core.context.pieces import Piece
from core.context.stack import AggregateStack
from core.context.wire import layer_of
from core.providers.blocks import Wire
from core.values.cache import (
    CacheLedgerEntry,
    CachePrices,
    DiscussionCache,
    LedgerScope,
    Mechanism,
    Rewrite,
    RewriteCosts,
    SentKnowledge,
    SentPart,
)
from core.values.stack import LayerId, Segment
from core.values.view import BaseFile, ContextView, ViewDelta

_PROJECT, _KNOWLEDGE = LayerId.PROJECT, LayerId.KNOWLEDGE


def sent_knowledge(
    decision: Decision, live: Mapping[str, CacheLedgerEntry], scope: LedgerScope, prices: CachePrices
) -> SentKnowledge:
    """Layers 6 and 7 as a request that was sent tells them, and what of its cache another layer 7 would leave.

    Marks, breakpoints and stored contents are read whole or not at all: of them only an entry that ends before the
    layer is left. A provider that caches by itself reads up to the first difference.

    Args:
        live: entries of its scope.
    """
    request, wire, view = decision.request, decision.wire, decision.view
    layer = [segment for segment in request.system if segment.layer is _KNOWLEDGE]
    first = len(request.tools) + len(request.system) - len(layer)
    start, end = _ends(wire, first), _ends(wire, first + len(layer))
    found = hits(live, wire)
    kept = max((hit.tokens for hit in found if hit.index < first), default=0)
    deepest = live[found[0].prefix_hash] if found else None
    known = visible_known(view)
    parts = _parts(known, _KNOWLEDGE)
    return SentKnowledge(
        scope,
        parts,
        tokens=end - start,
        kept_tokens=start if prices.mechanism is Mechanism.IMPLICIT else kept,
        ttl_s=deepest.ttl_s if deepest is not None else 0,
        expires_at=deepest.expires_at if deepest is not None else None,
        documents=_parts(known, _PROJECT),
        superseded=tuple(part for part in _parts(carried_pieces(view), _KNOWLEDGE) if part not in parts),
        withdrawals=view.base.withdrawals,
    )


def holds_withdrawn(sent: SentKnowledge, withdrawals: int, *, is_on: bool) -> bool:
    """True if a request may have sent what was taken out of knowledge since.

    Args:
        withdrawals: how often something was taken out until now; is_on: layer 7 is sent at all.
    """
    return bool(sent.parts or sent.superseded) and (not is_on or sent.withdrawals != withdrawals)


def rewrite_costs(
    cache: DiscussionCache,
    discussion_id: str,
    stack: AggregateStack,
    market: Market,
    view: ContextView | None = None,
    *,
    is_kept: bool,
) -> RewriteCosts:
    """Costs of the changes that were made in a discussion's next turn, and those of a deletion.

    Args:
        stack: layers 6 and 7 as the next request would send them; is_kept: nothing but another prompt ends what is
            held.
        view: as the last request showed these layers, None where it was not read: changes count whole.
    """
    state, sent = cache.state, cache.sent
    if state is None or sent is None or sent.scope != market.scope or not is_warm(state, market.now):
        return RewriteCosts(discussion_id)
    until = None if is_kept and state.expires_at is None else state.expires_at or sent.expires_at
    if until is not None and until <= market.now:
        return RewriteCosts(discussion_id)
    layer = stack.layer(_KNOWLEDGE).segments
    lost = state.tokens_cached - sent.kept_tokens
    if lost <= 0:
        return RewriteCosts(discussion_id)
    whole = _rewritten(discussion_id, sent, lost, layer, market, until)
    has_knowledge = bool(sent.parts or sent.superseded)
    return RewriteCosts(
        discussion_id,
        _due(sent, stack, whole, market, view or ContextView()),
        whole if has_knowledge else None,
    )


def why_changed(before: Sequence[SentPart], after: Sequence[SentPart]) -> str:
    """Reasons why layers 6 and 7 are different, in words."""
    old, new = ({part.key: part.sha256 for part in parts} for parts in (before, after))
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    documents = [key for key in changed if layer_of(key) == _PROJECT]
    words = [_said(documents, new)] if documents else []
    notes = [key for key in changed if key != DIGEST_KEY and key not in documents]
    if DIGEST_KEY in changed:
        words.append(_digest(old, new))
    if notes:
        words.append(_notes(notes))
    return " and ".join(words) or "knowledge changed"


def _due(
    sent: SentKnowledge, stack: AggregateStack, whole: Rewrite, market: Market, view: ContextView
) -> Rewrite | None:
    """Cost of the changes that were made: appended where nothing was deleted and that is cheaper."""
    layers = (_PROJECT, _KNOWLEDGE) if sent.documents is not None else (_KNOWLEDGE,)
    now = [piece for layer in layers for piece in stack.layer(layer).pieces]
    before, after = (*(sent.documents or ()), *sent.parts), sent_parts(now)
    gone = _gone(sent, stack, before, after)
    if gone:
        return _with(whole, gone)
    if set(before) == set(after):
        return None
    why = why_changed(before, after)
    changed = [piece for piece in now if SentPart(piece.key, piece.sha256) not in before]
    tokens = delta_tokens(ViewDelta("", updates(view, changed)), market.count)
    if not market.settings.appends_changes or not market.settings.is_enabled:
        return _with(whole, why)
    usd = market.prices.input_usd
    cost = None if usd is None else tokens * market.prices.write_at(sent.ttl_s) * usd
    if cost is not None and whole.cost_usd is not None and whole.cost_usd <= cost:
        return _with(whole, why)
    return Rewrite(whole.discussion_id, why, tokens, cost, whole.until, is_appended=True)


def sent_parts(pieces: Sequence[Piece | Segment | BaseFile]) -> tuple[SentPart, ...]:
    """Pieces of layers 6 and 7 by what they say."""
    return tuple(SentPart(piece.key, piece.sha256) for piece in pieces)


def _gone(
    sent: SentKnowledge, stack: AggregateStack, before: Sequence[SentPart], after: Sequence[SentPart]
) -> str:
    """Deletions in words, empty where there is none; by the rule of `view.withdrawn`."""
    if any(part.key == DIGEST_KEY for part in before) and not stack.layer(_KNOWLEDGE).pieces:
        return "knowledge is off"
    if words := deletion((part.key for part in before), stack):
        return words
    said = {part.sha256 for part in after}
    is_left = any(part.sha256 not in said for part in (*sent.parts, *sent.superseded))
    return "something was taken out of knowledge" if sent.withdrawals != stack.withdrawals and is_left else ""


def _rewritten(
    discussion_id: str,
    sent: SentKnowledge,
    lost: int,
    layer: Sequence[Segment],
    market: Market,
    until: datetime | None,
) -> Rewrite:
    """Layer 7 and all that is cached behind it, written anew."""
    tokens = max(0, lost - sent.tokens) + sum(map(market.count, layer))
    cost, prices = None, market.prices
    if prices.input_usd is not None:
        more = tokens * prices.write_at(sent.ttl_s) - lost * prices.read
        cost = max(0.0, more) * prices.input_usd
    return Rewrite(discussion_id, "", tokens, cost, until)


def _with(whole: Rewrite, why: str) -> Rewrite:
    return Rewrite(whole.discussion_id, why, whole.tokens, whole.cost_usd, whole.until)


def _parts(pieces: Sequence[BaseFile], layer: LayerId) -> tuple[SentPart, ...]:
    return sent_parts([piece for piece in pieces if layer_of(piece.key) == layer])


def _digest(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    if DIGEST_KEY not in new:
        return "the digest is gone"
    return "the digest changed" if DIGEST_KEY in old else "knowledge is on"


def _said(keys: Sequence[str], new: Mapping[str, str]) -> str:
    """Documents of layer 6 that changed."""
    if len(keys) > 1:
        return f"{len(keys)} identity files changed"
    return f"{keys[0].partition('/')[2]} {'changed' if keys[0] in new else 'is gone'}"


def _notes(keys: Sequence[str]) -> str:
    if len(keys) > 1:
        return f"notes on {len(keys)} files changed"
    return f"notes on {keys[0].rpartition('/')[2]} changed"


def _ends(wire: Wire, count: int) -> int:
    """Tokens of so many leading blocks."""
    return wire.ends[count - 1] if count else 0
