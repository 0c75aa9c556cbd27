"""Ids of calls in one request: each call once, its result by the same id, in characters that every vendor takes."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterable, Mapping
from functools import lru_cache

from core.values.messages import ToolCallPart, ToolResultPart
from core.values.provider import RequestMessage
from core.values.stack import Segment

UNKNOWN = "unknown"
"""Name of the function of a result whose call is not in the request."""

_NOT_TAKEN = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64


class CallIds:
    """Ids and names for the calls and results of a request.

    Servers that number the calls of each reply anew give one id to many, and vendors refuse that: the first keeps it,
    the others get a number behind it. Who reads from the beginning gives the same ids again, so a prefix stays.

    Args:
        messages: of the whole request; parts are told apart as objects.

    Source: Anthropic, "`tool_use` ids must be unique" and `^[a-zA-Z0-9_-]+$`; OpenAI, `call_id` of at most 64 characters
    (2026-11).
    """

    def __init__(self, messages: Iterable[RequestMessage]) -> None:
        self._told: dict[int, tuple[str, str]] = {}
        used: dict[str, int] = {}
        waiting: dict[str, deque[tuple[str, str]]] = {}
        for message in messages:
            parts = message.parts
            if len(parts) == 1 and type(parts[0]) is Segment:  # most are, of thousands
                continue
            has_called = False
            for part in parts:
                if not isinstance(part, ToolCallPart):
                    continue
                if not has_called:
                    waiting, has_called = {}, True
                told_id = wire_id(part.call_id)
                if told_id in used:
                    told_id = _next_id(told_id, used)
                used[told_id] = 1
                told = told_id, wire_name(part.name)
                self._told[id(part)] = told
                if part.call_id in waiting:
                    waiting[part.call_id].append(told)
                else:
                    waiting[part.call_id] = deque((told,))
            for part in parts:
                if isinstance(part, ToolResultPart):
                    asked = waiting.get(part.call_id)
                    self._told[id(part)] = asked.popleft() if asked else (wire_id(part.call_id), UNKNOWN)

    @property
    def told(self) -> Mapping[int, tuple[str, str]]:
        """Id and name of each call and result, as of `id_of` and `name_of`, by the part's `id()`."""
        return self._told

    def id_of(self, part: ToolCallPart | ToolResultPart) -> str:
        """Id of a call, or of the call that a result answers."""
        return self._told[id(part)][0]

    def name_of(self, part: ToolCallPart | ToolResultPart) -> str:
        """Name of the function that is called, or that gave a result."""
        return self._told[id(part)][1]


@lru_cache(maxsize=1_024)
def wire_name(name: str) -> str:
    """A tool's name that every vendor takes in a call of the past, whatever a model has called.

    Source: `^[a-zA-Z0-9_-]{1,64}$` of OpenAI's and Anthropic's tools; Gemini's begin with a letter or `_` (2026-11).
    """
    fitting = _NOT_TAKEN.sub("_", name)[:_LONGEST]
    return fitting if fitting[:1].isalpha() or fitting[:1] == "_" else f"_{fitting}"[:_LONGEST]


@lru_cache(maxsize=1_024)
def wire_id(call_id: str) -> str:
    """A call's id in characters and of a length that every vendor takes."""
    fitting = _NOT_TAKEN.sub("_", call_id) or "_"
    if len(fitting) <= _LONGEST:
        return fitting
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:_LONGEST]


def _next_id(call_id: str, used: dict[str, int]) -> str:
    """An id for another call of an id that was used."""
    found = call_id
    while found in used:
        used[call_id] += 1
        number = f"_{used[call_id]}"
        found = f"{call_id[: _LONGEST - len(number)]}{number}"
    return found
