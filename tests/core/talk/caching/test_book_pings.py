"""Pings in the book: which are due, what an answer moves, and what a silent or refused one costs."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.usage import Usage
from core.talk.caching import cache_book as books
from core.talk.caching import pings
from tests.core.talk.caching.cache_play import MARKET, PINGED, PINGING, CachePlay, billed, cost, plan_of
from tests.core.talk.caching.requests import SCOPE, after, habits_of


def test_a_ping_is_due_before_the_entry_ends_and_a_miss_is_the_last() -> None:
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)
    call, _ = play.turn("1", 0)

    def due(at_s: float, off: tuple[str, ...] = ()) -> tuple[pings.Ping, ...]:
        return pings.due_pings(play.book, lambda _call: PINGING, after(at_s), off)

    assert due(60) == ()
    assert due(290, ("d",)) == ()
    (ping,) = due(290)
    assert ping.request.cache is not None
    assert ping.request.cache.marks[-1].after_key == ping.idle.after_key
    hit, _ = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=9), cost)
    miss, paid = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=0), cost)

    assert paid.totals is not None
    assert paid.totals.upkeep.pings == 1
    assert paid.totals.usage.input_tokens == (billed(plan_of(call)).input_tokens or 0) + 9_000
    play.book = hit
    assert len(due(580)) == 1
    play.book = miss
    assert due(580) == ()


def test_a_ping_that_is_answered_after_a_newer_turn_leaves_that_turns_idle_alone_and_its_entry_counts() -> (
    None
):
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)
    play.turn("1", 0)
    (ping,) = pings.due_pings(play.book, lambda _call: PINGING, after(290))
    play.turn("2", 295)
    newer = play.book.pages["d"].idle

    for read in (9, 0):
        late, paid = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=read), cost)
        assert late.pages["d"].idle == newer
        assert paid.usage is not None

    hit, _ = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=9), cost)
    entry = hit.ledger.entries[SCOPE][ping.idle.prefix_hash]
    assert entry.expires_at >= after(290 + ping.idle.ttl_s)
    known = play.book.ledger.entries[SCOPE].get(ping.idle.prefix_hash)
    assert known is None or entry.expires_at == max(known.expires_at, after(290 + ping.idle.ttl_s))


def test_no_ping_is_due_of_what_was_abandoned_until_the_next_turn_also_where_that_was_under_way() -> None:
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)

    def due(at_s: float) -> tuple[pings.Ping, ...]:
        return pings.due_pings(play.book, lambda _call: PINGING, after(at_s))

    play.turn("1", 0)
    assert len(due(290)) == 1
    play.book = pings.stopped(play.book, ("d", "of another"))
    assert due(290) == ()

    play.turn("2", 295)
    assert len(due(590)) == 1
    call = play.plan("3", 600)
    play.go("3", call)
    play.book = pings.stopped(play.book, ("d",))
    play.end("3", billed(plan_of(call)), 605)
    assert due(895) == ()


def test_a_ping_moves_the_end_of_the_part_that_it_kept_and_of_no_other() -> None:
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)
    play.turn("1", 0)
    (ping,) = pings.due_pings(play.book, lambda _call: PINGING, after(290))
    page = play.book.pages["d"]
    assert page.cache.state is not None
    both = replace(
        page.cache.state, tokens_cached=20_000, long_until=after(295), long_tokens=ping.idle.tokens
    )
    play.book = books.with_page(play.book, "d", replace(page, cache=replace(page.cache, state=both)))

    _, kept = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=9), cost)

    assert kept.state is not None
    assert kept.state.long_until == after(290 + 300)
    assert kept.state.expires_at == both.expires_at


def test_a_ping_without_usage_is_booked_at_its_estimate_and_one_that_was_refused_costs_nothing() -> None:
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)
    play.turn("1", 0)
    (ping,) = pings.due_pings(play.book, lambda _call: PINGING, after(290))

    whole, lost, cut = 0, ping.idle.tokens, ping.idle.tokens
    for has_failed, is_cut, read in ((False, False, whole), (True, False, lost), (False, True, cut)):
        book, silent = pings.pinged(play.book, ping, Usage(), cost, has_failed=has_failed, is_cut=is_cut)
        assert silent.usage is not None
        assert silent.usage.is_estimate
        assert (silent.usage.input_tokens, silent.usage.cache_read_tokens) == (ping.idle.tokens, read)
        assert book.totals["anthropic"].upkeep.usage.is_estimate
    refused, nothing = pings.pinged(play.book, ping, None, cost)
    assert nothing == pings.Upkept()
    assert refused.totals == play.book.totals
    assert not refused.pages["d"].idle[0].was_missed, "it read nothing because it never left"
    (again,) = pings.due_pings(refused, lambda _call: PINGING, after(292))
    assert pings.pinged(refused, again, None, cost)[0].pages["d"].idle[0].was_missed, "twice is enough"


def test_a_ping_renews_every_entry_that_it_marks_so_that_what_discussions_share_is_foreseen() -> None:
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)
    call, _ = play.turn("1", 0)
    (ping,) = pings.due_pings(play.book, lambda _call: PINGING, after(290))
    assert ping.request.cache is not None
    keys = {mark.after_key for mark in ping.request.cache.marks}
    wire = call.decision.wire
    fronts = [prefix for block, prefix in zip(wire.blocks, wire.hashes, strict=True) if block.key in keys]
    assert len(fronts) > 1

    hit, _ = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=9), cost)
    miss, _ = pings.pinged(play.book, ping, replace(PINGED, cache_read_tokens=0), cost)

    assert all(hit.ledger.entries[SCOPE][prefix].expires_at >= after(290 + 300) for prefix in fronts)
    assert all(miss.ledger.entries[SCOPE][prefix].expires_at < after(290 + 300) for prefix in fronts[:-1])
