"""A request in Anthropic's wire format. Pure: the same request gives the same bytes.

Source: anthropic 2.10.0, types/message_create_params.py; platform.claude.com, Messages API 2026-10-21 (read 2026-11).
"""

from __future__ import annotations

import base64
from typing import Any

from core.providers.attachments import result_in_words
from core.providers.call_ids import CallIds
from core.providers.marks import Blocks, marks_of
from core.providers.profiles import nearest_effort
from core.providers.protocol import ReadBlob
from core.providers.wire import (
    attached,
    called_with,
    open_turn_start,
    shown_in_result,
    sorted_object,
)
from core.values.cache import TOOLS_KEY
from core.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.values.provider import Effort, ModelProfile, ProviderRequest, RequestMessage, RequestPart
from core.values.stack import Segment

Block = dict[str, Any]

UNKNOWN_MODEL_TOKENS = 32_000
"""`max_tokens` for a model of which nothing is known: every model in service in 2026-11 takes it."""

LEAST_TOKENS = 1024
LEAST_BUDGET = 1024
BUDGETS = {Effort.LOW: 4_096, Effort.MEDIUM: 10_240, Effort.HIGH: 24_576, Effort.MAX: 32_768}
"""Thinking tokens for models that take a budget; at least 1,024 and below `max_tokens` (types/thinking_config)."""

LONG_TTL_S = 3600
"""Lifetimes on offer: 5 minutes and an hour. Source: anthropic 2.10.0, types/cache_control_ephemeral_param.py."""

LONGEST_TITLE = 500
"""Characters of a document's title. Source: API reference, `DocumentBlockParam` (read 2026-11-22)."""

_THINKING_BLOCKS = frozenset({"thinking", "redacted_thinking"})
_GOES_ON = {"role": "user", "content": [{"type": "text", "text": "."}]}
"""Ends a prewarm whose last mark is not in the person's words: a request must end with a user's turn."""

_CHARS_PER_TOKEN = 3


def request_body(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> dict[str, Any]:
    """The arguments of `messages.create`, without `stream`.

    One text block for each segment, in order; blank ones are left out, which the API refuses.

    Raises:
        ProviderError: an attachment that the model does not take.
    """
    max_tokens = _max_tokens(request, profile)
    blocks = Blocks()
    body: dict[str, Any] = {"model": request.model, "max_tokens": max_tokens}
    if tools := _tools(request):
        blocks.note(TOOLS_KEY, tools[-1])
        body["tools"] = tools
    if system := _system(request, blocks):
        body["system"] = system
    body["messages"] = _messages(request, profile, read_blob, blocks)
    for block, ttl_s in blocks.marked(marks_of(request.cache)):
        block["cache_control"] = {"type": "ephemeral", "ttl": "1h" if ttl_s >= LONG_TTL_S else "5m"}
    return {**body, **_thinking(request, profile, max_tokens)}


def prewarm_body(body: dict[str, Any]) -> dict[str, Any] | None:
    """The same request up to its last mark, asking for no reply; None where that cannot be.

    Tools, system, thinking and effort stay, since they are part of the prefix. A tool's results stay together.

    Source: platform.claude.com "Prompt caching", pre-warming: `max_tokens` 0 is refused with a thinking budget and
    with an output format (read 2026-11).
    """
    is_budget = body.get("thinking", {}).get("type") == "enabled"
    if is_budget or "format" in body.get("output_config", {}):
        return None
    messages = _up_to_last_mark(body["messages"])
    if not messages and not any("cache_control" in block for block in _head(body)):
        return None
    if any(block["type"] == "tool_use" for block in _last_turn(messages)):
        return None
    if not messages or messages[-1]["role"] != "user":
        messages = [*messages, _GOES_ON]
    return {**body, "max_tokens": 0, "messages": messages}


def _head(body: dict[str, Any]) -> list[Block]:
    return [*body.get("tools", ()), *body.get("system", ())]


def _up_to_last_mark(messages: list[Block]) -> list[Block]:
    for number in reversed(range(len(messages))):
        content = messages[number]["content"]
        marked = [place for place, block in enumerate(content) if "cache_control" in block]
        if marked:
            results = [place for place, block in enumerate(content) if block["type"] == "tool_result"]
            end = max(marked[-1], *results) if results else marked[-1]
            return [*messages[:number], {**messages[number], "content": content[: end + 1]}]
    return []


def _last_turn(messages: list[Block]) -> list[Block]:
    return messages[-1]["content"] if messages and messages[-1]["role"] == "assistant" else []


def _tools(request: ProviderRequest) -> list[Block]:
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": sorted_object(tool.parameters_json) or {"type": "object"},
        }
        for tool in sorted(request.tools, key=lambda tool: tool.name)
    ]


def _system(request: ProviderRequest, blocks: Blocks) -> list[Block]:
    system = []
    for segment in request.system:
        block = _text(segment.text) if segment.text.strip() else None
        blocks.note_part(segment, block)
        if block is not None:
            system.append(block)
    return system


