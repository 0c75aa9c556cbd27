"""The model that reads conversations and items, in words: why it cannot, and who gets to see what it reads."""

from __future__ import annotations

from core.harvest.reader import harvest_reader
from core.values.provider import ProviderKind
from core.values.state import AppState
from panels.base import selection


def reader_fault(state: AppState) -> str:
    """Reason why the model that would read cannot, with the remedy; empty when it can."""
    provider, model = harvest_reader(state)
    status = state.config.providers.get(provider)
    if status is None:
        return f"There is no provider {provider!r}: choose another model." if state.config.providers else ""
    if not status.is_ready:
        return status.advice or f"{status.label} is not ready: choose another model or set it up."
    return "" if model else f"{status.label} has no model: choose another one."


def where_it_goes(state: AppState) -> str:
    """Words for who gets to see the conversations."""
    provider, _ = harvest_reader(state)
    status = state.config.providers.get(provider)
    if status is not None and status.kind is ProviderKind.EMBEDDED:
        return "What is read stays on this machine."
    return f"What is read goes to {selection.provider_label(state, provider)}, without the secrets in it."
