"""Gemini's cached contents: which a request uses or makes, by what holding it is worth, and until when it is asked for.

Google's prices (read 2026-11): read 0.1, made at the price of input, stored by token and hour, not renewed by use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from core.kernel.figures import lifetime
from core.kernel.ids import make_id
from core.kernel.language import as_sentences, tr
from core.kernel.values.cache import (
    CacheLedgerEntry,
    CacheOrphan,
    CachePlan,
    CachePrices,
    CacheSettings,
    ContentsPlan,
    ContentsUse,
    PlannedWrite,
    StoredRent,
)
from core.kernel.values.provider import ContentsReport, StoredContent
from core.kernel.values.stack import LayerId
from core.kernel.values.usage import Usage
from core.services.providers.blocks import MarkPlace, Wire
from core.talk.caching.economy import Odds

# Hold of a stored content after a turn: one rule for making, extending, keeping and letting go of it. Pure.

_HOUR_S = 3600.0
_FIRST_S = 15.0
_STEP = 1.1
_SPREAD = (0.8, 0.9, 1.0)
"""A gap that was seen stands for somewhat longer ones, too: a hold that ends just with it would miss half of them."""


class Hold(msgspec.Struct, frozen=True):
    """Worth of a content to a discussion with these odds.

    Args:
        times_s: since the last turn, ascending; gains: what holding until each saves over letting go at once.
        stored: later turns of a token that is stored, seen from a turn that has just used it.
        beside: of one that is sent inline beside a stored content; cold: of one while nothing is stored.
        never: of one that no content can hold.
        relief: of a token that a rewrite would leave out, the part that falls after the content has ended.
        pays: making one pays.
    """

    times_s: tuple[float, ...]
    gains: tuple[float, ...]
    stored: float
    beside: float
    cold: float
    never: float
    relief: float
    pays: bool

    def until_s(self, idle_s: float = 0.0) -> float:
        """Seconds since the last turn until which holding is worth its rent; `idle_s` itself: let go now.

        A later time is worth waiting for only where what it adds is more than the rent until then.
        """
        so_far = _at(self.times_s, self.gains, idle_s)
        later = [(gain, time) for time, gain in zip(self.times_s, self.gains, strict=True) if time > idle_s]
        gain, time = max(later, key=lambda pair: (pair[0], -pair[1]), default=(so_far, idle_s))
        return time if gain > so_far else idle_s


@lru_cache(maxsize=64)
def hold_of(prices: CachePrices, odds: Odds, longest_s: float) -> Hold:
    """Value a content, every gap being drawn from the same odds.

    Args:
        odds: of the next turn of the discussion; longest_s: never held for longer after a turn.
    """
    go_on, read, rent = odds.go_on, prices.read, rent_share(prices, 1.0)
    inline = 1.0 / (1.0 - go_on)
    if rent == float("inf"):
        later = go_on * inline
        return Hold(
            times_s=(0.0,),
            gains=(0.0,),
            stored=later,
            beside=later,
            cold=later,
            never=later,
            relief=later,
            pays=False,
        )
    times = _times(longest_s)
    shares, paid = _shares(times, odds, rent)
    # A return that finds nothing makes it anew: 1 for the tokens, and the read of either.
    gains = [go_on * share - cost for share, cost in zip(shares, paid, strict=True)]
    best = max(range(len(times)), key=lambda place: (gains[place], -place))
    pays = gains[best] > read
    if pays:
        stored = (paid[best] + go_on * (read + 1.0 - shares[best])) / (1.0 - go_on)
        cold = 1.0 + read + stored
    else:  # one that stands already is used while that pays, and none is made after it
        cold = inline
        values = [_kept(go_on, share, cost, read, cold) for share, cost in zip(shares, paid, strict=True)]
        best = min(range(len(times)), key=lambda place: (values[place], place))
        stored = values[best]
        lost = max(0.0, cold - read - stored)
        gains = [go_on * lost * share - cost for share, cost in zip(shares, paid, strict=True)]
    beside = _kept(go_on, shares[best], 0.0, 1.0, cold)
    relief = _kept(go_on, shares[best], 0.0, 0.0, cold)
    idle, never = go_on * cold, go_on * inline
    return Hold(
        times_s=tuple(times),
        gains=tuple(gains),
        stored=stored,
        beside=beside,
        cold=idle,
        never=never,
        relief=relief,
        pays=pays,
    )


def rent_share(prices: CachePrices, seconds: float) -> float:
    """Cost of storing a token for so long, in the price of a fresh one; without a price of input it is too much."""
    if not prices.storage_usd:
        return 0.0
    return prices.storage_usd * seconds / _HOUR_S / prices.input_usd if prices.input_usd else float("inf")


def _kept(go_on: float, share: float, paid: float, each: float, cold: float) -> float:
    """Later turns of a token that costs `each` at every return that comes in time, and `cold` from the first that does not."""
    return (paid + go_on * (share * each + (1.0 - share) * cold)) / (1.0 - go_on * share)


def _times(longest_s: float) -> list[float]:
    times = [0.0]
    time = _FIRST_S
    while time < longest_s:
        times.append(time)
        time *= _STEP
    return [*times, longest_s] if longest_s > 0 else times


def _shares(times: Sequence[float], odds: Odds, rent: float) -> tuple[list[float], list[float]]:
    """For each time: the share of returns until then, and the rent to expect, which nobody's return ends earlier."""
    shares = [sum(odds.within(time * factor) for factor in _SPREAD) / len(_SPREAD) for time in times]
    paid = [0.0]
    for (early, late), share in zip(pairwise(times), shares[:-1], strict=True):
        paid.append(paid[-1] + rent * (late - early) * (1.0 - odds.go_on * share))
    return shares, paid


