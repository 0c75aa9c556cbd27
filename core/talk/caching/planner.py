"""The planner: from a request's blocks, the ledger, prices and gaps to a cache plan that costs least, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from operator import itemgetter

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import (
    TOOLS_KEY,
    Balance,
    CacheLedger,
    CacheMark,
    CachePlan,
    CachePrices,
    CacheSettings,
    GapStats,
    LedgerScope,
    Mechanism,
    PlannedWrite,
)
from core.kernel.values.stack import LayerId
from core.services.providers.blocks import MarkPlace, Wire, eve_of, scope_hash
from core.talk.caching.accounts import sentences, total_allowed
from core.talk.caching.cache_ledger import (
    NO_HIT,
    CacheHit,
    can_extend,
    hits,
    live_entries,
    predict,
    rests_on_extension,
)
from core.talk.caching.contents import contents_plan
from core.talk.caching.economy import Outlook, outlook, own_odds, ping_window_s, shared_odds


class PlanInputs(msgspec.Struct, frozen=True):
    """All that a plan depends on.

    Args:
        wire: the request; superseded_tokens: of its tokens, those that a canonical rewrite would leave out.
        next_round: probability that the same turn sends another request (tools), 0 to 1.
        balance: what caching was worth for the discussion so far.
        now: start of the request, aware.
        edits: how many of the turns find layers 6 or 7 changed, 0 to 1.
        outlooks: `outlooks_of` these, where another plan of the same moment has asked already.
    """

    wire: Wire
    scope: LedgerScope
    prices: CachePrices
    ledger: CacheLedger
    gaps: GapStats
    settings: CacheSettings
    now: datetime
    superseded_tokens: int = 0
    next_round: float = 0.0
    edits: float = 0.0
    balance: Balance = Balance()
    outlooks: tuple[Outlook, Outlook] | None = None


_KNOWLEDGE = f"{int(LayerId.KNOWLEDGE)}/"
"""Prefix of layer 7's keys."""

LIKELY_EDITS = 0.02
"""From one change of layers 6 and 7 in fifty turns on, what stands before layer 7 gets a mark of its own."""


class Choice(msgspec.Struct, frozen=True):
    """One way to mark a request, with what it costs, in tokens of fresh input.

    Args:
        marks: block and lifetime, in wire order; hit: what they will read; ends: A, B and C of the bill.
        now: this request; later: the turns after it; gain: what its shared prefix saves other discussions.
    """

    marks: tuple[tuple[int, int], ...]
    hit: CacheHit
    ends: tuple[int, int, int]
    now: float
    later: float
    gain: float = 0.0

    @property
    def total(self) -> float:
        """Total that this discussion is expected to cost."""
        return self.now + self.later


class _Points(msgspec.Struct, frozen=True):
    """Points where marks may stand, -1 for nowhere.

    Args:
        shared: behind layer 7; base: behind 9 and 10; anchor: at the last hit, when the head is far from it,
            or where only a mark at it finds it.
        early: before what a change of knowledge, or other files' notes, would part; only where `anchor` needs no mark.
        keep: at the deepest entry that lives longer than the last hit: only a mark renews it.
        head: behind what the next turn repeats; turn: behind what the next request of this turn repeats.
        written: at the deepest entry behind the head, which an earlier request of this turn wrote, where only a mark at it
            finds it.
        eve: the block before the head, where a mark leaves room for the ping that lets the prefix live longer; nowhere where
            the turn may send another request.
    """

    shared: int
    base: int
    anchor: int
    keep: int
    head: int
    turn: int
    early: int = -1
    eve: int = -1
    written: int = -1


class _Ground(msgspec.Struct, frozen=True):
    """Ground that all ways of marking a request are priced on.

    Args:
        live: lifetimes of what was found, by block; relief: what leaving superseded text out saves later, in tokens of
            fresh input; extends: a long mark behind a short-lived hit keeps the whole prefix.
        total_tokens: all that is sent; idle: `own.idle`; writes: price of writing, by the lifetimes that may be marked.
    """

    inputs: PlanInputs
    found: tuple[CacheHit, ...]
    live: Mapping[int, int]
    own: Outlook
    shared: Outlook
    points: _Points
    relief: float
    extends: bool
    total_tokens: int
    idle: float
    writes: Mapping[int, float]


_PLACE, _TTL = itemgetter(0), itemgetter(1)
"""Fields of a mark."""


