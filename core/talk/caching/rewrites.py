"""Changes of layers 6 and 7 in warm discussions: what each costs, when to look, what is told, when it is over.

A rewrite is priced by the planner: what the next request costs as it was sent last, and with these layers told anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, compress, repeat
from operator import is_not

from msgspec.structs import replace

from core.kernel.figures import dollars, first_of
from core.kernel.language import all_of, as_sentences, capital, joined, spliced, tr
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
    has_price,
)
from core.kernel.values.discussion import DiscussionMeta, OpenDiscussion
from core.kernel.values.messages import Role
from core.kernel.values.provider import ProviderKind
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import dismiss, is_busy, notify
from core.kernel.values.window import BaseFile, ContextView, ViewDelta
from core.services.providers.blocks import Wire
from core.talk.caching.accounts import is_warm, last_expiry
from core.talk.caching.cache_ledger import live_entries
from core.talk.caching.caching_messages import CheckRewrites, DropWithdrawn, RewritesChecked, StopPings
from core.talk.caching.decision import Market
from core.talk.caching.planner import PlanInputs, plan
from core.talk.caching.sent_request import Told, as_sent, canonical, sent_parts, spared
from core.talk.caching.view import DIGEST_KEY, TAKEN_OUT, deletion, delta_tokens, goes_from, updates
from core.talk.context.context_spec import shown_spec
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
    asked = _Checked(cache, sent, discussion_id, stack, market, until)
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


class _Checked:
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
    return all_of(words) or tr("knowledge changed")


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


def _due(asked: _Checked, view: ContextView) -> Rewrite | None:
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


# Warm discussions that pay for a change of knowledge or identity files: when to look, what is told, when it
# is over.

NOTICE = "rewrites"
MOST = 200
"""Discussions that are looked at, the newest caches: nobody keeps more warm."""
NAMED = 3
_CENT = 0.005


def rewrite_effects(before: AppState, after: AppState) -> tuple[CheckRewrites, ...]:
    """Look at layers 6 and 7 of warm discussions when these or what is cached have changed. O(1) while neither has."""
    if not after.config.settings_paths or not after.caching.caches:
        return ()
    changed = _changed(before, after)
    warm = [
        after.caching.caches[name]
        for name in changed
        if name in after.discussions.summaries
        and name in after.caching.caches
        and is_warm(after.caching.caches[name], after.now)
        and not is_busy(after, name)
    ]
    warm.sort(key=lambda cache: (cache.cached_at, cache.discussion_id), reverse=True)
    specs = tuple(shown_spec(after, cache.discussion_id) for cache in warm[:MOST])
    return (CheckRewrites(specs),) if specs else ()


def withdrawal_effects(before: AppState, after: AppState) -> tuple[DropWithdrawn, ...]:
    """Let go of what is stored, once something was taken out of knowledge or deleted, or may have been while nobody
    looked.
    """
    key = _withdrawal_key(after)
    if not key or _withdrawal_key(before) == key:
        return ()
    known, deleted = after.knowledge, _deleted(after)
    if known.is_on and not known.withdrawals and not deleted:
        return ()
    stores = {ProviderKind.GEMINI, ProviderKind.EMBEDDED}
    kinds = {name: status.kind for name, status in after.config.providers.items()}
    rows = after.discussions.summaries.values()
    providers = {row.meta.id: row.meta.provider for row in rows if kinds.get(row.meta.provider) in stores}
    return (
        DropWithdrawn(withdrawals=known.withdrawals, is_on=known.is_on, providers=providers, deleted=deleted),
    )


def _withdrawal_key(state: AppState) -> tuple[object, ...]:
    """Key of all that decides what must go; empty while knowledge or the discussions are not read."""
    known = state.knowledge
    if state.program.is_loading or not known.watched or not state.config.settings_paths:
        return ()
    return (known.withdrawals, known.is_on, state.caching.adopted, _deleted(state))


def _deleted(state: AppState) -> frozenset[str]:
    """Discussions whose last request sent what a person deleted since: a digest, a document, or what one was emptied of."""
    return frozenset(name for name, one in state.caching.rewrites.items() if one.is_deletion)


def withdrawal_text(state: AppState, *, is_all: bool = False) -> str:
    """Cost of taking something out of knowledge, or all of it away, in a sentence; empty where it costs nothing."""
    found = _price_words(state, state.caching.switch_offs if is_all else state.caching.withdrawals)
    if found is None:
        return ""
    who, price = found
    return tr(
        "The removal counts at once: the next turn rewrites the cache of {who}, {price}.",
        who=who,
        price=price,
    )


def merge_price_text(state: AppState) -> str:
    """Sentence with the highest cost of new words in warm discussions; empty if they cost nothing.

    A digest that another wording is appended to costs less: what it comes to is told once it is written.
    """
    found = _price_words(state, state.caching.withdrawals)
    if found is None:
        return ""
    who, price = found
    return tr(
        "The digest changes: the next turn rewrites at most the cache of {who}, {price}.",
        who=who,
        price=price,
    )


def _price_words(state: AppState, prices: Mapping[str, Rewrite]) -> tuple[str, str] | None:
    """Number of warm discussions that pay, and the price, in words; None where it costs nothing."""
    warm = [one for one in prices.values() if (one.tokens or has_price(one)) and _is_due(state, one)]
    if not any(map(has_price, warm)):
        return None
    tokens, cost = sum(one.tokens for one in warm), cost_text(warm)
    who = tr("1 warm discussion") if len(warm) == 1 else tr("{warm} warm discussions", warm=len(warm))
    return who, tr("~{tokens:,} tokens, {cost}", tokens=tokens, cost=cost)


def _changed(before: AppState, after: AppState) -> set[str]:
    """Discussions of which something may be told that was not: what they depend on changed, or they were answered."""
    is_same = before.knowledge is after.knowledge and before.config is after.config
    if not is_same and _knowledge_key(before) != _knowledge_key(after):
        return set(after.caching.caches)
    answered = _answered(before, after)
    if (
        before.caching.caches is after.caching.caches
        and before.discussions.summaries is after.discussions.summaries
    ):
        return answered
    own = {name for name in after.caching.caches if _own_key(before, name) != _own_key(after, name)}
    return own | answered


def _answered(before: AppState, after: AppState) -> set[str]:
    """Discussions whose turn has ended: while one is at work nothing is told of it. O(1) while no turn begins or ends."""
    if before.turns.calls is after.turns.calls and before.agent.turns is after.agent.turns:
        return set()
    ended = before.turns.calls.keys() - after.turns.calls.keys()
    at_work = {name for name in before.agent.turns if is_busy(before, name)}
    return {name for name in ended | at_work if not is_busy(after, name)}


def checked(state: AppState, event: RewritesChecked) -> AppState:
    """Take in which discussions pay for changes, as they stand now."""
    asked = frozenset(event.discussion_ids)
    caching = replace(
        state.caching,
        withdrawals=_renewed(state.caching.withdrawals, asked, event.withdrawals),
        switch_offs=_renewed(state.caching.switch_offs, asked, event.switch_offs),
    )
    if caching != state.caching:
        state = replace(state, caching=caching)
    kept = {name: one for name, one in state.caching.rewrites.items() if name not in asked}
    return _told(state, {**kept, **{one.discussion_id: one for one in event.rewrites}})


def _renewed(
    known: Mapping[str, Rewrite], asked: Collection[str], found: Iterable[Rewrite]
) -> Mapping[str, Rewrite]:
    kept = {name: one for name, one in known.items() if name not in asked}
    return {**kept, **{one.discussion_id: one for one in found}}


def over(state: AppState) -> AppState:
    """Drop what has come true or no longer matters: the discussion was sent, is cold or is gone."""
    if not state.caching.rewrites:
        return state
    kept = {name: one for name, one in state.caching.rewrites.items() if _is_due(state, one)}
    return state if len(kept) == len(state.caching.rewrites) else _told(state, kept)


def _is_due(state: AppState, rewrite: Rewrite) -> bool:
    name, now = rewrite.discussion_id, state.now
    is_cold = rewrite.until is not None and now is not None and rewrite.until <= now
    cache = state.caching.caches.get(name)
    return (
        name in state.discussions.summaries
        and not is_busy(state, name)
        and cache is not None
        and is_warm(cache, now)
        and not is_cold
    )


def _told(state: AppState, rewrites: dict[str, Rewrite]) -> AppState:
    """Keep them and say so where it costs: once for what is new; a notice that was dismissed stays away while they grow
    fewer.
    """
    before = state.caching.rewrites
    if rewrites == before:
        return state
    state = replace(state, caching=replace(state.caching, rewrites=rewrites))
    priced = {name: one for name, one in rewrites.items() if has_price(one)}
    if not priced:
        return dismiss(state, NOTICE)
    told = {name: one.why for name, one in before.items() if has_price(one)}
    is_new = any(told.get(name) != one.why for name, one in priced.items())
    if not is_new and all(notice.id != NOTICE for notice in state.program.notices):
        return state
    text, detail = notice_text(state)
    is_whole = any(not one.is_appended for one in priced.values())
    return notify(state, NOTICE, Level.WARNING if is_whole else Level.INFO, text, detail)


def notice_text(state: AppState) -> tuple[str, str]:
    """Text of the notice on all that changes cost: names, tokens and cost, rewrites first; and why."""
    priced = filter(has_price, state.caching.rewrites.values())
    rows = sorted(priced, key=lambda one: (-one.tokens, one.discussion_id))
    whole = [one for one in rows if not one.is_appended]
    appended = [one for one in rows if one.is_appended]
    texts = [
        spliced("{}: {}", what, _summed(state, some))
        for what, some in (
            (tr("The next turn rewrites the cache"), whole),
            (tr("The next message carries this change"), appended),
        )
        if some
    ]
    reasons = list(dict.fromkeys(one.why for one in (*whole, *appended)))
    why = joined("; ", reasons) if len(reasons) <= NAMED else tr("knowledge changed")
    each = tr("The Caching panel lists each discussion.") if len(rows) > 1 else ""
    return as_sentences(*texts), as_sentences(capital(why), each, is_closed=True)


def _summed(state: AppState, rows: list[Rewrite]) -> str:
    names = [f"«{_name(state, one)}»" for one in rows]
    tokens = sum(one.tokens for one in rows)
    listed = first_of(names, NAMED)
    return tr(
        "{discussions}, ~{tokens:,} tokens, {cost}", discussions=listed, tokens=tokens, cost=cost_text(rows)
    )


def _name(state: AppState, rewrite: Rewrite) -> str:
    summary = state.discussions.summaries.get(rewrite.discussion_id)
    return summary.meta.name if summary is not None else rewrite.discussion_id


def cost_text(rows: Sequence[Rewrite]) -> str:
    """Cost of rewrites together, in words: with the most that it may be where an entry was never read."""
    known = [one for one in rows if one.cost_usd is not None]
    if not known:
        return tr("cost unknown")
    total = sum(one.cost_usd or 0.0 for one in known)
    most = sum(one.cost_usd or 0.0 if one.most_usd is None else one.most_usd for one in known)
    shown = (
        tr("est. {total}", total=dollars(total))
        if total >= _CENT
        else tr("under 1 cent")
        if total
        else tr("free")
    )
    if most > total and most >= _CENT:
        shown = tr(
            "{cost}, up to {most} if the provider kept less than asked", cost=shown, most=dollars(most)
        )
    return shown if len(known) == len(rows) else tr("{shown}, plus more at an unknown price", shown=shown)


def _knowledge_key(state: AppState) -> tuple[object, ...]:
    """Key of all that layers 6 and 7 of every discussion depend on."""
    known = state.knowledge
    is_set_up = bool(state.config.settings_paths)
    return (
        is_set_up,
        known.digest,
        known.switch,
        known.notes,
        known.withdrawals,
        state.config.settings.knowledge,
        state.config.settings.retrieval,
        id(state.config.project.presets),
        id(state.config.project.context),
        id(state.config.project.identity),
    )


def _own_key(state: AppState, discussion_id: str) -> tuple[object, ...]:
    """Key of all in a discussion itself that decides whether it will be rewritten."""
    summary = state.discussions.summaries.get(discussion_id)
    return (state.caching.caches.get(discussion_id), summary.meta if summary is not None else None)


# Abandonment of a warm prefix: what a person took out, moved away or gave to another model is not kept warm
# any more.


def stop_effects(before: AppState, after: AppState) -> tuple[StopPings, ...]:
    """End the pings of discussions whose last request would not be sent like that again, whoever changed them, and of
    those whose task is done.

    O(1) while no discussion has changed.
    """
    told = before.agent.delegations.keys() - after.agent.delegations.keys()
    left = {*_left(before, after), *_rewritten(before, after), *told}
    return (StopPings(tuple(sorted(left))),) if left else ()


def _left(before: AppState, after: AppState) -> tuple[str, ...]:
    """Discussions that are gone, archived, or answered by another model from now on."""
    then, now = before.discussions.summaries, after.discussions.summaries
    if then is now:
        return ()
    # Rows stand in one order as long as none comes or goes: of thousands, the few others are found without looking up each.
    moved = compress(then, map(is_not, then.values(), chain(now.values(), repeat(None))))
    return tuple(
        name
        for name in moved
        if then[name] is not now.get(name)
        and (name not in now or _asks_anew(then[name].meta, now[name].meta))
    )


def _asks_anew(then: DiscussionMeta, now: DiscussionMeta) -> bool:
    is_other = (then.provider, then.model, then.effort) != (now.provider, now.model, now.effort)
    return is_other or (now.archived and not then.archived)


def _rewritten(before: AppState, after: AppState) -> tuple[str, ...]:
    """Discussions of which a message that was sent is edited, deleted, or another one, or left the model's view."""
    then, now = before.discussions.open, after.discussions.open
    if then is now:
        return ()
    return tuple(
        name
        for name, opened in then.items()
        if name in now
        and (
            now[name].cut != opened.cut
            or (now[name].entries is not opened.entries and not _begins_with(now[name], opened))
        )
    )


def _begins_with(now: OpenDiscussion, then: OpenDiscussion) -> bool:
    """True if what was said up to the person's last message stands: the reply to it was in no request yet."""
    sent, said = then.messages, now.messages
    end = next((at for at in range(len(sent), 0, -1) if sent[at - 1].role is Role.USER), 0)
    if sent[:end] == said[:end]:
        return True
    return len(said) >= end and all(
        old is new or old.parts == new.parts for old, new in zip(sent[:end], said, strict=False)
    )
