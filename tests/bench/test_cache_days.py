"""The replay of working days: traces are what they claim to be, bounds bound, and no text is lost on the way."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench.cache import KEPT
from bench.cache_bound import bound
from bench.cache_days import BUSY, DAYS, DESK, SPARSE, TURNS, Ask, Day, count_labels, make_day
from bench.cache_policies import PEERS, NoExtension, Ours, canonical_requests, mark_on_tail, replay_peer
from core.caching.decision import Decision
from core.caching.view import visible_file_set, visible_files
from core.values.cache import CacheSettings
from core.values.stack import LayerId
from tests.core.caching.requests import turn_texts

SEED = 4711


@pytest.fixture(scope="module")
def desk() -> tuple[Ask, ...]:
    return make_day(DESK, SEED)


def test_a_trace_is_the_same_each_time_and_another_for_another_seed() -> None:
    def times(seed: int) -> list[float]:
        return [ask.at_s for ask in make_day(BUSY, seed)]

    assert times(1) == times(1)
    assert times(1) != times(2)


@pytest.mark.parametrize(("day", "long"), [(DESK, 0.08), (BUSY, 0.01), (SPARSE, 0.25)])
def test_gaps_have_the_shares_that_a_day_is_named_for(day: Day, long: float) -> None:
    gaps: list[float] = []
    for seed in range(8):
        trace = make_day(day, seed)
        for name in {ask.discussion for ask in trace}:
            asks = [ask for ask in trace if ask.discussion == name]
            gaps += [b.at_s - a.at_s for a, b in pairwise(asks) if b.is_turn]
    assert sum(gap <= 240 for gap in gaps) / len(gaps) == pytest.approx(day.short, abs=0.04)
    assert sum(gap > 3600 for gap in gaps) / len(gaps) == pytest.approx(long, abs=0.04)
    assert not [gap for gap in gaps if 240 < gap < 300]


def test_every_discussion_has_its_turns_and_its_share_of_tokens(desk: tuple[Ask, ...]) -> None:
    turns = [ask for ask in desk if ask.is_turn]
    first = next(ask for ask in turns if ask.message_id.endswith("m0"))
    tokens = {layer.id: sum(count_labels(p.text) for p in layer.pieces) for layer in first.stack.layers}

    assert len(turns) == 3 * TURNS
    assert sum(n for layer, n in tokens.items() if layer.is_stable) == pytest.approx(23_000, rel=0.03)
    assert tokens[LayerId.FILE_DETAILS] == pytest.approx(38_000, rel=0.03)
    assert len(desk) > len(turns)


def test_files_metadata_and_digest_change_as_often_as_said() -> None:
    changes = {LayerId.FILE_DETAILS: 0, LayerId.METADATA: 0, LayerId.KNOWLEDGE: 0}
    pairs = 0
    for seed in range(4):
        trace = make_day(DESK, seed)
        for name in {ask.discussion for ask in trace}:
            turns = [ask for ask in trace if ask.discussion == name and ask.is_turn]
            for one, two in pairwise(turns):
                pairs += 1
                for layer in changes:
                    changes[layer] += one.stack.layer(layer).sha256 != two.stack.layer(layer).sha256

    assert changes[LayerId.METADATA] / pairs == pytest.approx(0.35, abs=0.06)
    assert changes[LayerId.FILE_DETAILS] / pairs == pytest.approx(1 - 0.98**13, abs=0.06)
    assert changes[LayerId.KNOWLEDGE] / pairs == pytest.approx(0.03, abs=0.025)


def test_the_common_mistake_costs_five_quarters(desk: tuple[Ask, ...]) -> None:
    bill = replay_peer(desk, canonical_requests(desk, tail_last=True, volatile=True), mark_on_tail)

    assert bill.cost(0.1) / bill.total == pytest.approx(1.25, abs=0.001)
    assert bill.read == 0


def test_metadata_at_the_tail_helps_every_peer(desk: tuple[Ask, ...]) -> None:
    at_tail = canonical_requests(desk, tail_last=True)
    in_place = canonical_requests(desk, tail_last=False)
    for name, marks in PEERS.items():
        fair, plain = replay_peer(desk, at_tail, marks), replay_peer(desk, in_place, marks)
        assert fair.total == plain.total
        assert name == "no caching" or fair.cost(0.1) < plain.cost(0.1) < plain.total


@pytest.mark.parametrize("day", DAYS, ids=lambda day: day.name)
@pytest.mark.parametrize("kept", [True, False])
def test_the_planner_beats_peers_and_no_plan_beats_the_bound(day: Day, kept: bool) -> None:
    trace = make_day(day, SEED)
    requests = canonical_requests(trace, tail_last=True)
    peers = [replay_peer(trace, requests, marks).cost(0.05) for marks in PEERS.values()]
    cost = Ours(0.05, CacheSettings(keepalive=kept)).replay(trace).cost(0.05)
    least = bound(trace, 0.05, keepalive=kept)

    assert least < cost < min(peers)
    assert bound(trace, 0.05, keepalive=True) <= bound(trace, 0.05, keepalive=False)


def test_a_vendor_that_does_not_extend_is_found_out_and_still_cheaper_than_any_peer() -> None:
    trace = make_day(DESK, SEED)
    requests = canonical_requests(trace, tail_last=True)
    best = min(replay_peer(trace, requests, marks).cost(0.05) for marks in PEERS.values())
    ours = Ours(0.05, KEPT, vendor=NoExtension)
    cost = ours.replay(trace).cost(0.05)

    assert ours.ledger.cannot_extend == {("anthropic", "claude-opus-5-5")}
    assert 0 < ours.corrections < 12
    assert cost < 0.85 * best


class Watched(Ours):
    """The planner's replay, with every request looked at."""

    def _decide(self, ask: Ask) -> Decision:
        decision = super()._decide(ask)
        canonical = ask.stack.request()
        shown = {piece.key: piece.text for piece in ask.stack.layer(LayerId.FILE_DETAILS).pieces}
        assert visible_files(decision.view) == shown
        assert visible_file_set(decision.view) == ask.stack.layer(LayerId.FILE_SET).text
        assert turn_texts(decision.request.messages) == turn_texts(canonical.messages)
        assert (decision.request.system, decision.request.tools) == (canonical.system, canonical.tools)
        assert decision.plan.outlook <= decision.plan.outlook_without
        self.seen += 1
        self.appended += bool(decision.view.deltas)
        return decision

    seen = 0
    appended = 0


@pytest.mark.parametrize("day", DAYS, ids=lambda day: day.name)
def test_no_text_is_lost_on_any_day(day: Day) -> None:
    trace = make_day(day, SEED)
    watched = Watched(0.05, KEPT)
    watched.replay(trace)

    assert watched.seen == len(trace)
    assert watched.appended > 20
    assert watched.corrections == 0  # every read was foreseen
