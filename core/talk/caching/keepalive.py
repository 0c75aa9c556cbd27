"""Reads of a prefix only to keep it: while that is expected to save money, within a cap, never after a miss."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel.figures import count, dollars
from core.kernel.language import tr
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
)
from core.kernel.values.provider import ProviderRequest, RequestMessage
from core.services.providers.blocks import MarkPlace, Wire, eve_of, part_key
from core.talk.caching.accounts import total_allowed
from core.talk.caching.cache_ledger import hits, live_entries
from core.talk.caching.economy import best_pings, break_even_pings, idle_odds, outlook, ping_window_s

PING_SHARE = 0.5
"""Pings of one idle time cost at most this share of what caching has saved in the discussion: never its gain as a whole."""
PING_CREDIT = 0.2
"""Credit where that is less: so much of the discussion's largest request sent fresh, within what a discussion
may lose at most.
"""


class Lift(msgspec.Struct, frozen=True):
    """A block behind an entry with which a ping lets the whole prefix live for longer.

    Args:
        tokens: of the prefix that ends with it.
    """

    after_key: str
    prefix_hash: str
    tokens: int
    ttl_s: int


class Idle(msgspec.Struct, frozen=True):
    """A discussion whose last request left an entry.

    Args:
        tokens: of the entry; used_at: start of the request or ping that last used it; turn_at: of the request,
            None where there was no ping since.
        covered_tokens: of them, those that another entry holds for longer: they would not be lost.
        pings: made since the last turn; spent_usd: what they cost; was_missed: the last one read nothing.
        is_open: the discussion is open and the program is not closing.
        balance: what caching was worth for the discussion; pings are paid out of that. None: not bounded by it.
        lift: what its next ping can write behind it.
        is_retried: the last ping was refused, which costs nothing: one more is tried while the entry lives.
    """

    tokens: int
    ttl_s: int
    used_at: datetime
    after_key: str = ""
    prefix_hash: str = ""
    covered_tokens: int = 0
    pings: int = 0
    spent_usd: float = 0.0
    was_missed: bool = False
    is_open: bool = True
    turn_at: datetime | None = None
    balance: Balance | None = None
    lift: Lift | None = None
    is_retried: bool = False


class KeepalivePlan(msgspec.Struct, frozen=True):
    """Plan of reading a prefix again only to keep it, if at all.

    Args:
        ping_at: None: not at all; pings_left: how many more are worth it from now on, this one included.
        expected_saving_usd: of pinging on, over letting the entry expire; None where the price is unknown.
    """

    ping_at: datetime | None
    pings_left: int
    expected_saving_usd: float | None
    sentence: str


def ping_tokens(idle: Idle, prices: CachePrices) -> float:
    """Cost of the next ping, in tokens of fresh input."""
    more = 0.0
    if idle.lift is not None:
        more = (idle.lift.tokens - idle.tokens) * prices.write_at(idle.lift.ttl_s)
    return idle.tokens * prices.read + more


def keepalive_plan(
    idle: Idle, prices: CachePrices, gaps: GapStats, settings: CacheSettings, now: datetime
) -> KeepalivePlan:
    """Decide on the next ping.

    Returns:
        When to send it, how many are worth it, and what that is expected to save; or why there is none.
    """
    if why := _why_not(idle, prices, settings, now):
        return KeepalivePlan(ping_at=None, pings_left=0, expected_saving_usd=None, sentence=why)
    turn_at = idle.turn_at or idle.used_at
    odds = idle_odds(gaps, turn_at.timestamp(), now.timestamp())
    break_even = break_even_pings(prices, idle.ttl_s)
    most = break_even - idle.pings
    each = ping_tokens(idle, prices)
    cost = each * (prices.input_usd or 0.0)
    if prices.input_usd and cost > 0:
        most = min(most, int((settings.keepalive_cap_usd - idle.spent_usd) / cost + 1e-9))
    if idle.balance is not None and each > 0:
        most = min(most, int(_budget(idle.balance, idle.pings * each) / each + 1e-9))
    if most <= 0:
        return KeepalivePlan(
            ping_at=None, pings_left=0, expected_saving_usd=None, sentence=_spent(idle, settings, break_even)
        )
    ttls = tuple(offer.ttl_s for offer in prices.writes if offer.ttl_s <= settings.longest_ttl_s)
    values = outlook(prices, odds, ttls=ttls or (idle.ttl_s,), keepalive=True, extends=settings.extends)
    nearest = min(values.kept, key=lambda ttl_s: abs(ttl_s - idle.ttl_s))
    lost = max(0.0, values.dead - prices.read - values.kept[nearest])
    lost *= 1.0 - idle.covered_tokens / idle.tokens
    idle_s = (idle.used_at - turn_at).total_seconds()
    lifted_s = 0 if idle.lift is None else idle.lift.ttl_s
    pings, saving = best_pings(odds, idle.ttl_s, prices.read, lost, most, idle_s=idle_s, lifted_s=lifted_s)
    if not pings:
        text = tr("No keepalive: you are no longer likely enough to return in time.")
        return KeepalivePlan(ping_at=None, pings_left=0, expected_saving_usd=None, sentence=text)
    due = idle.used_at + timedelta(seconds=ping_window_s(idle.ttl_s))
    usd = None if prices.input_usd is None else saving * idle.tokens * prices.input_usd
    text = tr(
        "The program keeps {tokens:,} tokens warm with up to {pings}. As many as {break_even} keepalives would cost as much as another cache write.",
        pings=count(pings, tr("more keepalive request"), tr("more keepalive requests")),
        tokens=idle.tokens,
        break_even=break_even,
    )
    return KeepalivePlan(ping_at=due, pings_left=pings, expected_saving_usd=usd, sentence=text)


def idle_entries(
    wire: Wire, ledger: CacheLedger, scope: LedgerScope, used_at: datetime, lifted_s: int = 0
) -> tuple[Idle, ...]:
    """Entries that a request left alive, deepest first: the entries that a ping could keep, one for each
    lifetime.

    Args:
        used_at: start of the request; entries that it neither wrote nor renewed are older, and are left out.
        lifted_s: lifetime that a mark behind a shorter-lived entry gives the whole prefix, 0 where it gives none.
    """
    found: dict[int, Idle] = {}
    for hit in hits(live_entries(ledger, scope, used_at), wire):
        entry = ledger.entries[scope][hit.prefix_hash]
        was_used = entry.expires_at >= used_at + timedelta(seconds=entry.ttl_s)
        block = wire.blocks[hit.index]
        is_own = block.place is not MarkPlace.STABLE
        if was_used and is_own and hit.ttl_s not in found and block.can_be_marked:
            key = block.key
            lift = _lift(wire, hit.index, lifted_s) if hit.ttl_s < lifted_s else None
            found[hit.ttl_s] = Idle(
                tokens=hit.tokens,
                ttl_s=hit.ttl_s,
                used_at=used_at,
                after_key=key,
                prefix_hash=hit.prefix_hash,
                lift=lift,
            )
    for ttl_s, idle in tuple(found.items()):
        longer = (one.tokens for one in found.values() if one.ttl_s > ttl_s)
        found[ttl_s] = replace(idle, covered_tokens=min(idle.tokens, max(longer, default=0)))
    return tuple(found.values())


def _lift(wire: Wire, place: int, ttl_s: int) -> Lift | None:
    if place < 0 or place != eve_of(wire):
        return None
    head = wire.head
    return Lift(
        after_key=wire.blocks[head].key, prefix_hash=wire.hashes[head], tokens=wire.ends[head], ttl_s=ttl_s
    )


def best_idle(
    idles: Sequence[Idle], prices: CachePrices, gaps: GapStats, settings: CacheSettings, now: datetime
) -> tuple[Idle, KeepalivePlan] | None:
    """The entry that is most worth keeping, with its plan; None where nothing was left alive.

    One that a ping lifts goes first where that pays: what lives longer stands in front of it, and lives on with it.
    """

    def worth(pair: tuple[Idle, KeepalivePlan]) -> tuple[bool, float, int]:
        idle, saving = pair[0], pair[1].expected_saving_usd or 0.0
        return idle.lift is not None and saving > 0, saving, idle.tokens

    plans = [(idle, keepalive_plan(idle, prices, gaps, settings, now)) for idle in idles]
    return max(plans, key=worth, default=None)


def ping_marks(plan: CachePlan, idle: Idle, request: ProviderRequest) -> tuple[CacheMark, ...]:
    """Marks of a ping: the entry itself, and the plan's marks before it, which are renewed for nothing.

    A ping that lets it live for longer has its mark behind it: the entry is found from there.
    """
    keys = [TOOLS_KEY, *(s.key for s in request.system)]
    keys += [part_key(part) for message in request.messages for part in message.parts]
    places = {key: place for place, key in enumerate(keys)}
    last = places.get(idle.after_key, -1)
    before = [mark for mark in plan.marks if places.get(mark.after_key, last) < last]
    key, ttl_s = (idle.after_key, idle.ttl_s) if idle.lift is None else (idle.lift.after_key, idle.lift.ttl_s)
    return tuple(
        CacheMark(key, ttl_s) for key in (*(m.after_key for m in before[: len(plan.marks) - 1]), key)
    )


def ping_request(request: ProviderRequest, idle: Idle) -> ProviderRequest:
    """The request that only reads: cut behind the entry.

    The client sends it with the same tools, thinking and effort, and `max_tokens` 0 (Anthropic) or as a prewarm
    (OpenAI): whatever stands behind the entry would be paid in full each time.
    """
    last = idle.after_key if idle.lift is None else idle.lift.after_key
    places = [
        (number, index)
        for number, message in enumerate(request.messages)
        for index, part in enumerate(message.parts)
        if part_key(part) == last
    ]
    if not places:
        return request
    number, index = places[-1]
    end = request.messages[number]
    return replace(
        request, messages=(*request.messages[:number], RequestMessage(end.role, end.parts[: index + 1]))
    )


def after_ping(idle: Idle, prices: CachePrices, read_tokens: int | None, at: datetime) -> Idle:
    """The idle discussion after a ping that started at `at`. A ping that read nothing is the last."""
    cost = ping_tokens(idle, prices) * (prices.input_usd or 0.0)
    return replace(
        lifted(idle),
        used_at=at,
        turn_at=idle.turn_at or idle.used_at,
        pings=idle.pings + 1,
        spent_usd=idle.spent_usd + cost,
        was_missed=read_tokens == 0,
        is_retried=False,
    )


def lifted(idle: Idle) -> Idle:
    """The entry as a ping leaves it: the same, or the one behind it that lives for longer."""
    lift = idle.lift
    if lift is None:
        return idle
    return replace(
        idle,
        tokens=lift.tokens,
        ttl_s=lift.ttl_s,
        after_key=lift.after_key,
        prefix_hash=lift.prefix_hash,
        lift=None,
    )


def _budget(balance: Balance, spent: float) -> float:
    """Budget of an idle time for further pings, in tokens of fresh input.

    Args:
        spent: on those that were made, which the balance has paid already.
    """
    before = balance.saved + spent
    share = max(before * PING_SHARE, PING_CREDIT * balance.largest_tokens)
    return min(share - spent, total_allowed(balance, 0))


def _why_not(idle: Idle, prices: CachePrices, settings: CacheSettings, now: datetime) -> str:
    if not (settings.keepalive and settings.is_enabled):
        return tr("Keepalive is off.")
    if not idle.is_open:
        return tr("No keepalive: the discussion is closed.")
    if idle.was_missed:
        return tr("No keepalive: the last keepalive found nothing in the cache.")
    if not prices.writes or idle.tokens < max(1, prices.minimum_tokens):
        return tr("No keepalive: the cache holds nothing that could be kept.")
    if prices.input_usd is None:
        return tr("No keepalive: the model's price is unknown.")
    if now >= idle.used_at + timedelta(seconds=idle.ttl_s):
        return tr("No keepalive: the cache is already cold.")
    return ""


def _spent(idle: Idle, settings: CacheSettings, break_even: int) -> str:
    if idle.pings >= break_even:
        return tr(
            "No keepalive: {break_even} keepalives cost as much as another cache write.",
            break_even=break_even,
        )
    return tr(
        "No keepalive: {spent_usd} of {keepalive_cap_usd} is spent.",
        spent_usd=dollars(idle.spent_usd),
        keepalive_cap_usd=dollars(settings.keepalive_cap_usd),
    )
