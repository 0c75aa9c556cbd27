"""Replays working days under the planner and under peers' policies; says what each costs against no caching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.__main__ import Row
from bench.cache_bound import bound
from bench.cache_days import BUSY, DAYS, DESK, SPARSE, Ask, Day, make_day
from bench.cache_policies import PEERS, Bill, Ours, mark_on_tail, replay_peer
from bench.cache_speed import speed_rows
from core.values.cache import CacheSettings

SEEDS = tuple(range(1, 21))
"""The planner was written on seeds from 100 on; these were not looked at."""
READS = (0.1, 0.05, 0.025)
KEPT_BARS = {0.1: 0.40, 0.05: 0.33, 0.025: 0.30}
BARS = {0.1: 0.43, 0.05: 0.38, 0.025: 0.36}
PEER_BARS = {
    DESK.name: {0.1: 0.70, 0.05: 0.62, 0.025: 0.56},
    BUSY.name: {0.1: 0.72, 0.05: 0.65, 0.025: 0.60},
    SPARSE.name: {0.1: 1.0, 0.05: 1.0, 0.025: 1.0},
}
KEPT = CacheSettings(keepalive=True)
RULES = {
    "without appending": replace(KEPT, appends_changes=False),
    "with 5 min only": replace(KEPT, ttl_s=300),
    "with 1 h only": replace(KEPT, ttl_s=3600),
    "without extending short entries": replace(KEPT, extends=False),
    "without shared, base and anchor marks": replace(KEPT, all_marks=False),
    "without asking whether marks pay": replace(KEPT, pays_only=False),
    "without keepalive": CacheSettings(),
}


class Days:
    """The traces of one kind of day, with what they cost without caching."""

    def __init__(self, day: Day, seeds: Sequence[int] = SEEDS, *, tool_turns: bool = True) -> None:
        self.name = day.name if tool_turns else f"{day.name} without tool turns"
        self.traces = [make_day(day, seed, tool_turns=tool_turns) for seed in seeds]
        self.totals = [replay_peer(trace, PEERS["no caching"], tail_last=True).total for trace in self.traces]

    def row(
        self, name: str, costs: Sequence[float], bar: float | None = None, divisor: float | None = None
    ) -> Row:
        """A figure over all seeds: cost against no caching, or against a divisor of the same."""
        value = sum(costs) / sum(self.totals) / (divisor or 1.0)
        return Row(
            name=f"{self.name}, {name}",
            value=round(value, 4),
            unit="of no caching" if divisor is None else "of it",
            bar="" if bar is None else f"at most {bar:g}",
            holds=bar is None or value <= bar,
            runs=len(self.traces),
        )


def rows() -> list[Row]:
    """All figures. Seeds are held out; every policy replays the same traces."""
    found: list[Row] = []
    for day in DAYS:
        days = Days(day)
        best, peers = _peers(days)
        found += peers
        for read in READS:
            found += _ours(days, read, best[read])
    desk = Days(DESK)
    found += _rules(desk)
    found += _plain_desk()
    return [*found, *speed_rows()]


def _peers(days: Days) -> tuple[dict[float, float], list[Row]]:
    """Peers' rows, and the best of them with layer 8 at the tail, by price of reading."""
    found: list[Row] = []
    best = dict.fromkeys(READS, 1.0)
    for tail_last in (False, True):
        place = "layer 8 at the tail" if tail_last else "layer 8 in its place"
        for name, marks in PEERS.items():
            if name == "no caching":
                continue
            bills = [replay_peer(trace, marks, tail_last=tail_last) for trace in days.traces]
            for read in READS:
                row = days.row(f"{name}, {place}, read {read:g}", [bill.cost(read) for bill in bills])
                found.append(row)
                if tail_last:
                    best[read] = min(best[read], row["value"])
    bills = [replay_peer(t, mark_on_tail, tail_last=True, volatile=True) for t in days.traces]
    found.append(days.row("mark on a tail that changes, read 0.1", [bill.cost(0.1) for bill in bills]))
    return best, found


def _ours(days: Days, read: float, best_peer: float) -> list[Row]:
    found: list[Row] = []
    for settings in (KEPT, CacheSettings()):
        kept = settings.keepalive
        how = f"planner{'' if kept else ' without keepalive'}, read {read:g}"
        runs = [_run(trace, read, settings) for trace in days.traces]
        costs = [run.bill.cost(read) for run in runs]
        bars = (KEPT_BARS if kept else BARS) if days.name == DESK.name else dict.fromkeys(READS, 1.0)
        found.append(days.row(how, costs, bars[read]))
        worst = max(cost / total for cost, total in zip(costs, days.totals, strict=True))
        found.append(_plain(f"{days.name}, {how}, worst seed", worst, "of no caching", 1.0, len(runs)))
        if kept:
            bar = PEER_BARS[days.name][read]
            found.append(days.row(f"{how}, against the best peer", costs, bar, best_peer))
        found.append(_share(days, how, [run.bill for run in runs]))
        least = sum(bound(trace, read, keepalive=kept) for trace in days.traces)
        found.append(
            _plain(
                f"{days.name}, {how}, over a bound that knows the future",
                sum(costs) / least,
                "times",
                None,
                len(runs),
            )
        )
    return found


def _rules(desk: Days) -> list[Row]:
    """Each rule switched off in turn, on the desk."""
    found: list[Row] = []
    for read in READS:
        for name, settings in RULES.items():
            runs = [_run(trace, read, settings) for trace in desk.traces]
            found.append(desk.row(f"planner {name}, read {read:g}", [r.bill.cost(read) for r in runs]))
        runs = [_run(trace, read, KEPT, tail_last=False) for trace in desk.traces]
        costs = [run.bill.cost(read) for run in runs]
        found.append(desk.row(f"planner with layer 8 in its place, read {read:g}", costs))
    return found


def _plain_desk() -> list[Row]:
    """The desk without tool turns: nearer to the simulation of caching-facts.md, F3, harder on every policy."""
    days = Days(DESK, tool_turns=False)
    best, peers = _peers(days)
    found = [row for row in peers if "tail" in row["name"]]
    for read in READS:
        for settings, bars in ((KEPT, KEPT_BARS), (CacheSettings(), BARS)):
            costs = [_run(trace, read, settings).bill.cost(read) for trace in days.traces]
            how = f"planner{'' if settings.keepalive else ' without keepalive'}, read {read:g}"
            found.append(days.row(how, costs, bars[read]))
            if settings.keepalive:
                bar = PEER_BARS[DESK.name][read]
                found.append(days.row(f"{how}, against the best peer", costs, bar, best[read]))
    return found


def _run(trace: Sequence[Ask], read: float, settings: CacheSettings, *, tail_last: bool = True) -> Ours:
    ours = Ours(read, settings, tail_last=tail_last)
    ours.replay(trace)
    return ours


def _share(days: Days, how: str, bills: Sequence[Bill]) -> Row:
    share = sum(bill.read for bill in bills) / sum(bill.total for bill in bills)
    return _plain(f"{days.name}, {how}, read from the cache", share, "of input", None, len(bills))


def _plain(name: str, value: float, unit: str, bar: float | None, runs: int) -> Row:
    holds = bar is None or value <= bar
    return Row(
        name=name,
        value=round(value, 4),
        unit=unit,
        bar="" if bar is None else f"at most {bar:g}",
        holds=holds,
        runs=runs,
    )
