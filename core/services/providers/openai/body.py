"""The body of a Responses request, rendered from the stack: same stack, same bytes, nothing added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.kernel.language import tr
from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort, ModelProfile, ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import Segment, ToolSchema
from core.kernel.values.usage import UNTOLD_MISS
from core.services.providers.attachments import Blocks, data_url, marks_of
from core.services.providers.door import CallIds, figure, missed_text
from core.services.providers.profiles import has_openai_breakpoints, nearest_effort
from core.services.providers.protocol import ReadBlob
from core.services.providers.switches import Switch, declared_tools, read_switch, told_text, tools_in_force
from core.services.providers.wire import attached, shown_in_result, sorted_object

# OpenAI's prompt cache in requests and replies: options, breakpoints, prewarming, and why less was read.

Json = dict[str, Any]

BREAKPOINT = "prompt_cache_breakpoint"
OPTIONS = "prompt_cache_options"
LONG_TTL_S = 12 * 3600
"""Lifetimes on offer: 30 minutes and 12 hours."""

_MISSES: Mapping[str, str] = {
    "model_changed": tr("the model changed"),
    "prompt_cache_key_changed": tr("the cache key of the request changed"),
    "tools_changed": tr("the tools changed"),
    "text_format_changed": tr("the requested format of the reply changed"),
    "reasoning_effort_changed": tr("the effort changed"),
    "verbosity_changed": tr("the verbosity changed"),
    "service_tier_changed": tr("the service tier changed"),
    "context_compacted": tr("the context was compacted"),
    "input_changed": tr("earlier messages or the system prompt changed"),
}


def takes_breakpoints(request: ProviderRequest) -> bool:
    """True if a request speaks of caching at all, to a model that lets itself be told."""
    return request.cache is not None and has_openai_breakpoints(request.model)


def add_cache_fields(body: Json, request: ProviderRequest, blocks: Blocks) -> None:
    """Put a request's plan into its body: the key, the options, and the breakpoints on their blocks.

    Explicit mode without a breakpoint turns caching off. Models before GPT-5.6 take only the key. What an earlier
    request wrote is found only where this one has a breakpoint too: the plan has one at what is to be read.
    """
    plan = request.cache
    if plan is None:
        return
    if plan.is_enabled and plan.prompt_cache_key:
        body["prompt_cache_key"] = plan.prompt_cache_key
    if not has_openai_breakpoints(request.model):
        return
    for block, ttl_s in blocks.marked(marks_of(plan)):
        block[BREAKPOINT] = {"mode": "explicit", "ttl": "12h" if ttl_s >= LONG_TTL_S else "30m"}
    body[OPTIONS] = {"mode": (plan.openai_mode or "explicit") if plan.is_enabled else "explicit"}


def without_cache_fields(body: Json) -> None:
    """Take options and breakpoints out again, for a server that refuses them."""
    body.pop(OPTIONS, None)
    for item in body["input"]:
        for part in _parts(item):
            part.pop(BREAKPOINT, None)


def prewarm_body(body: Json) -> Json | None:
    """The same request up to its last breakpoint, asking for no reply; None where it has none.

    Tools, format, effort and key stay, since they are part of the prefix. Answers of one round of calls stay together.
    """
    items = body["input"]
    for number in reversed(range(len(items))):
        parts = _parts(items[number])
        marked = [place for place, part in enumerate(parts) if BREAKPOINT in part]
        if marked:
            end = number + 1
            while end < len(items) and items[end]["type"] == items[number]["type"] == "function_call_output":
                end += 1
            field = "output" if items[number]["type"] == "function_call_output" else "content"
            cut = {**items[number], field: parts[: marked[-1] + 1]}
            options = {**body[OPTIONS], "prewarm": True}
            kept = [*items[:number], cut, *items[number + 1 : end]]
            return {**body, "input": kept, "stream": False, OPTIONS: options}
    return None


def miss_reason(diagnostics: object) -> str:
    """Reason why less was read than the reply compared with left there, empty for a hit or nothing said."""
    kind = getattr(diagnostics, "type", None)
    if kind == "comparison_response_not_found":
        return tr("the provider no longer knows the last request")
    if kind == "unavailable":
        return UNTOLD_MISS
    if kind != "cache_miss":
        return ""
    reason = str(getattr(diagnostics, "reason", ""))
    words = _MISSES.get(reason, reason.replace("_", " "))
    return missed_text(words, figure(getattr(diagnostics, "cache_missed_tokens", None)))


def _parts(item: Json) -> list[Json]:
    """The parts of an item that may bear a breakpoint; a string has none."""
    found = item.get("output" if item.get("type") == "function_call_output" else "content")
    return found if isinstance(found, list) else []


def responses_body(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> Json:
    """Render a request for `POST /v1/responses`.

    The system segments are the content blocks of one developer message, not `instructions`: only blocks can carry a
    cache breakpoint. Nothing is stored by the vendor (`store: false`); reasoning comes back encrypted.

    Args:
        profile: what is known of the model.

    Raises:
        ProviderError: an attachment that the model does not take, or that is gone.

    Source: OpenAI API reference, "Create a model response", openai 3.51.0 (read 2026-11-20).
    """
    blocks = Blocks()
    body: Json = {
        **prompt(request, profile, read_blob, blocks),
        "model": request.model,
        "store": False,
        "stream": True,
    }
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if body.get("reasoning", {}).get("summary"):
        body["include"] = ["reasoning.encrypted_content"]
    add_cache_fields(body, request, blocks)
    return body


def prompt(
    request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob, blocks: Blocks | None = None
) -> Json:
    """The fields that are part of what the model reads, the same for sending and for counting.

    Args:
        blocks: takes in which block came from which part, for breakpoints.
    """
    body: Json = {"input": _input(request, profile, read_blob, blocks or Blocks())}
    if request.tools:
        body["tools"] = [_function(tool) for tool in sorted(request.tools, key=lambda tool: tool.name)]
    if (choice := _tool_choice(request)) is not None:
        body["tool_choice"] = choice
    if request.response_schema_json:
        schema = sorted_object(request.response_schema_json) or {}
        form = {"type": "json_schema", "name": "reply", "schema": schema, "strict": is_strict_schema(schema)}
        body["text"] = {"format": form}
    if reasoning := reasoning_field(request.effort, profile):
        body["reasoning"] = reasoning
    return body


def reasoning_field(effort: Effort, profile: ModelProfile) -> Json:
    """Effort of reasoning, and the wish for a summary. Empty for a model that does not reason."""
    if not profile.efforts or not profile.thinking.startswith("effort"):
        return {}
    level = nearest_effort(profile, effort)
    if level is Effort.AUTO:
        return {"summary": "auto"}
    return {"effort": effort_word(level, profile), "summary": "auto"}


def effort_word(level: Effort, profile: ModelProfile) -> str:
    """The wire's word for a level: the highest is `max`, before GPT-5.6 `xhigh`.

    Source: openai types/shared/reasoning_effort.py, 3.51.0; OpenAI's model pages (read 2026-11-20).
    """
    return "xhigh" if level is Effort.MAX and profile.thinking == "effort_xhigh" else level.value


def is_strict_schema(schema: object) -> bool:
    """True if a JSON Schema obeys what strict mode asks: closed objects in which every property is required.

    Source: OpenAI "Structured model outputs", supported schemas (read 2026-11-20).
    """
    if isinstance(schema, list):
        return all(is_strict_schema(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(
            properties
        ):
            return False
    return all(is_strict_schema(value) for value in schema.values())


def _input(
    request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob, blocks: Blocks
) -> list[Json]:
    items: list[Json] = []
    if system := _user_content(request.system, profile, read_blob, blocks):
        items.append({"type": "message", "role": "developer", "content": system})
    ids = CallIds(request.messages)
    for message in request.messages:
        match message.role:
            case Role.USER:
                items.extend(_user_items(message, profile, read_blob, blocks))
            case Role.ASSISTANT:
                items.extend(_assistant_items(message, ids))
                for part in message.parts:
                    blocks.note_part(part, None)
            case Role.TOOL:
                as_blocks = takes_breakpoints(request)
                items.extend(_tool_items(message, ids, profile, read_blob, blocks, as_blocks=as_blocks))
    return items


def _user_items(
    message: RequestMessage, profile: ModelProfile, read_blob: ReadBlob, blocks: Blocks
) -> Iterator[Json]:
    """A person's turn; what switches with it stands behind the words, as items of their own."""
    role, begin = "user", 0
    places = [n for n, part in enumerate(message.parts) if read_switch(part) is not None]
    for place in (*places, len(message.parts)):
        if content := _user_content(message.parts[begin:place], profile, read_blob, blocks):
            yield {"type": "message", "role": role, "content": content}
        switch = read_switch(message.parts[place]) if place < len(message.parts) else None
        if switch is not None:
            yield from _switch_items(switch, profile)
            begin = place + 1


