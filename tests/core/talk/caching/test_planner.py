"""Plans: never dearer than no caching, within the vendor's rules, each choice said; judged by the billing engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CacheMark,
    CachePlan,
    CachePrices,
    CacheSettings,
    ContentsUse,
    ExtensionEvidence,
    GapStats,
    Mechanism,
    TtlPrice,
)
from core.services.providers.blocks import Wire
from core.talk.caching.cache_ledger import record, with_extension
from core.talk.caching.planner import PlanInputs, plan
from tests.core.talk.caching.requests import ANTHROPIC, AWAY, NOW, QUICK, SCOPE, SLOW, after, gap_stats, wire
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts

TEXTS = st.lists(st.sampled_from([f"{n}00 text {n}" for n in range(1, 30)]), max_size=45)
GAPS = st.lists(st.floats(1, 200_000), max_size=40).map(tuple)
PRICES = st.builds(
    lambda read, short, long, minimum, lookback: replace(
        ANTHROPIC,
        read=read,
        writes=(TtlPrice(300, short), TtlPrice(3600, long)),
        minimum_tokens=minimum,
        lookback=lookback,
    ),
    st.floats(0, 1),
    st.floats(1, 3),
    st.floats(1, 5),
    st.sampled_from([0, 512, 4096]),
    st.sampled_from([0, 3, 20]),
)
WIRES = st.builds(
    lambda talk, stable, files, tail: wire(*talk, stable=stable, files=files, tail=tail),
    TEXTS,
    st.sampled_from(["", "100 stable", "9000 stable"]),
    st.sampled_from(["", "40000 files"]),
    st.sampled_from(["", "90 tail"]),
)


def inputs(
    laid: Wire,
    ledger: CacheLedger | None = None,
    gaps: GapStats = QUICK,
    prices: CachePrices = ANTHROPIC,
    **fields: object,
) -> PlanInputs:
    chosen = fields.pop("settings", CacheSettings())
    base = PlanInputs(laid, SCOPE, prices, ledger or CacheLedger(), gaps, chosen, NOW)  # type: ignore[arg-type]
    return replace(base, **fields)  # type: ignore[arg-type]


def holding(laid: Wire, *places: tuple[int, int]) -> CacheLedger:
    entries = {
        laid.hashes[p]: CacheLedgerEntry(laid.hashes[p], laid.ends[p], ttl, after(ttl), "d")
        for p, ttl in places
    }
    return CacheLedger({SCOPE: entries})


def keys(found: CachePlan) -> list[str]:
    return [mark.after_key for mark in found.marks]


@st.composite
def cases(draw: st.DrawFn) -> PlanInputs:
    laid = draw(WIRES)
    places = st.tuples(st.integers(0, len(laid.blocks) - 1), st.sampled_from([300, 3600]))
    ledger = holding(laid, *draw(st.lists(places, max_size=4)))
    if draw(st.booleans()):
        ledger = with_extension(ledger, ExtensionEvidence("anthropic", SCOPE.model, lost=1))
    gaps = draw(GAPS)
    stats = gap_stats(*gaps, turns=draw(st.integers(1, 80)))
    chosen = CacheSettings(
        ttl_s=draw(st.sampled_from([None, None, 300, 3600])),
        keepalive=draw(st.booleans()),
        extends=draw(st.booleans()),
        all_marks=draw(st.booleans()),
    )
    return inputs(
        laid, ledger, stats, draw(PRICES), settings=chosen, next_round=draw(st.sampled_from([0.0, 0.5, 1.0]))
    )


@settings(max_examples=300, deadline=None)
@given(cases())
def test_a_plan_is_never_expected_to_cost_more_than_no_caching(case: PlanInputs) -> None:
    found = plan(case)

    assert found.outlook <= found.outlook_without * (1 + 1e-9)


@settings(max_examples=300, deadline=None)
@given(cases())
def test_a_plan_keeps_to_the_vendors_rules(case: PlanInputs) -> None:
    found = plan(case)
    order = {block.key: n for n, block in enumerate(case.wire.blocks)}
    places = [order[mark.after_key] for mark in found.marks]
    ttls = [mark.ttl_s for mark in found.marks]

    assert len(found.marks) <= 4
    assert places == sorted(set(places))
    assert ttls == sorted(ttls, reverse=True)
    assert all(case.wire.ends[place] >= case.prices.minimum_tokens for place in places)
    assert all(place <= case.wire.turn_head for place in places)
    assert found.read_tokens + found.write_tokens + found.fresh_tokens == case.wire.total_tokens
    assert min(found.read_tokens, found.write_tokens, found.fresh_tokens) >= 0
    assert found.sentences


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.floats(5, 9000)), min_size=1, max_size=8), st.booleans())
def test_the_bill_is_the_one_that_was_predicted(days: list[tuple[list[str], float]], keepalive: bool) -> None:
    """Any order of requests and gaps: reads, writes and fresh tokens as the vendor's engine bills them."""
    clock, ledger = Clock(NOW.timestamp()), CacheLedger()
    engine = AnthropicCache(clock, Texts(lambda text: int(text.split(" ")[0])))
    elapsed = 0.0
    for talk, gap in days:
        elapsed += gap
        clock.now_s = NOW.timestamp() + elapsed
        laid = wire(*talk)
        case = inputs(laid, ledger, QUICK, settings=CacheSettings(keepalive=keepalive))
        found = plan(replace(case, now=after(elapsed)))
        parts = engine.send(body(talk, found)).parts
        ledger = record(ledger, SCOPE, found, after(elapsed), "d")

        assert parts.read == found.read_tokens
        assert parts.write + parts.write_long == found.write_tokens
        assert parts.plain == found.fresh_tokens


