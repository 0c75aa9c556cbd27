"""The ledger: what lives, what is predicted, what is recorded, and how a report corrects it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    ExtensionEvidence,
    Mechanism,
    PlannedWrite,
)
from core.kernel.values.usage import Usage
from core.talk.caching.cache_ledger import (
    NO_HIT,
    CacheHit,
    can_extend,
    correct,
    forget_discussion,
    hits,
    live_entries,
    lost_extensions,
    merge,
    of_discussion,
    predict,
    record,
    renewed,
    rests_on_extension,
    with_extension,
)
from core.talk.caching.planned_calls import PlannedCall, gate
from tests.core.talk.caching.requests import ANTHROPIC, NOW, SCOPE, after, wire

LONG = wire(*[f"100 m{n}" for n in range(40)])


def holding(*places: int, ttl_s: int = 300, laid: object = LONG, discussion: str = "d") -> CacheLedger:
    """A ledger that holds prefixes of a request."""
    entries = {
        LONG.hashes[p]: CacheLedgerEntry(LONG.hashes[p], LONG.ends[p], ttl_s, after(ttl_s), discussion)
        for p in places
    }
    return CacheLedger({SCOPE: entries})


def plan_of(*places: int, ttl_s: int = 300, hit: int = -1, read: int = 0) -> CachePlan:
    writes = tuple(PlannedWrite(LONG.hashes[p], LONG.ends[p], ttl_s) for p in places)
    return CachePlan(
        writes=writes,
        hit_hash=LONG.hashes[hit] if hit >= 0 else "",
        read_tokens=read,
        write_tokens=max((w.tokens for w in writes), default=0) - read,
    )


def test_an_entry_lives_until_its_time_is_up() -> None:
    ledger = holding(3)

    assert live_entries(ledger, SCOPE, after(299))
    assert not live_entries(ledger, SCOPE, after(300))


def test_an_entry_that_claims_to_outlive_its_lifetime_is_not_believed() -> None:
    """The clock was set back by an hour, or the machine's time was wrong when it was written."""
    assert not live_entries(holding(3), SCOPE, after(-3600))


def test_a_machine_that_slept_finds_its_entries_expired() -> None:
    assert not live_entries(holding(3, ttl_s=3600), SCOPE, after(8 * 3600))


def test_hits_come_deepest_first_and_only_of_this_request() -> None:
    found = hits(live_entries(holding(3, 17), SCOPE, NOW), LONG)
    other = hits(live_entries(holding(3, 17), SCOPE, NOW), wire("100 other"))

    assert [hit.index for hit in found] == [17, 3]
    assert not other


@given(st.sets(st.integers(0, len(LONG.ends) - 1)), st.sampled_from([0.3, 1.0, 1.7]))
def test_hits_are_found_by_their_hash_however_their_tokens_were_counted(
    places: set[int], factor: float
) -> None:
    """A model's factor moved since they were written."""
    held = holding(*places).entries.get(SCOPE, {})
    counted = {key: replace(entry, tokens=round(entry.tokens * factor)) for key, entry in held.items()}

    assert [hit.index for hit in hits(counted, LONG)] == sorted(places, reverse=True)


def test_a_mark_finds_an_entry_nineteen_positions_back_and_none_twenty_back() -> None:
    found = hits(live_entries(holding(10), SCOPE, NOW), LONG)

    assert predict(found, LONG, [29], ANTHROPIC).index == 10
    assert predict(found, LONG, [30], ANTHROPIC) == NO_HIT
    assert predict(found, LONG, [20, 39], ANTHROPIC).index == 10


def test_no_entry_behind_the_last_mark_is_found_and_none_by_a_mark_that_is_too_early() -> None:
    found = hits(live_entries(holding(10), SCOPE, NOW), LONG)

    assert predict(found, LONG, [9], ANTHROPIC) == NO_HIT
    assert predict(found, LONG, [12], replace(ANTHROPIC, minimum_tokens=LONG.ends[12] + 1)) == NO_HIT


def test_without_lookback_any_distance_is_found() -> None:
    found = hits(live_entries(holding(1), SCOPE, NOW), LONG)

    assert predict(found, LONG, [40], replace(ANTHROPIC, lookback=0)).index == 1


def test_a_breakpoint_reads_only_what_ends_where_it_stands() -> None:
    prices = replace(ANTHROPIC, mechanism=Mechanism.BREAKPOINTS, lookback=0)
    found = hits(live_entries(holding(8, 12), SCOPE, NOW), LONG)

    assert predict(found, LONG, [9, 13], prices) == NO_HIT
    assert predict(found, LONG, [8, 13], prices).index == 8
    assert predict(found, LONG, [8, 12, 13], prices).index == 12


