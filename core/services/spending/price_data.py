"""Price data in the form of genai-prices, and the price of a usage by them, without the library and its 27 MB.

`assets/prices.json` holds what this reads of the library's release that came with the program (`scripts/build_prices.py`).

Source: genai-prices 0.2.3, `data_snapshot.py`, `types.py`, `decompose.py` (read 2026-11-30). Our usages count text alone, so
prices of sound, pictures and searches count for nothing, and prices by service tier are never asked for.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from core.kernel.codecs import decoder_of, from_builtins
from core.kernel.values.usage import Usage

FILE = Path(__file__).parents[3] / "assets" / "prices.json"


class Clause(msgspec.Struct, frozen=True, omit_defaults=True, rename={"or_": "or", "and_": "and"}):
    """A rule for names: the one that is given counts."""

    starts_with: str | None = None
    ends_with: str | None = None
    contains: str | None = None
    regex: str | None = None
    equals: str | None = None
    or_: tuple[Clause, ...] | None = None
    and_: tuple[Clause, ...] | None = None

    def matches(self, name: str) -> bool:
        """Match a name, given in small letters."""
        if self.equals is not None:
            return name == self.equals.lower()
        if self.or_ is not None:
            return any(one.matches(name) for one in self.or_)
        if self.contains is not None:
            return self.contains.lower() in name
        if self.starts_with is not None:
            return name.startswith(self.starts_with.lower())
        if self.ends_with is not None:
            return name.endswith(self.ends_with.lower())
        if self.and_ is not None:
            return all(one.matches(name) for one in self.and_)
        return self.regex is not None and re.search(self.regex, name) is not None


class Tier(msgspec.Struct, frozen=True):
    """US dollars for a million tokens of a request with more than `start` tokens of input."""

    start: int
    price: Decimal


class TieredPrices(msgspec.Struct, frozen=True):
    """US dollars for a million tokens, by the length of the request."""

    base: Decimal
    tiers: tuple[Tier, ...]

    def at(self, input_tokens: int) -> Decimal:
        """The price of each token of a request with so much input."""
        passed = [one for one in self.tiers if input_tokens > one.start]
        return max(passed, key=lambda one: one.start).price if passed else self.base


Rate = Decimal | TieredPrices | None


class Rates(msgspec.Struct, frozen=True, omit_defaults=True):
    """US dollars for a million tokens, and for a thousand requests; None where the vendor sells no such thing."""

    input_mtok: Rate = None
    output_mtok: Rate = None
    cache_read_mtok: Rate = None
    cache_write_mtok: Rate = None
    cache_write_5m_mtok: Rate = None
    cache_write_1h_mtok: Rate = None
    requests_kcount: Rate = None


class Constraint(msgspec.Struct, frozen=True, omit_defaults=True):
    """First day, or hours of the day, of a price; times without a zone are UTC."""

    start_date: date | None = None
    start_time: time | None = None
    end_time: time | None = None

    def holds(self, at: datetime) -> bool:
        """Tell if the price counts at a time, which has a zone."""
        at = at.astimezone(UTC)
        if self.start_date is not None:
            return at.date() >= self.start_date
        if self.start_time is None or self.end_time is None:
            return False
        now, start, end = at.timetz(), _in_utc(self.start_time), _in_utc(self.end_time)
        return now >= start or now < end if end < start else start <= now < end


def _in_utc(value: time) -> time:
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return datetime.combine(date(1970, 1, 1), value).astimezone(UTC).timetz()


class ConditionalRates(msgspec.Struct, frozen=True, omit_defaults=True):
    """Prices that count under a constraint, or always."""

    prices: Rates
    constraint: Constraint | None = None


class PricedModel(msgspec.Struct, frozen=True):
    """A model: the names that it goes by, and its prices, of which the last that holds counts."""

    match: Clause
    prices: Rates | tuple[ConditionalRates, ...]

    def rates(self, at: datetime) -> Rates:
        """The prices at a time; where none holds, the first; none at all where there is none."""
        if isinstance(self.prices, Rates):
            return self.prices
        held = [one for one in self.prices if one.constraint is None or one.constraint.holds(at)]
        counting = held[-1:] or self.prices[:1]
        return counting[0].prices if counting else Rates()


class PricedVendor(msgspec.Struct, frozen=True, omit_defaults=True):
    """A vendor with its models, and the vendors whose models it sells too."""

    id: str
    provider_match: Clause | None = None
    model_match: Clause | None = None
    fallback_model_providers: tuple[str, ...] | None = None
    models: tuple[PricedModel, ...] = ()


class Calculation(msgspec.Struct, frozen=True):
    """The price of a usage in US dollars, of its input and output, and the prices that it was calculated by."""

    input_price: Decimal
    output_price: Decimal
    total_price: Decimal
    rates: Rates


class PriceData(msgspec.Struct, frozen=True, eq=False):
    """All vendors that prices are known of, in the order in which they are searched."""

    providers: tuple[PricedVendor, ...]

    def calculate(self, provider: str, model: str, usage: Usage, at: datetime) -> Calculation | None:
        """Price of a usage; None where no such model is known, or the usage is impossible."""
        found = _find(self, provider, model)
        return None if found is None else _calculate(found.rates(at), usage)


def read_prices(data: bytes) -> PriceData:
    """Price data from JSON in the library's form. Raises msgspec.DecodeError."""
    return PriceData(decoder_of(tuple[PricedVendor, ...]).decode(data))