def plan(inputs: PlanInputs) -> CachePlan:
    """Plan one request.

    Returns:
        The plan whose expected cost over this turn and those to come is least; never above no caching.
    """
    prices, settings, wire = inputs.prices, inputs.settings, inputs.wire
    own, shared = inputs.outlooks or outlooks_of(inputs)
    live = live_entries(inputs.ledger, inputs.scope, inputs.now)
    found = hits(live, wire)
    if not settings.is_enabled:
        return _made(inputs, _none(inputs, own), own, found)
    if prices.mechanism is Mechanism.CONTENTS:
        odds = own_odds(inputs.gaps, inputs.now.timestamp())
        most = total_allowed(inputs.balance, wire.total_tokens)
        superseded = inputs.superseded_tokens
        return contents_plan(wire, prices, live, odds, settings, inputs.now, superseded, most)
    points = _points(inputs, found)
    ground = _Ground(
        inputs=inputs,
        found=found,
        live={hit.index: hit.ttl_s for hit in found},
        own=own,
        shared=shared,
        points=points,
        relief=inputs.superseded_tokens * _relief(inputs, own),
        extends=_can_extend(inputs),
        total_tokens=wire.total_tokens,
        idle=own.idle,
        writes={offer.ttl_s: offer.write for offer in prices.writes},
    )
    choices = [_priced(ground, marks) for marks in _ways(inputs, points, own)]
    if settings.pays_only or not choices:
        most = total_allowed(inputs.balance, wire.total_tokens)
        canonical = wire.total_tokens - inputs.superseded_tokens
        never = _none(inputs, own)
        limit = never.total
        choices = [c for c in choices if c.now - canonical <= most and c.now + c.later <= limit]
        choices += [never, _waiting(ground)]
    best = min(choices, key=lambda choice: (choice.now + choice.later - choice.gain, -len(choice.marks)))
    return _made(inputs, _with_turn_mark(ground, best), own, found)


def outlooks_of(inputs: PlanInputs) -> tuple[Outlook, Outlook]:
    """Outlook for a discussion's own prefix, and for the shared one: that is not extended by what is written behind it.

    The same for every request that could be sent at this moment.
    """
    prices, settings, now_s = inputs.prices, inputs.settings, inputs.now.timestamp()
    ttls, kept = _ttls(prices, settings), settings.keepalive
    own = outlook(
        prices,
        own_odds(inputs.gaps, now_s),
        ttls=ttls,
        keepalive=kept,
        extends=_can_extend(inputs),
        next_round=inputs.next_round,
    )
    lives = (offer.ttl_s + offer.pings * ping_window_s(offer.ttl_s) for offer in own.offers.values())
    odds = shared_odds(inputs.gaps, max(lives, default=0), now_s)
    return own, outlook(prices, odds, ttls=ttls, extends=False)


def _ttls(prices: CachePrices, settings: CacheSettings) -> tuple[int, ...]:
    offered = [offer.ttl_s for offer in prices.writes]
    if not offered:
        return ()
    if settings.ttl_s is not None:
        wanted = settings.ttl_s
        return (min(offered, key=lambda ttl_s: abs(ttl_s - wanted)),)
    return tuple(ttl for ttl in offered if ttl <= settings.longest_ttl_s) or (offered[0],)


def _points(inputs: PlanInputs, found: tuple[CacheHit, ...]) -> _Points:
    wire, prices = inputs.wire, inputs.prices
    head = wire.head
    if not inputs.settings.pays_only:
        head = len(wire.blocks) - 1
    if not inputs.settings.all_marks:
        return _Points(shared=-1, base=-1, anchor=-1, keep=-1, head=_large(wire, head, prices), turn=-1)
    shared = _large(wire, wire.last(MarkPlace.STABLE), prices)
    base = _large(wire, wire.last(MarkPlace.BASE), prices)
    is_breakpoint = prices.mechanism is Mechanism.BREAKPOINTS
    if is_breakpoint and shared >= 0 and wire.blocks[shared].key == TOOLS_KEY:
        shared = -1
    anchor = -1
    deepest = next((hit for hit in found if hit.index < head), None)
    if deepest is not None and is_breakpoint:
        anchor = deepest.index
    elif deepest is not None and prices.lookback and head >= 0:
        distance = wire.positions[head] - wire.positions[deepest.index]
        anchor = deepest.index if distance >= prices.lookback else -1
    keep = next((h.index for h in found if deepest is not None and h.ttl_s > deepest.ttl_s), -1)
    turn = _large(wire, wire.turn_head, prices) if wire.turn_head > head else -1
    # Of breakpoints the fourth is left for the last hit, also where there is none yet.
    early = _large(wire, _early(inputs), prices) if anchor < 0 and not is_breakpoint else -1
    # With tools the next request may come at once, and pays a second time for what a mark before the head leaves out.
    may_lift = inputs.settings.keepalive and not inputs.next_round
    eve = _large(wire, eve_of(wire), prices) if may_lift else -1
    anchor, keep, head = (_large(wire, place, prices) for place in (anchor, keep, head))
    written = _written(inputs, found, turn)
    return _Points(
        shared=shared,
        base=base,
        anchor=anchor,
        keep=keep,
        head=head,
        turn=turn,
        early=early,
        eve=eve,
        written=written,
    )


