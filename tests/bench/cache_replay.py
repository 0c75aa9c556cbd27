"""One day under every policy: what each costs, and the least that it could have cost. What a process of the bench does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from core.kernel.values.cache import CacheSettings
from tests.bench.cache_bound import AsSent, least_any, least_by_text, least_same, never_rewritten
from tests.bench.cache_days import Ask, Day, make_day, make_discussion
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import (
    FIXED_HOUR,
    MODELS,
    NO_CACHING,
    PEERS,
    Bill,
    InProcess,
    NoExtension,
    canonical_requests,
    fixed_hour,
    mark_on_tail,
    replay_peer,
    tail_of,
)

MAIN = 0.05
"""The price of reading that bars, bounds and rules are of."""
OFF, ON = "keepalive off", "keepalive on"
SETTINGS = {OFF: CacheSettings(), ON: CacheSettings(keepalive=True)}
SAME, SAME_ON = "least for the same requests", "least for the same requests as sent with keepalive"
ANY, TEXT, TEXT_OFF = "least for any strategy", "least by text", "least by text without pings"
NEVER = "never rewritten, by one who knows the future"
IN_PLACE = "layer 8 in its place"
TAIL_MARKED = "mark on a tail that changes"
RULE_ONE = "rule 1 off (layer 8 in its place)"
NOT_EXTENDED = "where the vendor does not extend, as the ledger finds out"
_KEPT = SETTINGS[ON]
RULES = {
    "rule 2 off (edits in place)": replace(_KEPT, appends_changes=False),
    "rule 3 off (5 min only)": replace(_KEPT, ttl_s=300),
    "rule 3 off (1 h only)": replace(_KEPT, ttl_s=3600),
    "rule 3, short entries not extended": replace(_KEPT, extends=False),
    "rule 5 off (one mark)": replace(_KEPT, all_marks=False),
    "rule 6 off (the tail is marked too)": replace(_KEPT, pays_only=False),
}

Figures = Mapping[tuple[str, float], float]
"""By policy or bound and price of reading: what a day cost, in tokens of fresh input."""


@dataclass(frozen=True, slots=True)
class Task:
    """A day to be replayed under every policy.

    Args:
        turns: 0: a whole day, else a discussion of so many turns by itself, under the program alone.
        rules: the program with each rule off, too; bounds: and the bounds (both at the middle price); peers: and the peers.
    """

    day: Day
    seed: int
    has_tools: bool = False
    turns: int = 0
    reads: tuple[float, ...] = (0.1, 0.05, 0.025)
    rules: bool = False
    bounds: bool = True
    peers: bool = True


@dataclass(frozen=True, slots=True)
class Talk:
    """Cost of a discussion at one price, in tokens of fresh input; `without`: had nothing been cached;
    `largest`: of its requests.
    """

    turns: int
    cost: float
    without: int
    largest: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """Cost of a day.

    Args:
        total: its input without caching, in tokens; talks: its discussions, by policy and price of reading.
        shares: of the input, what was read from the cache; pings: how many were sent.
    """

    total: int
    figures: Figures
    talks: Mapping[tuple[str, float], tuple[Talk, ...]] = field(default_factory=dict)
    shares: Figures = field(default_factory=dict)
    pings: Figures = field(default_factory=dict)


def day_of(task: Task) -> tuple[Ask, ...]:
    """The requests of a task."""
    if task.turns:
        return make_discussion(task.day, task.seed, task.turns)
    return make_day(task.day, task.seed, tool_turns=task.has_tools)


def replay(task: Task) -> Replayed:
    """Replay one day under all policies that the task names."""
    day = day_of(task)
    without = tokens_without(day)
    figures: dict[tuple[str, float], float] = {}
    talks: dict[tuple[str, float], tuple[Talk, ...]] = {}
    shares: dict[tuple[str, float], float] = {}
    pings: dict[tuple[str, float], float] = {}
    for read in task.reads:
        lines = {name: AsSent(MODELS[read]) for name in SETTINGS}
        for name, settings in SETTINGS.items():
            ours = Ours(read, settings, line=lines[name])
            bill = ours.replay(day)
            figures[name, read] = bill.cost(read)
            shares[name, read] = bill.read / bill.total
            pings[name, read] = bill.pings
            talks[name, read] = _talks(day, ours.bills, without, read)
        if task.peers:
            requests = [(request, tail_of(request)) for request in lines[OFF].asked]
            figures[FIXED_HOUR, read] = replay_peer(day, requests, fixed_hour).cost(read)
        if task.bounds and read == MAIN:
            figures |= _bounds(day, lines, read)
        if task.rules and read == MAIN:
            figures |= _rules(day, read)
    if task.peers:
        figures |= _peers(day, task)
    return Replayed(sum(without.values()), figures, talks, shares, pings)


def tokens_without(day: Sequence[Ask]) -> Counter[str]:
    """Tokens that each discussion sends where nothing is cached and nothing appended."""
    line, found = InProcess(MODELS[0.1]), Counter[str]()
    for ask, (request, _) in zip(day, canonical_requests(day, tail_last=True), strict=True):
        found[ask.discussion] += line.send(request, (), ask.answer).total
    return found


def _talks(
    day: Sequence[Ask], bills: Mapping[str, Bill], without: Counter[str], read: float
) -> tuple[Talk, ...]:
    turns = Counter(ask.discussion for ask in day if ask.is_turn)
    return tuple(
        Talk(turns[name], bill.cost(read), without[name], bill.largest) for name, bill in bills.items()
    )


def _bounds(day: Sequence[Ask], lines: Mapping[str, AsSent], read: float) -> dict[tuple[str, float], float]:
    sent = {name: line.requests for name, line in lines.items()}
    return {
        (SAME, read): least_same(sent[OFF], read),
        (SAME_ON, read): least_same(sent[ON], read),
        (ANY, read): least_any(sent.values(), read),
        (NEVER, read): least_same(never_rewritten(day), read, pings=True),
        (TEXT, read): least_by_text(day, read, pings=True),
        (TEXT_OFF, read): least_by_text(day, read, pings=False),
    }


def _rules(day: Sequence[Ask], read: float) -> dict[tuple[str, float], float]:
    found = {(name, read): Ours(read, settings).replay(day).cost(read) for name, settings in RULES.items()}
    found[RULE_ONE, read] = Ours(read, _KEPT, tail_last=False).replay(day).cost(read)
    found[NOT_EXTENDED, read] = Ours(read, _KEPT, vendor=NoExtension).replay(day).cost(read)
    return found


def _peers(day: Sequence[Ask], task: Task) -> dict[tuple[str, float], float]:
    """Peers' marks on requests in which whatever changes is changed in place."""
    bills = {}
    at_tail = canonical_requests(day, tail_last=True)
    for name, marks in PEERS.items():
        if name != NO_CACHING:
            bills[f"{name}, changes in place"] = replay_peer(day, at_tail, marks)
    if task.rules:
        in_place = canonical_requests(day, tail_last=False)
        for name, marks in PEERS.items():
            if name != NO_CACHING:
                bills[f"{name}, changes in place, {IN_PLACE}"] = replay_peer(day, in_place, marks)
        volatile = canonical_requests(day, tail_last=True, volatile=True)
        bills[TAIL_MARKED] = replay_peer(day, volatile, mark_on_tail)
    return {(name, read): bill.cost(read) for name, bill in bills.items() for read in task.reads}