def _at(times: Sequence[float], values: Sequence[float], time: float) -> float:
    """The value at a time between two that were computed."""
    for (early, late), (before, after) in zip(pairwise(times), pairwise(values), strict=True):
        if early <= time < late:
            return before + (after - before) * (time - early) / (late - early)
    return values[-1]


LEASE_S = 3600
"""No content is asked for longer at a time: its rent ends by itself soon after a crash. A longer hold extends it."""


_SLACK_S, _SLACK = 30.0, 0.1
"""So much later, and so large a share of the time asked for, must a new end be to be worth asking."""

STAKE = 0.5
"""A new content, its rent included, is at most so large a share of what caching may still lose on the discussion: a run of
long gaps makes stakes smaller, and never ends them.
"""

_TURNS = f"{int(LayerId.TURNS)}/"
"""Keys of finished turns on the wire begin so."""


_LASTING = frozenset({MarkPlace.STABLE, MarkPlace.BASE})
"""Places of layers that do not change by turn."""


class _Way(msgspec.Struct, frozen=True):
    """One way to send a request, in tokens of fresh input.

    Args:
        place: the block that the content ends with, -1 for none; entry: the stored one, None: it is to be made.
        now: this request; total: with the turns after it.
    """

    place: int
    entry: CacheLedgerEntry | None
    now: float
    total: float


def contents_plan(
    wire: Wire,
    prices: CachePrices,
    live: Mapping[str, CacheLedgerEntry],
    odds: Odds,
    settings: CacheSettings,
    now: datetime,
    superseded_tokens: int = 0,
    most: float = math.inf,
) -> CachePlan:
    """Use a content that is stored, make one, or send everything inline: whatever costs least over the turns to come.

    A new one is billed as input, and read at once by the request that it is made for. It holds the turns so far, too,
    so that one made after a long gap need not be made again as the discussion grows.

    Args:
        odds: of the next turn of the discussion.
        superseded_tokens: of the request, those that a rewrite would leave out: carried until the content ends.
        most: that it may cost more than without caching, if nobody returns to it.
    """
    held = hold_of(prices, odds, settings.longest_ttl_s)
    stake = STAKE * (most - superseded_tokens)
    ways = _ways(wire, prices, live, held, settings, superseded_tokens, stake)
    best = min(ways, key=lambda way: way.total)
    without = wire.total_tokens / (1.0 - odds.go_on)
    made = _planned(wire, prices, best, held, settings, without, now)
    return replace(made, superseded_tokens=superseded_tokens)


