"""What a plan costs in truth: every turn of a discussion billed by the vendors' arithmetic, over all gaps there may be.

The planner's own estimate is not asked. Each turn adds two tokens and the oldest two are forgotten, so that all turns are
alike; gaps are drawn from the odds that the planner was given; it plans each turn anew. The expected bill of all turns
then solves a system of linear equations. Discussions that grow are judged by the days of `tests.bench.cache`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    CachePrices,
    CacheSettings,
    ContentsUse,
    Mechanism,
    TtlPrice,
)
from core.talk.caching.cache_ledger import is_live, record
from core.talk.caching.contents import hold_of
from core.talk.caching.economy import Odds, own_odds
from core.talk.caching.planner import PlanInputs, plan
from tests.core.talk.caching.requests import ANTHROPIC, NOW, SCOPE, after, gap_stats, wire

STACK = ("3000 s", "8000 f")
GAPS = st.lists(st.integers(1, 200).map(lambda minutes: 60.0 * minutes + 7), max_size=20).map(tuple)
STACKS = st.tuples(st.sampled_from(["100 s", "3000 s", "9000 s"]), st.sampled_from(["5000 f", "40000 f"]))
"""Stable layers and files, with their tokens."""
WORDS = 2e-3
"""What the words of a few turns are of the rest at most: they are no part of what is judged."""
PRICES = st.builds(
    lambda read, short, long, minimum: replace(
        ANTHROPIC,
        read=read,
        writes=(TtlPrice(300, short), TtlPrice(3600, long)),
        minimum_tokens=minimum,
    ),
    st.floats(0.01, 1),
    st.floats(1, 3),
    st.floats(1, 5),
    st.sampled_from([0, 512, 4096]),
)
GEMINI = CachePrices(
    "gemini", "gemini-3.8-flash", Mechanism.CONTENTS, 7.5e-7, 0.1, minimum_tokens=4096, storage_usd=5e-7
)
RENTS = st.builds(
    lambda read, storage: replace(GEMINI, read=read, storage_usd=storage),
    st.floats(0.01, 1),
    st.floats(0, 6e-6),
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn from a state: what it is billed, and the state after it and so many more seconds."""

    cost: float
    next_state: Callable[[int], Hashable]


def expected_bill(first: Hashable, turn_from: Callable[[Hashable], Turn], odds: Odds) -> float:
    """What all turns from the first on are expected to cost: cost = bill + go_on * mean of the states that follow."""
    numbers: dict[Hashable, int] = {first: 0}
    rows: list[tuple[float, dict[int, float]]] = []
    waiting = [first]
    while waiting:
        turn = turn_from(waiting.pop(0))
        follow: dict[int, float] = {}
        before = 0.0
        for gap_s, up_to in zip(odds.gaps_s, odds.cumulative, strict=True):
            state = turn.next_state(int(gap_s))
            if state not in numbers:
                numbers[state] = len(numbers)
                waiting.append(state)
            place = numbers[state]
            follow[place] = follow.get(place, 0.0) + (up_to - before) * odds.go_on
            before = up_to
        rows.append((turn.cost, follow))
    matrix = np.eye(len(rows))
    for row, (_, follow) in enumerate(rows):
        for place, share in follow.items():
            matrix[row, place] -= share
    return float(np.linalg.solve(matrix, [cost for cost, _ in rows])[0])


# --- Marks --------------------------------------------------------------------------------------------------------

Held = tuple[CacheLedgerEntry, ...]
"""Entries as if the next request began at `NOW`, those that ended left out."""


def billed(case: PlanInputs, found: CachePlan, held: Held) -> float:
    """A read, B - A at the long price, C - B at the short one, the rest fresh."""
    laid, prices = case.wire, case.prices
    places = {block.key: n for n, block in enumerate(laid.blocks)}
    marks = [(places[mark.after_key], mark.ttl_s) for mark in found.marks]
    live = {entry.prefix_hash for entry in held}
    deepest = max(
        (
            n
            for n, prefix in enumerate(laid.hashes)
            if prefix in live
            and any(0 <= laid.positions[m] - laid.positions[n] < 20 for m, _ in marks if m >= n)
        ),
        default=-1,
    )
    a = laid.ends[deepest] if deepest >= 0 else 0
    b = max([a, *(laid.ends[m] for m, ttl_s in marks if ttl_s == 3600)])
    c = max([b, *(laid.ends[m] for m, _ in marks)])
    short, long = (offer.write for offer in prices.writes)
    return a * prices.read + (b - a) * long + (c - b) * short + laid.total_tokens - c


def marked_turn(case: PlanInputs) -> Callable[[Hashable], Turn]:
    """After a turn, what was written behind its words stands behind those before the answer, and so on."""
    laid = case.wire
    assert [block.key for block in laid.blocks[2:]] == ["11/m0", "11/m1", "11/m2", "11/m3", "12/text", "8"]

    def turn_from(state: Hashable) -> Turn:
        held: Held = state  # type: ignore[assignment]
        ledger = CacheLedger({SCOPE: {entry.prefix_hash: entry for entry in held}})
        found = plan(replace(case, ledger=ledger))
        left = record(ledger, SCOPE, found, NOW, "d").entries[SCOPE].values()
        older = {laid.hashes[-2]: 4, laid.hashes[4]: 2}

        def next_state(gap_s: int) -> Hashable:
            state: dict[str, CacheLedgerEntry] = {}
            for entry in sorted(left, key=lambda e: e.expires_at):
                place = older.get(entry.prefix_hash, laid.hashes.index(entry.prefix_hash))
                moved = replace(
                    entry,
                    prefix_hash=laid.hashes[place],
                    tokens=laid.ends[place],
                    expires_at=entry.expires_at - timedelta(seconds=gap_s),
                )
                if is_live(moved, NOW):
                    state[moved.prefix_hash] = moved
            return tuple(sorted(state.values(), key=lambda e: e.prefix_hash))

        return Turn(billed(case, found, held), next_state)

    return turn_from


