"""What Anthropic's documents say of each model, as far as caching and refusals depend on it.

Sources: "Prompt caching" (minimum sizes), "Mid-conversation system messages", "Extended thinking",
"Versions", read 2026-10 and 2026-11. Where pages disagree the newest is taken; what no page says is marked as
a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class AnthropicModel:
    """A model's rules.

    Args:
        minimum: tokens; a shorter prefix is silently not cached.
        is_bound: thinking blocks belong to the prefix that they were written after.
        takes_prefill: the last message may be the assistant's.
        takes_system_turns: `role: "system"` inside `messages`.
        takes_forced_tools: `tool_choice` `any` and `tool`.
        strips_thinking: a user message that is no tool result removes earlier thinking from the context.
        thinking: what an absent `thinking` stands for; refused_thinking: types of `thinking` that it refuses.
        is_effort_early, is_thinking_early: the setting is rendered ahead of tools and system, not of
        messages.
        is_effort_free: a change of effort leaves the cache alone (reported of Opus 5.5 and Fable 5.1, not
            documented).
    """

    minimum: int = 512
    is_bound: bool = False
    takes_prefill: bool = False
    takes_system_turns: bool = True
    takes_forced_tools: bool = True
    strips_thinking: bool = False
    thinking: str = "adaptive"
    refused_thinking: tuple[str, ...] = ()
    is_effort_early: bool = False
    is_thinking_early: bool = False
    is_effort_free: bool = False
    effort: str = "high"


_NEWEST = AnthropicModel(is_bound=True, takes_forced_tools=False)
_FIVE = AnthropicModel()
_OLD = AnthropicModel(minimum=1024, takes_prefill=True, takes_system_turns=False, thinking="disabled")

MODELS = {
    "claude-opus-5-5": replace(_NEWEST, refused_thinking=("disabled", "enabled")),
    "claude-sonnet-5-5": replace(_NEWEST, refused_thinking=("disabled", "enabled")),
    "claude-haiku-5-5": replace(_NEWEST, takes_forced_tools=True),
    "claude-fable-5-1": _NEWEST,
    "claude-mythos-5-1": _NEWEST,
    "claude-fable-5-2": _NEWEST,  # its minimum was not found: presumably 512
    "claude-mythos-5-2": _NEWEST,
    "claude-opus-5": _FIVE,
    "claude-fable-5": _FIVE,
    "claude-mythos-5": _FIVE,
    "claude-mythos-preview": replace(_FIVE, minimum=2048, takes_system_turns=False),
    "claude-sonnet-5": replace(_FIVE, minimum=1024, takes_system_turns=False),
    "claude-opus-4-8": replace(_FIVE, minimum=1024, thinking="disabled"),
    "claude-opus-4-7": replace(_FIVE, minimum=2048, takes_system_turns=False, thinking="disabled"),
    "claude-opus-4-6": replace(_FIVE, minimum=4096, takes_system_turns=False, thinking="disabled"),
    "claude-sonnet-4-6": replace(_FIVE, minimum=1024, takes_system_turns=False, thinking="disabled"),
    "claude-opus-4-5": replace(_OLD, minimum=4096),
    "claude-haiku-4-5": replace(_OLD, minimum=4096, strips_thinking=True),
    "claude-sonnet-4-5": replace(_OLD, strips_thinking=True),
    "claude-opus-4-1": replace(_OLD, strips_thinking=True),
    "claude-opus-4": replace(_OLD, strips_thinking=True),
    "claude-sonnet-4": replace(_OLD, strips_thinking=True),
    "claude-haiku-3-5": replace(_OLD, minimum=2048, strips_thinking=True),
}


def model_of(name: str) -> AnthropicModel:
    """The rules of a model, dated ids (`claude-haiku-4-5-20251001`) too. Unknown: those of the newest."""
    known = [model for model in MODELS if name == model or name.startswith(f"{model}-20")]
    return MODELS[max(known, key=len)] if known else _NEWEST