def test_what_was_written_lives_from_the_start_of_the_request() -> None:
    ledger = record(CacheLedger(), SCOPE, plan_of(2, 5), NOW, "d")

    assert {e.expires_at for e in ledger.entries[SCOPE].values()} == {after(300)}
    assert set(ledger.entries[SCOPE]) == {LONG.hashes[2], LONG.hashes[5]}


def test_a_hit_and_a_mark_renew_an_entry_for_its_own_lifetime() -> None:
    ledger = record(holding(2, 5, ttl_s=3600), SCOPE, plan_of(2, hit=5), after(100), "e")

    entries = ledger.entries[SCOPE]
    assert {e.expires_at for e in entries.values()} == {after(3700)}
    assert {e.ttl_s for e in entries.values()} == {3600}
    assert {e.discussion_id for e in entries.values()} == {"e"}


def test_what_is_stored_under_a_name_is_not_renewed_by_use() -> None:
    entry = holding(3, ttl_s=3600).entries[SCOPE][LONG.hashes[3]]
    ledger = CacheLedger({SCOPE: {entry.prefix_hash: replace(entry, name="cachedContents/1")}})
    used = record(ledger, SCOPE, plan_of(3), after(1000), "d")

    assert used.entries[SCOPE][entry.prefix_hash].expires_at == entry.expires_at


def test_what_was_neither_read_nor_marked_is_not_renewed() -> None:
    ledger = record(holding(2, 5), SCOPE, plan_of(9, hit=5), after(100), "d")

    assert ledger.entries[SCOPE][LONG.hashes[2]].expires_at == after(300)


def test_the_dead_are_forgotten() -> None:
    ledger = record(holding(2), SCOPE, plan_of(9), after(1000), "d")

    assert set(ledger.entries[SCOPE]) == {LONG.hashes[9]}


def test_a_report_that_agrees_changes_nothing() -> None:
    ledger = holding(5)
    read = LONG.ends[5]
    usage = Usage(cache_read_tokens=round(read * 0.97), cache_write_tokens=100)

    assert correct(ledger, SCOPE, LONG, plan_of(9, hit=5, read=read), usage, "Anthropic").ledger is ledger


def test_a_miss_drops_the_entries_and_tells_the_vendors_reason() -> None:
    ledger = holding(2, 5)
    usage = Usage(cache_read_tokens=0, cache_write_tokens=900, miss_reason="system_changed")
    found = correct(ledger, SCOPE, LONG, plan_of(9, hit=5, read=LONG.ends[5]), usage, "Anthropic")

    assert not found.ledger.entries[SCOPE]
    assert len(found.dropped) == 2
    assert "system_changed" in found.reason
    assert f"{LONG.ends[5]:,}" in found.reason


def test_what_the_missed_request_itself_wrote_stays() -> None:
    plan = plan_of(9, hit=5, read=LONG.ends[5])
    ledger = record(holding(2, 5), SCOPE, plan, NOW, "d")
    found = correct(
        ledger, SCOPE, LONG, plan, Usage(cache_read_tokens=0, cache_write_tokens=900), "Anthropic"
    )

    assert set(found.ledger.entries[SCOPE]) == {LONG.hashes[9]}


def test_a_shorter_read_than_expected_keeps_what_was_read() -> None:
    usage = Usage(cache_read_tokens=LONG.ends[2], cache_write_tokens=900)
    found = correct(holding(2, 30), SCOPE, LONG, plan_of(hit=30, read=LONG.ends[30]), usage, "Anthropic")

    assert set(found.ledger.entries[SCOPE]) == {LONG.hashes[2]}


@pytest.mark.parametrize("factor", [0.6, 0.8, 1.3, 2.0])
def test_tokens_that_were_estimated_otherwise_are_no_miss(factor: float) -> None:
    """Before a model's tokens are calibrated the whole request is off by the same factor."""
    ledger = holding(2, 30)
    plan = plan_of(39, hit=30, read=LONG.ends[30])
    usage = Usage(
        input_tokens=round(LONG.total_tokens * factor),
        cache_read_tokens=round(LONG.ends[30] * factor),
        cache_write_tokens=round(900 * factor),
    )

    found = correct(ledger, SCOPE, LONG, plan, usage, "Anthropic")

    assert found.ledger is ledger
    assert not found.reason


