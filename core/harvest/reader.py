"""Choice of the model that reads in a harvest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.providers.profiles import usual_model
from core.values.provider import ModelProfile, ProviderKind
from core.values.settings import Settings
from core.values.state import AppState


def harvest_reader(state: AppState) -> tuple[str, str]:
    """The provider and the model that read in a harvest, as the settings have it now; a model empty where none is known."""
    return reader_of(state.config.settings, lambda provider: state.config.models.get(provider, ()))


def reader_of(
    settings: Settings, offered: Callable[[str], Sequence[ModelProfile]], provider: str = "", model: str = ""
) -> tuple[str, str]:
    """The provider and the model that read: as asked for, else as the person has set, else the built-in one.

    A harvest reads the conversations of all projects: a project's file says neither who reads them nor where.

    Args:
        offered: the models of a provider, in the order in which they are offered.
        provider, model: as asked for, empty where nobody asks.
    """
    ai = settings.ai if settings.own_ai is None else settings.own_ai
    usual = settings.knowledge.harvest_provider or ai.provider
    if not usual or usual in settings.project_servers:
        usual = ProviderKind.EMBEDDED.value
    chosen = provider or usual
    named = settings.knowledge.harvest_model if chosen == usual else ""
    return chosen, model or named or usual_model(ai, chosen, offered(chosen))


def is_small_model(provider: str) -> bool:
    """True if what a provider's model says is not taken unseen: nothing is ticked beforehand, an apply asks first."""
    return provider == ProviderKind.EMBEDDED.value
