"""Fields of a request that a server refuses by name: which, and the request without it or with its twin."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from core.services.providers.compatible.body import SPELLINGS, without_reasoning

Json = dict[str, Any]

MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
SYSTEM, DEVELOPER = "role system", "role developer"

_OPTIONAL = (
    "stream_options",
    "reasoning_effort",
    "temperature",
    "parallel_tool_calls",
    "response_format",
    "seed",
    "cache_prompt",
    "top_k",
    "top_p",
    "repeat_penalty",
)
"""Fields that a server may refuse and that a reply can do without, where the request holds them."""

_ALSO = {
    "stream_options": r"include_usage|stream options?",
    "reasoning_effort": r"reasoning[ .]effort|(?:not support|not enabled for) (?:thinking|reasoning)|think value",
    "response_format": r"json_schema|structured outputs?",
    "parallel_tool_calls": r"parallel tool calls",
}
"""Other words for a field. Source: Databricks, Mistral, Ollama, Together (read 2026-11)."""

STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""Answers that may name a field. 500: llama.cpp and Ollama say so of what they cannot do."""

_IS_VALUE = re.compile(
    r"(?i)too (?:large|high|big|small|low)|at most|less than|greater than|maximum (?:allowed|value|of)|must be (?:positive|>|<|between)|exceed|range"
)
"""Words about the value of a limit, which is the person's to change: the field itself is taken."""

_NO_SYSTEM = re.compile(
    r"(?i)system (?:role|message|prompt)s? (?:is |are )?not supported|role ['\"`]?system['\"`]?.{0,60}not support|not support.{0,40}['\"`]system['\"`]"
)
_NO_STREAM = re.compile(
    r"(?i)['\"`]?stream['\"`]? (?:does not support|is not supported|must be false)|streaming (?:is )?not (?:supported|available|allowed)|does not support streaming"
)


def refused_field(sent: Mapping[str, Any], words: str) -> str | None:
    """The field that a refusal names, of the body or of a message in it; None where it names none that can go."""
    if _NO_STREAM.search(words) and sent.get("stream"):
        return "stream"
    if _NO_SYSTEM.search(words) and any(m.get("role") in {"system", "developer"} for m in sent["messages"]):
        return SYSTEM if sent["messages"][0].get("role") == "system" else DEVELOPER
    of_messages = {name for message in sent["messages"] for name in message if name in SPELLINGS}
    present = [name for name in _OPTIONAL if name in sent] + sorted(of_messages, key=len, reverse=True)
    if not _IS_VALUE.search(words):
        present[:0] = [name for name in (MAX_TOKENS, MAX_COMPLETION_TOKENS) if name in sent]
    named = [(found.start(), name) for name in present if (found := re.search(_spellings(name), words))]
    return min(named)[1] if named else None


def _spellings(name: str) -> str:
    """A field as servers name it: as it stands, as JavaScript writes it, or by what it does."""
    first, *rest = name.split("_")
    camel = first + "".join(word.capitalize() for word in rest)
    also = f"|(?i:{_ALSO[name]})" if name in _ALSO else ""
    return rf"(?<!\w)(?:{re.escape(name)}|{camel}{also})(?!\w)"


def without_refused(body: Json, refused: Collection[str]) -> Json:
    """The body without what was refused, or with its twin: the same limit under its other name, the same words as another role."""
    sent = {name: value for name, value in body.items() if name not in refused}
    if MAX_TOKENS in refused and MAX_TOKENS in body and MAX_COMPLETION_TOKENS not in refused:
        sent[MAX_COMPLETION_TOKENS] = body[MAX_TOKENS]
    if "stream" in refused:
        sent.pop("stream_options", None)
    messages = without_reasoning(body["messages"], frozenset(refused))
    if SYSTEM in refused:
        role = "user" if DEVELOPER in refused else "developer"
        messages = [{**one, "role": role} if one.get("role") == "system" else one for one in messages]
    sent["messages"] = messages
    return sent
