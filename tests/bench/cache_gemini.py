"""Desk days at Gemini: stored contents by the program's one rule, against fixed holds, rent and making included."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product

from msgspec.structs import replace

from core.kernel.values.cache import CachePrices, CacheSettings, ContentsPlan, ContentsUse
from core.kernel.values.messages import Role
from core.kernel.values.provider import ContentsReport, ProviderKind, ProviderRequest, StoredContent
from core.kernel.values.usage import Usage
from core.services.providers.blocks import part_key
from core.talk.caching.decision import Decision
from core.talk.caching.offers import cache_prices
from core.talk.caching.pings import Ping
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_book import BookDriver
from tests.bench.cache_days import DESK, Ask, count_labels, make_day, part_text
from tests.vendors.billing.clock import START_S, Clock, moment
from tests.vendors.billing.gemini import GeminiCache, GeminiRules
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

MODELS = ("gemini-3.8-flash", "gemini-2.5-pro")
"""Rent for an hour is two thirds of the price of input, and 3.6 times it."""
HOLDS_MIN = (5, 10, 60)
BAR = 1.05
RENT_BAR = 0.01
PROVIDER = "gemini"


@dataclass(slots=True)
class Gemini:
    """The vendor's billing engine. Nothing is read implicitly: that is no business of the rule."""

    model: str
    clock: Clock = field(default_factory=Clock)
    cache: GeminiCache = field(init=False)
    total: int = 0
    plain: int = 0
    read: int = 0
    made: int = 0
    creations: int = 0

    def __post_init__(self) -> None:
        self.cache = GeminiCache(self.clock, Texts(count_labels), rules=GeminiRules(implicit_hit=0.0))

    def send(self, ask: Ask, decision: Decision) -> tuple[Usage, ContentsReport | None]:
        """See `Vendor.send`."""
        request, plan = decision.request, decision.plan.contents
        report = None if plan is None else self._ready(ask.discussion, request, plan)
        if report is None or report.stored is None or plan is None:
            parts = self._billed(body_of(request))
        else:
            _, tail = split(request, plan.through_key)
            parts = self._billed({"contents": tail, "cachedContent": report.stored.name})
        return Usage(input_tokens=parts.total, cache_read_tokens=parts.read), report

    def ping(self, ping: Ping) -> Usage:
        """See `Vendor.ping`. Nothing is pinged here: what is stored is held for rent."""
        raise AssertionError(ping)

    def extend(self, name: str, ttl_s: int) -> StoredContent:
        """See `Vendor.extend`."""
        return self._stored(self.cache.stored.patch(name, {"ttl": f"{ttl_s}s"}))

    def delete(self, name: str) -> None:
        """See `Vendor.delete`."""
        self.cache.stored.delete(name)

    def usd(self) -> float:
        """Cost of the day's input, making and rent included."""
        rates = Prices().rates("google", self.model, START_S, 0)
        fresh = float(rates.plain) * (self.plain + self.made) + float(rates.read) * self.read
        return fresh + self.rent_usd()

    def rent_usd(self) -> float:
        """Sum that was billed for storing."""
        hours = self.cache.stored.token_hours(self.clock()).get(self.model, 0.0)
        return float(Prices().storage(self.model, hours, START_S))

    def _billed(self, body: Json) -> Parts:
        parts = self.cache.send(body, self.model).parts
        self.total += parts.total
        self.plain += parts.plain
        self.read += parts.read
        return parts

    def _ready(self, discussion: str, request: ProviderRequest, plan: ContentsPlan) -> ContentsReport:
        if plan.use is ContentsUse.USE:
            stored = self._stored(self.cache.stored.get(plan.name))
            left_s = (stored.expires_at - moment(self.clock())).total_seconds()
            return ContentsReport(
                stored=self.extend(plan.name, plan.ttl_s) if plan.ttl_s > left_s else stored
            )
        head, _ = split(request, plan.through_key)
        body = {**body_of(request), "contents": head, "model": self.model, "ttl": f"{plan.ttl_s}s"}
        body["displayName"] = f"manual-slop/{discussion}/{plan.prefix_hash}"
        stored = self._stored(self.cache.stored.create(body))
        self.made += stored.tokens
        self.creations += 1
        return ContentsReport(stored=stored, is_new=True)

    def _stored(self, resource: Json) -> StoredContent:
        cached = self.cache.stored.find(resource["name"], "default")
        _, discussion, prefix = cached.display_name.split("/")
        made, ends = moment(cached.created_s), moment(cached.expires_s)
        return StoredContent(cached.name, self.model, prefix, discussion, cached.tokens, made, ends)


