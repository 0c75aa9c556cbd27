"""Abilities of each provider's cache, with the true effect or the reason why not, in words."""

from __future__ import annotations

import re

import msgspec

from core.values.provider import ProviderKind

GEMINI_EXPLICIT = ((2, 5), (4, 0))
"""Versions that have `cachedContents`: from 2.5, below 4. Source: Google, "Context caching" (read 2026-10-13)."""

OPENAI_EXPLICIT_FROM = (5, 6)
"""GPT-5.6 and later have breakpoints. Source: openai 3.51.0, `response_create_params` (read 2026-11)."""

SALT = "The next request begins with another first line, so that it reads nothing of what is cached"


class Abilities(msgspec.Struct, frozen=True):
    """Effects of the buttons of a discussion's cache.

    Args:
        can_set_ttl: whether the person chooses how long entries live.
        disable_text, invalidate_text: what it does; where it cannot be done, why.
    """

    can_disable: bool
    can_invalidate: bool
    can_set_ttl: bool
    disable_text: str
    invalidate_text: str


def cache_abilities(kind: ProviderKind, model: str, *, takes_cache_prompt: bool = False) -> Abilities:
    """Abilities of a provider's cache with a model.

    Args:
        model: the vendor's name of it; an unknown one is taken for what the table promises least for.
        takes_cache_prompt: of a compatible server: whether it is known to honour `cache_prompt`.

    Source: 20-caching.md, "By provider".
    """
    match kind:
        case ProviderKind.ANTHROPIC:
            return _able("No marks are sent.", "What is known to be cached is forgotten. " + SALT + ".")
        case ProviderKind.GEMINI if has_gemini_contents(model):
            deleted = "The cached content is deleted"
            return _able(f"{deleted}; all is sent inline.", f"{deleted}; the next request makes another.")
        case ProviderKind.OPENAI if has_openai_breakpoints(model):
            return _able("Explicit mode is sent without marks.", SALT + ".")
        case ProviderKind.GEMINI | ProviderKind.OPENAI:
            return _salted(
                f"{model or 'This model'} caches by itself; the provider offers no way to turn it off."
            )
        case ProviderKind.COMPATIBLE if takes_cache_prompt:
            return _able("`cache_prompt: false` is sent.", SALT + ".", can_set_ttl=False)
        case ProviderKind.COMPATIBLE:
            return _salted("The server reuses prefixes by itself; no way to turn that off is known.")
        case ProviderKind.EMBEDDED:
            deleted = "The prefix saved on disk is deleted. " + SALT + "."
            return _able("`cache_prompt: false` is sent.", deleted, can_set_ttl=False)
        case ProviderKind.CLAUDE_CODE:
            return Abilities(
                can_disable=False,
                can_invalidate=True,
                can_set_ttl=False,
                disable_text="Claude Code caches by itself; it offers no way to turn that off.",
                invalidate_text="The next message starts a new session of Claude Code.",
            )


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


def _able(disable: str, invalidate: str, *, can_set_ttl: bool = True) -> Abilities:
    return Abilities(
        can_disable=True,
        can_invalidate=True,
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
