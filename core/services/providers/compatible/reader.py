"""Reader of a Chat Completions stream, in all the shapes that servers give it: text, reasoning, calls, usage, end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.kernel.decoders import read_json
from core.kernel.values.messages import ToolCallPart
from core.kernel.values.provider import ReasoningDelta, StreamItem, TextDelta, ToolCallReady, UsageUpdate
from core.services.providers.compatible.body import ReasoningReader, text_in
from core.services.providers.compatible.usage import chat_usage
from core.services.providers.endings import stop_at
from core.services.providers.wire import canonical_json, is_object

Json = dict[str, Any]

DONE = "[DONE]"
"""Last line of a stream."""

_REASONING_KINDS = frozenset({"thinking", "reasoning", "reasoning_text", "summary_text"})
_PREFIXES = re.compile(
    r"^(?:<\|[a-z_]+\|>|commentary|analysis|final|to=|[\s\"'`]+|(?:functions?|tools?|default_api)[.:])+"
)
_BEHIND = re.compile(r"[\s\"'`]*(?:<\|[a-z_]+\|>.*)?[\s\"'`]*$", re.DOTALL)


@cache
def done_stream() -> Any:
    """The SDK's stream of chunks as they are, which keeps whether its last line came: `is_done`. The SDK is imported here."""
    import openai

    class DoneStream(openai.Stream[object]):
        is_done = False

        def _iter_events(self) -> Iterator[Any]:
            for event in super()._iter_events():
                self.is_done |= event.data.startswith(DONE)
                yield event

    return DoneStream


def is_known(chunk: Any) -> bool:
    """True if a chunk belongs to a reply; one without a choice may only say that the server lives, by its id."""
    return isinstance(chunk, dict) and bool(chunk.get("choices") or chunk.get("usage") or chunk.get("id"))


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


class ChatReader:
    """Reads chunks; the last items come from `end`, since usage follows the stop.

    Args:
        tools: names that were offered: a name that comes in another dress is one of them.

    Attributes:
        has_begun: whether any chunk came; has_stopped: whether the server said that the reply ended.
    """

    def __init__(self, request_id: str = "", tools: Collection[str] = ()) -> None:
        self.has_begun = False
        self._request_id = request_id
        self._tools = tools
        self._finish = ""
        self._calls: list[_Call] = []
        self._slots: dict[int, _Call] = {}
        self._reasoning = ReasoningReader()
        self._has_refused = False
        self._choices = _Choices()

    @property
    def has_stopped(self) -> bool:
        """True if a finish reason came, or the stream's own end. Without either it broke off."""
        return bool(self._finish)

    def read(self, chunk: object) -> Iterator[StreamItem]:
        """Read a chunk: text, reasoning, usage."""
        if not isinstance(chunk, dict):
            return
        self.has_begun = True
        reported = chunk.get("usage")
        choices = chunk.get("choices")
        if choices:
            for choice in self._choices.of_reply(choices):
                yield from self._read_choice(choice)
                reported = reported or choice.get("usage")
        groq = chunk.get("x_groq")
        if not reported and isinstance(groq, dict):
            reported = groq.get("usage")
        if reported:
            yield UsageUpdate(chat_usage(reported, self._request_id or str(chunk.get("id") or "")))

    def end(self, *, is_done: bool = False) -> Iterator[StreamItem]:
        """Tool calls and the stop, nothing where the stream broke off. `is_done`: its own end came, as some send it alone."""
        for choice in self._choices.held_back():
            yield from self._read_choice(choice)
        if is_done and self.has_begun:
            self._finish = self._finish or DONE
        if not self._finish:
            return
        yield from self._end_reasoning()
        calls = [call for call in self._calls if call.call_id or call.name or call.arguments]
        for call in calls:
            part = ToolCallPart(
                call_id=call.call_id or _new_id(),
                name=plain_name(call.name, self._tools),
                arguments_json=plain_arguments(call.arguments),
            )
            yield ToolCallReady(part)
        yield stop_at(self._finish, has_calls=bool(calls), has_refused=self._has_refused)

    def _read_choice(self, choice: Json) -> Iterator[StreamItem]:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            yield from self._read_delta(delta)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish

    def _read_delta(self, delta: Json) -> Iterator[StreamItem]:
        if reasoning := self._reasoning.read(delta):
            yield ReasoningDelta(reasoning)
        content = delta.get("content")
        if content:
            if isinstance(content, str):
                yield from self._end_reasoning()
                yield TextDelta(content)
            else:
                yield from self._read_parts(content)
        if refusal := delta.get("refusal"):
            self._has_refused = True
            yield TextDelta(refusal)
        if calls := delta.get("tool_calls"):
            for part in calls if isinstance(calls, list) else [calls]:
                if isinstance(part, dict):
                    self._add_call(part)
        if isinstance(old := delta.get("function_call"), dict):
            self._add_call({"index": 0, "function": old})

    def _read_parts(self, content: object) -> Iterator[StreamItem]:
        """Content as a list of parts: text, and thoughts among it."""
        parts: list[Any] = content if isinstance(content, list) else [content]
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else ""
            if kind in _REASONING_KINDS:
                yield ReasoningDelta(text_in(part))
            elif kind == "refusal":
                self._has_refused = True
                yield TextDelta(text_in(part.get("refusal")))
            elif (
                isinstance(part, str)
                or kind
                or (isinstance(part, dict) and ("text" in part or text_in(part)))
            ):
                if text := text_in(part):
                    yield from self._end_reasoning()
                    yield TextDelta(text)
            else:
                yield TextDelta(part)  # no text at all: the door says so

    def _end_reasoning(self) -> Iterator[StreamItem]:
        if sealed := self._reasoning.sealed():
            yield ReasoningDelta("", sealed)

    def _add_call(self, part: Json) -> None:
        """Add a piece of a call: to the one that it belongs to, or to one that it begins."""
        function = part.get("function")
        function = function if isinstance(function, dict) else part
        call_id, name = _string(part, "id"), _string(function, "name")
        given = function.get("arguments")
        index = part.get("index")
        index = index if isinstance(index, int) else None
        known = self._calls[-1] if index is None and self._calls else self._slots.get(index or 0)
        if known is None or _is_next_call(known, call_id, name, has_index=index is not None):
            known = _Call()
            self._calls.append(known)
        if index is not None:
            self._slots[index] = known
        known.call_id = known.call_id or call_id
        known.name = _joined_name(known, name, self._tools)
        known.arguments += given if isinstance(given, str) else canonical_json(given) if given else ""