def body(talk: list[str], found: CachePlan) -> dict[str, object]:
    """The request of `wire(*talk)` as Anthropic's JSON."""
    marks = {mark.after_key: mark for mark in found.marks}

    def block(text: str, key: str) -> dict[str, object]:
        value: dict[str, object] = {"type": "text", "text": text}
        if key in marks:
            value["cache_control"] = {"type": "ephemeral", "ttl": "1h" if marks[key].ttl_s == 3600 else "5m"}
        return value

    turns = [*((text, f"11/m{n}") for n, text in enumerate(talk)), ("100 words", "12/text")]
    messages: list[dict[str, object]] = []
    for number, (text, key) in enumerate(turns):
        is_user = number % 2 == 0 or key == "12/text"
        blocks = [block(text, key)]
        if number == 0:
            blocks.insert(0, block("8000 files", "10"))
        if key == "12/text":
            blocks.append(block("50 tail", "8"))
        messages.append({"role": "user" if is_user else "assistant", "content": blocks})
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 9,
        "system": [block("3000 stable", "1")],
        "messages": messages,
    }


def test_the_marks_stand_behind_the_stable_layers_the_files_and_the_words() -> None:
    assert keys(plan(inputs(wire("100 a", "100 b")))) == ["1", "10", "12/text"]


def test_a_far_head_gets_an_anchor_at_the_last_hit() -> None:
    talk = [f"100 m{n}" for n in range(30)]
    laid = wire(*talk)
    found = plan(inputs(laid, holding(laid, (4, 300))))

    assert "11/m2" in keys(found)
    assert found.read_tokens == laid.ends[4]


def test_a_near_head_needs_none() -> None:
    laid = wire("100 a", "100 b")
    found = plan(inputs(laid, holding(laid, (2, 300))))

    assert found.read_tokens == laid.ends[2]
    assert keys(found) == ["1", "10", "12/text"]


def test_metadata_is_never_marked_nor_anything_below_the_minimum() -> None:
    assert "8" not in keys(plan(inputs(wire())))
    small = plan(inputs(wire(stable="100 s", files="")))
    assert not small.marks
    assert any("512" in sentence for sentence in small.sentences)


def test_quick_answers_get_five_minutes_and_slow_ones_an_hour() -> None:
    fixed = CacheSettings(extends=False)

    assert {mark.ttl_s for mark in plan(inputs(wire(), gaps=QUICK, settings=fixed)).marks} == {300}
    assert {mark.ttl_s for mark in plan(inputs(wire(), gaps=SLOW, settings=fixed)).marks} == {3600}


def test_who_comes_back_tomorrow_is_not_charged_for_writing() -> None:
    found = plan(inputs(wire(), gaps=AWAY))

    assert not found.marks
    assert "cost more" in " ".join(found.sentences)


def test_a_lifetime_fixed_in_the_settings_is_kept() -> None:
    found = plan(inputs(wire(), gaps=QUICK, settings=CacheSettings(ttl_s=3600)))

    assert {mark.ttl_s for mark in found.marks} == {3600}
    assert any("settings fix the time to live at 1 h" in sentence for sentence in found.sentences)


def test_a_short_entry_is_extended_behind_it_where_an_hour_is_worth_it() -> None:
    laid = wire("100 a", "100 b")
    found = plan(inputs(laid, holding(laid, (2, 300)), SLOW))

    assert found.marks[-1] == CacheMark("12/text", 3600)
    assert found.writes[-1].is_extended
    assert not found.writes[0].is_extended


def test_with_a_model_that_does_not_extend_nothing_is_paid_to_outlive_the_hit() -> None:
    laid = wire("100 a", "100 b")
    ledger = holding(laid, (2, 300))
    ledger = with_extension(ledger, ExtensionEvidence("anthropic", SCOPE.model, lost=1))
    chosen = plan(inputs(laid, ledger, SLOW))
    fixed = plan(inputs(laid, ledger, SLOW, settings=CacheSettings(ttl_s=3600)))

    assert {mark.ttl_s for mark in chosen.marks if mark.after_key == "12/text"} == {300}
    assert not any(write.is_extended for write in (*chosen.writes, *fixed.writes))
    assert {write.ttl_s for write in fixed.writes} == {300}


def test_the_longest_lived_entry_is_renewed_by_a_mark() -> None:
    laid = wire("100 a", "100 b", "100 c", "100 d")
    stats = gap_stats(*[60.0] * 60, *[1500.0] * 20, *[90_000.0] * 20)
    found = plan(
        inputs(laid, holding(laid, (3, 3600), (5, 300)), stats, settings=CacheSettings(extends=False))
    )

    assert CacheMark("11/m1", 3600) in found.marks