def _written(inputs: PlanInputs, found: tuple[CacheHit, ...], turn: int) -> int:
    """The deepest entry behind the head where a mark at the turn's end does not find it, -1 for none.

    Thinking parts the head from what a turn has sent since: the next turn does not repeat it, the next request does.
    """
    wire, prices = inputs.wire, inputs.prices
    deepest = next((hit.index for hit in found if wire.head < hit.index < turn), -1)
    if deepest < 0 or prices.mechanism is Mechanism.BREAKPOINTS:
        return deepest
    is_far = prices.lookback and wire.positions[turn] - wire.positions[deepest] >= prices.lookback
    return deepest if is_far else -1


def _early(inputs: PlanInputs) -> int:
    """The block before layer 7 where that is often changed; else the end of 7a, if notes follow: others share it."""
    blocks = inputs.wire.blocks
    end = inputs.wire.last(MarkPlace.STABLE) + 1
    layer = [index for index in range(end) if blocks[index].key.startswith(_KNOWLEDGE)]
    if not layer:
        return -1
    if inputs.edits < LIKELY_EDITS:
        return layer[0] if len(layer) > 1 else -1
    return layer[0] - 1


def _large(wire: Wire, index: int, prices: CachePrices) -> int:
    return index if index >= 0 and wire.ends[index] >= prices.minimum_tokens else -1


def _ways(inputs: PlanInputs, points: _Points, own: Outlook) -> Iterator[tuple[tuple[int, int], ...]]:
    """Marks worth comparing: one lifetime for all, or long ones up to the shared end or the base."""
    ttls = _ttls(inputs.prices, inputs.settings)
    plain = (points.early, points.shared, points.base, points.anchor, points.head)
    places = sorted({place for place in plain if place >= 0})
    for ttl_s in ttls:
        marks = tuple([(place, ttl_s) for place in places])
        for last in range(len(places)):
            yield marks[: last + 1]
    if own.lifted is not None and points.eve >= 0:
        lower = [place for place in places if place < points.eve]
        yield tuple([(place, ttls[0]) for place in (*lower, points.eve)])
    kept = sorted({place for place in (*plain, points.keep) if place >= 0})
    if len(kept) > inputs.prices.max_marks > 0:
        kept.remove(points.base)  # what is kept longer begins with it
    for short, long in ((s, t) for s in ttls for t in ttls if s < t):
        for split in sorted({points.shared, points.base, points.keep}):
            if 0 <= split < points.head:
                chosen = kept if split >= points.keep >= 0 else places
                yield tuple([(place, long if place <= split else short) for place in chosen])


def _priced(ground: _Ground, marks: tuple[tuple[int, int], ...]) -> Choice:
    """Bill a way of marking, now and over the turns to come."""
    hit, ends, now = _billed(ground, marks)
    return Choice(
        marks=marks,
        hit=hit,
        ends=ends,
        now=now,
        later=_later(ground, marks, hit),
        gain=_shared_gain(ground, marks, hit),
    )


def _billed(
    ground: _Ground, marks: tuple[tuple[int, int], ...]
) -> tuple[CacheHit, tuple[int, int, int], float]:
    """Bill of one request with these marks: what they read, A, B and C, and its cost."""
    prices, ends, writes = ground.inputs.prices, ground.inputs.wire.ends, ground.writes
    hit = predict(ground.found, ground.inputs.wire, [*map(_PLACE, marks)], prices)
    last, last_ttl = marks[-1]
    short, long = min(map(_TTL, marks)), max(map(_TTL, marks))
    read = long_end = hit.tokens
    end = max(read, ends[last])
    if last_ttl > short or long == short:
        long_end, long = end, last_ttl
    else:
        for place, ttl in marks:
            if ttl > short and ends[place] > long_end:
                long_end = ends[place]
    now = (
        read * prices.read
        + (long_end - read) * writes[long]
        + (end - long_end) * writes[short]
        + (ground.total_tokens - end)
    )
    return hit, (read, long_end, end), now


