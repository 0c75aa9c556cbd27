"""Money: what the parts of a bill cost by model and day, from genai-prices and a table for what it lacks."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tests.vendors.billing.values import Parts

_MILLION = Decimal(1_000_000)

# OpenAI writes at 12 h: 2.5 times input. Third-party reports of 2026-10, no primary page.
OPENAI_LONG_WRITE = Decimal("2.5")


_ALWAYS = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Storage:
    """What storing costs, in USD for a million tokens and an hour, until a day (exclusive)."""

    model: str
    usd: Decimal
    until: datetime = _ALWAYS


_NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)

# Source: ai.google.dev/gemini-api/docs/pricing (2026-09-23, 2026-10-14); the first row that fits counts.
STORAGE = (
    Storage("gemini-3.8-flash", Decimal("0.50"), _NEW_YEAR),
    Storage("gemini-3.7-flash", Decimal("0.50"), _NEW_YEAR),
    Storage("gemini-3.6-flash", Decimal("0.50"), _NEW_YEAR),
    Storage("gemini-3.8-flash", Decimal("1.00")),
    Storage("gemini-3.7-flash", Decimal("1.00")),
    Storage("gemini-3.6-flash", Decimal("1.00")),
    Storage("gemini-3.5-flash", Decimal("0.50")),
    Storage("gemini-3.1-flash", Decimal("0.50")),
    Storage("gemini-2.5-flash", Decimal("1.00")),
    Storage("gemini-3.1-pro", Decimal("4.50")),
    Storage("gemini-2.5-pro", Decimal("4.50")),
)


class UnknownPriceError(LookupError):
    """There is no price for this: it is unknown, not 0."""


@dataclass(frozen=True, slots=True)
class Rates:
    """USD a token. None: the vendor sells no such thing."""

    plain: Decimal
    read: Decimal
    write: Decimal | None
    write_long: Decimal | None
    output: Decimal

    def cost(self, parts: Parts, output_tokens: int = 0) -> Decimal:
        """USD of a bill."""
        usd = self.plain * parts.plain + self.read * parts.read + self.output * output_tokens
        for tokens, rate in ((parts.write, self.write), (parts.write_long, self.write_long)):
            if tokens:
                if rate is None:
                    raise UnknownPriceError("no price for writing to the cache")
                usd += rate * tokens
        return usd


@dataclass(frozen=True, slots=True)
class _Card:
    """A model's prices on one day: rates for requests up to each threshold, and past the last."""

    thresholds: tuple[int, ...]
    rates: tuple[Rates, ...]


class Prices:
    """Rates, each looked up once."""

    def __init__(self) -> None:
        self._cards: dict[tuple[str, str, int], _Card] = {}

    def cost(
        self, provider: str, model: str, parts: Parts, at_s: float, *, output_tokens: int = 0
    ) -> Decimal:
        """USD of a bill.

        Args:
            provider: `anthropic`, `openai` or `google`.
            at_s: when the request was made, seconds since the epoch.

        Raises:
            UnknownPriceError: the library does not know the model.
        """
        return self.rates(provider, model, at_s, parts.total).cost(parts, output_tokens)

    def rates(self, provider: str, model: str, at_s: float, total_tokens: int) -> Rates:
        """Rates for a request of so many input tokens: past a threshold all of them cost the higher price.

        Raises:
            UnknownPriceError: the library does not know the model.
        """
        key = (provider, model, int(at_s // 86_400))
        card = self._cards.get(key)
        if card is None:
            card = self._cards[key] = _card(*key)
        return card.rates[bisect_left(card.thresholds, total_tokens)]

    def storage(self, model: str, token_hours: float, at_s: float) -> Decimal:
        """USD of storing at Gemini. Raises UnknownPriceError."""
        at = datetime.fromtimestamp(at_s, UTC)
        for row in STORAGE:
            if model.removeprefix("models/").startswith(row.model) and at < row.until:
                return row.usd / _MILLION * Decimal(token_hours)
        raise UnknownPriceError(f"no price for storing with {model}")


def _card(provider: str, model: str, day: int) -> _Card:
    from genai_prices import Usage, calc_price

    at = datetime.fromtimestamp(day * 86_400, UTC)
    try:
        price = calc_price(
            Usage(input_tokens=1), model, provider_id=provider, genai_request_timestamp=at
        ).model_price
    except LookupError as error:
        raise UnknownPriceError(str(error)) from error
    thresholds = tuple(sorted(tier.start for tier in getattr(price.input_mtok, "tiers", ())))
    sizes = (0, *(threshold + 1 for threshold in thresholds))
    return _Card(thresholds, tuple(_rates(provider, price, size) for size in sizes))


def _rates(provider: str, price: Any, total_tokens: int) -> Rates:
    def rate(name: str) -> Decimal | None:
        value = getattr(price, name, None)
        return None if value is None else _at(value, total_tokens) / _MILLION

    plain, output = rate("input_mtok"), rate("output_mtok")
    if plain is None or output is None:
        raise UnknownPriceError("the library has no price for input or output")
    read = rate("cache_read_mtok")
    write = rate("cache_write_mtok")
    long = rate("cache_write_1h_mtok")
    if provider == "openai" and write is not None:
        long = plain * OPENAI_LONG_WRITE
    return Rates(plain, plain if read is None else read, write, long, output)


def _at(value: Any, total_tokens: int) -> Decimal:
    chosen = getattr(value, "base", value)
    for tier in getattr(value, "tiers", ()):
        if total_tokens > tier.start:
            chosen = tier.price
    return Decimal(chosen)
