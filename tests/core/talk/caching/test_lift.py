"""A ping that lets a prefix written for five minutes live for an hour: offered, sent, billed, booked, and unlearned."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CachePlan, CacheSettings, ExtensionEvidence, Mechanism
from core.kernel.values.usage import Usage
from core.services.providers.blocks import eve_of
from core.talk.caching import pings
from core.talk.caching.cache_ledger import can_extend, lifted_s, record, with_extension
from core.talk.caching.economy import Odds, best_pings, outlook, ping_window_s
from core.talk.caching.keepalive import (
    Idle,
    Lift,
    after_ping,
    best_idle,
    idle_entries,
    ping_marks,
    ping_request,
    ping_tokens,
)
from core.talk.caching.planner import PlanInputs, plan
from tests.core.talk.caching.cache_play import MARKET, CachePlay, cost
from tests.core.talk.caching.requests import (
    ANTHROPIC,
    NOW,
    SCOPE,
    SLOW,
    after,
    gap_stats,
    habits_of,
    json_of,
    request,
    wire,
)
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts

ON = CacheSettings(keepalive=True)
TALK = ("100 a", "100 b")


def cold_plan(settings: CacheSettings = ON, ledger: CacheLedger | None = None) -> CachePlan:
    """Plan of a cold start by someone who comes back after twenty minutes."""
    laid = wire(*TALK)
    return plan(PlanInputs(laid, SCOPE, ANTHROPIC, ledger or CacheLedger(), SLOW, settings, NOW))


def idle_of(found: CachePlan) -> Idle:
    """The deepest entry that the request leaves."""
    ledger = record(CacheLedger(), SCOPE, found, NOW, "d")
    return idle_entries(wire(*TALK), ledger, SCOPE, NOW, lifted_s(ANTHROPIC, ledger))[0]


def test_a_cold_start_that_will_be_pinged_is_written_for_five_minutes_up_to_the_words() -> None:
    found = cold_plan()

    assert {mark.ttl_s for mark in found.marks} == {300}
    assert found.marks[-1].after_key == "11/m1"
    assert any("first keepalive" in sentence for sentence in found.sentences)


def test_without_pings_or_trust_in_long_marks_the_words_are_marked_as_ever() -> None:
    distrusted = with_extension(CacheLedger(), ExtensionEvidence(SCOPE.provider, SCOPE.model, lost=1))

    assert cold_plan(CacheSettings()).marks[-1].after_key == "12/text"
    assert cold_plan(ledger=distrusted).marks[-1].after_key == "12/text"
    assert lifted_s(ANTHROPIC, distrusted) == 0
    assert lifted_s(replace(ANTHROPIC, mechanism=Mechanism.BREAKPOINTS), CacheLedger()) == 0


def test_the_ping_reads_what_lives_writes_the_words_and_all_of_it_lives_for_an_hour() -> None:
    found, asked = cold_plan(), request(*TALK)
    idle = idle_of(found)
    clock = Clock(NOW.timestamp())
    engine = AnthropicCache(clock, Texts(lambda text: int(text.split(" ")[0])))
    engine.send(json_of(asked, found.marks))
    clock.advance(280)
    marks = ping_marks(found, idle, asked)
    ping = engine.send({**json_of(ping_request(asked, idle), marks), "max_tokens": 0}).parts
    clock.advance(3_500)
    lifted = after_ping(idle, ANTHROPIC, ping.read, after(280))
    again = engine.send(
        {**json_of(ping_request(asked, lifted), ping_marks(found, lifted, asked)), "max_tokens": 0}
    )

    assert len(marks) <= ANTHROPIC.max_marks
    assert (ping.read, ping.write_long, ping.write, ping.plain) == (idle.tokens, 100, 0, 0)
    assert ping_tokens(idle, ANTHROPIC) == pytest.approx(0.05 * idle.tokens + 2.0 * 100)
    assert (lifted.ttl_s, lifted.tokens, lifted.lift) == (3600, idle.tokens + 100, None)
    assert again.parts.read == lifted.tokens


def test_an_attachment_is_nothing_that_a_ping_could_write() -> None:
    laid = wire(*TALK)
    place = eve_of(laid)
    blocks = list(laid.blocks)
    blocks[place] = replace(blocks[place], key="attachment/1")

    assert laid.blocks[place].key == "11/m1"
    assert eve_of(replace(laid, blocks=tuple(blocks))) == -1


def test_a_lifted_idle_time_is_pinged_once_after_five_minutes_and_then_by_the_hour() -> None:
    odds = Odds((3_000.0,), (1.0,), 0.9)

    assert best_pings(odds, 300, 0.05, 1.2, 24, lifted_s=3600)[0] == 1
    assert best_pings(odds, 300, 0.05, 1.2, 24)[0] == 10
    late = Odds((ping_window_s(300) + 3_700.0,), (1.0,), 0.9)
    assert best_pings(late, 300, 0.05, 1.2, 24, lifted_s=3600)[0] == 2


def test_what_lives_for_an_hour_in_front_does_not_keep_a_ping_from_lifting_what_stands_behind() -> None:
    """It is part of what the ping lifts, and lives on with it; where no lift pays it is kept by itself."""
    behind = Idle(84_000, 300, NOW, covered_tokens=61_000, lift=Lift("11/m1", "m1", 84_300, 3600))
    front = Idle(61_000, 3600, NOW)
    best = best_idle((behind, front), ANTHROPIC, SLOW, ON, NOW)
    assert best is not None
    assert (best[0], best[1].ping_at) == (behind, after(ping_window_s(300)))

    little = replace(behind, covered_tokens=83_900)
    alone = best_idle((little, front), ANTHROPIC, gap_stats(*[60.0, 9000.0] * 50), ON, NOW)
    assert alone is not None
    assert (alone[0], alone[1].ping_at) == (front, after(ping_window_s(3600)))


def test_a_cold_start_is_worth_less_than_an_hours_price_where_a_ping_can_lift_it() -> None:
    odds = Odds((60.0, 2_000.0), (0.5, 1.0), 0.9)
    kept = outlook(ANTHROPIC, odds, ttls=(300, 3600), keepalive=True)
    bare = outlook(ANTHROPIC, odds, ttls=(300, 3600), keepalive=True, extends=False)

    assert kept.lifted is not None
    assert bare.lifted is None
    assert 1.25 + kept.lifted < min(1.25 + kept.live[300], 2.0 + kept.live[3600])
    assert kept.dead < bare.dead


def played() -> tuple[CachePlay, pings.Ping]:
    """A first turn, and the ping that is due before its five minutes are over."""
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=ON)
    play.turn("1", 0)
    (ping,) = pings.due_pings(play.book, lambda _call: ON, after(290))
    return play, ping


def usage_of(ping: pings.Ping, read: int) -> Usage:
    """Usage of a ping that read so much and wrote the rest for an hour."""
    total = ping.idle.lift.tokens if ping.idle.lift is not None else ping.idle.tokens
    wrote = total - read
    return Usage(
        input_tokens=total,
        output_tokens=0,
        cache_read_tokens=read,
        cache_write_tokens=wrote,
        cache_write_1h_tokens=wrote,
    )


def test_the_book_believes_in_the_hour_and_the_next_turn_reads_all() -> None:
    play, ping = played()
    assert ping.idle.lift is not None
    before = play.book.pages["d"].cache.balance
    play.book, kept = pings.pinged(play.book, ping, usage_of(ping, ping.idle.tokens), cost)
    paid = before.saved - play.book.pages["d"].cache.balance.saved
    call, _ = play.turn("2", 2_000)

    assert kept.state is not None
    assert kept.state.expires_at == after(290 + 3600)
    assert paid == pytest.approx(ping_tokens(ping.idle, ping.call.prices))
    assert call.decision.plan.read_tokens == ping.idle.lift.tokens
    assert call.decision.plan.tests_extension


@pytest.mark.parametrize(("reads", "trusts"), [(True, True), (False, False)])
def test_the_second_ping_tells_whether_the_first_lifted_it(*, reads: bool, trusts: bool) -> None:
    play, first = played()
    play.book, _ = pings.pinged(play.book, first, usage_of(first, first.idle.tokens), cost)
    play.book = replace(play.book, habits=habits_of(6000.0))
    idle = play.book.pages["d"].idle[0]
    second = replace(first, idle=idle, started_at=after(290 + 3420))
    play.book, _ = pings.pinged(play.book, second, usage_of(second, idle.tokens if reads else 0), cost)

    assert idle.ttl_s == 3600
    assert can_extend(play.book.ledger, SCOPE.provider, SCOPE.model) is trusts
