"""Models as options of a combo, by provider."""

from __future__ import annotations

from core.base import figures as fmt
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
            _window_detail(model.context_tokens),
            status.label if status.is_ready else f"{status.label} (not ready)",
        )
        for status in known
        for model in state.config.models.get(status.id, ())
    )


def _window_detail(context_tokens: int | None) -> str:
    return "" if context_tokens is None else f"{fmt.tokens(context_tokens)} window"