def _messages(
    request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob, blocks: Blocks
) -> list[Block]:
    open_from, ids = open_turn_start(request.messages), CallIds(request.messages)
    messages = []
    for index, message in enumerate(request.messages):
        content = _content(message, ids, profile, read_blob, blocks, keeps_thinking=index >= open_from)
        if content:
            role = "assistant" if message.role is Role.ASSISTANT else "user"
            messages.append({"role": role, "content": content})
    return messages


def _content(
    message: RequestMessage,
    ids: CallIds,
    profile: ModelProfile,
    read_blob: ReadBlob,
    blocks: Blocks,
    *,
    keeps_thinking: bool,
) -> list[Block]:
    content = []
    for part in message.parts:
        is_left_out = isinstance(part, ReasoningPart) and not keeps_thinking
        block = None if is_left_out else _block(part, ids, profile, read_blob)
        can_be_marked = block is not None and block["type"] not in _THINKING_BLOCKS
        blocks.note_part(part, block if can_be_marked else None)
        if block is not None:
            content.append(block)
    return content


def _block(part: RequestPart, ids: CallIds, profile: ModelProfile, read_blob: ReadBlob) -> Block | None:
    match part:
        case Segment():
            return _text(part.text) if part.text.strip() else None
        case AttachmentPart():
            return _attachment(part, attached(part, read_blob, profile))
        case ReasoningPart():
            return _thinking_block(part)
        case ToolCallPart():
            call_id, name = ids.id_of(part), ids.name_of(part)
            return {"type": "tool_use", "id": call_id, "name": name, "input": called_with(part)}
        case ToolResultPart():
            return _tool_result(part, ids.id_of(part), profile, read_blob)


def _attachment(part: AttachmentPart, data: bytes | str) -> Block:
    if isinstance(data, str):
        return _text(data)
    encoded = base64.b64encode(data).decode("ascii")
    source = {"type": "base64", "media_type": part.media_type, "data": encoded}
    if part.is_pdf:
        title = {"title": part.name[:LONGEST_TITLE]} if part.name else {}
        return {"type": "document", "source": source, **title}
    return {"type": "image", "source": source}


def _thinking_block(part: ReasoningPart) -> Block | None:
    block = sorted_object(part.vendor_json)
    if block is None or block.get("type") not in _THINKING_BLOCKS:
        return None  # another vendor's
    return block


def _tool_result(part: ToolResultPart, call_id: str, profile: ModelProfile, read_blob: ReadBlob) -> Block:
    """An answer of a tool with its pictures. An error may hold nothing but text.

    Source: platform.claude.com "Handle tool calls"; the API's answer "all content must be type `text` if `is_error` is
    true" (read 2026-11-23).
    """
    block: Block = {"type": "tool_result", "tool_use_id": call_id}
    content = [_text(part.text)] if part.text.strip() else []
    for file in part.attachments:
        shown = result_in_words(file) if part.is_error else shown_in_result(file, read_blob, profile)
        content.append(_attachment(file, shown))
    if content:
        block["content"] = content
    if part.is_error:
        block["is_error"] = True
    return block


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _thinking(request: ProviderRequest, profile: ModelProfile, max_tokens: int) -> dict[str, Any]:
    effort = nearest_effort(profile, request.effort)
    fields: dict[str, Any] = {}
    output: dict[str, Any] = {}
    match profile.thinking:
        case "adaptive" if effort is Effort.NONE:
            fields["thinking"] = {"type": profile.thinking_off}
        case "adaptive":
            # Summaries, because the models from 4.7 on leave the text out unless asked.
            fields["thinking"] = {"type": "adaptive", "display": "summarized"}
            if effort is not Effort.AUTO:
                output["effort"] = effort.value
        case "budget" if effort in BUDGETS and max_tokens > LEAST_BUDGET:
            fields["thinking"] = {"type": "enabled", "budget_tokens": min(BUDGETS[effort], max_tokens - 1)}
        case _:
            pass
    if request.response_schema_json:
        output["format"] = {
            "type": "json_schema",
            "schema": sorted_object(request.response_schema_json) or {},
        }
    return {**fields, "output_config": output} if output else fields


def _max_tokens(request: ProviderRequest, profile: ModelProfile) -> int:
    """Tokens asked for, else the model's own limit; never more than the window leaves beside the input.

    Source: the API refuses input and `max_tokens` that exceed the window together on models before 4.5.
    """
    most = profile.max_output_tokens or UNKNOWN_MODEL_TOKENS
    wanted = min(request.max_output_tokens or most, most)
    if profile.context_tokens is None:
        return wanted
    room = profile.context_tokens - int(_input_tokens_est(request) * profile.token_factor)
    return max(min(wanted, room), min(wanted, LEAST_TOKENS))


def _input_tokens_est(request: ProviderRequest) -> int:
    segments = [*request.system]
    for message in request.messages:
        segments.extend(part for part in message.parts if isinstance(part, Segment))
    return sum(
        len(segment.text) // _CHARS_PER_TOKEN if segment.tokens is None else segment.tokens
        for segment in segments
    )
