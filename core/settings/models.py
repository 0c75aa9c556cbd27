"""Profiles of models as the state has them now."""

from __future__ import annotations

from core.providers.profiles import find_profile, usual_model
from core.values.provider import ModelProfile, ProviderKind
from core.values.state import AppState


def profile_of(state: AppState, provider: str, model: str) -> ModelProfile:
    """Profile of a model, the same before and after its server listed it by name."""
    status = state.config.providers.get(provider)
    told = state.config.models.get(provider, ())
    known = (*told, *state.config.profiles)  # of two for one model the first counts: what its server told
    return find_profile(known, provider, model, kind=status.kind.value if status is not None else "")


def model_label(state: AppState, provider: str, model: str) -> str:
    """The name of a model as the person knows it."""
    known = next((one for one in state.config.models.get(provider, ()) if one.id == model), None)
    return (known.label if known is not None else "") or model or provider or "no model"


def default_model(state: AppState, provider: str) -> str:
    """The model that a new discussion of this provider starts with, empty where none is known."""
    return usual_model(state.config.settings.ai, provider, state.config.models.get(provider, ()))


def closed_models(state: AppState, provider: str) -> tuple[str, ...]:
    """All models of a provider that can have no others: the embedded one. Empty for servers, which may know more."""
    status = state.config.providers.get(provider)
    if status is None or status.kind is not ProviderKind.EMBEDDED:
        return ()
    known = (*state.config.models.get(provider, ()), *state.config.profiles)
    return tuple(sorted({profile.id for profile in known if profile.provider == provider}))