def _later(ground: _Ground, marks: tuple[tuple[int, int], ...], hit: CacheHit) -> float:
    """The turns to come: each run of tokens by the longest-lived entry that holds it.

    A ping that keeps a run reads all before it, too, also where that lives longer and needs none.
    """
    ends, own = ground.inputs.wire.ends, ground.own
    total, done, before_s = 0.0, 0, 0
    values = own.live
    if own.lifted is not None and marks[-1][0] == ground.points.eve:
        shortest = min(values)
        values = {**values, shortest: min(values[shortest], own.lifted)}
    for place, ttl_s in _lifetimes(ground, marks, hit):
        end, lifetime_s = ends[place], ttl_s if ttl_s in values else _nearest(own, ttl_s)
        worth = (end - done) * values[lifetime_s]
        if ttl_s < before_s:
            worth = min(worth + done * own.offers[lifetime_s].upkeep, (end - done) * own.unpinged[lifetime_s])
        total += worth
        done, before_s = end, ttl_s
    total += _uncached(ground, done)
    return total - ground.relief


def _lifetimes(ground: _Ground, marks: tuple[tuple[int, int], ...], hit: CacheHit) -> list[tuple[int, int]]:
    """Lifetimes of what ends at each entry, written, renewed or hit: as long as any later entry that holds it too."""
    live, deepest, extends = ground.live, hit.index, ground.extends
    found: list[tuple[int, int]] = []
    longest = 0
    for place, marked_s in reversed(marks):
        if place > deepest:
            ttl_s = marked_s if extends or deepest < 0 else min(marked_s, hit.ttl_s)
            longest = max(longest, ttl_s)
            found.append((place, longest))
    if deepest < 0:
        return found[::-1]
    longest = max(longest, hit.ttl_s) if extends else hit.ttl_s
    found.append((deepest, longest))
    for place, _ in reversed(marks):
        if place < deepest and place in live:
            longest = max(longest, live[place])
            found.append((place, longest))
    return found[::-1]


def _can_extend(inputs: PlanInputs) -> bool:
    return inputs.settings.extends and can_extend(inputs.ledger, inputs.prices.provider, inputs.prices.model)


def _shared_gain(ground: _Ground, marks: tuple[tuple[int, int], ...], hit: CacheHit) -> float:
    """Gain of an entry of the shared prefix from turns whose discussion has none of its own: the first, and
    after long gaps.

    One that lives keeps its lifetime; one that is written before the hit costs nothing, and lives no longer than that.
    """
    place, shared = ground.points.shared, ground.shared
    ttl_s = dict(marks).get(place)
    if ttl_s is None:
        return 0.0
    if place in ground.live:
        ttl_s = ground.live[place]
    elif place < hit.index:
        ttl_s = min(ttl_s, hit.ttl_s)
    lifetime_s = ttl_s if ttl_s in shared.live else _nearest(shared, ttl_s)
    return max(0.0, shared.idle - shared.live[lifetime_s]) * ground.inputs.wire.ends[place]


def _nearest(own: Outlook, ttl_s: int) -> int:
    return min(own.live, key=lambda offered: abs(offered - ttl_s))


def _uncached(ground: _Ground, done: int) -> float:
    """Later turns of what no entry holds: history may be cached next time, the volatile tail never is."""
    wire, own = ground.inputs.wire, ground.own
    head = wire.head
    end = wire.ends[head] if head >= 0 else 0
    repeated = max(0, end - done)
    rest = ground.total_tokens - max(done, end)
    return repeated * ground.idle + rest * (own.without - 1.0)


def _relief(inputs: PlanInputs, own: Outlook) -> float:
    """Superseded text is carried only until the cache goes cold, then a rewrite leaves it out.

    The same for every way of marking: no entry shall be let die to be rid of old text.
    """
    if not own.offers:
        return 0.0
    longest = max(own.offers)
    stays = own.go_on * own.offers[longest].alive
    carried = stays * inputs.prices.read / (1.0 - stays) if stays < 1 else own.live[longest]
    return max(0.0, own.live[longest] - carried)


def _none(inputs: PlanInputs, own: Outlook) -> Choice:
    """No marks at all, now and later."""
    total = inputs.wire.total_tokens
    later = total * (own.without - 1.0)
    return Choice(marks=(), hit=NO_HIT, ends=(0, 0, 0), now=float(total), later=later)


