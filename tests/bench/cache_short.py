"""Short discussions of one person, nothing shared and nobody coming back: what each costs over no caching, by its length.

Whoever never caches is never above 1, and nobody else can be: a discussion may end with the turn that was cached first.
So discussions of one turn are told apart: a new person's first, and those that follow, of which is learned.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product

from core.kernel.values.provider import ContentsReport, ProviderKind
from core.kernel.values.settings import CachingSettings
from core.kernel.values.usage import Usage
from core.talk.caching.decision import Decision
from core.talk.caching.offers import cache_prices, settings_for
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_book import BookDriver
from tests.bench.cache_days import DESK, Ask, make_serial
from tests.bench.cache_openai import PROVIDER, OpenAI
from tests.bench.cache_ours import Ours
from tests.bench.cache_replay import MAIN, OFF, SETTINGS
from tests.vendors.billing.clock import START_S, moment
from tests.vendors.billing.prices import Prices

ANTHROPIC = "Anthropic"
MODELS = (ANTHROPIC, "gpt-6.1-sol", "gpt-5.6-sol")
LENGTHS = (1, 2, 3, 5, 8)
COUNT = 8


@dataclass(slots=True)
class ByDiscussion(OpenAI):
    """OpenAI's engine with the cost of each discussion, over no caching."""

    spent: dict[str, float] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)

    def send(self, ask: Ask, decision: Decision) -> tuple[Usage, ContentsReport | None]:
        """See `Vendor.send`."""
        usd, total, name = self.usd, self.total, ask.discussion
        answer = OpenAI.send(self, ask, decision)
        self.spent[name] = self.spent.get(name, 0.0) + self.usd - usd
        self.sent[name] = self.sent.get(name, 0) + self.total - total
        return answer


def play(task: tuple[str, int, int]) -> list[float]:
    """Cost of each discussion over no caching, in their order. A task: model, seed, turns of each."""
    model, seed, turns = task
    day = make_serial(DESK, seed, turns, COUNT)
    names = [f"d{number}" for number in range(COUNT)]
    if model == ANTHROPIC:
        ours = Ours(MAIN, SETTINGS[OFF])
        ours.replay(day)
        return [ours.bills[name].cost(MAIN) / ours.bills[name].total for name in names]
    vendor = ByDiscussion(model)
    prices = cache_prices(PROVIDER, ProviderKind.OPENAI, model, moment(START_S))
    settings = settings_for(ProviderKind.OPENAI, prices, CachingSettings(), is_enabled=True)
    BookDriver(vendor, prices, settings).replay(day)
    plain = float(Prices().rates(PROVIDER, model, START_S, 0).plain)
    return [vendor.spent[name] / plain / vendor.sent[name] for name in names]


def rows(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """All figures, over held-out seeds."""
    tasks = list(product(MODELS, seeds, LENGTHS))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = dict(zip(tasks, pool.map(play, tasks), strict=True))
    found: list[Row] = []
    for model, turns in product(MODELS, LENGTHS):
        part = [played[model, seed, turns] for seed in seeds]
        firsts, rest = [one[0] for one in part], [cost for one in part for cost in one[1:]]
        name = f"{model}, {COUNT} discussions of {turns} one after another"
        found.append(_row(f"{name}, a new person's first", firsts))
        found.append(_row(f"{name}, those that follow", rest))
    return found


def _row(name: str, costs: Sequence[float]) -> Row:
    return row(name, round(sum(costs) / len(costs), 4), "of no caching", 1.0, runs=len(costs))
