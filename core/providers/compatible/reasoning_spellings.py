"""Reasoning of compatible servers, in the three spellings that they have, as it comes and as it goes back.

Source: DeepSeek API "Thinking Mode" (`reasoning_content`, asked for back with calls); Ollama, vLLM (`reasoning`);
OpenRouter "Reasoning Tokens", "Preserving reasoning" (`reasoning_details`, beside `reasoning`) (read 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.providers.wire import canonical_json, sorted_object
from core.values.messages import ReasoningPart

Json = dict[str, Any]

REASONING_CONTENT, REASONING, REASONING_DETAILS = "reasoning_content", "reasoning", "reasoning_details"
SPELLINGS = (REASONING_CONTENT, REASONING, REASONING_DETAILS)
"""Fields of a delta, and of a message that goes back. Tags in the text stay text."""

_FIELD = "field"
_TEXTS = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Kinds of details that hold text, and the field that it stands in; others are sealed."""


class ReasoningReader:
    """Reads the reasoning of one reply. A server that gives it in several spellings means the same each time."""

    def __init__(self) -> None:
        self._field = ""
        self._details: list[Json] = []

    def read(self, delta: object) -> str:
        """More text of the reasoning in a delta of the SDK's, empty where there is none."""
        details = [one for one in _list(getattr(delta, REASONING_DETAILS, None)) if isinstance(one, dict)]
        for detail in details:
            self._add(detail)
        for name in (REASONING_CONTENT, REASONING):
            text = getattr(delta, name, None)
            if isinstance(text, str) and text:
                self._field = self._field or name
                return text
        if self._field in (REASONING_CONTENT, REASONING):
            return ""  # it was told already
        return "".join(map(_text_of, details))

    def sealed(self) -> str:
        """Canonical JSON of how what came since the last time goes back, empty where nothing came."""
        field, details = self._field, self._details
        self._field, self._details = "", []
        if details:
            return canonical_json({REASONING_DETAILS: details})
        return canonical_json({_FIELD: field}) if field else ""

    def _add(self, detail: Json) -> None:
        """Take in a piece of a detail: pieces of one text follow each other, its signature comes with the last."""
        last = self._details[-1] if self._details else {}
        name = _TEXTS.get(str(detail.get("type")))
        is_next = name is not None and _place(last) == _place(detail)
        if not is_next or name is None:
            self._details.append(dict(detail))
            return
        given = {key: value for key, value in detail.items() if value is not None}
        self._details[-1] = {**last, **given, name: _string(last.get(name)) + _string(detail.get(name))}


def sent_back(parts: Iterable[ReasoningPart]) -> Json:
    """The fields of a message that give its reasoning back to the server that it came from; another vendor's is left out."""
    texts: dict[str, str] = {}
    details: list[Any] = []
    for part in parts:
        block = sorted_object(part.vendor_json) or {}
        details.extend(_list(block.get(REASONING_DETAILS)))
        field = block.get(_FIELD)
        if field in (REASONING_CONTENT, REASONING) and part.text:
            texts[field] = texts.get(field, "") + part.text
    return {**texts, **({REASONING_DETAILS: details} if details else {})}


def without_reasoning(messages: list[Json], names: frozenset[str]) -> list[Json]:
    """Messages without these fields, for a server that refuses them."""
    if names.isdisjoint(SPELLINGS):
        return messages
    return [{name: value for name, value in message.items() if name not in names} for message in messages]


def _place(detail: Json) -> tuple[object, object]:
    return detail.get("type"), detail.get("index")


def _text_of(detail: Json) -> str:
    return _string(detail.get(_TEXTS.get(str(detail.get("type")), "")))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