def _planned(
    wire: Wire,
    prices: CachePrices,
    best: _Way,
    held: Hold,
    settings: CacheSettings,
    without: float,
    now: datetime,
) -> CachePlan:
    if best.place < 0:
        return _inline(prices, wire, best.total, without, settings)
    hold_s = held.until_s()
    if best.entry is not None:
        return _used(prices, wire, best, best.entry, hold_s, without, now)
    tokens, prefix, ttl_s = wire.ends[best.place], wire.hashes[best.place], _lease_s(hold_s)
    made = ContentsPlan(
        use=ContentsUse.CREATE, through_key=wire.blocks[best.place].key, prefix_hash=prefix, ttl_s=ttl_s
    )
    text = tr(
        "The provider stores {tokens:,} tokens for {ttl_s} after a turn. Your return in that time is likely enough to pay for the storage.",
        tokens=tokens,
        ttl_s=lifetime(ttl_s),
    )
    return _plan(
        prices,
        wire,
        best,
        made,
        without,
        text,
        (PlannedWrite(prefix_hash=prefix, tokens=tokens, ttl_s=ttl_s),),
    )


def longer_s(expires_at: datetime, idle_s: float, now: datetime, held: Hold) -> int:
    """Seconds from now on for which a content is to be asked for again, 0 where its end is late enough.

    Args:
        idle_s: since the discussion's last turn.
    """
    wanted_s = _lease_s(held.until_s(idle_s) - idle_s)
    left_s = max(0.0, (expires_at - now).total_seconds())
    return wanted_s if wanted_s > left_s + max(_SLACK_S, wanted_s * _SLACK) else 0


def contents_usd(prices: CachePrices, contents: ContentsReport | None) -> float | None:
    """Cost of making a stored prefix in a call, beside its own tokens. Its rent is booked as it falls due (`rent`).

    Returns:
        US dollars, 0.0 where it made none; None where the price is unknown.
    """
    stored = contents.stored if contents is not None else None
    if contents is None or stored is None or not contents.is_new:
        return 0.0
    return None if prices.input_usd is None else stored.tokens * prices.input_usd


def read_of(expected: Usage, contents: ContentsReport | None) -> Usage:
    """The expected input of a request of which it is known by now what stored prefix it was sent with.

    A plan that makes one reads nothing yet, and one that reads may find it gone: then all goes inline.

    Args:
        expected: by the plan; contents: None where nothing is known of one.
    """
    if contents is None or expected.input_tokens is None:
        return expected
    read = contents.stored.tokens if contents.stored is not None else 0
    return replace(expected, input_tokens=max(expected.input_tokens, read), cache_read_tokens=read)


def orphan_of(content: StoredContent, provider: str, prices: CachePrices) -> CacheOrphan:
    """A content whose discussion is gone, with its rent. Which discussion it was, its name says."""
    rent = prices.storage_usd * content.tokens if prices.storage_usd else None
    return CacheOrphan(
        provider=provider,
        name=content.name,
        discussion_id=content.discussion_id,
        model=content.model,
        tokens=content.tokens,
        expires_at=content.expires_at,
        usd_per_hour=rent,
    )


def living(orphans: Iterable[CacheOrphan], now: datetime | None) -> tuple[CacheOrphan, ...]:
    """The contents that the provider still stores and bills."""
    return tuple(orphan for orphan in orphans if now is None or orphan.expires_at > now)


def _ways(
    wire: Wire,
    prices: CachePrices,
    live: Mapping[str, CacheLedgerEntry],
    held: Hold,
    settings: CacheSettings,
    superseded: int,
    stake: float,
) -> Iterator[_Way]:
    """All ways; `stake`: what a new content may cost that nobody returns to, in tokens of fresh input."""
    total, read = wire.total_tokens, prices.read
    repeated = wire.ends[wire.head] if wire.head >= 0 else 0
    lost = read + rent_share(prices, held.until_s())
    places = _within(wire, prices, stake / lost if lost else math.inf)
    if places and places[0] not in _ends(wire, prices):  # nor will the next turn store more
        repeated = min(repeated, wire.ends[places[0]])
    without = repeated * held.cold + (total - repeated) * held.never
    yield _Way(place=-1, entry=None, now=total, total=total + without - superseded * held.cold)

    def later(tokens: int) -> float:
        most = max(tokens, repeated)
        beside = (most - tokens) * held.beside + (total - most) * held.never
        return tokens * held.stored + beside - superseded * held.relief

    for place, prefix in enumerate(wire.hashes):
        entry, tokens = live.get(prefix), wire.ends[place]
        if entry is not None and entry.name:
            now = total - tokens * (1.0 - read)
            yield _Way(place=place, entry=entry, now=now, total=now + later(tokens))
    if not (held.pays and settings.may_store and settings.has_answered):
        return
    for place in places:
        now = total + wire.ends[place] * read
        yield _Way(place=place, entry=None, now=now, total=now + later(wire.ends[place]))


