"""Profiles of models, found by name: pure look-ups over data that I/O has read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from core.providers.attachments import most_picture_bytes, most_picture_px, pdf_form
from core.values.provider import Effort, ModelProfile
from core.values.settings import AiSettings

ANY = "*"
"""The id of an entry that stands for every model of a provider that no other entry matches."""


def find_profile(
    models: Iterable[ModelProfile], provider: str, model: str, *, kind: str = ""
) -> ModelProfile:
    """Profile of a model. Total: an unknown model gets a profile that claims nothing.

    An entry of the provider itself goes before one of its kind; then the same id, the longest id that this one
    begins with (`claude-opus-5-5` for `claude-opus-5-5-20260922`), and last the entry for any model.

    Args:
        provider: id of the server in the settings; kind: its `ProviderKind`, for entries that hold for all of a kind.
    """
    best, rank = ModelProfile(provider, model), (False, -1, False)
    for entry in models:
        if entry.provider not in (provider, kind):
            continue
        length = _match(entry.id, model)
        if length is None:
            continue
        found = (length > 0, length, entry.provider == provider)
        if found > rank:
            best, rank = entry, found
    label = best.label if best.id == model else ""
    pdf = pdf_form(kind or provider, model, best.context_tokens) if best.takes_images else None
    most, side = most_picture_bytes(kind or provider), most_picture_px(kind or provider)
    return replace(
        best,
        provider=provider,
        id=model,
        label=label,
        pdf=pdf,
        max_picture_bytes=most,
        max_picture_px=side,
    )


def merge_models(
    known: Sequence[ModelProfile], listed: Iterable[ModelProfile], *, kind: str = ""
) -> tuple[ModelProfile, ...]:
    """Add what a server lists to what is known.

    Known entries keep their fields and their place; the server fills what they leave open. A model that was not
    known follows, in the server's order, with the fields of the entry that matches it.

    Args:
        known: all entries, of any provider.
        listed: the server's list; `provider` is the server's id.
    """
    merged = list(known)
    places = {(entry.provider, entry.id): place for place, entry in enumerate(known)}
    for model in listed:
        place = places.get((model.provider, model.id))
        base = find_profile(known, model.provider, model.id, kind=kind) if place is None else merged[place]
        filled = _fill(base, model)
        if place is None:
            places[model.provider, model.id] = len(merged)
            merged.append(filled)
        else:
            merged[place] = filled
    return tuple(merged)


def usual_model(ai: AiSettings, provider: str, offered: Sequence[ModelProfile]) -> str:
    """The model of a provider where nobody names one: that of the settings, else the first; empty where none is known.

    Args:
        offered: the provider's models, in the order in which they are offered.
    """
    named = ai.model.strip()
    is_offered = any(model.id == named for model in offered)
    if named and (provider == ai.provider or (not ai.provider and is_offered)):
        return named
    return offered[0].id if offered else ""


def offered_models(models: Iterable[ModelProfile], provider: str) -> tuple[ModelProfile, ...]:
    """The models of a provider that can be chosen: all entries but the one for any model."""
    return tuple(entry for entry in models if entry.provider == provider and entry.id != ANY)


def nearest_effort(profile: ModelProfile, wanted: Effort) -> Effort:
    """The level to ask a model for: the wanted one, else the next below it that it takes, else its lowest.

    Returns:
        `AUTO` where it takes none, or where that was wanted.
    """
    order = list(Effort)
    if wanted is Effort.AUTO or not profile.efforts:
        return Effort.AUTO
    below = [level for level in profile.efforts if order.index(level) <= order.index(wanted)]
    return max(below, key=order.index) if below else min(profile.efforts, key=order.index)


def fitting_temperature(profile: ModelProfile, wanted: float | None) -> float | None:
    """The temperature to ask a model for: the wanted one, at most its highest; None where it takes none."""
    if wanted is None or profile.max_temperature is None:
        return None
    return min(wanted, profile.max_temperature)


def _match(pattern: str, model: str) -> int | None:
    """Length of the model's name that an entry's id accounts for, None where it does not match."""
    if pattern == ANY:
        return 0
    if model == pattern or model.startswith((f"{pattern}-", f"{pattern}@", f"{pattern}:")):
        return len(pattern)
    return None


def _fill(base: ModelProfile, listed: ModelProfile) -> ModelProfile:
    is_told = bool(base.thinking or base.efforts)
    return replace(
        base,
        id=listed.id,
        label=base.label or listed.label,
        context_tokens=base.context_tokens or listed.context_tokens,
        max_output_tokens=base.max_output_tokens or listed.max_output_tokens,
        efforts=base.efforts if is_told else listed.efforts,
        thinking=base.thinking if is_told else listed.thinking,
        thinking_off=base.thinking_off if is_told else listed.thinking_off,
        takes_images=base.takes_images or listed.takes_images,
        family=base.family or listed.family,
        from_server=True,
        takes_cache_prompt=listed.takes_cache_prompt,
    )
