"""Cost of a change of layers 6 and 7 in a warm discussion's next turn: appended, or told anew with what stands behind.

A rewrite is priced by the planner: what the next request costs as it was sent last, and with these layers told anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    DiscussionCache,
    Mechanism,
    Rewrite,
    RewriteCosts,
    SentKnowledge,
    SentPart,
)
from core.kernel.values.stack import LayerId
from core.kernel.values.window import BaseFile, ContextView, ViewDelta
from core.services.providers.blocks import Wire
from core.talk.caching.accounts import is_warm, last_expiry
from core.talk.caching.cache_ledger import live_entries
from core.talk.caching.decision import Market
from core.talk.caching.planner import PlanInputs, plan
from core.talk.caching.sent_request import Told, as_sent, canonical, sent_parts, spared
from core.talk.caching.view import DIGEST_KEY, TAKEN_OUT, deletion, delta_tokens, goes_from, updates
from core.talk.context.pieces import Piece
from core.talk.context.stack import AggregateStack
from core.talk.context.wire import layer_of

_PROJECT, _KNOWLEDGE = LayerId.PROJECT, LayerId.KNOWLEDGE
_TAKEN = "taken"
"""Digest of a piece that something was taken out of: it says what was never sent."""

Goes = Callable[[SentPart], bool]


def holds_withdrawn(sent: SentKnowledge, withdrawals: int, *, is_on: bool) -> bool:
    """True if a request may have sent what was taken out of knowledge since.

    Args:
        withdrawals: how often something was taken out until now; is_on: layer 7 is sent at all.
    """
    is_taken = sent.withdrawals != withdrawals
    return (bool(sent.parts or sent.superseded) and (not is_on or is_taken)) or (
        sent.has_recalled and is_taken
    )


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
        return RewriteCosts(discussion_id=discussion_id)
    until = None if is_kept and state.expires_at is None else last_expiry(state) or sent.expires_at
    if until is not None and until <= market.now:
        return RewriteCosts(discussion_id=discussion_id)
    if not sent.places:
        return RewriteCosts(discussion_id=discussion_id)
    has_knowledge = bool(sent.parts or sent.superseded)
    holds_some = has_knowledge or sent.has_recalled
    if not holds_some and not _is_told_otherwise(sent, stack):
        return RewriteCosts(discussion_id=discussion_id)  # nothing changed, and nothing is there to take away
    asked = _Asked(cache, sent, discussion_id, stack, market, until)
    if not asked.is_warm:
        return RewriteCosts(discussion_id=discussion_id)
    due = _due(asked, view or ContextView())
    return RewriteCosts(
        discussion_id=discussion_id,
        due=due,
        withdrawal=_beyond(asked.withdrawal(), due) if holds_some else None,
        switch_off=_beyond(asked.switch_off(), due) if has_knowledge else None,
    )


def _beyond(asked: Rewrite, due: Rewrite | None) -> Rewrite:
    """Rewrite that is asked for, at its cost over that which the next turn pays anyway."""
    if due is None or asked.cost_usd is None or due.cost_usd is None:
        return asked
    cost = max(0.0, asked.cost_usd - due.cost_usd)
    most = None
    if asked.most_usd is not None or due.most_usd is not None:
        most = (asked.most_usd or asked.cost_usd) - (due.most_usd or due.cost_usd)
    most = most if most is not None and most > cost else None
    return replace(asked, tokens=max(0, asked.tokens - due.tokens), cost_usd=cost, most_usd=most)


class _Asked:
    """Prices of one discussion's next turn: as it was sent last, and with layers 6 and 7 told otherwise."""

    def __init__(
        self,
        cache: DiscussionCache,
        sent: SentKnowledge,
        discussion_id: str,
        stack: AggregateStack,
        market: Market,
        until: datetime | None,
    ) -> None:
        self.sent, self.stack, self.market = sent, stack, market
        self._cache, self._name, self._until = cache, discussion_id, until
        self._live = _live(cache.ledger, market, until) | _live(market.ledger, market, until)
        self._tokens = {
            segment.key: market.count(segment)
            for layer in (_PROJECT, _KNOWLEDGE)
            for segment in stack.layer(layer).segments
        }
        self.now = sent_parts([p for layer in (_PROJECT, _KNOWLEDGE) for p in stack.layer(layer).pieces])
        self._wire = as_sent(sent)
        as_it_was = self._plan(self._wire, self._live, sent.superseded_tokens)
        self.is_warm = as_it_was.read_tokens > 0
        self.same = min((self._folded(), as_it_was), key=lambda one: one.outlook)

    def _folded(self) -> CachePlan:
        """As it was sent, what was appended in its place: a turn that does so anyway loses nothing by a deletion."""
        seen = (*(self.sent.documents or ()), *self.sent.parts)
        return self._told(canonical(self.sent, seen, self._tokens), drops=False)

    def rewrite(self, why: str) -> Rewrite:
        """All that was changed is written in its place at once, or what was deleted is left out of the updates."""
        goes, is_taken = goes_from(self.stack, self.sent.withdrawals), _takes_recalled(self.sent, self.stack)
        told = self._rewrite(why, self.now, goes, drops=True, drops_recalled=is_taken)
        return replace(told, is_deletion=True)

    def canonical(self, why: str) -> Rewrite:
        """All that was changed is written in its place, nothing stays appended."""
        return self._rewrite(why, self.now, None)

    def withdrawal(self) -> Rewrite:
        """Something is taken out of knowledge: of the digest where there is one, else of notes."""
        has_digest = any(part.key == DIGEST_KEY for part in self.now)

        def is_taken(key: str) -> bool:
            return key == DIGEST_KEY if has_digest else layer_of(key) == _KNOWLEDGE

        now = tuple(SentPart(p.key, _TAKEN) if is_taken(p.key) else p for p in self.now)
        said = {part.sha256 for part in now}
        goes = self._goes(said, {part.key for part in now})
        return self._rewrite("", now, goes, drops=True, drops_recalled=True)

    def switch_off(self) -> Rewrite:
        """All of layer 7 is taken away."""
        now = tuple(part for part in self.now if layer_of(part.key) != _KNOWLEDGE)
        return self._rewrite("", now, self._goes(set(), {part.key for part in now}), drops=True)

    def appended(self, why: str, tokens: int, cost_usd: float | None) -> Rewrite:
        """It joins the next message."""
        return Rewrite(
            discussion_id=self._name,
            why=why,
            tokens=tokens,
            cost_usd=cost_usd,
            until=self._until,
            is_appended=True,
        )

    def _goes(self, said: set[str], keys: set[str]) -> Goes:
        def goes(part: SentPart) -> bool:
            if layer_of(part.key) == _KNOWLEDGE:
                return part.sha256 not in said
            return part.key not in keys

        return goes

    def _rewrite(
        self,
        why: str,
        now: Sequence[SentPart],
        goes: Goes | None,
        *,
        drops: bool = False,
        drops_recalled: bool = False,
    ) -> Rewrite:
        """The cheapest telling.

        Args:
            drops: what is stored for rent is deleted, for it may hold what goes; drops_recalled: so is what was recalled
                before.
        """
        ways = [canonical(self.sent, now, self._tokens)]
        note = delta_tokens(
            ViewDelta(message_id="", files=(BaseFile(key=DIGEST_KEY, sha256="", text=""),)), self.market.count
        )
        sent = self.sent
        other = (
            None
            if goes is None
            else spared(sent, now, self._tokens, note, goes, drops_recalled=drops_recalled)
        )
        if other is not None:
            ways.append(other)
        chosen = self._cheapest(ways, drops=drops)
        same, cost, most = self.same, None, None
        tokens = chosen.write_tokens + chosen.fresh_tokens - same.write_tokens - same.fresh_tokens
        if chosen.cost_usd is not None and same.cost_usd is not None:
            cost = max(0.0, chosen.cost_usd - same.cost_usd)
        if cost is not None and any(entry.is_unsure for entry in self._live.values()):
            sure = self._cheapest(ways, drops=drops, is_sure=True)
            most = None if sure.cost_usd is None else max(0.0, sure.cost_usd - (same.cost_usd or 0.0))
        most = most if most is not None and cost is not None and most > cost else None
        return Rewrite(
            discussion_id=self._name,
            why=why,
            tokens=max(0, tokens),
            cost_usd=cost,
            until=self._until,
            most_usd=most,
        )

    def _cheapest(self, ways: Sequence[Told], *, drops: bool, is_sure: bool = False) -> CachePlan:
        told = (self._told(way, drops=drops, is_sure=is_sure) for way in ways)
        return min(told, key=lambda one: one.outlook)

    def _told(self, told: Told, *, drops: bool, is_sure: bool = False) -> CachePlan:
        live = self._held(told.kept)
        if is_sure:
            live = {key: entry for key, entry in live.items() if not entry.is_unsure}
        if drops:
            live = {key: e for key, e in live.items() if not e.name or e.discussion_id != self._name}
        return self._plan(told.wire, live)

    def _held(self, kept: int) -> dict[str, CacheLedgerEntry]:
        """Entries that another telling can read.

        A provider that caches by itself reads up to the first difference; of all others the plan marks what is read.
        """
        wire, mechanism = self._wire, self.market.prices.mechanism
        if mechanism is not Mechanism.IMPLICIT or kept < 0:
            return self._live
        held = [self._live[prefix] for prefix in wire.hashes if prefix in self._live]
        deepest = max(held, key=lambda entry: entry.tokens, default=None)
        prefix = wire.hashes[kept]
        if deepest is None or deepest.tokens < wire.ends[kept]:
            return self._live
        return {**self._live, prefix: replace(deepest, prefix_hash=prefix, tokens=wire.ends[kept])}

    def _plan(
        self, wire: Wire, live: Mapping[str, CacheLedgerEntry], superseded_tokens: int = 0
    ) -> CachePlan:
        market = self.market
        ledger = replace(market.ledger, entries={market.scope: live})
        return plan(
            PlanInputs(
                wire=wire,
                scope=market.scope,
                prices=market.prices,
                ledger=ledger,
                gaps=replace(market.gaps, turns=market.gaps.turns + 1),  # of the next turn
                settings=market.settings,
                now=market.now,
                superseded_tokens=superseded_tokens,
                balance=self._cache.balance,
            )
        )


