"""Pings: only while they pay, within the cap, never after a miss, and only what they need is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.caching.economy import break_even_pings
from core.caching.keepalive import (
    Idle,
    after_ping,
    best_idle,
    idle_entries,
    keepalive_plan,
    ping_marks,
    ping_request,
)
from core.caching.ledger import record
from core.caching.planner import PlanInputs, plan
from core.values.cache import CacheLedger, CachePlan, CacheSettings, GapStats, PlannedWrite
from core.values.provider import ProviderRequest
from tests.core.caching.requests import ANTHROPIC, AWAY, NOW, QUICK, SCOPE, after, json_of, request, wire
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts

ON = CacheSettings(keepalive=True)
HOURS = GapStats((60.0, 9000.0) * 50, (), 100, 2)
"""Someone who often comes back after two and a half hours."""
IDLE = Idle(tokens=100_000, ttl_s=3600, used_at=NOW, after_key="12/text")


def test_a_ping_is_due_shortly_before_the_entry_dies() -> None:
    found = keepalive_plan(IDLE, ANTHROPIC, HOURS, ON, NOW)

    assert found.ping_at == after(57 * 60)
    assert found.pings_left >= 2
    assert found.expected_saving_usd is not None
    assert found.expected_saving_usd > 0
    assert f"{found.pings_left} more pings" in found.sentence


def test_keepalive_is_off_unless_it_was_turned_on() -> None:
    assert keepalive_plan(IDLE, ANTHROPIC, HOURS, CacheSettings(), NOW).ping_at is None


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"was_missed": True}, "found nothing"),
        ({"is_open": False}, "closed"),
        ({"tokens": 100}, "nothing is cached"),
        ({"spent_usd": 1.0}, "$1.00 of $1.00"),
        ({"pings": 39}, "after 39"),
        ({"used_at": after(-4000)}, "gone cold"),
    ],
)
def test_a_ping_is_left_out_with_its_reason(change: dict[str, object], word: str) -> None:
    found = keepalive_plan(replace(IDLE, **change), ANTHROPIC, HOURS, ON, NOW)  # type: ignore[arg-type]

    assert (found.ping_at, found.pings_left) == (None, 0)
    assert word in found.sentence


def test_who_never_comes_back_in_time_is_not_waited_for() -> None:
    assert keepalive_plan(IDLE, ANTHROPIC, AWAY, ON, NOW).ping_at is None


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
    stats = GapStats(gaps, gaps, len(gaps) + 1, 1)
    idle = Idle(tokens, ttl_s, NOW)
    made = 0
    while (found := keepalive_plan(idle, ANTHROPIC, stats, chosen, idle.used_at)).ping_at is not None:
        idle = after_ping(idle, ANTHROPIC, tokens, found.ping_at)
        made += 1

    assert made <= break_even_pings(ANTHROPIC, ttl_s)
    assert idle.spent_usd <= cap + 1e-9


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
