"""The body of a Chat Completions request, rendered from the stack: same stack, same bytes, nothing added."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.kernel.frame import empty_frame
from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    ReasoningDelta,
    RequestMessage,
    RequestPart,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.stack import Segment
from core.kernel.values.usage import Usage
from core.services.providers.attachments import data_url
from core.services.providers.door import CallIds, counted_usage, part_of
from core.services.providers.endings import stop_at
from core.services.providers.openai.body import effort_word, is_strict_schema
from core.services.providers.profiles import nearest_effort
from core.services.providers.protocol import ReadBlob
from core.services.providers.wire import (
    attached,
    called_with,
    canonical_json,
    is_object,
    shown_in_result,
    sorted_object,
)

# Reasoning of compatible servers, in the three spellings that they have, as it comes and as it goes back.

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


def chat_body(
    request: ProviderRequest,
    profile: ModelProfile,
    read_blob: ReadBlob,
    *,
    result_profile: ModelProfile | None = None,
    needs_reasoning: bool = False,
) -> Json:
    """Render a request for `POST /v1/chat/completions`.

    Text is one string a message: many servers take no list of parts, and chat templates of others join them each in
    its own way. Segments are joined by `join_texts`, which looks only backwards, so that what stands before layer 8
    is the same when the next turn comes without it. A message with a picture is a list of parts.

    Args:
        profile: of the model, as a person's attachments are judged; result_profile: as those of results of tools are,
            None for the same.
        needs_reasoning: the server refuses a call of the past without its reasoning, be it empty.

    Raises:
        ProviderError: an attachment that the model does not take, or that is gone.

    Source: OpenAI API reference, "Create chat completion", openai 3.51.0 (read 2026-11-20).
    """
    body: Json = {
        "model": request.model,
        "messages": chat_messages(
            request, profile, read_blob, result_profile=result_profile, needs_reasoning=needs_reasoning
        ),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": sorted_object(tool.parameters_json) or {"type": "object"},
                },
            }
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    level = nearest_effort(profile, request.effort)
    if level is not Effort.AUTO and profile.thinking.startswith("effort"):
        body["reasoning_effort"] = effort_word(level, profile)
    if request.response_schema_json:
        schema = sorted_object(request.response_schema_json) or {}
        form = {"name": "reply", "schema": schema, "strict": is_strict_schema(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def chat_messages(
    request: ProviderRequest,
    profile: ModelProfile,
    read_blob: ReadBlob,
    *,
    result_profile: ModelProfile | None = None,
    needs_reasoning: bool = False,
) -> list[Json]:
    """The messages alone: one of the system, then the conversation. Args as for `chat_body`."""
    messages: list[Json] = []
    ids = CallIds(request.messages)
    if system := join_texts(segment.text for segment in request.system):
        messages.append({"role": "system", "content": system})
    tool, user, told = Role.TOOL, Role.USER, ids.told
    for message in request.messages:
        role, parts = message.role, message.parts
        only = parts[0] if len(parts) == 1 else None  # most are such, of thousands
        if type(only) is Segment and role is not tool:
            text = "" if only.text.isspace() else only.text
            messages.append({"role": "user" if role is user else "assistant", "content": text})
            continue
        if type(only) is ToolCallPart and not needs_reasoning:
            messages.append({"role": "assistant", "content": "", "tool_calls": [_call(only, ids)]})
            continue
        if type(only) is ToolResultPart and not only.attachments:
            text = "" if only.text.isspace() else only.text
            messages.append({"role": "tool", "tool_call_id": told[id(only)][0], "content": text})
            continue
        match role:
            case Role.USER:
                content = _user_content(parts, profile, read_blob)
                messages.append({"role": "user", "content": content})
            case Role.ASSISTANT:
                messages.append(_assistant(message, ids, needs_reasoning=needs_reasoning))
            case Role.TOOL:
                messages.extend(_tool_results(message, ids, result_profile or profile, read_blob))
    return messages


def join_texts(texts: Iterable[str]) -> str:
    """Join texts with a blank line between. What stands between two depends only on the first."""
    joined = ""
    for text in texts:
        if not text.strip():
            continue
        if joined and not joined.endswith("\n\n"):
            joined += "\n" if joined.endswith("\n") else "\n\n"
        joined += text
    return joined


def _user_content(
    parts: tuple[RequestPart, ...], profile: ModelProfile, read_blob: ReadBlob
) -> str | list[Json]:
    content: list[Json] = []
    for part in parts:
        if isinstance(part, Segment):
            _add_text(content, part.text)
        elif isinstance(part, AttachmentPart):
            data = attached(part, read_blob, profile)
            if isinstance(data, str):
                _add_text(content, data)
            else:
                content.append({"type": "image_url", "image_url": {"url": data_url(part, data)}})
    if all(part["type"] == "text" for part in content):
        return "".join(part["text"] for part in content)
    return content


def _add_text(content: list[Json], text: str) -> None:
    """Add a text to the part before it, where that is text too."""
    if content and content[-1]["type"] == "text":
        content[-1]["text"] = join_texts((content[-1]["text"], text))
    elif text.strip():
        content.append({"type": "text", "text": text})


def _assistant(message: RequestMessage, ids: CallIds, *, needs_reasoning: bool) -> Json:
    texts, calls, thoughts = [], [], []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            calls.append(_call(part, ids))
        elif isinstance(part, Segment):
            texts.append(part.text)
        elif isinstance(part, ReasoningPart):
            thoughts.append(part)
    text = join_texts(texts) if texts else ""
    reasoning = sent_back(thoughts) if thoughts else {}
    if needs_reasoning and calls:
        reasoning = {REASONING_CONTENT: "", **reasoning}
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {}), **reasoning}


def _call(part: ToolCallPart, ids: CallIds) -> Json:
    """A call of the past. Servers parse its arguments for their templates, and fail on what is no object."""
    is_whole = is_object(part.arguments_json)
    arguments = (part.arguments_json or "{}") if is_whole else canonical_json(called_with(part))
    call_id, name = ids.told[id(part)]
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _tool_results(
    message: RequestMessage, ids: CallIds, profile: ModelProfile, read_blob: ReadBlob
) -> list[Json]:
    """An answer for each call, of nothing but text, then the pictures of all of them as the user's.

    Source: openai types/chat/chat_completion_tool_message_param.py, 3.51.0.
    """
    answers: list[Json] = []
    pictures: list[Json] = []
    for part in message.parts:
        if not isinstance(part, ToolResultPart):
            continue
        texts = [part.text]
        for file in part.attachments:
            data = shown_in_result(file, read_blob, profile)
            if isinstance(data, str):
                texts.append(data)
            else:
                _add_text(pictures, empty_frame("attachment", name=file.name, call=ids.id_of(part)))
                pictures.append({"type": "image_url", "image_url": {"url": data_url(file, data)}})
        answers.append({"role": "tool", "tool_call_id": ids.id_of(part), "content": join_texts(texts)})
    return [*answers, {"role": "user", "content": pictures}] if pictures else answers


# Reading of a Chat Completions stream, in all the shapes that servers give it.


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


DONE = "[DONE]"
"""Last line of a stream."""


@cache
def done_stream() -> Any:
    """The SDK's stream of chunks, which keeps whether its last line came: `is_done`. The SDK is imported here."""
    import openai
    from openai.types.chat import ChatCompletionChunk

    class DoneStream(openai.Stream[ChatCompletionChunk]):
        is_done = False

        def _iter_events(self) -> Iterator[Any]:
            for event in super()._iter_events():
                self.is_done |= event.data.startswith(DONE)
                yield event

    return DoneStream