def _ends(wire: Wire, prices: CachePrices) -> tuple[int, ...]:
    """Places where a new content may end: behind the turns so far, behind layers 9 and 10, else behind the
    stable ones.

    Something must stand behind it: the vendor answers no request without content of its own.
    """
    talk = wire.last(MarkPlace.TALK)
    turns = next((i for i in range(talk - 1, -1, -1) if wire.blocks[i].key.startswith(_TURNS)), -1)
    is_asked = talk >= 0 and not wire.blocks[talk].key.startswith(_TURNS)
    base = wire.last(MarkPlace.BASE)
    places = (turns if is_asked else -1, base if base >= 0 else wire.last(MarkPlace.STABLE))
    return tuple(
        place for place in places if place >= 0 and wire.ends[place] >= max(1, prices.minimum_tokens)
    )


def _within(wire: Wire, prices: CachePrices, most: float) -> tuple[int, ...]:
    """Ends of at most so many tokens; where all are larger, the deepest block of layers 1 to 10 that is not."""
    ends = _ends(wire, prices)
    small = tuple(place for place in ends if wire.ends[place] <= most)
    if small or not ends:
        return small
    stable = max(0, wire.last(MarkPlace.STABLE))
    least = max(1, prices.minimum_tokens)
    blocks = (place for place in range(min(ends) - 1, stable - 1, -1) if wire.blocks[place].place in _LASTING)
    return tuple(place for place in blocks if least <= wire.ends[place] <= most)[:1]


def _lease_s(hold_s: float) -> int:
    return min(math.ceil(hold_s), LEASE_S)


def _used(
    prices: CachePrices,
    wire: Wire,
    way: _Way,
    entry: CacheLedgerEntry,
    hold_s: float,
    without: float,
    now: datetime,
) -> CachePlan:
    """Use a content. It is asked for again with the request only where it might end before the next look at it."""
    left_s = (entry.expires_at - now).total_seconds()
    ttl_s = _lease_s(hold_s) if left_s < hold_s / 2 else 0
    use = ContentsPlan(
        use=ContentsUse.USE,
        through_key=wire.blocks[way.place].key,
        prefix_hash=entry.prefix_hash,
        ttl_s=ttl_s,
        name=entry.name,
    )
    text = as_sentences(
        tr("The provider reads {ends:,} tokens from the stored prefix", ends=wire.ends[way.place]),
        tr("The provider keeps the prefix for {time} after this turn.", time=lifetime(round(hold_s)))
        if hold_s > 0
        else tr("To keep the prefix for longer would cost more than it saves."),
    )
    return _plan(prices, wire, way, use, without, text)


def _inline(
    prices: CachePrices, wire: Wire, expected: float, without: float, settings: CacheSettings
) -> CachePlan:
    if not _ends(wire, prices):
        why = tr("no part of the request is large enough to store")
    elif not settings.may_store:
        why = tr("the command line stores no prefix, because the command ends after the reply")
    elif not settings.has_answered:
        why = tr("the program stores a prefix only after the model's first reply")
    else:
        why = tr("storing the prefix would cost more than it saves")
    way = _Way(place=-1, entry=None, now=wire.total_tokens, total=expected)
    return _plan(
        prices,
        wire,
        way,
        None,
        without,
        tr("The program sends everything without storing it: {why}.", why=why),
    )


def _plan(
    prices: CachePrices,
    wire: Wire,
    way: _Way,
    contents: ContentsPlan | None,
    without: float,
    sentence: str,
    writes: tuple[PlannedWrite, ...] = (),
) -> CachePlan:
    total, usd = wire.total_tokens, prices.input_usd
    read = wire.ends[way.place] if way.entry is not None else 0
    return CachePlan(
        contents=contents,
        read_tokens=read,
        fresh_tokens=total - read,
        cost_usd=None if usd is None else way.now * usd,
        read_cost_usd=None if usd is None else read * prices.read * usd,
        cost_without_usd=None if usd is None else total * usd,
        outlook=min(way.total, without),
        outlook_without=without,
        hit_hash=contents.prefix_hash if contents is not None and read else "",
        writes=writes,
        sentences=(sentence,),
        prices=prices,
    )


# Rent of storing, as it falls due: a row for each content that is stored for a discussion, booked to its
# end once.

