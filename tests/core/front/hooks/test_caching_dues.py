"""Orphaned prefixes and coming rewrites over HTTP: told with nothing invented, deleted as the window would."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.values.cache import CacheOrphan, DiscussionCacheState, Rewrite
from core.kernel.values.state import ProviderTotals, SpendingState
from core.kernel.values.usage import Reservation, Upkeep, Usage
from core.talk.caching.caching_messages import CacheReported, OrphansFound, RewritesChecked
from tests.core.front.hooks.conftest import World


def test_orphans_are_listed_and_what_is_no_orphan_is_not_deleted(running: World) -> None:
    until = running.clock() + timedelta(hours=1)
    orphan = CacheOrphan("gemini", "cachedContents/1", "gone", "gemini-9", 20_000, until)
    running.controller.emit(OrphansFound("gemini", (orphan,)))
    running.until(lambda state: bool(state.caching.orphans))

    (found,) = running.client.get("/api/cache").json()["orphans"]
    asked = running.client.post(
        "/api/ui", {"panel": "caching", "action": "delete_orphaned_caches", "name": "cachedContents/foreign"}
    )

    assert (found["name"], found["tokens"], found["usd_per_hour"]) == ("cachedContents/1", 20_000, None)
    assert found["expires_at"] == until.isoformat()
    assert asked.status_code == 202
    assert running.state.caching.orphans == (orphan,)


def test_deleting_them_reaches_the_provider(running: World) -> None:
    """There is no key for it here, and that is what is said."""
    until = running.clock() + timedelta(hours=1)
    orphan = CacheOrphan("gemini", "cachedContents/1", "gone", "gemini-9", 20_000, until)
    running.controller.emit(OrphansFound("gemini", (orphan,)))
    running.until(lambda state: bool(state.caching.orphans))

    running.client.post("/api/ui", {"panel": "caching", "action": "delete_orphaned_caches"})

    running.until(lambda state: any("has no key" in notice.text for notice in state.program.notices))


def test_a_coming_rewrite_stands_beside_its_cache(running: World) -> None:
    chosen = running.discussion()
    until = running.clock() + timedelta(minutes=5)
    held = DiscussionCacheState(chosen, "anthropic", running.clock(), until, tokens_cached=12_000)
    running.controller.emit(CacheReported(chosen, held))
    due = RewritesChecked((chosen,), (Rewrite(chosen, "the digest changed", 12_300, None, until),))
    found = None
    for _ in range(200):  # The program's own check of these files, if it comes after, finds nothing due.
        running.controller.emit(due)
        found = running.client.get(f"/api/cache/{chosen}").json()["rewrite"]
        if found is not None:
            break

    assert found == {
        "why": "the digest changed",
        "tokens": 12_300,
        "cost_usd": None,
        "most_usd": None,
        "until": until.isoformat(),
        "is_appended": False,
    }


def test_a_provider_s_summary_is_told_in_the_specification_s_line(running: World) -> None:
    upkeep = Upkeep(1, usage=Usage(cost_usd=0.125))
    totals = {"anthropic": ProviderTotals("anthropic", Usage(340, 20, 80, cost_usd=0.5), 0.25, upkeep)}
    running.given(lambda state: replace(state, caching=replace(state.caching, totals=totals)))

    (told,) = running.client.get("/api/cache").json()["providers"]
    assert (told["provider"], told["line"]) == ("anthropic", "[Anthropic] in:340 cache:80 hit:23% ttl:none")
    assert (told["usage"]["cost_usd"], told["saved_usd"], told["upkeep"]["pings"]) == (0.5, 0.25, 1)
    assert told["upkeep"]["usage"]["cost_usd"] == 0.125


def test_the_day_s_money_is_told_beside_its_limit(running: World) -> None:
    money = SpendingState(1.5, has_estimate=True, reserved={"keepalive/d": Reservation(0.25, "d")})
    running.given(lambda state: replace(state, spending=money))

    assert running.client.get("/api/status").json()["today"] == {
        "spent_usd": 1.5,
        "is_estimate": True,
        "under_way_usd": 0.25,
        "limit_usd": None,
    }
