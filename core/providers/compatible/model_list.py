"""Model lists of servers in `/v1/models`, each in fields of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from core.providers.door import text_of
from core.providers.usage import figure
from core.values.provider import Effort, ModelProfile

_WINDOW_FIELDS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
"""LM Studio (as loaded), vLLM, OpenRouter and Together, Groq, Mistral and LM Studio (at most)."""

_OUTPUT_FIELDS = ("max_completion_tokens", "max_output_tokens")
_EFFORTS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)


def listed_profile(provider: str, entry: Mapping[str, Any]) -> ModelProfile:
    """The profile that an entry of a server's list amounts to; what it does not say stays open.

    Source: the servers' documents: vLLM `ModelCard`, llama.cpp server README (`meta`), OpenRouter "Models", Groq
    "List models", Mistral "List models", LM Studio REST API (read 2026-11-20).
    """
    takes_reasoning = "reasoning" in _texts(entry.get("supported_parameters"))
    return ModelProfile(
        provider=provider,
        id=text_of(entry.get("id")),
        label=text_of(entry.get("name")),
        context_tokens=_window(entry),
        max_output_tokens=_first_number(_places(entry), _OUTPUT_FIELDS),
        efforts=_EFFORTS if takes_reasoning else (),
        thinking="effort" if takes_reasoning else "",
        takes_images=_takes_images(entry),
        from_server=True,
        takes_cache_prompt=is_llama_cpp(entry),
    )


def is_llama_cpp(entry: Mapping[str, Any]) -> bool:
    """True if an entry is of a llama.cpp server, which honours `cache_prompt`. Source: its README (read 2026-11-20)."""
    return entry.get("owned_by") == "llamacpp"


def ollama_profile(profile: ModelProfile, answer: object) -> ModelProfile:
    """Add what Ollama's `/api/show` says: the window of the weights, and what the model can do.

    Source: Ollama API, "Show model information" (read 2026-11-20).
    """
    if not isinstance(answer, dict):
        return profile
    info = _mapping(answer.get("model_info"))
    windows = [n for key, value in info.items() if key.endswith(".context_length") and (n := _number(value))]
    able = _texts(answer.get("capabilities"))
    thinks = "thinking" in able
    return replace(
        profile,
        context_tokens=_set_window(answer) or (windows[0] if windows else profile.context_tokens),
        takes_images=profile.takes_images or "vision" in able,
        efforts=_EFFORTS if thinks else profile.efforts,
        thinking="effort" if thinks else profile.thinking,
    )


def _set_window(answer: Mapping[str, Any]) -> int | None:
    """`num_ctx` of the model's own parameters, one a line: what it is really loaded with."""
    for line in text_of(answer.get("parameters")).splitlines():
        name, _, value = line.partition(" ")
        if name == "num_ctx" and value.strip().isdecimal() and len(value) < 20:
            return int(value)
    return None


def _window(entry: Mapping[str, Any]) -> int | None:
    meta = _mapping(entry.get("meta"))
    return _number(meta.get("n_ctx")) or _first_number(_places(entry), _WINDOW_FIELDS)


def _places(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The entry itself, and OpenRouter's limits of the provider that it would use."""
    yield _mapping(entry.get("top_provider"))
    yield entry


def _first_number(places: Iterator[Mapping[str, Any]], names: tuple[str, ...]) -> int | None:
    return next((n for place in places for name in names if (n := _number(place.get(name)))), None)


def _takes_images(entry: Mapping[str, Any]) -> bool:
    kinds = _texts(_mapping(entry.get("architecture")).get("input_modalities"))
    abilities = _mapping(entry.get("capabilities"))
    return "image" in kinds or abilities.get("vision") is True or entry.get("type") == "vlm"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _number(value: object) -> int | None:
    return figure(value) or None