BOOKED_EVERY = timedelta(minutes=15)
"""A content that is held for long is booked so often, so that the limits see its rent."""

_HOUR = timedelta(hours=1)

Prices = Callable[[str, str], CachePrices]
"""Gives the current prices of a provider's model."""

Rents = tuple[StoredRent, ...]


class RentDue(msgspec.Struct, frozen=True):
    """Rent that was not in the books yet. `cost_usd`: None where the price is unknown; `input_usd`: of a fresh token.

    `record_id`: of the record that tells it, the same whenever it is made; `at`: when it was settled; `is_estimate`: the
    provider did not say when it ended.
    """

    discussion_id: str
    provider: str
    model: str
    cost_usd: float | None
    input_usd: float | None = None
    record_id: str = ""
    at: datetime | None = None
    is_estimate: bool = False


def with_content(
    rents: Rents,
    provider: str,
    content: StoredContent,
    used_at: datetime | None = None,
    since: datetime | None = None,
) -> Rents:
    """Rows with a content as it is stored now.

    Args:
        used_at: start of the request that used it, None where none did.
        since: when the rent of one that has no row begins, None: with its making.
    """
    known = next((row for row in rents if row.name == content.name), None)
    if known is None:
        made = since or content.created_at
        known = StoredRent(
            provider=provider,
            model=content.model,
            name=content.name,
            tokens=content.tokens,
            paid_until=made,
            expires_at=content.expires_at,
        )
    row = replace(known, expires_at=content.expires_at, used_at=used_at or known.used_at, ending_at=None)
    return (*(other for other in rents if other.name != row.name), row)


def without(rents: Rents, names: Collection[str], now: datetime) -> Rents:
    """Rows after contents were deleted: their rent ends now, if it has not ended before."""
    return tuple(
        replace(row, expires_at=min(row.expires_at, row.ending_at or now, now)) if row.name in names else row
        for row in rents
    )


def found_gone(rents: Rents, names: Collection[str], now: datetime) -> Rents:
    """Rows after contents were found to be gone before their time: their rent has ended by now, nobody knows when."""
    return tuple(
        replace(row, expires_at=row.ending_at or now, ending_at=row.ending_at or now)
        if row.name in names and now < row.expires_at
        else row
        for row in rents
    )


def ending(rents: Rents, names: Collection[str], now: datetime | None) -> Rents:
    """Rows after their deletion was asked for and not answered yet; None: it was."""
    return tuple(replace(row, ending_at=now) if row.name in names else row for row in rents)


def settled(
    discussion_id: str, rents: Rents, prices: Prices, now: datetime
) -> tuple[Rents, tuple[RentDue, ...]]:
    """Book what is due: of what has ended or was used since, and of what is held for long. What has ended goes.

    Of one that ended nobody knows when, what was booked since its last use may be too much: nothing more is, and that is
    marked.
    """
    kept: list[StoredRent] = []
    due: list[RentDue] = []
    for row in rents:
        is_guessed = row.ending_at is not None and now >= row.expires_at
        end = min(now, row.expires_at, row.ending_at or now) if is_guessed else min(now, row.expires_at)
        was_used = row.used_at is not None and row.used_at > row.paid_until
        if end <= row.paid_until and not (is_guessed and row.used_at != row.paid_until):
            if now < row.expires_at:
                kept.append(row)
            continue
        if now < row.expires_at and not was_used and now - row.paid_until < BOOKED_EVERY:
            kept.append(row)
            continue
        price = prices(row.provider, row.model)
        cost = rent_usd(price, row.tokens, max(timedelta(), end - row.paid_until))
        record_id = make_id(end, f"rent/{row.name}/{row.paid_until.timestamp()}")
        due.append(
            RentDue(
                discussion_id=discussion_id,
                provider=row.provider,
                model=row.model,
                cost_usd=cost,
                input_usd=price.input_usd,
                record_id=record_id,
                at=now,
                is_estimate=is_guessed,
            )
        )
        if now < row.expires_at:
            kept.append(replace(row, paid_until=end))
    return tuple(kept), tuple(due)


def rent_usd(prices: CachePrices, tokens: int, stored: timedelta) -> float | None:
    """Rent of so many tokens for so long, None where the price is unknown."""
    return tokens * prices.storage_usd * (stored / _HOUR) if prices.storage_usd else None
