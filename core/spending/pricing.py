"""Prices of calls, from offline price data; a price that nobody knows is None, never 0."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from core.values.provider import ProviderKind
from core.values.usage import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_VENDORS = {
    ProviderKind.ANTHROPIC: "anthropic",
    ProviderKind.CLAUDE_CODE: "anthropic",
    ProviderKind.GEMINI: "google",
    ProviderKind.OPENAI: "openai",
}
_PROBE_TOKENS = 1_000

OPENAI_WRITE, OPENAI_LONG_WRITE = 1.25, 2.5
"""Of the price of input: writing for 30 minutes, and for 12 hours, which the library does not know.

The second by third-party reports of 2026-10: there is no primary page.
"""


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
    if _probed(provider, model, _PROBE_TOKENS, 0, _minute(at)) is None:  # no such model, whatever the usage
        return None
    calculated = _calculated(provider, model, usage, at)
    if calculated is None:
        return None
    more = (OPENAI_LONG_WRITE - OPENAI_WRITE) * (usage.cache_write_12h_tokens or 0)
    fresh = input_usd_per_token(provider, model, at) if more else None
    return float(calculated.total_price) + more * (fresh or 0.0)


BATCH_SHARE = 0.5
"""Of the price that a request in a batch costs. Source: the three vendors' price pages (read 2026-11)."""


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
    if provider == ProviderKind.EMBEDDED:
        return 0.0
    calculated = _probed(provider, model, _PROBE_TOKENS, 0, _minute(at))
    return None if calculated is None else float(calculated.input_price / Decimal(_PROBE_TOKENS))


def output_usd_per_token(provider: str, model: str, at: datetime) -> float | None:
    """Price of a reply's token in US dollars; as `input_usd_per_token`."""
    if provider == ProviderKind.EMBEDDED:
        return 0.0
    calculated = _probed(provider, model, 0, _PROBE_TOKENS, _minute(at))
    return None if calculated is None else float(calculated.output_price / Decimal(_PROBE_TOKENS))


class TokenPrices(msgspec.Struct, frozen=True):
    """US dollars of one input token: fresh, and read from a cache (None: not sold)."""

    input_usd: float
    read_usd: float | None


def token_prices(provider: str, model: str, at: datetime) -> TokenPrices | None:
    """Prices of a model's input tokens, lowest tier; None where it is unknown.

    Source: genai-prices 0.2.3, offline data (run 2026-11-20).
    """
    if provider == ProviderKind.EMBEDDED:
        return TokenPrices(0.0, 0.0)
    calculated = _probed(provider, model, _PROBE_TOKENS, 0, _minute(at))
    if calculated is None:
        return None
    found = calculated.model_price
    fresh, read = _usd(found.input_mtok), _usd(found.cache_read_mtok)
    return None if fresh is None else TokenPrices(fresh, read)


def _usd(per_million: object) -> float | None:
    """A price for a million tokens, or tiers of them, as dollars of one token."""
    base = getattr(per_million, "base", per_million)
    return float(base) / 1e6 if isinstance(base, Decimal) else None


def _minute(at: datetime) -> datetime:
    """The minute of a time: prices change by date, or at a full minute of the day."""
    return at.replace(second=0, microsecond=0)


@lru_cache(maxsize=256)
def _probed(
    provider: str, model: str, input_tokens: int, output_tokens: int, minute: datetime
) -> PriceCalculation | None:
    """Calculation of a token's price; every plan of a request asks for it several times."""
    return _calculated(provider, model, Usage(input_tokens=input_tokens, output_tokens=output_tokens), minute)


def _calculated(provider: str, model: str, usage: Usage, at: datetime) -> PriceCalculation | None:
    """The library's calculation, None where it knows no such model or holds the usage to be impossible."""
    library_id = provider if provider not in set(ProviderKind) else _VENDORS.get(ProviderKind(provider))
    if not library_id:
        return None
    import genai_prices

    try:
        return genai_prices.calc_price(
            _library_usage(genai_prices.Usage, usage),
            model,
            provider_id=library_id,
            genai_request_timestamp=at,
        )
    except (LookupError, ValueError):
        return None


def _library_usage(make: type, usage: Usage) -> object:
    return make(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_5m_tokens=usage.cache_write_5m_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
    )