def _live(ledger: CacheLedger, market: Market, until: datetime | None) -> dict[str, CacheLedgerEntry]:
    """Entries that are held; all that were written where nothing but another prompt ends them."""
    if until is not None:
        return dict(live_entries(ledger, market.scope, market.now))
    return {
        key: replace(entry, expires_at=market.now + timedelta(seconds=entry.ttl_s))
        for key, entry in ledger.entries.get(market.scope, {}).items()
    }


def why_changed(before: Sequence[SentPart], after: Sequence[SentPart]) -> str:
    """Reasons why layers 6 and 7 are different, in words."""
    old, new = ({part.key: part.sha256 for part in parts} for parts in (before, after))
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    documents = [key for key in changed if layer_of(key) == _PROJECT]
    words = [_said(documents, old, new)] if documents else []
    notes = [key for key in changed if key != DIGEST_KEY and key not in documents]
    if DIGEST_KEY in changed:
        words.append(_digest(old, new))
    if notes:
        words.append(_notes(notes, old, new))
    return tr(" and ").join(words) or tr("knowledge changed")


def _before(sent: SentKnowledge) -> tuple[SentPart, ...]:
    return (*(sent.documents or ()), *sent.parts)


def _now(sent: SentKnowledge, stack: AggregateStack) -> list[Piece]:
    """Pieces of layers 6 and 7 as they would be sent now; of layer 7 alone where nobody knows what layer 6 was."""
    layers = (_PROJECT, _KNOWLEDGE) if sent.documents is not None else (_KNOWLEDGE,)
    return [piece for layer in layers for piece in stack.layer(layer).pieces]


