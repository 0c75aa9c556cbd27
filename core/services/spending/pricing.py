"""Prices of calls: a person's own, else the price data; a price that nobody knows is None, never 0.

Prices are those of the book that the program has read, a value that is swapped whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderKind, TokenRates
from core.kernel.values.usage import Usage
from core.services.providers.profiles import find_profile

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import PriceCalculation
    from genai_prices.types import Usage as LibraryUsage

_VENDORS = {
    ProviderKind.ANTHROPIC: "anthropic",
    ProviderKind.CLAUDE_CODE: "anthropic",
    ProviderKind.GEMINI: "google",
    ProviderKind.OPENAI: "openai",
}
PRICED_NAMES = [
    "anthropic",
    "arcee",
    "avian",
    "bedrock",
    "amazon",
    "aws",
    "azure",
    "baseten",
    "cerebras",
    "cloudflare",
    "cohere",
    "copilot",
    "cursor",
    "databricks",
    "deepseek",
    "doubleword",
    "elevenlabs",
    "fireworks",
    "gemini",
    "google",
    "groq",
    "huggingface",
    "litellm",
    "meta",
    "minimax",
    "mistral",
    "modal",
    "moonshot",
    "novita",
    "openai",
    "openrouter",
    "ovhcloud",
    "perplexity",
    "quicksilverpro",
    "together",
    "typesafe",
    "vertex",
    "voyage",
    "x-ai",
    "xai",
    "zai",
    "zhipuai",
]
"""Parts of the ids of servers whose prices came with the program: for no other its price data, a quarter of a command, load."""

_PROBE_TOKENS = 1_000

OPENAI_WRITE, OPENAI_LONG_WRITE = 1.25, 2.5
"""Multiples of the price of input: writing for 30 minutes, and for 12 hours, which the library does not know.

The second by third-party reports of 2026-10: there is no primary page.
"""

PACKAGED_VERSION, PACKAGED_DAY = "0.2.3", "2026-11-20"
"""The release of genai-prices that is installed with the program, and the day on which its prices were read."""

PACKAGED_SOURCE = f"genai-prices {PACKAGED_VERSION}"
TAKEN_SOURCE = tr("updated prices")
OWN_SOURCE = tr("your models.toml")


class TakenPrices(msgspec.Struct, frozen=True, eq=False):
    """Price data that were taken since the release. `load`: reads them once, None where that fails; `mark`: of their bytes."""

    day: str
    mark: str
    load: Callable[[], DataSnapshot | None]


class PriceBook(msgspec.Struct, frozen=True, eq=False):
    """All prices that the program goes by.

    Args:
        models: profiles, a person's own among them; kinds: the `ProviderKind` of each server, for entries that hold for
            all of a kind.
        taken: price data that were taken since the release, None for those that came with it.
    """

    models: tuple[ModelProfile, ...] = ()
    kinds: Mapping[str, str] = msgspec.field(default_factory=dict)
    taken: TakenPrices | None = None

    def kind(self, provider: str) -> str:
        """The `ProviderKind` of a server; the vendors' ids are those of their kinds."""
        return self.kinds.get(provider, provider)

    def data(self) -> tuple[DataSnapshot, str, str]:
        """The price data, with their source and day."""
        import genai_prices.types  # noqa: F401 (first, else the next line asks the package for it, which loads all)
        from genai_prices.data_snapshot import get_snapshot

        taken = None if self.taken is None else self.taken.load()
        if self.taken is None or taken is None:
            return get_snapshot(), PACKAGED_SOURCE, PACKAGED_DAY
        return taken, TAKEN_SOURCE, self.taken.day


PACKAGED = PriceBook()
_book = PACKAGED


def use_prices(book: PriceBook) -> None:
    """Go by these prices from now on. Thread-safe: a calculation under way ends by those that it began with."""
    global _book  # noqa: PLW0603 - as the price data of the library, which are one for the process
    _book = book


def cost(provider: str, model: str, usage: Usage, at: datetime) -> float | None:
    """The price of a call in US dollars.

    Args:
        provider: a provider's id; the vendors' ids are those of `ProviderKind`. A compatible server's own id
            is looked up as it is (`openrouter`), which most local ones do not have.
        model: the vendor's name; usage: in our meaning, `input_tokens` everything that was sent.
        at: when the call was made, with its time zone: prices change by date.

    Returns:
        0.0 for the embedded model; None where the price or the tokens are unknown.

    Source: genai-prices 0.2.3, offline data (run 2026-11-20): its usage has our meaning.
    """
    if provider == ProviderKind.EMBEDDED:
        return 0.0
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    book = _book
    if (rates := _rates(book, provider, model, _minute(at))) is not None:
        return _own_cost(rates, book.kind(provider), usage)
    # no such model, whatever the usage
    if _probed(book, provider, model, _PROBE_TOKENS, 0, _minute(at)) is None:
        return None
    calculated = _calculated(book, provider, model, usage, at)
    if calculated is None:
        return None
    more = (OPENAI_LONG_WRITE - OPENAI_WRITE) * (usage.cache_write_12h_tokens or 0)
    fresh = input_usd_per_token(provider, model, at) if more else None
    return float(calculated.total_price) + more * (fresh or 0.0)