def _switch_items(switch: Switch, profile: ModelProfile) -> Iterator[Json]:
    """Items that tell a switch. Tools that it takes away are not among them: `tool_choice` leaves them out, which is no part of what is cached."""
    if switch.effort:
        level = nearest_effort(profile, Effort(switch.effort))
        yield {"type": "configuration_update", "reasoning": {"effort": effort_word(level, profile)}}
    if text := told_text(switch):
        yield {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}
    if switch.added:
        tools = [_function(tool) for tool in switch.added]
        yield {"type": "additional_tools", "role": "developer", "tools": tools}


def _function(tool: ToolSchema) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": sorted_object(tool.parameters_json) or {"type": "object"},
        "strict": False,
    }


def _tool_choice(request: ProviderRequest) -> Json | str | None:
    """Choice of the tools that are in force, None where that is all of those that the request describes."""
    given, declared = tools_in_force(request), declared_tools(request)
    if len(given) == len(declared):
        return None
    allowed = [{"type": "function", "name": tool.name} for tool in given]
    return {"type": "allowed_tools", "mode": "auto", "tools": allowed} if allowed else "none"


def _user_content(
    parts: Sequence[RequestPart], profile: ModelProfile, read_blob: ReadBlob, blocks: Blocks
) -> list[Json]:
    content: list[Json] = []
    for part in parts:
        block = None
        match part:
            case Segment(text=text) if text.strip():
                block = _text("input_text", part)
            case AttachmentPart():
                block = _attachment(part, attached(part, read_blob, profile))
            case _:
                pass
        blocks.note_part(part, block)
        if block is not None:
            content.append(block)
    return content