def _is_next_call(known: _Call, call_id: str, name: str, *, has_index: bool) -> bool:
    """True if a piece begins another call than the one of its place.

    Servers leave out the index or the id, give all calls the index 0, repeat the name, or give each piece of one call
    another id: a call begins with a name, and only where the one before it can be whole.
    """
    if not name:
        return False
    is_other = bool(call_id and known.call_id and call_id != known.call_id)
    if not is_other and (has_index or call_id):
        return False
    if known.arguments:
        return is_object(known.arguments)
    return name != known.name if is_other else True


def _joined_name(known: _Call, name: str, tools: Collection[str]) -> str:
    """The name so far: repeated whole, or in pieces where only both together are a tool's."""
    before = known.name
    if not name or name == before:
        return before
    whole = before + name
    is_piece = bool(before) and not known.arguments and any(tool.startswith(whole) for tool in tools)
    return whole if is_piece else before or name


def plain_name(name: str, tools: Collection[str]) -> str:
    """The offered tool that a name means; the name itself where it means none."""
    if name in tools:
        return name
    bare = _BEHIND.sub("", _PREFIXES.sub("", name))
    return bare if bare in tools else name


def plain_arguments(text: str) -> str:
    """Arguments as the text of an object, taken out of what servers put around it; otherwise as they came."""
    if not text.strip():
        return "{}"
    if is_object(text):
        return text
    try:
        value = read_json(text)
    except ValueError:
        return _once(text)
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = read_json(value or "{}")
        except ValueError:
            return text
    if value is None:
        return "{}"
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    return canonical_json(value) if isinstance(value, dict) else text


def _once(text: str) -> str:
    """Arguments that came twice, or behind an empty object."""
    half = text[: len(text) // 2]
    if half * 2 == text and is_object(half):
        return half
    behind = text.removeprefix("{}").lstrip()
    return behind if behind != text and is_object(behind) else text


class _Choices:
    """Indexes of the choices that belong to the reply: the first; of a server that counts the index up from piece to piece, all.

    The second index is held back until the next choice tells which of the two it is.
    """

    def __init__(self) -> None:
        self._base: int | None = None
        self._held: list[Json] = []
        self._counts: bool | None = None
        self._has_ended = False

    def of_reply(self, choices: object) -> Iterator[Json]:
        """Choices of a chunk that belong to the reply."""
        several = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
        for choice in several:
            index = choice.get("index")
            index = index if isinstance(index, int) else 0
            if self._base is None:
                self._base = index
            if index == self._base:
                if self._held:
                    self._held, self._counts = [], False
                self._has_ended = self._has_ended or bool(choice.get("finish_reason"))
                yield choice
            elif self._counts:
                yield choice
            elif self._counts is None and not self._has_ended and len(several) == 1:
                yield from self._hold(choice, index)

    def _hold(self, choice: Json, index: int) -> Iterator[Json]:
        if not self._held:
            self._held = [choice]
        elif index > self._held[0].get("index", 0):
            self._counts = True
            yield from (*self._held, choice)
            self._held = []
        else:
            self._held, self._counts = [], False

    def held_back(self) -> Iterator[Json]:
        """Return held-back text that belongs to the reply, at its end."""
        held, self._held = self._held, []
        if not self._has_ended:
            yield from held


def _new_id() -> str:
    """An id for a call that came without one: 9 letters and digits, which the strictest servers ask for."""
    return f"c{secrets.token_hex(4)}"


def _string(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