@pytest.mark.parametrize("factor", [0.6, 0.8, 1.3, 2.0])
def test_a_shorter_read_is_found_however_tokens_were_estimated(factor: float) -> None:
    usage = Usage(
        input_tokens=round(LONG.total_tokens * factor), cache_read_tokens=round(LONG.ends[2] * factor)
    )
    found = correct(holding(2, 30), SCOPE, LONG, plan_of(hit=30, read=LONG.ends[30]), usage, "Anthropic")

    assert set(found.ledger.entries[SCOPE]) == {LONG.hashes[2]}
    assert f"instead of about {round(LONG.ends[30] * factor):,}:" in found.reason


def test_usage_without_cache_fields_says_nothing() -> None:
    ledger = holding(2)
    found = correct(ledger, SCOPE, LONG, plan_of(hit=2, read=LONG.ends[2]), Usage(input_tokens=9), "a server")

    assert found.ledger is ledger
    assert not found.reason


def test_marks_that_wrote_nothing_are_not_taken_for_entries() -> None:
    """The prefix was shorter than the model's true minimum."""
    plan = plan_of(2)
    ledger = record(CacheLedger(), SCOPE, plan, NOW, "d")
    found = correct(ledger, SCOPE, LONG, plan, Usage(cache_read_tokens=0, cache_write_tokens=0), "Anthropic")

    assert not found.ledger.entries[SCOPE]
    assert "cached none of the" in found.reason


def test_one_miss_of_an_extended_prefix_ends_the_trust_in_extending_and_is_kept_as_evidence() -> None:
    plan = replace(plan_of(hit=5, read=LONG.ends[5]), tests_extension=True)
    usage = Usage(cache_read_tokens=0)
    found = correct(holding(5), SCOPE, LONG, plan, usage, "Anthropic", "d", after(60))

    assert not can_extend(found.ledger, "anthropic", SCOPE.model)
    assert can_extend(found.ledger, "anthropic", "another")
    assert lost_extensions(found.ledger) == (
        ExtensionEvidence("anthropic", SCOPE.model, 0, 1, after(60), "d", LONG.ends[5], 0),
    )


def test_a_miss_that_an_extension_has_nothing_to_do_with_teaches_nothing_of_it() -> None:
    plan = plan_of(hit=5, read=LONG.ends[5])
    found = correct(holding(5), SCOPE, LONG, plan, Usage(cache_read_tokens=0), "Anthropic")

    assert found.ledger.extensions == {}


def test_a_model_that_kept_many_extended_prefixes_is_not_distrusted_for_one() -> None:
    plan = replace(plan_of(hit=5, read=LONG.ends[5]), tests_extension=True)
    ledger = holding(5)
    for _ in range(20):
        usage = Usage(cache_read_tokens=LONG.ends[5], cache_write_tokens=0)
        ledger = correct(ledger, SCOPE, LONG, plan, usage, "Anthropic").ledger
    ledger = correct(ledger, SCOPE, LONG, plan, Usage(cache_read_tokens=0), "Anthropic", "d", NOW).ledger

    (seen,) = ledger.extensions.values()
    assert (seen.kept, seen.lost) == (20, 1)
    assert lost_extensions(ledger) == ()


@pytest.mark.parametrize(
    ("extended", "age_s", "tests"), [(True, 1200, True), (True, 240, False), (False, 1200, False)]
)
def test_only_a_hit_that_a_short_lifetime_would_not_have_outlived_tests_an_extension(
    extended: bool, age_s: float, tests: bool
) -> None:
    hit = CacheHit(5, 900, 3600, "h", extended, after(3600))

    assert rests_on_extension(hit, 300, after(age_s)) is tests


def _extended(front_s: int) -> CacheLedger:
    """An entry for an hour behind a hit that lives so long."""
    written = PlannedWrite(LONG.hashes[5], LONG.ends[5], 3600, is_extended=True, front_s=front_s)
    return record(CacheLedger(), SCOPE, CachePlan(writes=(written,)), NOW, "d")


def test_once_a_model_is_known_not_to_extend_nothing_lives_longer_than_what_it_stands_behind() -> None:
    ledger = _extended(300)
    learned = with_extension(ledger, ExtensionEvidence("anthropic", SCOPE.model, lost=1))

    assert live_entries(ledger, SCOPE, after(2_700))
    assert not live_entries(learned, SCOPE, after(2_700))
    (held,) = live_entries(learned, SCOPE, after(200)).values()
    assert (held.ttl_s, held.expires_at, held.is_extended) == (300, after(300), False)