def _attachment(part: AttachmentPart, data: bytes | str) -> Json:
    if isinstance(data, str):
        return {"type": "input_text", "text": data}
    if part.is_pdf:
        return {"type": "input_file", "filename": part.name, "file_data": data_url(part, data)}
    return {"type": "input_image", "image_url": data_url(part, data), "detail": "auto"}


def _assistant_items(message: RequestMessage, ids: CallIds) -> list[Json]:
    """A turn of the model, its parts in their order, its reasoning where the request holds it."""
    items: list[Json] = []
    for part in message.parts:
        match part:
            case Segment(text=text) if text.strip():
                if not items or items[-1].get("role") != "assistant":
                    items.append({"type": "message", "role": "assistant", "content": []})
                items[-1]["content"].append(_text("output_text", part))
            case ToolCallPart():
                call = {"type": "function_call", "call_id": ids.id_of(part), "name": ids.name_of(part)}
                items.append({**call, "arguments": part.arguments_json})
            case ReasoningPart() if block := _own_block(part):
                items.append(block)
            case _:
                pass
    return items


def _own_block(part: ReasoningPart) -> Json | None:
    """The reasoning item that this API once gave, None for another vendor's block: one log holds them all."""
    block = sorted_object(part.vendor_json) or {}
    return block if block.get("type") == "reasoning" and block.get("encrypted_content") else None


def _tool_items(
    message: RequestMessage,
    ids: CallIds,
    profile: ModelProfile,
    read_blob: ReadBlob,
    blocks: Blocks,
    *,
    as_blocks: bool,
) -> list[Json]:
    """Answers of tools: strings, or blocks where one has pictures and where a model takes breakpoints, which only
    blocks can bear.
    """
    items: list[Json] = []
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            item: Json = {
                "type": "function_call_output",
                "call_id": ids.id_of(part),
                "output": part.text,
            }
            content: list[Json] = []
            if part.text.strip() and (as_blocks or part.attachments):
                content.append({"type": "input_text", "text": part.text})
            content += [
                _attachment(file, shown_in_result(file, read_blob, profile)) for file in part.attachments
            ]
            if content:
                item["output"] = content
                blocks.note_part(part, content[-1])
            items.append(item)
    return items


def _text(kind: str, segment: Segment) -> Json:
    return {"type": kind, "text": segment.text}