def _waiting(ground: _Ground) -> Choice:
    """No marks now, and those that pay from the next turn on: it may never come."""
    total = ground.total_tokens
    later = _uncached(ground, 0) - ground.relief
    return Choice(marks=(), hit=NO_HIT, ends=(0, 0, 0), now=float(total), later=later)


def _with_turn_mark(ground: _Ground, choice: Choice) -> Choice:
    """Text that only this turn repeats (thinking, and all behind it) is cached for its next request, where one is likely.

    What an earlier request of the turn wrote is read from there on: each request writes only what is new in it.
    """
    inputs, turn = ground.inputs, ground.points.turn
    prices, done = inputs.prices, choice.ends[2]
    if turn < 0 or not prices.writes or (choice.marks and turn <= choice.marks[-1][0]):
        return choice
    marks = _turn_marks(ground, choice)
    hit, ends, now = _billed(ground, marks)
    saved = inputs.next_round * (1.0 - prices.read) * (ends[2] - done)
    if now - choice.now >= saved:
        return choice
    most = total_allowed(inputs.balance, inputs.wire.total_tokens)
    if inputs.settings.pays_only and now - inputs.wire.total_tokens > most:
        return choice
    return replace(choice, marks=marks, hit=hit, ends=ends, now=now, later=choice.later - saved)


def _turn_marks(ground: _Ground, choice: Choice) -> tuple[tuple[int, int], ...]:
    """Marks of a way, what an earlier request of the turn wrote, and the turn's end; what is worth least gives room."""
    points, prices = ground.points, ground.inputs.prices
    ttl_s = prices.writes[0].ttl_s
    added = tuple((place, ttl_s) for place in (points.written, points.turn) if place >= 0)
    kept, room = choice.marks, (prices.max_marks or len(choice.marks) + 2) - len(added)
    spare = [points.base, points.early, points.shared]
    if points.written >= 0:
        spare.insert(1, points.anchor)  # nothing is to be read there: more is read behind it
    for place in spare:
        if len(kept) > room:
            kept = (*(mark for mark in kept[:-1] if mark[0] != place), kept[-1])
    return (*kept[-room:], *added)


def _made(inputs: PlanInputs, choice: Choice, own: Outlook, found: tuple[CacheHit, ...]) -> CachePlan:
    wire, prices, settings = inputs.wire, inputs.prices, inputs.settings
    total = wire.total_tokens
    read, _, end = choice.ends
    is_marked = prices.mechanism in {Mechanism.MARKS, Mechanism.BREAKPOINTS}
    usd = prices.input_usd
    live = {hit.index for hit in found}
    hit, extends = choice.hit, _can_extend(inputs)
    return CachePlan(
        marks=tuple(CacheMark(wire.blocks[p].key, ttl) for p, ttl in choice.marks) if is_marked else (),
        is_enabled=settings.is_enabled,
        openai_mode=_openai_mode(prices),
        prompt_cache_key=f"manual-slop-{scope_hash(inputs.scope)}" if _openai_mode(prices) else "",
        read_tokens=read,
        write_tokens=end - read,
        fresh_tokens=total - end,
        cost_usd=None if usd is None else choice.now * usd,
        read_cost_usd=None if usd is None else read * prices.read * usd,
        cost_without_usd=None if usd is None else total * usd,
        outlook=choice.total,
        outlook_without=total * own.without,
        hit_hash=choice.hit.prefix_hash,
        hit_ttl_s=choice.hit.ttl_s,
        tests_extension=bool(prices.writes)
        and rests_on_extension(choice.hit, prices.writes[0].ttl_s, inputs.now),
        writes=tuple(
            PlannedWrite(
                prefix_hash=wire.hashes[place],
                tokens=wire.ends[place],
                ttl_s=min(ttl, hit.ttl_s)
                if place < hit.index or (place > hit.index >= 0 and not extends)
                else ttl,
                is_new=place not in live,
                is_extended=extends and place > hit.index >= 0 and (ttl > hit.ttl_s or hit.is_extended),
                is_unsure=place < hit.index and place not in live,
                front_s=(hit.front_s or hit.ttl_s) if place > hit.index >= 0 else 0,
            )
            for place, ttl in choice.marks
        ),
        superseded_tokens=inputs.superseded_tokens,
        sentences=sentences(inputs.wire, prices, settings, choice.marks, choice.hit, own),
        prices=prices,
    )


def _openai_mode(prices: CachePrices) -> str:
    return "explicit" if prices.mechanism is Mechanism.BREAKPOINTS else ""
