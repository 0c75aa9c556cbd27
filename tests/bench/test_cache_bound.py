"""Bounds against all that could be done, on days short enough to try it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.cache_bound import Block, Sent, cheapest, least_any, least_same, never_rewritten
from tests.bench.cache_days import SPARSE, count_labels, make_discussion

TTLS = {"5m": (300.0, 1.25), "1h": (3600.0, 2.0)}
GAPS = st.lists(st.sampled_from([30.0, 200.0, 400.0, 2000.0, 4000.0, 9000.0, 40_000.0]), max_size=3)
READS = st.sampled_from([0.1, 0.05, 0.025])


def times_of(gaps: Sequence[float]) -> list[float]:
    return [sum(gaps[:number]) for number in range(len(gaps) + 1)]


def every_way(times: Sequence[float], read: float, *, pings: bool) -> Iterator[float]:
    """What each way costs of having a token at these times: fresh, written for 5 min or 1 h, or read and gone on as either."""
    for ways in product(("fresh", "5m", "1h", "read 5m", "read 1h"), repeat=len(times)):
        cost, held, last = 0.0, "", 0.0
        for time, way in zip(times, ways, strict=True):
            if way.startswith("read"):
                bridges = bridge(time - last, held, read, pings=pings)
                if bridges is None:
                    break
                cost += read + bridges
                held = way.removeprefix("read ")
            else:
                cost += 1.0 if way == "fresh" else TTLS[way][1]
                held = "" if way == "fresh" else way
            last = time
        else:
            yield cost


def bridge(gap: float, held: str, read: float, *, pings: bool) -> float | None:
    """What it costs to have an entry live at the end of a gap, None where nothing keeps it."""
    if not held:
        return None
    ttl, cost = TTLS[held][0], 0.0
    while gap >= ttl if not pings else gap > ttl:
        if not pings:
            return None
        gap -= ttl
        cost += read
        ttl = TTLS["1h"][0]  # a ping is a read: lengthening is free
    return cost


@settings(max_examples=60, deadline=None)
@given(GAPS, READS, st.booleans())
def test_one_token_costs_what_the_cheapest_of_all_ways_costs(
    gaps: list[float], read: float, pings: bool
) -> None:
    times = times_of(gaps)

    assert cheapest(times, read, pings=pings) == pytest.approx(min(every_way(times, read, pings=pings)))


def test_a_token_asked_for_once_is_sent_fresh() -> None:
    assert cheapest([7.0], 0.05, pings=True) == 1.0


def test_a_read_needs_a_write_within_its_lifetime() -> None:
    assert cheapest([0.0, 299.0], 0.05, pings=False) == pytest.approx(1.25 + 0.05)
    assert cheapest([0.0, 301.0], 0.05, pings=False) == 2.0  # twice fresh, an hour would cost 2.05
    assert cheapest([0.0, 301.0, 700.0], 0.05, pings=False) == pytest.approx(2.0 + 0.05 + 0.05)


def test_going_on_for_longer_after_a_read_is_free() -> None:
    assert cheapest([0.0, 60.0, 3000.0], 0.05, pings=False) == pytest.approx(1.25 + 0.05 + 0.05)


def test_pings_bridge_a_gap_at_the_price_of_reads() -> None:
    assert cheapest([0.0, 3.5 * 3600.0], 0.05, pings=True) == pytest.approx(1.25 + 4 * 0.05 + 0.05)
    assert cheapest([0.0, 60.0, 3.5 * 3600.0], 0.05, pings=True) == pytest.approx(
        1.25 + 0.05 + 3 * 0.05 + 0.05
    )


def test_a_ping_lets_a_short_entry_live_for_an_hour() -> None:
    assert cheapest([0.0, 3000.0, 3060.0], 0.05, pings=True) == pytest.approx(1.25 + 3 * 0.05)


def line(at_s: float, *names: str, tokens: int = 100) -> Sent:
    """A request of blocks by name; a name's first letter is its group."""
    blocks, prefix = [], ""
    for name in names:
        prefix += name
        blocks.append(Block(hash(prefix), tokens, hash(name), int(name[0])))
    return Sent(at_s, tuple(blocks))


def test_the_same_requests_pay_again_for_what_stands_behind_a_change() -> None:
    """Three blocks, the second changes: the third is another edge of the tree, although it is the same text."""
    asked = [line(0.0, "1a", "2a", "4a"), line(60.0, "1a", "2b", "4a")]

    assert least_same(asked, 0.05) == pytest.approx(100 * (1.25 + 0.05 + 4 * 1.0))


def test_any_strategy_may_put_what_changes_last() -> None:
    asked = [line(0.0, "1a", "2a", "4a"), line(60.0, "1a", "2b", "4a")]

    assert least_any([asked], 0.05) == pytest.approx(100 * (2 * (1.25 + 0.05) + 2 * 1.0))


def test_any_strategy_takes_the_cheaper_way() -> None:
    dear = [line(0.0, "1a", "2a"), line(60.0, "1a", "2b")]
    cheap = [line(0.0, "1a", "2a"), line(60.0, "1a", "2a")]

    assert least_any([dear, cheap], 0.05) == least_any([cheap], 0.05) < least_any([dear], 0.05)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(
            st.sampled_from(["1a", "2a", "2b", "3a", "4a", "9a"]),
            min_size=1,
            max_size=4,
            unique_by=lambda n: n[0],
        ),
        min_size=1,
        max_size=4,
    ),
    GAPS,
    READS,
)
def test_a_tree_costs_the_sum_of_its_edges(lines: list[list[str]], gaps: list[float], read: float) -> None:
    """Each edge tried in all ways by itself."""
    times = times_of([*gaps, *([60.0] * len(lines))])[: len(lines)]
    asked = [line(at_s, *names) for at_s, names in zip(times, map(sorted, lines), strict=True)]
    edges = {block.prefix for sent in asked for block in sent.blocks}
    least = 0.0
    for edge in edges:
        uses = [sent.at_s for sent in asked if any(block.prefix == edge for block in sent.blocks)]
        least += 100 * min(every_way(uses, read, pings=False))

    assert least_same(asked, read) == pytest.approx(least)
    assert least_any([asked], read) <= least_same(asked, read, pings=True) + 1e-6


def test_what_is_never_rewritten_begins_with_all_that_was_sent_before() -> None:
    day = make_discussion(SPARSE, 3, 12)
    sent = never_rewritten(day)
    for before, after in pairwise(sent):
        kept = before.blocks[:-1]  # without layer 8
        assert after.blocks[: len(kept)] == kept
    whole = sum(block.tokens for block in sent[-1].blocks)
    now = sum(count_labels(piece.text) for layer in day[-1].stack.layers for piece in layer.pieces)
    assert whole >= 0.97 * now
