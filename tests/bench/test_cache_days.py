"""Days are those of one person, and the program's replay of them loses no text."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

from core.kernel.values.cache import CacheSettings
from core.kernel.values.stack import LayerId
from core.talk.caching.cache_ledger import can_extend
from core.talk.caching.decision import Decision
from core.talk.caching.view import visible_file_set
from tests.bench.cache_bound import AsSent, least_any, least_by_text, least_same
from tests.bench.cache_days import (
    BUSY,
    DAYS,
    DESK,
    DISCUSSIONS,
    NIGHTS,
    SHORT,
    SPARSE,
    TURNS,
    Ask,
    Day,
    count_labels,
    make_day,
    make_discussion,
)
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import (
    MODELS,
    NO_CACHING,
    PEERS,
    NoExtension,
    canonical_requests,
    mark_on_tail,
    replay_peer,
)
from tests.bench.cache_replay import tokens_without
from tests.core.talk.caching.requests import turn_texts, visible_files
from tests.vendors.billing.clock import moment

SEED = 4711
made = cache(make_day)
KEPT = CacheSettings(keepalive=True)


@pytest.fixture(scope="module")
def desk() -> tuple[Ask, ...]:
    return made(DESK, SEED)


def _talk(day: tuple[Ask, ...], name: str) -> list[Ask]:
    return [ask for ask in day if ask.discussion == name]


def test_a_day_is_the_same_each_time_and_another_for_another_seed() -> None:
    def times(seed: int) -> list[float]:
        return [ask.at_s for ask in made(BUSY, seed)]

    assert times(1) == times(1)
    assert times(1) != times(2)


@pytest.mark.parametrize(("day", "long"), [(DESK, 0.08), (BUSY, 0.01), (SPARSE, 0.25)])
def test_the_persons_gaps_have_the_shares_that_a_day_is_named_for(day: Day, long: float) -> None:
    gaps = [b.at_s - a.at_s for seed in range(8) for a, b in pairwise(made(day, seed))]

    assert sum(gap <= 240 for gap in gaps) / len(gaps) == pytest.approx(day.short, abs=0.04)
    assert sum(gap > 3600 for gap in gaps) / len(gaps) == pytest.approx(long, abs=0.04)
    assert not [gap for gap in gaps if 240 < gap < 300]
    assert max(gaps) < 16 * 3600


def test_one_person_has_three_discussions_and_moves_between_them() -> None:
    short = moves = 0
    for seed in range(20):
        day = made(DESK, seed)
        lengths = Counter(ask.discussion for ask in day)
        short += min(lengths.values()) <= SHORT[1]
        moves += sum(a.discussion != b.discussion for a, b in pairwise(day))
        assert len(lengths) == DISCUSSIONS
        assert sum(lengths.values()) == TURNS
        assert min(lengths.values()) >= SHORT[0]
    assert 5 <= short <= 15
    assert 20 * 10 < moves < 20 * 50


def test_nobody_is_in_two_places_at_once_with_tool_turns_either() -> None:
    day = made(DESK, SEED, tool_turns=True)
    turns = [ask for ask in day if ask.is_turn]
    rounds = [(a, b) for a, b in pairwise(day) if not b.is_turn]

    assert len(turns) == TURNS
    assert len(rounds) > 30
    assert all(a.message_id == b.message_id and 8 <= b.at_s - a.at_s <= 25 for a, b in rounds)
    assert all(a.at_s < b.at_s for a, b in pairwise(day))


def test_who_sleeps_does_not_come_back_at_night() -> None:
    hours = [
        moment(b.at_s).hour + moment(b.at_s).minute / 60
        for seed in range(6)
        for a, b in pairwise(made(NIGHTS, seed))
        if b.at_s - a.at_s > 3600
    ]

    assert len(hours) > 40
    assert min(hours) >= 7.5 - 1 / 60
    assert max(hours) < 22


def test_a_discussion_by_itself_has_its_turns() -> None:
    alone = make_discussion(SPARSE, SEED, 5)

    assert [ask.message_id for ask in alone] == [f"d0m{n}" for n in range(5)]


def test_every_discussion_has_its_share_of_tokens(desk: tuple[Ask, ...]) -> None:
    for name in ("d0", "d1", "d2"):
        first = _talk(desk, name)[0]
        tokens = {layer.id: sum(count_labels(p.text) for p in layer.pieces) for layer in first.stack.layers}

        assert sum(n for layer, n in tokens.items() if layer.is_stable) == pytest.approx(23_000, rel=0.03)
        assert tokens[LayerId.FILE_DETAILS] == pytest.approx(38_000, rel=0.03)


def test_files_metadata_digest_and_identity_change_as_often_as_said() -> None:
    changes = Counter[LayerId]()
    own = shared = 0
    for seed in range(8):
        day = made(DESK, seed)
        for one, two in pairwise(day):
            shared += 1
            for layer in (LayerId.KNOWLEDGE, LayerId.PROJECT):
                changes[layer] += one.stack.layer(layer).sha256 != two.stack.layer(layer).sha256
        for name in ("d0", "d1", "d2"):
            for one, two in pairwise(_talk(day, name)):
                own += 1
                for layer in (LayerId.METADATA, LayerId.FILE_DETAILS):
                    changes[layer] += one.stack.layer(layer).sha256 != two.stack.layer(layer).sha256

    assert changes[LayerId.METADATA] / own == pytest.approx(0.35, abs=0.04)
    assert changes[LayerId.FILE_DETAILS] / own == pytest.approx(1 - 0.98**13, abs=0.04)
    assert changes[LayerId.KNOWLEDGE] / shared == pytest.approx(0.01, abs=0.006)
    assert changes[LayerId.PROJECT] / shared == pytest.approx(0.01, abs=0.006)


def test_most_edits_change_a_few_lines() -> None:
    shares = []
    for seed in range(4):
        for name in ("d0", "d1", "d2"):
            for one, two in pairwise(_talk(made(DESK, seed), name)):
                before = {p.key: p.text for p in one.stack.layer(LayerId.FILE_DETAILS).pieces}
                for piece in two.stack.layer(LayerId.FILE_DETAILS).pieces:
                    old = before.get(piece.key, piece.text)
                    if old != piece.text:
                        same = set(old.splitlines()) & set(piece.text.splitlines())
                        shares.append(1 - len(same) / len(piece.text.splitlines()))

    assert len(shares) > 50
    assert sum(share < 0.3 for share in shares) / len(shares) > 0.7
    assert sum(share > 0.9 for share in shares) / len(shares) == pytest.approx(0.1, abs=0.08)


def test_the_common_mistake_costs_five_quarters(desk: tuple[Ask, ...]) -> None:
    bill = replay_peer(desk, canonical_requests(desk, tail_last=True, volatile=True), mark_on_tail)

    assert bill.cost(0.1) / bill.total == pytest.approx(1.25, abs=0.001)
    assert bill.read == 0


def test_metadata_at_the_tail_helps_every_peer(desk: tuple[Ask, ...]) -> None:
    morning = desk[: len(desk) // 3]
    at_tail = canonical_requests(morning, tail_last=True)
    in_place = canonical_requests(morning, tail_last=False)
    for name, marks in PEERS.items():
        fair, plain = replay_peer(morning, at_tail, marks), replay_peer(morning, in_place, marks)
        assert fair.total == plain.total == sum(tokens_without(morning).values())
        assert name == NO_CACHING or fair.cost(0.1) < plain.cost(0.1)


@cache
def _without_us(day: Day) -> tuple[tuple[Ask, ...], float, float]:
    """A day, what the best of the peers pays for it, and the least that anybody who pings can; worked out once."""
    trace = made(day, SEED)
    requests = canonical_requests(trace, tail_last=True)
    best = min(replay_peer(trace, requests, marks).cost(0.05) for marks in PEERS.values())
    return trace, best, least_by_text(trace, 0.05, pings=True)


@pytest.mark.parametrize("day", DAYS, ids=lambda day: day.name)
def test_the_program_beats_peers_and_no_bound(day: Day) -> None:
    """With keepalive and without it, in one process: what others pay is worked out once."""
    for keepalive in (True, False):
        _beats_peers_and_no_bound(day, keepalive)


def _beats_peers_and_no_bound(day: Day, keepalive: bool) -> None:
    trace, best, least = _without_us(day)
    line = AsSent(MODELS[0.05])
    ours = Ours(0.05, CacheSettings(keepalive=keepalive), line=line)
    cost = ours.replay(trace).cost(0.05)

    assert len(line.requests) == len(trace)
    assert sum(bill.pings for bill in ours.bills.values()) > 0 or not keepalive
    any_line, same_line = least_any([line.requests], 0.05), least_same(line.requests, 0.05)
    assert least < any_line < cost < best
    assert any_line <= same_line
    assert keepalive or same_line < cost


def test_a_vendor_that_does_not_extend_is_found_out_and_still_cheaper_than_any_peer() -> None:
    trace, best, _ = _without_us(DESK)
    ours = Ours(0.05, KEPT, vendor=NoExtension)
    cost = ours.replay(trace).cost(0.05)

    assert not can_extend(ours.ledger, "anthropic", "claude-opus-5-5")
    assert 0 < ours.corrections < 12
    assert cost < 0.85 * best


KNOWN = (LayerId.PROJECT, LayerId.KNOWLEDGE, LayerId.FILE_DETAILS)
"""Layers of which the model is told piece by piece: as they were sent, and what changed since."""


class Watched(Ours):
    """The program's replay, with every request looked at."""

    def _decided(self, ask: Ask, decision: Decision) -> Decision:
        canonical = ask.stack.request()
        shown = {piece.key: piece.text for layer in KNOWN for piece in ask.stack.layer(layer).pieces}
        assert visible_files(decision.view) == shown
        assert visible_file_set(decision.view) == ask.stack.layer(LayerId.FILE_SET).text
        assert turn_texts(decision.request.messages) == turn_texts(canonical.messages)
        assert decision.request.tools == canonical.tools
        assert decision.plan.outlook <= decision.plan.outlook_without
        self.seen += 1
        self.appended += bool(decision.view.deltas)
        return decision

    seen = 0
    appended = 0


@pytest.mark.parametrize(("day", "tools"), [(DESK, True), (BUSY, False), (SPARSE, False)])
def test_no_text_is_lost_on_any_day(day: Day, tools: bool) -> None:
    trace = made(day, SEED, tool_turns=tools)
    watched = Watched(0.05, KEPT)
    watched.replay(trace)

    assert watched.seen == len(trace)
    assert watched.appended > 10
    assert watched.corrections == 0  # every read was foreseen
