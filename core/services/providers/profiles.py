"""Profiles of models, found by name: pure look-ups over data that I/O has read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel.language import as_sentences, tr
from core.kernel.structures import ByIdentity
from core.kernel.values.provider import Effort, ModelProfile, ProviderKind
from core.kernel.values.settings import AiSettings
from core.kernel.web_addresses import is_loopback
from core.services.providers.attachments import most_picture_bytes, most_picture_px, pdf_form

ANY = "*"
"""The id of an entry that stands for every model of a provider that no other entry matches."""


def find_profile(
    models: Iterable[ModelProfile], provider: str, model: str, *, kind: str = ""
) -> ModelProfile:
    """Profile of a model. Raises nothing: an unknown model gets a profile that claims nothing.

    An entry of the provider itself goes before one of its kind; then the same id, the longest id that this one
    begins with (`claude-opus-5-5` for `claude-opus-5-5-20260922`), and last the entry for any model.

    Args:
        provider: id of the server in the settings; kind: its `ProviderKind`, for entries that hold for all of a kind.
    """
    if isinstance(models, tuple):
        return _FOUND.of((models,), (provider, model, kind), lambda: _found(models, provider, model, kind))
    return _found(models, provider, model, kind)


_FOUND = ByIdentity()
"""Profiles that were looked up: each request asks for the same a dozen times, of some hundred entries."""


def _found(models: Iterable[ModelProfile], provider: str, model: str, kind: str) -> ModelProfile:
    best, rank = ModelProfile(provider=provider, id=model), (False, -1, False)
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


def fitting_top_p(profile: ModelProfile, wanted: float | None) -> float | None:
    """The top-p to ask a model for; None where it takes none: each model here that takes a temperature takes both.

    Source: OpenAI, Gemini and OpenAI-compatible API references: `top_p` stands beside `temperature` (read 2026-11-29).
    """
    return None if profile.max_temperature is None else wanted


def _match(pattern: str, model: str) -> int | None:
    """Length of the model's name that an entry's id accounts for, None where it does not match."""
    if pattern == ANY:
        return 0
    if model == pattern or model.startswith((f"{pattern}-", f"{pattern}@", f"{pattern}:")):
        return len(pattern)
    return None


def _fill(base: ModelProfile, listed: ModelProfile) -> ModelProfile:
    is_told = bool(base.thinking or base.efforts)
    tells_efforts = bool(listed.efforts) and base.thinking == listed.thinking == "adaptive"
    return replace(
        base,
        id=listed.id,
        label=base.label or listed.label,
        context_tokens=base.context_tokens or listed.context_tokens,
        max_output_tokens=base.max_output_tokens or listed.max_output_tokens,
        efforts=base.efforts if is_told and not tells_efforts else listed.efforts,
        thinking=base.thinking if is_told else listed.thinking,
        thinking_off=base.thinking_off if is_told else listed.thinking_off,
        takes_images=base.takes_images or listed.takes_images,
        family=base.family or listed.family,
        from_server=True,
        takes_cache_prompt=listed.takes_cache_prompt,
        ends_on=listed.ends_on or base.ends_on,
    )


ENDS_SOON = timedelta(days=60)


def ending_words(profile: ModelProfile, now: datetime | None) -> str:
    """Words on a model that its vendor ends within 60 days: `ends 2026-12-31`; empty for any other."""
    if not profile.ends_on or now is None:
        return ""
    day, today = date.fromisoformat(profile.ends_on), now.date()
    if day > today + ENDS_SOON:
        return ""
    return (
        tr("ends {ends_on}", ends_on=profile.ends_on)
        if day >= today
        else tr("the provider planned to withdraw this model on {ends_on}", ends_on=profile.ends_on)
    )


# Abilities of each provider's cache, with the true effect or the reason why not, in words.

GEMINI_EXPLICIT = ((2, 5), (4, 0))
"""Versions that have `cachedContents`: from 2.5, below 4. Source: Google, "Context caching" (read 2026-10-13)."""

OPENAI_EXPLICIT_FROM = (5, 6)
"""GPT-5.6 and later have breakpoints. Source: openai 3.51.0, `response_create_params` (read 2026-11)."""

SALT = tr("The next request begins with a different line, so it misses the cache")


class Abilities(msgspec.Struct, frozen=True):
    """Effects of the buttons of a discussion's cache.

    Args:
        can_set_ttl: whether the person chooses how long entries live.
        disable_text, invalidate_text: what it does; where it cannot be done, why.
        keeps_marked_only: whether it caches what a request marks, and nothing by itself.
    """

    can_disable: bool
    can_invalidate: bool
    can_set_ttl: bool
    disable_text: str
    invalidate_text: str
    keeps_marked_only: bool = False


def cache_abilities(kind: ProviderKind, model: str, *, takes_cache_prompt: bool = False) -> Abilities:
    """Abilities of a provider's cache with a model.

    Args:
        model: the vendor's name of it; an unknown one is taken for what the table promises least for.
        takes_cache_prompt: of a compatible server: whether it is known to honour `cache_prompt`.
    """
    match kind:
        case ProviderKind.ANTHROPIC:
            return _able(
                tr("The program sends no breakpoints."),
                as_sentences(tr("The program drops its record of the cache."), SALT, is_closed=True),
                keeps_marked_only=True,
            )
        case ProviderKind.GEMINI if has_gemini_contents(model):
            return _able(
                tr("The program deletes the stored prefix; then each request sends the whole text."),
                tr("The program deletes the stored prefix; the next request stores the prefix again."),
            )
        case ProviderKind.OPENAI if has_openai_breakpoints(model):
            return _able(
                tr("The program allows caching only at breakpoints and sets none: nothing is cached."),
                SALT + ".",
            )
        case ProviderKind.GEMINI | ProviderKind.OPENAI:
            return _salted(
                tr(
                    "{value} caches by itself; the provider offers no way to turn caching off.",
                    value=model or tr("This model"),
                )
            )
        case ProviderKind.COMPATIBLE if takes_cache_prompt:
            return _able(
                tr("The program tells the server not to cache (`cache_prompt: false`)."),
                SALT + ".",
                can_set_ttl=False,
            )
        case ProviderKind.COMPATIBLE:
            return _salted(tr("The server reuses prefixes by itself; no known setting turns this off."))
        case ProviderKind.EMBEDDED:
            deleted = tr("The program deletes the prefix that the built-in model saved on this disk.")
            return _able(
                tr("The program tells the server not to cache (`cache_prompt: false`)."),
                as_sentences(deleted, SALT, is_closed=True),
                can_set_ttl=False,
            )
        case ProviderKind.CLAUDE_CODE:
            return Abilities(
                can_disable=False,
                can_invalidate=True,
                can_set_ttl=False,
                disable_text=tr("Claude Code caches by itself; it offers no way to turn caching off."),
                invalidate_text=tr("The next message starts a new session of Claude Code."),
            )


def is_local(kind: ProviderKind | None, base_url: str) -> bool:
    """True if a provider's models run on this machine, so that nobody is paid for them.

    Args:
        kind: None where the provider is unknown; base_url: of its server, empty for none.
    """
    return kind is ProviderKind.EMBEDDED or (kind is ProviderKind.COMPATIBLE and is_loopback(base_url))


def takes_tools(kind: ProviderKind) -> bool:
    """True if tools that are sent reach the model. The embedded one's chat template drops them, and Claude Code has its own.

    Source: xllamacpp with SmolLM2-135M-Instruct, `/apply-template`, and `tool_choice: required` (tried 2026-11-23).
    """
    return kind not in (ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE)


def takes_memory_alone(kind: ProviderKind) -> bool:
    """True if of all tools only those of memory reach the model: Claude Code runs them itself, from a server of ours."""
    return kind is ProviderKind.CLAUDE_CODE


def takes_metadata(kind: ProviderKind) -> bool:
    """True if layer 8 may be sent. Claude Code marks the last block of the last message, whatever stands in it.

    What differs on the next turn, there or before it, ends every hit. Source: 2.1.197 over loopback, 2026-11-22.
    """
    return kind is not ProviderKind.CLAUDE_CODE


def has_gemini_contents(model: str) -> bool:
    """True if a Gemini model takes `cachedContents`."""
    low, high = GEMINI_EXPLICIT
    version = _version(model, "gemini")
    return version is not None and low <= version < high


def has_openai_breakpoints(model: str) -> bool:
    """True if a model of OpenAI takes breakpoints and lets caching be turned off."""
    version = _version(model, "gpt")
    return version is not None and version >= OPENAI_EXPLICIT_FROM


def takes_seals_alone(kind: ProviderKind) -> bool:
    """True if of a running turn's reasoning only the seals of its calls go back, which the vendor asks for to its end.

    Source: ai.google.dev "Thought signatures": a missing one of the current turn is an error (read 2026-11).
    """
    return kind is ProviderKind.GEMINI


def has_gemini_result_parts(model: str) -> bool:
    """True if a Gemini model takes pictures inside the result of a function, which 3 and later do.

    Source: ai.google.dev "Function calling", multimodal function responses (read 2026-11-23).
    """
    version = _version(model, "gemini")
    return version is not None and version >= (3, 0)


def _version(model: str, family: str) -> tuple[int, int] | None:
    found = re.search(rf"(?:^|/){family}-(\d{{1,3}})(?:\.(\d{{1,3}}))?(?![\d.])", model)
    return None if found is None else (int(found[1]), int(found[2] or 0))


def _able(
    disable: str, invalidate: str, *, can_set_ttl: bool = True, keeps_marked_only: bool = False
) -> Abilities:
    return Abilities(
        can_disable=True,
        can_invalidate=True,
        keeps_marked_only=keeps_marked_only,
        can_set_ttl=can_set_ttl,
        disable_text=disable,
        invalidate_text=invalidate,
    )


def _salted(why_not: str) -> Abilities:
    return Abilities(
        can_disable=False,
        can_invalidate=True,
        can_set_ttl=False,
        disable_text=why_not,
        invalidate_text=SALT + ".",
    )