def is_known(chunk: Any) -> bool:
    """True if a chunk belongs to a reply; one without a choice may only say that the server lives, by its id."""
    return bool(
        getattr(chunk, "choices", None) or getattr(chunk, "usage", None) or getattr(chunk, "id", None)
    )


class ChatReader:
    """Reads chunks as the SDK gives them; the last items come from `end`, since usage follows the stop.

    Attributes:
        has_begun: whether any chunk came; has_stopped: whether the server said that the reply ended.
    """

    def __init__(self, request_id: str = "") -> None:
        self.has_begun = False
        self._request_id = request_id
        self._finish = ""
        self._calls: list[_Call] = []
        self._slots: dict[int, _Call] = {}
        self._reasoning = ReasoningReader()
        self._has_refused = False

    @property
    def has_stopped(self) -> bool:
        """True if a finish reason came, or the stream's own end. Without either it broke off."""
        return bool(self._finish)

    def read(self, chunk: Any) -> Iterator[StreamItem]:
        """Read a chunk: text, reasoning, usage."""
        self.has_begun = True
        for choice in chunk.choices or ():
            if choice.index:
                continue
            if choice.delta is not None:
                yield from self._read_delta(choice.delta)
            self._finish = choice.finish_reason or self._finish
        if chunk.usage is not None:
            yield UsageUpdate(chat_usage(chunk.usage, self._request_id or str(chunk.id or "")))

    def end(self, *, is_done: bool = False) -> Iterator[StreamItem]:
        """Tool calls and the stop, nothing where the stream broke off. `is_done`: its own end came, as some send it alone."""
        if is_done and self.has_begun:
            self._finish = self._finish or DONE
        if not self._finish:
            return
        yield from self._end_reasoning()
        calls = [call for call in self._calls if call.call_id or call.name or call.arguments]
        for call in calls:
            call_id = call.call_id or _new_id()
            yield ToolCallReady(
                ToolCallPart(call_id=call_id, name=call.name, arguments_json=call.arguments or "{}")
            )
        yield stop_at(self._finish, has_calls=bool(calls), has_refused=self._has_refused)

    def _read_delta(self, delta: Any) -> Iterator[StreamItem]:
        if reasoning := self._reasoning.read(delta):
            yield ReasoningDelta(reasoning)
        if delta.content:
            yield from self._end_reasoning()
            yield TextDelta(delta.content)
        if getattr(delta, "refusal", None):
            self._has_refused = True
            yield TextDelta(delta.refusal)
        for part in delta.tool_calls or ():
            self._add_call(part)

    def _end_reasoning(self) -> Iterator[StreamItem]:
        if sealed := self._reasoning.sealed():
            yield ReasoningDelta("", sealed)

    def _add_call(self, part: Any) -> None:
        """Add a piece of a call.

        Servers that send whole calls may leave out the index, or the id, give all calls the index 0, and repeat the
        name: a piece with a new id, or one without an index that begins a function, begins a call.
        """
        call_id, name = _stream_string(part, "id"), _stream_string(part.function, "name")
        index = part.index if isinstance(part.index, int) else None
        known = self._calls[-1] if index is None and self._calls else self._slots.get(index or 0)
        is_other = known is not None and bool(call_id and known.call_id and call_id != known.call_id)
        is_next = index is None and known is not None and bool(name and not call_id)
        if known is None or is_other or is_next:
            known = _Call()
            self._calls.append(known)
        if index is not None:
            self._slots[index] = known
        known.call_id = known.call_id or call_id
        known.name = known.name or name
        given = getattr(part.function, "arguments", None)
        known.arguments += given if isinstance(given, str) else canonical_json(given) if given else ""


def _new_id() -> str:
    """An id for a call that came without one: 9 letters and digits, which the strictest servers ask for."""
    return f"c{secrets.token_hex(4)}"


def _stream_string(value: object, name: str) -> str:
    found = getattr(value, name, None)
    return found if isinstance(found, str) else ""


def chat_usage(usage: Any, request_id: str) -> Usage:
    """Usage of a completion. `prompt_tokens` holds cache reads and writes; what is missing is not reported.

    Source: openai types/completion_usage.py, 3.51.0; `prompt_cache_hit_tokens`: DeepSeek API, "Context caching"
    (read 2026-11-20).
    """
    read = getattr(usage, "prompt_tokens_details", None)
    written = getattr(usage, "completion_tokens_details", None)
    cached = part_of(read, "cached_tokens")
    return counted_usage(
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        cache_read_tokens=getattr(usage, "prompt_cache_hit_tokens", None) if cached is None else cached,
        cache_write_tokens=part_of(read, "cache_write_tokens"),
        reasoning_tokens=part_of(written, "reasoning_tokens"),
        request_id=request_id,
    )
