"""Pings: only while they pay, within the cap, never after a miss, and only what they need is sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import (
    Balance,
    CacheLedger,
    CachePlan,
    CacheSettings,
    GapStats,
    PlannedWrite,
    Talk,
    TurnGap,
)
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.usage import Usage
from core.talk.caching.accounts import MOST_LOST, after_upkeep
from core.talk.caching.cache_ledger import record
from core.talk.caching.economy import Odds, break_even_pings, own_odds
from core.talk.caching.keepalive import (
    PING_CREDIT,
    PING_SHARE,
    Idle,
    after_ping,
    best_idle,
    idle_entries,
    keepalive_plan,
    ping_marks,
    ping_request,
)
from core.talk.caching.planner import PlanInputs, plan
from tests.core.talk.caching.requests import (
    ANTHROPIC,
    AWAY,
    NOW,
    QUICK,
    SCOPE,
    after,
    gap_stats,
    json_of,
    request,
    wire,
)
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts

ON = CacheSettings(keepalive=True)
HOURS = gap_stats(*[60.0, 9000.0] * 50)
"""Someone who often comes back after two and a half hours."""
IDLE = Idle(tokens=100_000, ttl_s=3600, used_at=NOW, after_key="12/text")


def test_a_ping_is_due_shortly_before_the_entry_dies() -> None:
    found = keepalive_plan(IDLE, ANTHROPIC, HOURS, ON, NOW)

    assert found.ping_at == after(57 * 60)
    assert found.pings_left >= 2
    assert found.expected_saving_usd is not None
    assert found.expected_saving_usd > 0
    assert f"{found.pings_left} more keepalive requests" in found.sentence


def test_keepalive_is_off_unless_it_was_turned_on() -> None:
    assert keepalive_plan(IDLE, ANTHROPIC, HOURS, CacheSettings(), NOW).ping_at is None


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"was_missed": True}, "found nothing"),
        ({"is_open": False}, "closed"),
        ({"tokens": 100}, "the cache holds nothing"),
        ({"spent_usd": 1.0}, "$1.00 of $1.00"),
        ({"pings": 39}, "39 keepalives cost as much"),
        ({"used_at": after(-4000)}, "already cold"),
    ],
)
def test_a_ping_is_left_out_with_its_reason(change: dict[str, object], word: str) -> None:
    found = keepalive_plan(replace(IDLE, **change), ANTHROPIC, HOURS, ON, NOW)  # type: ignore[arg-type]

    assert (found.ping_at, found.pings_left) == (None, 0)
    assert word in found.sentence


def test_who_never_comes_back_in_time_is_not_waited_for() -> None:
    assert keepalive_plan(IDLE, ANTHROPIC, AWAY, ON, NOW).ping_at is None


@pytest.mark.parametrize(
    ("gaps", "most"),
    [([120.0] * 3, 200), ([120.0] * 9, 0), ([*[120.0] * 9, 9000.0], 5), ([9000.0] * 9, 5)],
    ids=["too few to tell", "never away for long", "away once", "often away"],
)
def test_who_was_never_away_for_so_long_is_not_waited_for(gaps: list[float], most: int) -> None:
    """A cache of an hour is kept for twice the longest time after which they came back, 18,000 s here."""
    found = keepalive_plan(IDLE, ANTHROPIC, gap_stats(*gaps), ON, NOW)

    assert found.pings_left <= most
    assert bool(found.pings_left) is bool(most)


def test_without_a_price_there_is_no_cap_to_keep_and_no_ping() -> None:
    found = keepalive_plan(IDLE, replace(ANTHROPIC, input_usd=None), HOURS, ON, NOW)

    assert found.ping_at is None
    assert "unknown" in found.sentence


def test_what_another_entry_holds_for_longer_is_not_kept_again() -> None:
    short = replace(IDLE, ttl_s=300, covered_tokens=100_000)

    assert keepalive_plan(short, ANTHROPIC, HOURS, ON, NOW).ping_at is None


@given(
    st.lists(st.floats(1, 200_000), max_size=50).map(tuple),
    st.integers(1_000, 900_000),
    st.sampled_from([300, 3600]),
    st.floats(0, 0.5),
)
def test_pings_never_go_past_break_even_or_the_cap(
    gaps: tuple[float, ...], tokens: int, ttl_s: int, cap: float
) -> None:
    chosen = replace(ON, keepalive_cap_usd=cap)
    stats = gap_stats(*gaps, turns=len(gaps) + 1)
    idle = Idle(tokens, ttl_s, NOW)
    made = 0
    while (found := keepalive_plan(idle, ANTHROPIC, stats, chosen, idle.used_at)).ping_at is not None:
        idle = after_ping(idle, ANTHROPIC, tokens, found.ping_at)
        made += 1

    assert made <= break_even_pings(ANTHROPIC, ttl_s)
    assert idle.spent_usd <= cap + 1e-9


@given(
    st.lists(st.floats(1, 200_000), max_size=50),
    st.sampled_from([300, 3600]),
    st.floats(-3e5, 3e6),
    st.integers(1, 100),
)
def test_pings_are_paid_out_of_what_caching_saved_and_take_no_more_than_their_share(
    gaps: list[float], ttl_s: int, saved: float, turns: int
) -> None:
    """So no discussion that caching served ends dearer than without for being kept alive, however short it was."""
    stats, balance = gap_stats(*gaps, turns=turns), Balance(saved, 100_000)
    idle = Idle(100_000, ttl_s, NOW, balance=balance)
    while (found := keepalive_plan(idle, ANTHROPIC, stats, ON, idle.used_at)).ping_at is not None:
        paid = after_upkeep(balance, Usage(input_tokens=100_000, cache_read_tokens=100_000), ANTHROPIC)
        balance = paid
        idle = replace(after_ping(idle, ANTHROPIC, 100_000, found.ping_at), balance=balance)

    assert saved - balance.saved <= max(PING_CREDIT * 100_000, saved * PING_SHARE) + 1e-6
    assert balance.saved >= min(saved, -MOST_LOST * 100_000) - 1e-6


def test_a_discussion_of_two_turns_is_pinged_less_than_one_of_fifty() -> None:
    gaps = (60.0, 60.0, 9000.0) * 20
    ended = tuple(Talk(2, NOW.timestamp() - 9e6) for _ in range(9))
    short = replace(gap_stats(*gaps, turns=2), talks=ended)
    long = replace(gap_stats(*gaps, turns=50), talks=ended)
    plans = [keepalive_plan(IDLE, ANTHROPIC, stats, ON, NOW) for stats in (short, long)]

    assert plans[0].pings_left <= plans[1].pings_left
    assert (plans[0].expected_saving_usd or 0.0) < (plans[1].expected_saving_usd or 0.0)


def test_the_longer_nobody_came_the_less_is_expected_of_the_next_ping() -> None:
    stats = gap_stats(*[60.0] * 40, *[5000.0] * 8, *[200_000.0] * 8)
    early = keepalive_plan(IDLE, ANTHROPIC, stats, ON, NOW)
    late = replace(IDLE, used_at=after(4 * 3420), turn_at=NOW, pings=4)

    assert early.pings_left == 1
    assert keepalive_plan(late, ANTHROPIC, stats, ON, after(4 * 3420)).ping_at is None


def days_at_work(weeks: int) -> GapStats:
    """Turns every forty minutes from nine to half past four, on working days, before `NOW`, a Friday at noon."""
    morning = datetime(2026, 11, 20, 9, tzinfo=UTC)
    days = [morning - timedelta(days=back) for back in range(7 * weeks, 0, -1)]
    times = [
        (day + timedelta(minutes=40 * number)).timestamp()
        for day in days
        if day.weekday() < 5
        for number in range(12)
    ]
    gaps = tuple(TurnGap(late - early, late) for early, late in pairwise(times))
    return GapStats(gaps[-60:], gaps, gaps, 61)


def test_by_day_an_entry_is_kept_over_lunch_and_not_through_the_night() -> None:
    stats = days_at_work(4)
    noon = own_odds(stats, NOW.timestamp())
    evening = own_odds(stats, (NOW + timedelta(hours=6)).timestamp())

    assert long_share(noon, 6 * 3600) > long_share(evening, 6 * 3600)


def long_share(odds: Odds, seconds: float) -> float:
    """Of gaps over an hour, those that end within so many seconds."""
    over = 1.0 - odds.within(3600)
    return (odds.within(seconds) - odds.within(3600)) / over


def test_the_first_ping_that_reads_nothing_is_the_last() -> None:
    missed = after_ping(IDLE, ANTHROPIC, 0, after(3420))
    told_nothing = after_ping(IDLE, ANTHROPIC, None, after(3420))

    assert keepalive_plan(missed, ANTHROPIC, HOURS, ON, after(3420)).ping_at is None
    assert keepalive_plan(told_nothing, ANTHROPIC, HOURS, ON, after(3420)).ping_at is not None


def sent(talk: tuple[str, ...] = ("100 a", "100 b")) -> tuple[ProviderRequest, CachePlan, CacheLedger]:
    laid = wire(*talk)
    found = plan(PlanInputs(laid, SCOPE, ANTHROPIC, CacheLedger(), QUICK, ON, NOW))
    return request(*talk), found, record(CacheLedger(), SCOPE, found, NOW, "d")


def test_the_deepest_entry_of_each_lifetime_can_be_kept() -> None:
    laid = wire("100 a", "100 b")
    writes = tuple(
        PlannedWrite(laid.hashes[p], laid.ends[p], ttl) for p, ttl in ((0, 3600), (2, 3600), (4, 300))
    )
    ledger = record(CacheLedger(), SCOPE, CachePlan(writes=writes), NOW, "d")
    found = {idle.ttl_s: idle for idle in idle_entries(laid, ledger, SCOPE, NOW)}

    assert found[300].after_key == "12/text"
    assert found[300].covered_tokens == laid.ends[2]
    assert (found[3600].after_key, found[3600].covered_tokens) == ("11/m0", 0)
    best = best_idle(tuple(found.values()), ANTHROPIC, HOURS, ON, NOW)
    assert best is not None
    assert best[0].ttl_s == 3600


def test_an_entry_that_the_last_request_did_not_use_is_left_alone() -> None:
    laid = wire()
    writes = (PlannedWrite(laid.hashes[1], laid.ends[1], 3600),)
    ledger = record(CacheLedger(), SCOPE, CachePlan(writes=writes), after(-600), "d")

    assert idle_entries(laid, ledger, SCOPE, NOW) == ()
    assert best_idle((), ANTHROPIC, HOURS, ON, NOW) is None


def test_a_ping_reads_the_entry_pays_for_nothing_else_and_renews_it() -> None:
    asked, found, ledger = sent()
    laid = wire("100 a", "100 b")
    idle = idle_entries(laid, ledger, SCOPE, NOW)[0]
    clock = Clock(NOW.timestamp())
    engine = AnthropicCache(clock, Texts(lambda text: int(text.split(" ")[0])))
    engine.send(json_of(asked, found.marks))
    clock.advance(280)
    short = ping_request(asked, idle)
    ping = engine.send({**json_of(short, ping_marks(found, idle, asked)), "max_tokens": 0}).parts
    clock.advance(280)
    again = engine.send(json_of(asked, found.marks)).parts

    assert (ping.read, ping.plain, ping.write, ping.write_long) == (idle.tokens, 0, 0, 0)
    assert again.read == idle.tokens


def test_a_request_that_does_not_hold_the_entry_is_left_whole() -> None:
    assert ping_request(request(), replace(IDLE, after_key="11/gone")) == request()