def _rates(book: PriceBook, provider: str, model: str, minute: datetime) -> TokenRates | None:
    """A person's prices, where they are to be gone by: those of just this model first, those of many models last."""
    own, general = _given(book, provider, model)
    if own is not None or general is None:
        return own
    return general if _probed(book, provider, model, _PROBE_TOKENS, 0, minute) is None else None


@lru_cache(maxsize=256)
def _given(book: PriceBook, provider: str, model: str) -> tuple[TokenRates | None, TokenRates | None]:
    """Prices that the person gave of just this model, and those of the longest name, or of any model, that it has too."""
    kind, priced = book.kind(provider), [one for one in book.models if one.rates is not None]
    own = find_profile(book.models, provider, model, kind=kind).rates if priced else None
    return own, find_profile(priced, provider, model, kind=kind).rates if priced else None


_SHORT, _HOUR, _LONG = 1.25, 2.0, 2.5
"""Multiples of the price of input that vendors charge for writing; half a day is OpenAI's alone."""

_CHARGE_WRITES = {ProviderKind.ANTHROPIC, ProviderKind.CLAUDE_CODE, ProviderKind.OPENAI}


def _write_rates(rates: TokenRates, kind: str) -> tuple[float, float, float]:
    """A person's prices of writing for minutes, an hour and half a day, US dollars for a million tokens."""
    usual = (_SHORT, _HOUR, _LONG) if kind in _CHARGE_WRITES else (1.0, 1.0, 1.0)
    own = rates.cache_write_5m_usd, rates.cache_write_1h_usd, rates.cache_write_12h_usd
    given = (rates.cache_write_usd if one is None else one for one in own)
    short, hour, long = (
        rates.input_usd * share if one is None else one for one, share in zip(given, usual, strict=True)
    )
    return short, hour, long


def _own_cost(rates: TokenRates, kind: str, usage: Usage) -> float:
    """Cost by a person's prices: what no lifetime is told of was written for minutes."""
    short, hour, long = _write_rates(rates, kind)
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    hours, halves = usage.cache_write_1h_tokens or 0, usage.cache_write_12h_tokens or 0
    minutes = max(0, written - hours - halves, usage.cache_write_5m_tokens or 0)
    is_told = usage.cache_write_5m_tokens is not None or rates.cache_write_usd is None
    rest = short if is_told else rates.cache_write_usd or 0.0
    fresh = max(0, (usage.input_tokens or 0) - read - minutes - hours - halves)
    read_usd = rates.input_usd if rates.cache_read_usd is None else rates.cache_read_usd
    millionth = fresh * rates.input_usd + read * read_usd + minutes * rest + hours * hour + halves * long
    return (millionth + (usage.output_tokens or 0) * rates.output_usd) / 1e6


BATCH_SHARE = 0.5
"""Share of the price that a request in a batch costs. Source: the three vendors' price pages (read 2026-11)."""


def batch_price(direct_usd: float | None) -> float | None:
    """Price of a call in a batch, from its price without one; None where unknown."""
    return None if direct_usd is None else direct_usd * BATCH_SHARE


def direct_price(batch_usd: float | None) -> float | None:
    """Price of the same without a batch; None where unknown."""
    return None if batch_usd is None else batch_usd / BATCH_SHARE


def input_usd_per_token(provider: str, model: str, at: datetime) -> float | None:
    """Price of a fresh (uncached) input token in US dollars; None where unknown, 0.0 for the embedded model.

    Of prices that rise with the length of the request it is the lowest tier.
    """
    price = model_price(provider, model, at)
    return None if price is None else price.input_usd / 1e6