def test_what_a_miss_wrote_stands_behind_nothing_and_is_no_evidence_later() -> None:
    plan = replace(plan_of(2, hit=5, read=LONG.ends[5], ttl_s=3600), tests_extension=True)
    plan = replace(plan, writes=tuple(replace(w, is_extended=True, front_s=300) for w in plan.writes))
    ledger = record(CacheLedger(), SCOPE, plan, NOW, "d")
    usage = Usage(cache_read_tokens=0, cache_write_tokens=LONG.ends[2])
    found = correct(ledger, SCOPE, LONG, plan, usage, "Anthropic", "d", NOW)

    (entry,) = live_entries(found.ledger, SCOPE, after(2_700)).values()
    assert not entry.is_extended


def test_parts_of_discussions_come_together_and_apart_again() -> None:
    one, two = holding(2, discussion="one"), holding(5, 9, discussion="two")
    both = merge([one, two])

    assert of_discussion(both, "one") == one
    assert of_discussion(both, "two") == two
    assert forget_discussion(both, "one") == two


def test_of_an_entry_that_two_hold_the_later_expiry_counts() -> None:
    young = holding(2)
    entry = young.entries[SCOPE][LONG.hashes[2]]
    old = CacheLedger({SCOPE: {entry.prefix_hash: replace(entry, expires_at=NOW)}})

    assert merge([old, young]) == merge([young, old]) == young


@given(st.sets(st.integers(0, 41)), st.sets(st.integers(0, 41), min_size=1))
def test_a_prediction_is_live_in_this_request_and_in_reach(held: set[int], marks: set[int]) -> None:
    found = hits(live_entries(holding(*held), SCOPE, NOW), LONG)
    hit = predict(found, LONG, sorted(marks), ANTHROPIC)
    reachable = [
        h
        for h in held
        for m in marks
        if h <= m and LONG.positions[m] - LONG.positions[h] < 20 and LONG.ends[m] >= ANTHROPIC.minimum_tokens
    ]

    assert hit.index == max(reachable, default=-1)


# --- Parallel calls -----------------------------------------------------------------------------------------------


def call(name: str, *writes: int, new: bool = True, out: bool = False, scope: object = SCOPE) -> PlannedCall:
    plan = CachePlan(writes=tuple(PlannedWrite(LONG.hashes[w], LONG.ends[w], 300, new) for w in writes))
    return PlannedCall(name, scope, plan, LONG.hashes, out)  # type: ignore[arg-type]


def test_the_first_of_two_with_a_new_prefix_goes_and_the_other_waits() -> None:
    found = gate([call("a", 5), call("b", 5), call("c", 5)])

    assert found.go == ("a",)
    assert found.waits == (("b", "a"), ("c", "a"))


def test_who_waits_waits_for_one_that_is_out_already() -> None:
    assert gate([call("a", 5, out=True), call("b", 5)]).waits == (("b", "a"),)


def test_nobody_waits_for_what_is_in_the_cache() -> None:
    assert gate([call("a", 5, new=False), call("b", 5, new=False)]).go == ("a", "b")


@pytest.mark.parametrize("scope", [replace(SCOPE, model="x"), replace(SCOPE, key_id="x")])
def test_nobody_waits_for_another_models_or_keys_cache(scope: object) -> None:
    assert gate([call("a", 5), call("b", 5, scope=scope)]).go == ("a", "b")


def test_an_hour_lasts_fifty_minutes() -> None:
    ledger = record(CacheLedger(), SCOPE, plan_of(5, ttl_s=3600), NOW, "d")
    later = NOW + timedelta(minutes=50)

    assert hits(live_entries(of_discussion(ledger, "d"), SCOPE, later), LONG)[0].index == 5


def test_a_lifetime_of_another_program_that_rests_on_an_extension_ends_with_that() -> None:
    """A model was seen not to extend what a short mark held: the long lifetime in the other program's file is none."""
    long = CacheLedgerEntry("p", 9_000, 3_600, after(3_600), "d", is_extended=True, front_s=300)
    there = CacheLedger({SCOPE: {"p": long}})
    lost = ExtensionEvidence(provider=ANTHROPIC.provider, model=ANTHROPIC.model, kept=0, lost=1)
    ours = with_extension(there, lost)
    ours = replace(ours, entries={SCOPE: dict(live_entries(ours, SCOPE, after(180)))})
    assert not live_entries(ours, SCOPE, after(1_200))

    assert not live_entries(renewed(ours, there), SCOPE, after(1_200))
