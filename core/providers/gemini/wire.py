"""A request in Gemini's wire format. Pure: the same request gives the same bytes.

Source: google-genai 3.3.0, types.py; ai.google.dev "Text generation", "Thinking", "Thought signatures" (read 2026-11).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from core.providers.blocks import part_key
from core.providers.profiles import nearest_effort
from core.providers.protocol import ReadBlob
from core.providers.wire import attached, open_turn_start, sorted_object
from core.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.values.provider import Effort, ModelProfile, ProviderRequest, RequestMessage, RequestPart
from core.values.stack import Segment

if TYPE_CHECKING:
    from google.genai import types

BUDGETS = {Effort.LOW: 2_048, Effort.MEDIUM: 8_192, Effort.HIGH: 24_576, Effort.MAX: 24_576}
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
    return _contents(request, enumerate(request.messages), profile, read_blob)


def split_contents(
    request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob, through_key: str
) -> tuple[list[types.Content], list[types.Content]]:
    """The messages up to the last part with a key, and those behind it. Without such a part all are behind.

    Raises:
        ProviderError: as `request_contents`.
    """
    head: list[tuple[int, RequestMessage]] = []
    tail = list(enumerate(request.messages))
    for index, message in reversed(tail):
        found = [place for place, part in enumerate(message.parts) if part_key(part) == through_key]
        if found:
            cut = found[-1] + 1
            head = [*tail[:index], (index, replace(message, parts=message.parts[:cut]))]
            tail = [(index, replace(message, parts=message.parts[cut:])), *tail[index + 1 :]]
            break
    return (
        _contents(request, head, profile, read_blob),
        _contents(request, tail, profile, read_blob),
    )


def _contents(
    request: ProviderRequest,
    messages: Iterable[tuple[int, RequestMessage]],
    profile: ModelProfile,
    read_blob: ReadBlob,
) -> list[types.Content]:
    """Some messages of a request, each with its number there."""
    from google.genai import types

    names = _call_names(request)
    open_from = open_turn_start(request.messages)
    contents = []
    for index, message in messages:
        parts = _parts(message, profile, read_blob, names, is_open=index >= open_from)
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
    names: Mapping[str, str],
    *,
    is_open: bool,
) -> list[types.Part]:
    signatures = _signatures(message) if is_open else {}
    parts = []
    for part in message.parts:
        made = _part(part, profile, read_blob, names)
        if made is None:
            continue
        if is_open and isinstance(part, ToolCallPart):
            made.thought_signature = signatures.get(part.call_id)
        parts.append(made)
    if is_open:
        _stand_in(parts)
    return parts


def _part(
    part: RequestPart, profile: ModelProfile, read_blob: ReadBlob, names: Mapping[str, str]
) -> types.Part | None:
    from google.genai import types

    match part:
        case Segment():
            return types.Part(text=part.text) if part.text.strip() else None
        case AttachmentPart():
            data = attached(part, read_blob, profile)
            if isinstance(data, str):
                return types.Part(text=data)
            return types.Part(inline_data=types.Blob(mime_type=part.media_type, data=data))
        case ReasoningPart():
            return None  # only its signatures go back, on the calls that they belong to
        case ToolCallPart():
            arguments = sorted_object(part.arguments_json)
            given = {"INVALID_JSON": part.arguments_json} if arguments is None else arguments
            return types.Part(function_call=types.FunctionCall(id=part.call_id, name=part.name, args=given))
        case ToolResultPart():
            answer = {"error" if part.is_error else "output": part.text}
            name = names.get(part.call_id, "unknown")
            return types.Part(
                function_response=types.FunctionResponse(id=part.call_id, name=name, response=answer)
            )


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
    """The first call of a step must be sealed: one that another model made gets the seal that is not looked at."""
    calls = [part for part in parts if part.function_call is not None]
    if calls and calls[0].thought_signature is None:
        calls[0].thought_signature = ANY_SIGNATURE


def _call_names(request: ProviderRequest) -> dict[str, str]:
    parts = [part for message in request.messages for part in message.parts]
    return {part.call_id: part.name for part in parts if isinstance(part, ToolCallPart)}


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