def body_of(request: ProviderRequest) -> Json:
    """A request as the vendor's JSON."""
    return {
        "systemInstruction": {"parts": [{"text": segment.text} for segment in request.system]},
        "tools": [{"name": t.name, "description": t.description} for t in request.tools],
        "contents": [
            {"role": _role(m.role), "parts": [{"text": part_text(p)} for p in m.parts]}
            for m in request.messages
        ],
    }


def split(request: ProviderRequest, through_key: str) -> tuple[list[Json], list[Json]]:
    """The messages up to a part, and those behind it."""
    head: list[Json] = []
    tail: list[Json] = []
    keys = [part_key(part) for message in request.messages for part in message.parts]
    end = max((place for place, key in enumerate(keys) if key == through_key), default=-1)
    place = 0
    for message in request.messages:
        for into, is_head in ((head, True), (tail, False)):
            parts = [
                {"text": part_text(part)}
                for number, part in enumerate(message.parts, place)
                if (number <= end) is is_head
            ]
            if parts:
                into.append({"role": _role(message.role), "parts": parts})
        place += len(message.parts)
    return head, tail


def _role(role: Role) -> str:
    return "model" if role is Role.ASSISTANT else "user"


@dataclass(frozen=True, slots=True)
class Played:
    """A day's cost over no caching: by the rule, and by fixed holds (minutes); the rent said over the rent billed."""

    ours: float
    held: dict[int, float]
    rent: float
    creations: int


def play(task: tuple[str, int]) -> Played:
    """Play one day under the rule and under fixed holds."""
    model, seed = task
    day = make_day(DESK, seed, tool_turns=False)
    prices = cache_prices(PROVIDER, ProviderKind.GEMINI, model, moment(START_S))
    ours, driver = _play(day, model, prices, CacheSettings())
    held = {}
    for minutes in HOLDS_MIN:
        # To whom rent is nothing, a content is always worth making and holding: for so long.
        free = replace(prices, storage_usd=1e-18)
        other, _ = _play(day, model, free, CacheSettings(longest_ttl_s=minutes * 60))
        held[minutes] = _share(other, model)
    said = driver.rent_usd / ours.rent_usd() if ours.rent_usd() else 1.0
    return Played(_share(ours, model), held, said, ours.creations)


def _play(
    day: Sequence[Ask], model: str, prices: CachePrices, settings: CacheSettings
) -> tuple[Gemini, BookDriver]:
    vendor = Gemini(model)
    driver = BookDriver(vendor, prices, settings, tick_s=10.0)
    driver.replay(day)
    return vendor, driver


def _share(vendor: Gemini, model: str) -> float:
    rates = Prices().rates("google", model, START_S, 0)
    return vendor.usd() / (float(rates.plain) * vendor.total)


def rows(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """All figures, over held-out seeds."""
    tasks = list(product(MODELS, seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = list(pool.map(play, tasks))
    found: list[Row] = []
    for number, model in enumerate(MODELS):
        part = played[number * len(seeds) : (number + 1) * len(seeds)]
        found += _rows(f"Gemini desk without tool turns, {model}", part)
    return found


def _rows(name: str, part: Sequence[Played]) -> list[Row]:
    ours = _mean([one.ours for one in part])
    held = {minutes: _mean([one.held[minutes] for one in part]) for minutes in HOLDS_MIN}
    best = min(held, key=lambda minutes: held[minutes])
    off = max(abs(one.rent - 1.0) for one in part)
    return [
        *(
            _row(f"{name}, held {minutes} min", cost, "of no caching", None, part)
            for minutes, cost in held.items()
        ),
        _row(f"{name}, planner", ours, "of no caching", 1.0, part),
        _row(f"{name}, planner, against the best fixed hold ({best} min)", ours / held[best], "times", BAR, part),
        _row(f"{name}, planner, contents made", _mean([one.creations for one in part]), "a day", None, part),
        _row(f"{name}, planner, rent said over rent billed, off by", off, "of it", RENT_BAR, part),
    ]  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _row(name: str, value: float, unit: str, bar: float | None, part: Sequence[object]) -> Row:
    return row(name, round(value, 4), unit, bar, runs=len(part))
