"""Models as options of a combo, by provider."""

from __future__ import annotations

from core.base import figures as fmt
from core.values.provider import ModelPrice, ModelProfile, ProviderKind, ProviderStatus
from core.values.state import AppState
from panels.base.ui import Option


def model_value(provider: str, model: str) -> str:
    """A model as the value of an option."""
    return f"{provider}\n{model}"


def model_options(state: AppState) -> tuple[Option, ...]:
    """Every model that could be chosen, by provider, those that are ready first."""
    known = sorted(state.config.providers.values(), key=lambda status: not status.is_ready)
    return tuple(
        Option(
            model_value(status.id, model.id),
            model.label or model.id,
            _detail(state, status, model),
            status.label if status.is_ready else f"{status.label} (not ready)",
        )
        for status in known
        for model in state.config.models.get(status.id, ())
    )


def option_parts(state: AppState) -> tuple[object, ...]:
    """Parts of the state that the options follow from."""
    return state.config.models, state.config.providers, state.config.prices


def price_text(price: ModelPrice) -> str:
    """A price in words: for a million tokens in and out."""
    if not price.input_usd and not price.output_usd:
        return "free"
    return f"{fmt.rate(price.input_usd)} in, {fmt.rate(price.output_usd)} out"


def told_price(price: ModelPrice | None, *, is_known: bool) -> str:
    """A price in words with who says so, and of which day. `is_known`: somebody has looked it up."""
    if price is None:
        return fmt.PRICE_UNKNOWN if is_known else "price not looked up"
    origin = f" ({price.origin})" if price.origin else ""
    return f"{price_text(price)}{origin}"


def _detail(state: AppState, status: ProviderStatus, model: ModelProfile) -> str:
    price = state.config.prices.get((status.id, model.id))
    window = "" if model.context_tokens is None else f"{fmt.tokens(model.context_tokens)} window"
    small = "small" if status.kind is ProviderKind.EMBEDDED else ""
    return " · ".join(part for part in (small, window, price_text(price) if price else "") if part)