def _is_told_otherwise(sent: SentKnowledge, stack: AggregateStack) -> bool:
    """True if the next request tells layers 6 and 7 in other words than the last one did, or something went."""
    before = _before(sent)
    return bool(_gone(sent, stack, before)) or set(before) != set(sent_parts(_now(sent, stack)))


def _due(asked: _Asked, view: ContextView) -> Rewrite | None:
    """Cost of the changes that were made: appended where nothing was deleted and that is cheaper."""
    sent, stack, market = asked.sent, asked.stack, asked.market
    now, before = _now(sent, stack), _before(sent)
    after = sent_parts(now)
    if gone := _gone(sent, stack, before):
        return asked.rewrite(gone)
    if set(before) == set(after):
        return None
    why, whole = why_changed(before, after), asked.canonical("")
    changed = [piece for piece in now if SentPart(piece.key, piece.sha256) not in before]
    tokens = delta_tokens(ViewDelta(message_id="", files=updates(view, changed)), market.count)
    if not market.settings.appends_changes or not market.settings.is_enabled:
        return replace(whole, why=why)
    usd = market.prices.input_usd
    cost = None if usd is None else tokens * market.prices.write_at(sent.ttl_s) * usd
    if cost is not None and whole.cost_usd is not None and whole.cost_usd <= cost:
        return replace(whole, why=why)
    return asked.appended(why, tokens, cost)


