"""Desk days at OpenAI: the planner with default settings, at 30 minutes and at 12 hours, billed as the vendor bills."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product

from msgspec.structs import replace

from core.kernel.values.cache import CachePlan, CacheSettings
from core.kernel.values.provider import (
    ContentsReport,
    ModelProfile,
    ProviderKind,
    ProviderRequest,
    StoredContent,
)
from core.kernel.values.settings import CachingSettings
from core.kernel.values.usage import Usage
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.body import prewarm_body, responses_body
from core.services.providers.profiles import find_profile
from core.talk.caching.decision import Decision
from core.talk.caching.offers import cache_prices, settings_for
from core.talk.caching.pings import Ping
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_book import BookDriver
from tests.bench.cache_days import DESK, Ask, count_labels, make_day
from tests.vendors.billing.clock import START_S, Clock, moment
from tests.vendors.billing.openai import OpenAICache
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json

MODELS = ("gpt-6.1-sol", "gpt-5.6-sol")
"""Read at 0.05 and at 0.1 of the price of input."""
BAR = 0.25
WAYS = {
    "by the gaps": CachingSettings(),
    "by the gaps, keepalive": CachingSettings(keepalive=True),
    "30 min": CachingSettings(openai_ttl="30m"),
    "12 h": CachingSettings(openai_ttl="12h"),
}
PROVIDER = "openai"


@dataclass(slots=True)
class OpenAI:
    """The vendor's billing engine, asked with the bodies that the client sends."""

    model: str
    clock: Clock = field(default_factory=Clock)
    cache: OpenAICache = field(init=False)
    profile: ModelProfile = field(init=False)
    usd: float = 0.0
    total: int = 0
    pings: int = 0

    def __post_init__(self) -> None:
        self.cache = OpenAICache(self.clock, Texts(count_labels))
        self.profile = find_profile(packaged_models(), PROVIDER, self.model, kind=PROVIDER)

    def send(self, ask: Ask, decision: Decision) -> tuple[Usage, ContentsReport | None]:
        """See `Vendor.send`."""
        del ask
        usage = self._billed(self._body(decision.request, decision.plan))
        self.total += usage.input_tokens or 0
        return usage, None

    def ping(self, ping: Ping) -> Usage:
        """See `Vendor.ping`."""
        self.pings += 1
        plan = ping.request.cache
        body = None if plan is None else prewarm_body(self._body(ping.request, plan))
        return Usage() if body is None else self._billed(body)

    def extend(self, name: str, ttl_s: int) -> StoredContent:
        """See `Vendor.extend`. Nothing is stored for rent here."""
        raise AssertionError(name, ttl_s)

    def delete(self, name: str) -> None:
        """See `Vendor.delete`."""
        raise AssertionError(name)

    def _body(self, request: ProviderRequest, plan: CachePlan) -> Json:
        asked = replace(request, provider=PROVIDER, model=self.model, cache=plan)
        return responses_body(asked, self.profile, _no_blob)

    def _billed(self, body: Json) -> Usage:
        parts = self.cache.send(body).parts
        self.usd += float(Prices().cost(PROVIDER, self.model, parts, START_S))
        return Usage(
            input_tokens=parts.total,
            cache_read_tokens=parts.read,
            cache_write_tokens=parts.write + parts.write_long,
        )


def play(task: tuple[str, int, str]) -> tuple[float, int]:
    """One day's input cost over no caching, and its pings."""
    model, seed, way = task
    day = make_day(DESK, seed, tool_turns=False)
    vendor = replayed(day, model, WAYS[way])
    plain = float(Prices().rates(PROVIDER, model, START_S, 0).plain)
    return vendor.usd / (plain * vendor.total), vendor.pings


def replayed(day: Sequence[Ask], model: str, chosen: CachingSettings) -> OpenAI:
    """The vendor after a day with these settings."""
    vendor = OpenAI(model)
    prices = cache_prices(PROVIDER, ProviderKind.OPENAI, model, moment(START_S))
    settings: CacheSettings = settings_for(ProviderKind.OPENAI, prices, chosen, is_enabled=True)
    BookDriver(vendor, prices, settings).replay(day)
    return vendor


def rows(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """All figures, over held-out seeds."""
    tasks = list(product(MODELS, seeds, WAYS))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = dict(zip(tasks, pool.map(play, tasks), strict=True))
    found: list[Row] = []
    for model, way in product(MODELS, WAYS):
        part = [played[model, seed, way] for seed in seeds]
        name = f"OpenAI desk without tool turns, {model}, {way}"
        found.append(_row(name, sum(cost for cost, _ in part) / len(part), way, len(part)))
        if WAYS[way].keepalive:
            pings = sum(count for _, count in part) / len(part)
            found.append(row(f"{name}, pings", pings, "a day", runs=len(part)))
    return found


def _row(name: str, value: float, way: str, runs: int) -> Row:
    bar = BAR if way.startswith("by the gaps") else None
    return row(name, round(value, 4), "of no caching", bar, runs=runs)


def _no_blob(sha256: str) -> bytes:
    raise AssertionError(sha256)