def model_price(provider: str, model: str, at: datetime) -> ModelPrice | None:
    """Price of a model in its lowest tier, with its source; None if it is unknown."""
    if provider == ProviderKind.EMBEDDED:
        return ModelPrice(input_usd=0.0, output_usd=0.0)
    book, minute = _book, _minute(at)
    if (rates := _rates(book, provider, model, minute)) is not None:
        return ModelPrice(
            input_usd=rates.input_usd, output_usd=rates.output_usd, source=OWN_SOURCE, as_of=rates.as_of
        )
    sent = _probed(book, provider, model, _PROBE_TOKENS, 0, minute)
    replied = _probed(book, provider, model, 0, _PROBE_TOKENS, minute)
    if sent is None or replied is None:
        return None
    _, source, as_of = book.data()
    million = Decimal(1_000_000) / _PROBE_TOKENS
    return ModelPrice(
        input_usd=float(sent.input_price * million),
        output_usd=float(replied.output_price * million),
        source=source,
        as_of=as_of,
    )


class TokenPrices(msgspec.Struct, frozen=True):
    """US dollars of one input token: fresh, and read from a cache (None: not sold). `write_usd`: written for minutes, an
    hour and half a day, where the person said so.
    """

    input_usd: float
    read_usd: float | None
    write_usd: tuple[float, float, float] | None = None


def token_prices(provider: str, model: str, at: datetime) -> TokenPrices | None:
    """Prices of a model's input tokens, lowest tier; None where it is unknown.

    Source: genai-prices 0.2.3, offline data (run 2026-11-20).
    """
    if provider == ProviderKind.EMBEDDED:
        return TokenPrices(input_usd=0.0, read_usd=0.0)
    book, minute = _book, _minute(at)
    if (rates := _rates(book, provider, model, minute)) is not None:
        read = rates.input_usd if rates.cache_read_usd is None else rates.cache_read_usd
        short, hour, long = _write_rates(rates, book.kind(provider))
        return TokenPrices(
            input_usd=rates.input_usd / 1e6,
            read_usd=read / 1e6,
            write_usd=(short / 1e6, hour / 1e6, long / 1e6),
        )
    calculated = _probed(book, provider, model, _PROBE_TOKENS, 0, minute)
    if calculated is None:
        return None
    found = calculated.model_price
    fresh, read_usd = _usd(found.input_mtok), _usd(found.cache_read_mtok)
    return None if fresh is None else TokenPrices(input_usd=fresh, read_usd=read_usd)


def billed_prices(provider: str, model: str, at: datetime) -> TokenPrices | None:
    """As `token_prices`, with the prices of writing that `cost` bills where the person gave none."""
    prices = token_prices(provider, model, at)
    if prices is None or prices.write_usd is not None:
        return prices
    sent = Usage(input_tokens=_PROBE_TOKENS, output_tokens=0, cache_write_tokens=_PROBE_TOKENS)
    lives = (
        replace(sent, cache_write_5m_tokens=_PROBE_TOKENS),
        replace(sent, cache_write_1h_tokens=_PROBE_TOKENS),
        replace(sent, cache_write_12h_tokens=_PROBE_TOKENS),
    )
    short, hour, half_day = (cost(provider, model, one, at) for one in lives)
    if short is None or hour is None or half_day is None:
        return prices
    written = short / _PROBE_TOKENS, hour / _PROBE_TOKENS, half_day / _PROBE_TOKENS
    return replace(prices, write_usd=written)


def _usd(per_million: object) -> float | None:
    """A price for a million tokens, or tiers of them, as dollars of one token."""
    base = getattr(per_million, "base", per_million)
    return float(base) / 1e6 if isinstance(base, Decimal) else None


def _minute(at: datetime) -> datetime:
    """The minute of a time: prices change by date, or at a full minute of the day."""
    return at.replace(second=0, microsecond=0)


@lru_cache(maxsize=256)
def _probed(
    book: PriceBook, provider: str, model: str, input_tokens: int, output_tokens: int, minute: datetime
) -> PriceCalculation | None:
    """Calculation of a token's price; every plan of a request asks for it several times."""
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    return _calculated(book, provider, model, usage, minute)


def _calculated(
    book: PriceBook, provider: str, model: str, usage: Usage, at: datetime
) -> PriceCalculation | None:
    """The library's calculation, None where it knows no such model or holds the usage to be impossible."""
    library_id = provider if provider not in set(ProviderKind) else _VENDORS.get(ProviderKind(provider))
    if not library_id:
        return None
    if book.taken is None and not any(name in library_id.lower() for name in PRICED_NAMES):
        return None
    from genai_prices.types import Usage as LibraryUsage

    snapshot, *_ = book.data()
    try:
        return snapshot.calc(_library_usage(LibraryUsage, usage), model, library_id, None, at)
    except (LookupError, ValueError):
        return None


def _library_usage(make: type[LibraryUsage], usage: Usage) -> LibraryUsage:
    return make(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_5m_tokens=usage.cache_write_5m_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
    )