def _gone(sent: SentKnowledge, stack: AggregateStack, before: Sequence[SentPart]) -> str:
    """Deletions in words, empty where there is none; by the rule of `view.withdrawn`."""
    if any(part.key == DIGEST_KEY for part in before) and not stack.layer(_KNOWLEDGE).pieces:
        return tr("the program no longer sends knowledge")
    if words := deletion((part.key for part in before), stack):
        return words
    goes = goes_from(stack, sent.withdrawals)
    is_taken = _takes_recalled(sent, stack) or any(map(goes, (*sent.parts, *sent.superseded)))
    return TAKEN_OUT if is_taken else ""


def _takes_recalled(sent: SentKnowledge, stack: AggregateStack) -> bool:
    """True if something was taken out of knowledge since what was recalled was sent: it may stand there, too."""
    return sent.has_recalled and sent.withdrawals != stack.withdrawals


def _digest(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    if DIGEST_KEY not in new:
        return tr("the digest is gone")
    return tr("the digest changed") if DIGEST_KEY in old else tr("knowledge is on")


def _said(keys: Sequence[str], old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Documents of layer 6 that are others than before."""
    name = keys[0].partition("/")[2] if len(keys) == 1 else tr("{keys} identity files", keys=len(keys))
    return _became(name, keys, old, new)


def _notes(keys: Sequence[str], old: Mapping[str, str], new: Mapping[str, str]) -> str:
    name = keys[0].rpartition("/")[2] if len(keys) == 1 else tr("{keys} files", keys=len(keys))
    return _became(tr("notes on {name}", name=name), keys, old, new, is_many=True)


def _became(
    name: str, keys: Sequence[str], old: Mapping[str, str], new: Mapping[str, str], *, is_many: bool = False
) -> str:
    """Say what became of texts that are others than before: nobody changed one that counts for the first time."""
    is_many = is_many or len(keys) > 1
    if not any(key in old for key in keys):
        return f"{name} {'count' if is_many else 'counts'} now"
    if not any(key in new for key in keys):
        return f"{name} {'are' if is_many else 'is'} gone"
    return tr("{name} changed", name=name)