@cache
def packaged_prices(version: str) -> PriceData:
    """The price data that came with the program; those of the library itself where it is installed in another version."""
    spec = find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return read_prices(FILE.read_bytes())
    about = Path(spec.origin).parent.with_name(f"genai_prices-{version}.dist-info")
    return read_prices(FILE.read_bytes()) if about.is_dir() else library_prices()


def library_prices() -> PriceData:
    """The price data of the library that is installed."""
    from genai_prices.data import providers  # 27 MB of memory and a quarter of a command

    return PriceData(from_builtins(_plain(providers), tuple[PricedVendor, ...]))


def _plain(value: Any) -> Any:
    """A value of the library as dicts and lists, by the names of its JSON."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if hasattr(value, "__dict__"):
        return {name.rstrip("_"): _plain(one) for name, one in vars(value).items() if one is not None}
    return value


@lru_cache(maxsize=4096)
def _find(data: PriceData, provider: str, model: str) -> PricedModel | None:
    model = model.lower()
    vendor, name = _vendor(data, provider), model
    if provider.lower() == "litellm":
        prefix, _, rest = model.partition("/")
        if rest and prefix and (named := _vendor(data, prefix)):
            vendor, name = named, rest
        elif vendor is None:
            meant = (one for one in data.providers if one.model_match and one.model_match.matches(model))
            vendor = next(meant, None)
    if vendor is None:
        return None
    dashed = _COMPACT_DATE.sub(_dashed, name)
    return _model(data, vendor, name) or (_model(data, vendor, dashed) if dashed != name else None)


def _vendor(data: PriceData, provider: str) -> PricedVendor | None:
    provider = provider.lower().strip()
    for one in data.providers:
        if one.id == provider:
            return one
    matching = (one for one in data.providers if one.provider_match and one.provider_match.matches(provider))
    return next(matching, None)


def _model(data: PriceData, vendor: PricedVendor, name: str) -> PricedModel | None:
    by_id = {one.id: one for one in reversed(data.providers)}
    sellers = [vendor, *(by_id[one] for one in vendor.fallback_model_providers or () if one in by_id)]
    return next((one for seller in sellers for one in seller.models if one.match.matches(name)), None)


_COMPACT_DATE = re.compile(r"-(20\d\d)(\d\d)(\d\d)(?=[-:]|$)", re.ASCII)


def _dashed(match: re.Match[str]) -> str:
    """`-20251211` as `-2025-12-11`, where it is a day."""
    try:
        return f"-{date(*map(int, match.groups())).isoformat()}"
    except ValueError:
        return match.group(0)


_WITHIN = {
    "cache_write_1h": ("input", "cache_write"),
    "cache_write_5m": ("input", "cache_write"),
    "cache_write": ("input",),
    "cache_read": ("input",),
    "input": (),
    "output": (),
}
"""Kinds of tokens, the special before the general, with those whose count includes theirs."""


def _calculate(rates: Rates, usage: Usage) -> Calculation | None:
    """Price of a usage; None where a part is larger than the whole, or a part has a price and the whole has none."""
    reported = {kind: getattr(usage, f"{kind}_tokens") for kind in _WITHIN}
    sent, replied = usage.input_tokens or 0, usage.output_tokens or 0
    reported |= {"input": sent, "output": replied}
    if any(count is not None and count < 0 for count in reported.values()):
        return None
    priced = {kind: rate for kind in _WITHIN if (rate := getattr(rates, f"{kind}_mtok")) is not None}
    alone: dict[str, int] = {}
    usd = dict.fromkeys(_WITHIN, Decimal(0))
    for kind, rate in priced.items():
        parts = [part for part, wholes in _WITHIN.items() if kind in wholes]
        if any(whole not in priced for whole in _WITHIN[kind]):
            return None
        if reported[kind] is None and any(reported[part] for part in parts):
            return None
        alone[kind] = (reported[kind] or 0) - sum(alone.get(part, 0) for part in parts)
        price = _price(rate, sent)
        if alone[kind] < 0 or price is None:
            return None
        usd[kind] = price * alone[kind] / 1_000_000
    asking = Decimal(0) if rates.requests_kcount is None else _price(rates.requests_kcount, sent)
    if asking is None:
        return None
    output = usd.pop("output")
    fed = sum(usd.values(), Decimal(0))
    return Calculation(
        input_price=fed, output_price=output, total_price=fed + output + asking / 1_000, rates=rates
    )


def _price(rate: Decimal | TieredPrices, input_tokens: int) -> Decimal | None:
    """The price in a request of that length; None where it is none."""
    price = rate.at(input_tokens) if isinstance(rate, TieredPrices) else rate
    return price if price.is_finite() and price >= 0 else None
