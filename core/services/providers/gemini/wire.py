"""A request in Gemini's wire format. Pure: the same request gives the same bytes.

Source: google-genai 3.3.0, types.py; ai.google.dev "Text generation", "Thinking", "Thought signatures" (read 2026-11).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from core.kernel.codecs import canonical_json, read_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    ReasoningDelta,
    RequestMessage,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.stack import Segment
from core.kernel.values.usage import Usage
from core.services.providers.blocks import part_key
from core.services.providers.door import CallIds, counted_usage, is_absurd, total
from core.services.providers.endings import stop_at
from core.services.providers.profiles import has_gemini_result_parts, nearest_effort
from core.services.providers.protocol import ReadBlob
from core.services.providers.switches import read_switch, tool_words
from core.services.providers.wire import (
    attached,
    called_with,
    plain_name,
    shown_in_result,
    sorted_object,
)

if TYPE_CHECKING:
    from google.genai import types

BUDGETS = {
    Effort.MINIMAL: 1_024,
    Effort.LOW: 2_048,
    Effort.MEDIUM: 8_192,
    Effort.HIGH: 24_576,
    Effort.XHIGH: 24_576,
    Effort.MAX: 24_576,
}
"""Thinking tokens for models that take a budget (2.5): Flash takes up to 24,576, Pro from 128 to 32,768."""

ANY_SIGNATURE = b"skip_thought_signature_validator"
"""Stands for the signature of a call that another model made. Source: "Thought signatures" (read 2026-11)."""


def request_contents(
    request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob
) -> list[types.Content]:
    """The messages. One text part for each segment, in order; blank ones are left out.

    Raises:
        ProviderError: an attachment that the model does not take.
    """
    return _contents(request, request.messages, profile, read_blob)


def split_contents(
    request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob, through_key: str
) -> tuple[list[types.Content], list[types.Content]]:
    """The messages up to the last part with a key, and those behind it. Without such a part all are behind.

    Raises:
        ProviderError: as `request_contents`.
    """
    head: list[RequestMessage] = []
    tail = list(request.messages)
    for index, message in reversed(list(enumerate(tail))):
        found = [place for place, part in enumerate(message.parts) if part_key(part) == through_key]
        if found:
            cut = found[-1] + 1
            head = [*tail[:index], replace(message, parts=message.parts[:cut])]
            tail = [replace(message, parts=message.parts[cut:]), *tail[index + 1 :]]
            break
    return (
        _contents(request, head, profile, read_blob),
        _contents(request, tail, profile, read_blob),
    )


def _contents(
    request: ProviderRequest,
    messages: Iterable[RequestMessage],
    profile: ModelProfile,
    read_blob: ReadBlob,
) -> list[types.Content]:
    """Some messages of a request."""
    from google.genai import types

    ids = CallIds(request.messages)
    contents = []
    for message in messages:
        parts = _parts(message, profile, read_blob, ids)
        if parts:
            role = "model" if message.role is Role.ASSISTANT else "user"
            contents.append(types.Content(role=role, parts=parts))
    return contents


def request_config(request: ProviderRequest, profile: ModelProfile) -> types.GenerateContentConfig:
    """Everything beside the messages. Calls of functions and continuations are left to us, not to the SDK."""
    from google.genai import types

    fields: dict[str, Any] = {
        "automatic_continuation": False,
        "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
        "max_output_tokens": _max_tokens(request, profile),
        "thinking_config": _thinking(request, profile),
    }
    if request.temperature is not None:
        fields["temperature"] = request.temperature
    if request.top_p is not None:
        fields["top_p"] = request.top_p
    system = [types.Part(text=segment.text) for segment in request.system if segment.text.strip()]
    if system:
        fields["system_instruction"] = types.Content(parts=system)
    if request.tools:
        fields["tools"] = [types.Tool(function_declarations=_declarations(request))]
    if request.response_schema_json:
        fields["response_mime_type"] = "application/json"
        fields["response_json_schema"] = sorted_object(request.response_schema_json) or {}
    return types.GenerateContentConfig(**fields)


def _declarations(request: ProviderRequest) -> list[types.FunctionDeclaration]:
    from google.genai import types

    return [
        types.FunctionDeclaration(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=sorted_object(tool.parameters_json) or {"type": "object"},
        )
        for tool in sorted(request.tools, key=lambda tool: tool.name)
    ]


def _parts(
    message: RequestMessage,
    profile: ModelProfile,
    read_blob: ReadBlob,
    ids: CallIds,
) -> list[types.Part]:
    signatures = _signatures(message)
    parts: list[types.Part] = []
    pictures: list[types.Part] = []
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            parts.append(_answer(part, profile, read_blob, ids, pictures))
            continue
        made = _part(part, ids, profile, read_blob)
        if made is None:
            continue
        if isinstance(part, ToolCallPart):
            made.thought_signature = signatures.get(part.call_id)
        parts.append(made)
    _stand_in(parts)
    return [*parts, *pictures]


def _part(
    part: Segment | AttachmentPart | ReasoningPart | ToolCallPart,
    ids: CallIds,
    profile: ModelProfile,
    read_blob: ReadBlob,
) -> types.Part | None:
    from google.genai import types

    match part:
        case Segment():
            switch = read_switch(part)
            text = part.text if switch is None else tool_words(switch)
            return types.Part(text=text) if text.strip() else None
        case AttachmentPart():
            data = attached(part, read_blob, profile)
            if isinstance(data, str):
                return types.Part(text=data)
            return types.Part(inline_data=types.Blob(mime_type=part.media_type, data=data))
        case ReasoningPart():
            return None  # only its signatures go back, on the calls that they belong to
        case ToolCallPart():
            call_id, name = ids.id_of(part), ids.name_of(part)
            call = types.FunctionCall(id=call_id, name=name, args=called_with(part))
            return types.Part(function_call=call)


def _answer(
    part: ToolResultPart,
    profile: ModelProfile,
    read_blob: ReadBlob,
    ids: CallIds,
    pictures: list[types.Part],
) -> types.Part:
    """The result of a function, with its pictures inside where the model takes them there.

    Args:
        pictures: takes in those that stand behind all results instead, as models before 3 read them.
    """
    from google.genai import types

    texts, inside = [part.text], []
    for file in part.attachments:
        data = shown_in_result(file, read_blob, profile)
        if isinstance(data, str):
            texts.append(data)
        elif has_gemini_result_parts(profile.id):
            inside.append(types.FunctionResponsePart.from_bytes(data=data, mime_type=file.media_type))
        else:
            blob = types.Blob(mime_type=file.media_type, data=data)
            pictures.append(types.Part(inline_data=blob))
    answer = {"error" if part.is_error else "output": "\n".join(filter(None, texts))}
    call_id, name = ids.id_of(part), ids.name_of(part)
    response = types.FunctionResponse(id=call_id, name=name, response=answer, parts=inside or None)
    return types.Part(function_response=response)


def _signatures(message: RequestMessage) -> dict[str, bytes]:
    """Signatures that the model sealed its calls with, by call id, from the reasoning of the message."""
    found = {}
    for part in message.parts:
        block = sorted_object(part.vendor_json) if isinstance(part, ReasoningPart) else None
        if block and isinstance(block.get("call_id"), str):
            try:
                found[block["call_id"]] = base64.b64decode(str(block.get("thought_signature")), validate=True)
            except binascii.Error:
                continue
    return found


def _stand_in(parts: list[types.Part]) -> None:
    """The first call of a step must be sealed: one that another model made gets the seal that is not looked at.

    So do those of finished turns, which need none: what was sent stays as it was.
    """
    calls = [part for part in parts if part.function_call is not None]
    if calls and calls[0].thought_signature is None:
        calls[0].thought_signature = ANY_SIGNATURE


def _max_tokens(request: ProviderRequest, profile: ModelProfile) -> int | None:
    limits = [n for n in (request.max_output_tokens, profile.max_output_tokens) if n is not None]
    return min(limits, default=None)


def _thinking(request: ProviderRequest, profile: ModelProfile) -> types.ThinkingConfig | None:
    from google.genai import types

    effort = nearest_effort(profile, request.effort)
    match profile.thinking:
        case "level" if effort is Effort.AUTO:
            return types.ThinkingConfig(include_thoughts=True)
        case "level":
            word = profile.thinking_off if effort is Effort.NONE else effort.value
            return types.ThinkingConfig(
                include_thoughts=True, thinking_level=types.ThinkingLevel(word.upper())
            )
        case "budget" if effort is Effort.NONE:
            return types.ThinkingConfig(thinking_budget=0)
        case "budget":
            return types.ThinkingConfig(include_thoughts=True, thinking_budget=BUDGETS.get(effort))
        case _:
            return None


# Gemini's stream of chunks as items of ours.

if TYPE_CHECKING:
    from google.genai import types

_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "totalTokenCount",
)
"""Counts of usage that are read."""

_NONE = -1
"""Stands for a malformed figure: the SDK accepts it, and no reader counts it."""


def is_known(chunk: types.GenerateContentResponse) -> bool:
    """True if a chunk belongs to a reply; one without a candidate may only say that the server lives, by its id."""
    return bool(chunk.candidates or chunk.usage_metadata or chunk.prompt_feedback or chunk.response_id)


def sound_chunk(body: str) -> str:
    """A chunk as it came, without malformed figures of usage: the SDK would refuse the words beside them.

    Args:
        body: JSON.
    """
    if '"usageMetadata"' not in body:
        return body
    chunk = read_json(body)
    if not isinstance(chunk, dict) or "usageMetadata" not in chunk:
        return body
    told = chunk.pop("usageMetadata")
    if isinstance(told, dict):
        counts = {name: told[name] for name in _COUNTS if told.get(name) is not None}
        chunk["usageMetadata"] = {
            name: _NONE if is_absurd(count) else count for name, count in counts.items()
        }
    return json.dumps(chunk)


def reply_items(
    chunks: Iterable[types.GenerateContentResponse], tools: Collection[str] = ()
) -> Iterator[StreamItem]:
    """Translate a stream of chunks. Usage stands in each chunk and is cumulative: the last one counts, also where it
    repeats the one before: nothing was written since.

    Args:
        tools: names that were offered.

    Raises:
        ProviderError: STREAM_DROPPED where it ends without a reason, BAD_REPLY where it never began or broke.
    """
    stop: Stopped | None = None
    calls = 0
    has_begun = False
    for chunk in chunks:
        blocked = _block_reason(chunk)
        has_begun = has_begun or bool(chunk.candidates or blocked)
        for part in _stream_parts(chunk):
            if part.function_call is not None:
                calls += 1
            yield from _items(part, f"{chunk.response_id or 'call'}-{calls}", tools)
        newer = _usage(chunk)
        if newer is not None:
            yield UsageUpdate(newer)
        stop = blocked or _stopped(chunk, has_calls=calls > 0) or stop
    if stop is None:
        raise ProviderError(
            FailureKind.STREAM_DROPPED if has_begun else FailureKind.BAD_REPLY,
            tr("the reply ended without a stop reason") if has_begun else tr("no part of a reply came"),
        )
    yield stop


def _stream_parts(chunk: types.GenerateContentResponse) -> list[types.Part]:
    candidate = chunk.candidates[0] if chunk.candidates else None
    return (candidate.content.parts or []) if candidate and candidate.content else []


def _items(part: types.Part, unnamed_id: str, tools: Collection[str]) -> Iterator[StreamItem]:
    if part.text:
        yield ReasoningDelta(part.text) if part.thought else TextDelta(part.text)
    call = part.function_call
    if call is None:
        return
    call_id = call.id or unnamed_id
    if part.thought_signature:
        seal = base64.b64encode(part.thought_signature).decode("ascii")
        yield ReasoningDelta("", canonical_json({"call_id": call_id, "thought_signature": seal}))
    name = plain_name(call.name or "", tools)
    yield ToolCallReady(
        ToolCallPart(call_id=call_id, name=name, arguments_json=canonical_json(call.args or {}))
    )


def _usage(chunk: types.GenerateContentResponse) -> Usage | None:
    reported = chunk.usage_metadata
    if reported is None:
        return None
    sent = total(reported.prompt_token_count, reported.tool_use_prompt_token_count)
    thought = reported.thoughts_token_count
    if thought is None:
        thought = _untold(reported.total_token_count, sent, reported.candidates_token_count)
    return counted_usage(
        input_tokens=sent,
        output_tokens=total(reported.candidates_token_count, thought),
        cache_read_tokens=reported.cached_content_token_count,
        reasoning_tokens=thought,
        request_id=chunk.response_id or "",
    )


def _untold(whole: int | None, sent: int | None, written: int | None) -> int | None:
    """Tokens of thoughts that only the total tells of: it is the sum of what was sent, written and thought.

    Source: ai.google.dev "GenerateContentResponse", `UsageMetadata`; BerriAI/litellm#10667 (read 2026-11).
    """
    if None in {whole, sent, written} or any(map(is_absurd, (whole, sent, written))):
        return None
    rest = (whole or 0) - (sent or 0) - (written or 0)
    return rest if rest > 0 else None


def _block_reason(chunk: types.GenerateContentResponse) -> Stopped | None:
    feedback = chunk.prompt_feedback
    if feedback is None or feedback.block_reason is None:
        return None
    reason = str(feedback.block_reason.value)
    message = feedback.block_reason_message
    return Stopped(kind=StopKind.REFUSED, detail=f"{reason}: {message}" if message else reason)


def _stopped(chunk: types.GenerateContentResponse, *, has_calls: bool) -> Stopped | None:
    candidate = chunk.candidates[0] if chunk.candidates else None
    if candidate is None or candidate.finish_reason is None:
        return None
    return stop_at(str(candidate.finish_reason.value), has_calls=has_calls)
