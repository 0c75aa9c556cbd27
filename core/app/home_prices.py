"""Prices as the outside asks for them, now; what knows them is loaded when it is first asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from core.kernel.values.provider import ModelPrice, ModelProfile, PriceSource
from core.kernel.values.usage import Usage
from core.talk.context.assembly import Prices


class HomePrices:
    """Prices by the clock of a program."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def cost(self, provider: str, model: str, usage: Usage) -> float | None:
        """As of `core.services.spending.pricing`."""
        from core.services.spending.pricing import cost

        return cost(provider, model, usage, self._clock())

    def model_price(self, provider: str, model: str) -> ModelPrice | None:
        """As of `core.services.spending.pricing`."""
        from core.services.spending.pricing import model_price

        return model_price(provider, model, self._clock())

    def use(self, models: Sequence[ModelProfile], kinds: Mapping[str, str]) -> PriceSource:
        """As of `core.services.spending.price_files`."""
        from core.services.spending.price_files import use_known_prices

        return use_known_prices(models, kinds)

    def take(self) -> str:
        """As of `core.services.spending.price_files`."""
        from core.services.spending.price_files import take_newer_prices

        return take_newer_prices(self._clock())


def assembly_prices() -> Prices:
    """Prices that an assembly asks for."""

    def input_price(provider: str, model: str, at: datetime) -> float | None:
        from core.services.spending.pricing import input_usd_per_token

        return input_usd_per_token(provider, model, at)

    def output_price(provider: str, model: str, at: datetime) -> float | None:
        from core.services.spending.pricing import output_usd_per_token

        return output_usd_per_token(provider, model, at)

    return Prices(input_price, output_price)