def test_a_switched_off_discussion_is_sent_without_marks() -> None:
    laid = wire("100 a", "100 b")
    found = plan(inputs(laid, holding(laid, (2, 300)), settings=CacheSettings(is_enabled=False)))

    assert (found.marks, found.is_enabled, found.read_tokens) == ((), False, 0)
    assert found.sentences == ("Caching is off for this discussion: the program sets no breakpoints.",)


def test_costs_are_told_in_dollars_and_are_unknown_where_the_price_is() -> None:
    laid = wire()
    found = plan(inputs(laid))
    unknown = plan(inputs(laid, prices=replace(ANTHROPIC, input_usd=None)))

    assert found.cost_without_usd == pytest.approx(laid.total_tokens * 4e-6)
    assert found.cost_usd == pytest.approx((laid.ends[laid.head] * 1.25 + 50) * 4e-6)
    assert (unknown.cost_usd, unknown.cost_without_usd) == (None, None)
    assert unknown.marks == found.marks


def test_openai_gets_breakpoints_a_key_and_explicit_mode() -> None:
    prices = replace(
        ANTHROPIC,
        provider="openai",
        mechanism=Mechanism.BREAKPOINTS,
        writes=(TtlPrice(1800, 1.25), TtlPrice(43_200, 2.5)),
        lookback=0,
        minimum_tokens=1024,
    )
    found = plan(inputs(wire(), prices=prices))
    off = plan(inputs(wire(), prices=prices, settings=CacheSettings(is_enabled=False)))

    assert found.openai_mode == off.openai_mode == "explicit"
    assert found.prompt_cache_key.startswith("manual-slop-")
    assert {mark.ttl_s for mark in found.marks} == {1800}
    assert not off.marks


def test_an_implicit_cache_is_expected_but_not_marked() -> None:
    prices = replace(ANTHROPIC, mechanism=Mechanism.IMPLICIT, writes=(TtlPrice(300, 1.0),), lookback=0)
    laid = wire("100 a", "100 b")
    first = plan(inputs(laid, prices=prices))
    ledger = record(CacheLedger(), SCOPE, first, NOW, "d")
    again = plan(inputs(laid, ledger, prices=prices))

    assert not first.marks
    assert first.read_tokens == 0
    assert again.read_tokens == laid.ends[laid.head]


GEMINI = CachePrices(
    "gemini", "gemini-3.8-flash", Mechanism.CONTENTS, 7.5e-7, 0.1, minimum_tokens=4096, storage_usd=5e-7
)


def test_gemini_stores_what_is_asked_for_often_enough_to_pay_the_rent() -> None:
    often = plan(inputs(wire(), gaps=QUICK, prices=GEMINI))
    seldom = plan(inputs(wire(), gaps=AWAY, prices=GEMINI))

    assert often.contents is not None
    assert (often.contents.use, often.contents.through_key) == (ContentsUse.CREATE, "10")
    assert seldom.contents is None
    assert "cost more" in seldom.sentences[0]
    assert often.outlook < often.outlook_without
    assert seldom.outlook <= seldom.outlook_without


def test_gemini_uses_a_content_by_its_name_until_it_expires() -> None:
    laid = wire()
    held = holding(laid, (1, 3600)).entries[SCOPE][laid.hashes[1]]
    ledger = CacheLedger({SCOPE: {held.prefix_hash: replace(held, name="cachedContents/1")}})
    used = plan(inputs(laid, ledger, prices=GEMINI))
    late = plan(inputs(laid, ledger, prices=GEMINI, now=after(3600)))

    assert used.contents is not None
    assert (used.contents.use, used.contents.name) == (ContentsUse.USE, "cachedContents/1")
    assert used.read_tokens == laid.ends[1]
    assert late.read_tokens == 0


def test_gemini_stores_nothing_that_is_too_small_or_of_unknown_price() -> None:
    assert plan(inputs(wire(files="", stable="900 s"), prices=GEMINI)).contents is None
    assert plan(inputs(wire(), prices=replace(GEMINI, input_usd=None))).contents is None


def test_what_stands_on_a_longer_lived_prefix_is_not_left_to_pings_that_would_read_all_of_it() -> None:
    """It was written for five minutes, as if a ping read it alone; the ping then did not pay, and was never sent."""
    sometimes_away = gap_stats(*[60.0] * 85, *[1800.0] * 15)
    laid = wire("3000 a", "100 b", files="40000 files")
    base, talk = (next(n for n, b in enumerate(laid.blocks) if b.key == key) for key in ("10", "11/m0"))
    held = {
        laid.hashes[place]: CacheLedgerEntry(laid.hashes[place], laid.ends[place], ttl_s, after(ttl_s))
        for place, ttl_s in ((base, 3600), (talk, 300))
    }
    inputs = PlanInputs(
        laid, SCOPE, ANTHROPIC, CacheLedger({SCOPE: held}), sometimes_away, CacheSettings(keepalive=True), NOW
    )

    assert plan(inputs).marks[-1].ttl_s == 3600
