"""The body of a Chat Completions request, rendered from the stack: same stack, same bytes, nothing added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.base.frame import empty_frame
from core.providers.attachments import data_url
from core.providers.call_ids import CallIds
from core.providers.compatible.reasoning_spellings import REASONING_CONTENT, sent_back
from core.providers.openai.body import effort_word, is_strict_schema
from core.providers.profiles import nearest_effort
from core.providers.protocol import ReadBlob
from core.providers.wire import (
    attached,
    called_with,
    canonical_json,
    is_object,
    open_turn_start,
    shown_in_result,
    sorted_object,
)
from core.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.values.provider import Effort, ModelProfile, ProviderRequest, RequestMessage, RequestPart
from core.values.stack import Segment

Json = dict[str, Any]


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
    open_from, ids = open_turn_start(request.messages), CallIds(request.messages)
    if system := join_texts(segment.text for segment in request.system):
        messages.append({"role": "system", "content": system})
    tool, user, told = Role.TOOL, Role.USER, ids.told
    for number, message in enumerate(request.messages):
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
                messages.append(
                    _assistant(
                        message, ids, keeps_reasoning=number >= open_from, needs_reasoning=needs_reasoning
                    )
                )
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


def _assistant(
    message: RequestMessage, ids: CallIds, *, keeps_reasoning: bool, needs_reasoning: bool
) -> Json:
    texts, calls, thoughts = [], [], []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            calls.append(_call(part, ids))
        elif isinstance(part, Segment):
            texts.append(part.text)
        elif isinstance(part, ReasoningPart):
            thoughts.append(part)
    text = join_texts(texts) if texts else ""
    reasoning = sent_back(thoughts) if thoughts and keeps_reasoning else {}
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
