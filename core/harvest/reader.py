"""Choice of the model that reads in a harvest."""

from __future__ import annotations

from core.settings.models import default_model
from core.values.provider import ProviderKind
from core.values.state import AppState


def harvest_reader(state: AppState) -> tuple[str, str]:
    """The provider and the model that read in a harvest, as the settings have it now; a model empty where none is known."""
    settings = state.config.settings.knowledge
    provider = settings.harvest_provider or state.config.settings.ai.provider or ProviderKind.EMBEDDED.value
    return provider, settings.harvest_model or default_model(state, provider)