def case_of(
    stack: tuple[str, str], gaps: tuple[float, ...], prices: CachePrices, chosen: CacheSettings
) -> PlanInputs:
    stats = gap_stats(*gaps)
    stable, files = stack
    laid = wire("1 m0", "1 m1", "1 m2", "1 m3", stable=stable, files=files, words="1 words")
    return PlanInputs(laid, SCOPE, prices, CacheLedger(), stats, chosen, NOW)


@settings(max_examples=60, deadline=None)
@given(STACKS, GAPS, PRICES, st.sampled_from([None, None, 300, 3600]))
def test_what_marks_cost_over_all_turns_is_never_above_no_caching(
    stack: tuple[str, str], gaps: tuple[float, ...], prices: CachePrices, ttl_s: int | None
) -> None:
    case = case_of(stack, gaps, prices, CacheSettings(ttl_s=ttl_s))
    odds = own_odds(case.gaps)

    in_truth = expected_bill((), marked_turn(case), odds)

    assert in_truth <= case.wire.total_tokens / (1.0 - odds.go_on) * (1 + WORDS)
    assert in_truth <= plan(case).outlook * (1 + 5 * WORDS)


@pytest.mark.parametrize(("minutes", "at_most"), [(1, 0.15), (20, 0.25), (3 * 60, 1.0)])
def test_it_is_far_below_for_those_who_come_back_in_time(minutes: int, at_most: float) -> None:
    case = case_of(STACK, (60.0 * minutes,) * 200, ANTHROPIC, CacheSettings())
    odds = own_odds(case.gaps)

    without = case.wire.total_tokens / (1.0 - odds.go_on)
    assert expected_bill((), marked_turn(case), odds) <= at_most * without * (1 + 1e-9)


# --- Stored contents ----------------------------------------------------------------------------------------------


def stored_turn(case: PlanInputs) -> Callable[[Hashable], Turn]:
    """States are the block that a stored prefix ends with, -1 for none.

    It is held as long as the rule says, and its rent is paid until the next turn comes, or that time has passed.
    """
    laid, prices, odds = case.wire, case.prices, own_odds(case.gaps)
    hold_s = hold_of(prices, odds, case.settings.longest_ttl_s).until_s()
    weights = [late - early for early, late in pairwise((0.0, *odds.cumulative))]
    held_s = sum(weight * min(gap_s, hold_s) for weight, gap_s in zip(weights, odds.gaps_s, strict=True))
    held_s = odds.go_on * held_s + (1.0 - odds.go_on) * hold_s
    assert prices.input_usd is not None

    def turn_from(state: Hashable) -> Turn:
        place = int(state)  # type: ignore[call-overload]
        ledger = CacheLedger()
        if place >= 0:
            entry = CacheLedgerEntry(laid.hashes[place], laid.ends[place], 3600, after(3600), "d", name="n")
            ledger = CacheLedger({SCOPE: {entry.prefix_hash: entry}})
        found = plan(replace(case, ledger=ledger))
        if found.contents is None:
            return Turn(float(laid.total_tokens), lambda _gap_s: -1)
        used = laid.hashes.index(found.contents.prefix_hash)
        tokens = laid.ends[used]
        is_new = found.contents.use is ContentsUse.CREATE
        assert is_new or used == place
        cost = laid.total_tokens - tokens * (1.0 - prices.read) + (tokens if is_new else 0)
        cost += tokens * held_s / 3600 * prices.storage_usd / (prices.input_usd or 1.0)
        return Turn(cost, lambda gap_s: used if gap_s <= hold_s else -1)

    return turn_from


@settings(max_examples=20, deadline=None)
@given(STACKS, GAPS, RENTS)
def test_what_stored_prefixes_cost_with_their_rent_is_never_above_no_caching(
    stack: tuple[str, str], gaps: tuple[float, ...], prices: CachePrices
) -> None:
    case = case_of(stack, gaps, prices, CacheSettings())
    odds = own_odds(case.gaps)

    in_truth = expected_bill(-1, stored_turn(case), odds)

    assert in_truth <= case.wire.total_tokens / (1.0 - odds.go_on) * (1 + WORDS)
    assert in_truth <= plan(case).outlook * (1 + 0.05)


def test_a_stored_prefix_saves_most_of_it_for_those_who_ask_often() -> None:
    case = case_of(STACK, (60.0,) * 200, GEMINI, CacheSettings())
    odds = own_odds(case.gaps)

    assert expected_bill(-1, stored_turn(case), odds) <= 0.5 * case.wire.total_tokens / (1.0 - odds.go_on)
