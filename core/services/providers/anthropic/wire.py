"""A request in Anthropic's wire format. Pure: the same request gives the same bytes.

Source: anthropic 2.10.0, types/message_create_params.py; platform.claude.com, Messages API 2026-10-21 (read 2026-11).
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from core.kernel.codecs import canonical_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.values.cache import TOOLS_KEY
from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    ReasoningDelta,
    RequestMessage,
    RequestPart,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.stack import LayerId, Segment, ToolSchema
from core.kernel.values.usage import UNTOLD_MISS, Usage
from core.services.providers.attachments import Blocks, marks_of, result_in_words
from core.services.providers.door import CallIds, counted_usage, figure, is_absurd, missed_text, part_of
from core.services.providers.endings import is_said, stop_at
from core.services.providers.profiles import nearest_effort
from core.services.providers.protocol import ReadBlob
from core.services.providers.switches import Switch, read_switch, told_text
from core.services.providers.wire import (
    attached,
    called_with,
    plain_arguments,
    plain_name,
    shown_in_result,
    sorted_object,
)

Block = dict[str, Any]

UNKNOWN_MODEL_TOKENS = 32_000
"""`max_tokens` for a model of which nothing is known: every model in service in 2026-11 takes it."""

LEAST_TOKENS = 1024
LEAST_BUDGET = 1024
BUDGETS = {
    Effort.MINIMAL: 1_024,
    Effort.LOW: 4_096,
    Effort.MEDIUM: 10_240,
    Effort.HIGH: 24_576,
    Effort.XHIGH: 28_672,
    Effort.MAX: 32_768,
}
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
    return [_tool(tool) for tool in sorted(request.tools, key=lambda tool: tool.name)]


def _tool(tool: ToolSchema) -> Block:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": sorted_object(tool.parameters_json) or {"type": "object"},
    }


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
    ids = CallIds(request.messages)
    messages = []
    for message in request.messages:
        said, switches, behind = _by_switches(message)
        content = _content(said, ids, profile, read_blob, blocks)
        if content:
            role = "assistant" if message.role is Role.ASSISTANT else "user"
            messages.append({"role": role, "content": content})
        if switches:
            told = _content(behind, ids, profile, read_blob, blocks)
            messages.append(_switch_message(switches, told, profile))
    return messages


_PASSING = ("/told", "/recalled")
"""Ends of keys of what stands behind a person's words beside layer 8."""


def _by_switches(message: RequestMessage) -> tuple[RequestMessage, list[Switch], RequestMessage]:
    """A message as it is said, its switches, and what of it stands behind them: the API takes a system message only behind a
    person's turn, and text alone in it.
    """
    switches = [one for one in map(read_switch, message.parts) if one is not None]
    if not switches:
        return message, [], replace(message, parts=())
    place = next(n for n, part in enumerate(message.parts) if read_switch(part) is not None)
    rest = [part for part in message.parts[place:] if read_switch(part) is None]
    behind = [
        part
        for part in rest
        if isinstance(part, Segment) and (part.layer is LayerId.METADATA or part.key.endswith(_PASSING))
    ]
    said = (*message.parts[:place], *(part for part in rest if part not in behind))
    return replace(message, parts=said), switches, replace(message, parts=tuple(behind))


def _switch_message(switches: Sequence[Switch], told: list[Block], profile: ModelProfile) -> Block:
    changes: list[Block] = []
    for one in switches:
        references = ({"type": "tool_reference", "name": name} for name in one.removed)
        changes += [{"type": "tool_removal", "tool": tool} for tool in references]
        definitions = ({"type": "tool_definition", "definition": _tool(tool)} for tool in one.added)
        changes += [{"type": "tool_addition", "tool": tool} for tool in definitions]
        if text := told_text(one):
            changes.append({"type": "text", "text": text})
    message: Block = {"role": "system", "content": [*changes, *told]}
    effort = next((one.effort for one in reversed(switches) if one.effort), "")
    if effort:
        message["output_config"] = {"effort": nearest_effort(profile, Effort(effort)).value}
    return message


_TOOL_BETAS = ("mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15")
_EFFORT_BETA = "mid-conversation-output-config-2026-07-01"


def betas_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Betas that a body asks for, in order. Source: anthropic 2.14.0, types/anthropic_beta_param.py."""
    told = [message for message in body["messages"] if message["role"] == "system"]
    has_tools = any(block["type"] != "text" for message in told for block in message["content"])
    has_effort = any("output_config" in message for message in told)
    return (*(_TOOL_BETAS if has_tools else ()), *((_EFFORT_BETA,) if has_effort else ()))


def _content(
    message: RequestMessage,
    ids: CallIds,
    profile: ModelProfile,
    read_blob: ReadBlob,
    blocks: Blocks,
) -> list[Block]:
    content = []
    for part in message.parts:
        block = _block(part, ids, profile, read_blob)
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


def add_blank_thinking(body: Block) -> bool:
    """Put a blank thought before each call of the past that has none. Returns whether there was such a call.

    Source: DeepSeek's and Kimi's addresses for this protocol; QwenLM/qwen-code#3788 (read 2026-11).
    """
    is_changed = False
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        kinds = [block["type"] for block in blocks]
        if "tool_use" in kinds and not _THINKING_BLOCKS.intersection(kinds):
            blocks.insert(0, {"type": "thinking", "thinking": "", "signature": ""})
            is_changed = True
    return is_changed


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


# Anthropic's stream of events as items of ours.

_MISSES: Mapping[str, str] = {
    "model_changed": tr("the model changed"),
    "system_changed": tr("the system prompt changed"),
    "tools_changed": tr("the tools changed"),
    "messages_changed": tr("earlier messages changed"),
    "previous_message_not_found": tr("the provider no longer knows the last request"),
    "unavailable": UNTOLD_MISS,
}
"""Source: anthropic 2.10.0, types/cache_miss_*.py; "Cache diagnostics" (read 2026-11)."""


_KNOWN = frozenset(
    {
        "ping",
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)


@dataclass(slots=True)
class _Block:
    """A content block that is being received."""

    kind: str
    call_id: str = ""
    name: str = ""
    text: str = ""
    signature: str = ""
    input: str = ""
    """Arguments that came with the block's begin; pieces of them stand for all."""


def is_known(event: object) -> bool:
    """True if an event belongs to a reply; a ping does."""
    kind = getattr(event, "type", None)
    return isinstance(kind, str) and kind in _KNOWN


def reply_items(
    events: Iterable[object],
    request_id: str,
    on_id: Callable[[str], None] = lambda _: None,
    tools: Collection[str] = (),
) -> Iterator[StreamItem]:
    """Translate a stream of events.

    Args:
        events: the SDK's, or anything with their attributes; a part that is missing is taken as not reported.
        on_id: told the message's id when it begins; tools: names that were offered.

    Raises:
        ProviderError: STREAM_DROPPED where it ends without saying so, BAD_REPLY where it never began.
    """
    reader = _MessageReader(request_id, on_id, tools)
    for event in events:
        yield from reader.read(event)
        if reader.has_ended:
            break
    yield from reader.end()


class _MessageReader:
    """Reads the events of one message. Servers that keep the protocol by half leave out the begin or the end of a block,
    count all blocks 0, or stop behind the reason to stop.
    """

    def __init__(self, request_id: str, on_id: Callable[[str], None], tools: Collection[str]) -> None:
        self.has_ended = False
        self._on_id, self._tools = on_id, tools
        self._blocks: dict[int, _Block] = {}
        self._usage = Usage(request_id=request_id)
        self._delta: object = None
        self._has_begun = self._has_calls = False

    def read(self, event: object) -> Iterator[StreamItem]:
        """Items of an event."""
        match getattr(event, "type", None):
            case "message_start":
                self._has_begun = True
                self._on_id(_string(_get(event, "message"), "id"))
                usage = merge_usage(self._usage, _get(event, "message", "usage"), has_reply=False)
                missed = miss_reason(_get(event, "message", "diagnostics"))
                self._usage = replace(usage, miss_reason=missed)
                yield UsageUpdate(self._usage)
            case "content_block_start":
                yield from self._stop(_index(event))
                block = self._blocks[_index(event)] = _start(_get(event, "content_block"))
                yield from _opening(block)
            case "content_block_delta":
                yield from _delta(self._block(event), _get(event, "delta"))
            case "content_block_stop":
                yield from self._stop(_index(event))
            case "message_delta":
                self._usage = merge_usage(self._usage, _get(event, "usage"))
                self._delta = _get(event, "delta")
                yield UsageUpdate(self._usage)
            case "message_stop":
                self.has_ended = True
            case _:
                pass  # ping, and what later versions add

    def end(self) -> Iterator[StreamItem]:
        """Items of blocks that are still open, and the end. Raises as `reply_items`."""
        word = _string(self._delta, "stop_reason")
        if not (self.has_ended or is_said(word)):
            raise ProviderError(
                FailureKind.STREAM_DROPPED if self._has_begun else FailureKind.BAD_REPLY,
                tr("the reply ended without its last event")
                if self._has_begun
                else tr("no part of a message came"),
            )
        for index in tuple(self._blocks):
            yield from self._stop(index)
        yield _stopped(self._delta, has_calls=self._has_calls, has_ended=self.has_ended)

    def _block(self, event: object) -> _Block | None:
        """The block of a delta; one whose begin never came is of the kind that the delta is."""
        kind = _KIND_OF_DELTA.get(_string(_get(event, "delta"), "type"))
        index = _index(event)
        if index not in self._blocks and kind:
            self._has_begun = True
            self._blocks[index] = _Block(kind=kind)
        return self._blocks.get(index)

    def _stop(self, index: int) -> Iterator[StreamItem]:
        block = self._blocks.pop(index, None)
        for item in _stop(block, self._tools):
            self._has_calls |= isinstance(item, ToolCallReady)
            yield item


_KIND_OF_DELTA = {"text_delta": "text", "thinking_delta": "thinking"}


def merge_usage(before: Usage, reported: object, *, has_reply: bool = True) -> Usage:
    """Take in a usage object of the wire. Its figures are cumulative: they replace the ones before.

    `input_tokens` of the wire counts only what follows the last mark; ours is everything sent, so the cache's reads
    and writes are added: where one of these is absurd, nobody knows how much was sent, and it is an estimate. A write is the larger of the total
    and the sum by TTL: the vendor has been seen to leave the total at 0. Where a reply begins (`has_reply` False) what stands there of it is a placeholder: its length is not known
    before its end. Source: caching-facts A3; anthropic 2.10.0, types/usage.py.
    """
    by_ttl = _get(reported, "cache_creation")
    write_5m = _either(_number(by_ttl, "ephemeral_5m_input_tokens"), before.cache_write_5m_tokens)
    write_1h = _either(_number(by_ttl, "ephemeral_1h_input_tokens"), before.cache_write_1h_tokens)
    parts = [n for n in (write_5m, write_1h) if n is not None]
    total = _either(_number(reported, "cache_creation_input_tokens"), before.cache_write_tokens)
    write = max(total or 0, sum(parts)) if parts or total is not None else None
    read = _either(_number(reported, "cache_read_input_tokens"), before.cache_read_tokens)
    rest = _number(reported, "input_tokens")
    if rest == 0 and has_reply and before.input_tokens and not (read or write):
        rest = None  # gateways close with a zero for what they do not know
    if rest is None and before.input_tokens is not None:
        rest = before.input_tokens - (before.cache_read_tokens or 0) - (before.cache_write_tokens or 0)
    details = _get(reported, "output_tokens_details")
    is_part_absurd = (read is None and is_absurd(_get(reported, "cache_read_input_tokens"))) or (
        write is None and is_absurd(_get(reported, "cache_creation_input_tokens"))
    )
    usage = counted_usage(
        input_tokens=None if rest is None or is_part_absurd else rest + (read or 0) + (write or 0),
        output_tokens=_either(_number(reported, "output_tokens"), before.output_tokens)
        if has_reply
        else None,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_write_5m_tokens=_told(by_ttl, "ephemeral_5m_input_tokens", before.cache_write_5m_tokens),
        cache_write_1h_tokens=_told(by_ttl, "ephemeral_1h_input_tokens", before.cache_write_1h_tokens),
        reasoning_tokens=_told(details, "thinking_tokens", before.reasoning_tokens) if has_reply else None,
        request_id=before.request_id,
        miss_reason=before.miss_reason,
    )
    return replace(usage, is_estimate=usage.is_estimate or before.is_estimate or is_part_absurd)


def miss_reason(diagnostics: object) -> str:
    """Reason why less was read from the cache than the last request left there, empty where none is reported.

    Source: platform.claude.com "Cache diagnostics": absent, null, pending, or an object with a type (read 2026-11).
    """
    reason = _get(diagnostics, "cache_miss_reason")
    kind = _string(reason, "type")
    if not kind:
        return ""
    words = _MISSES.get(kind, kind.replace("_", " "))
    return missed_text(words, _number(reason, "cache_missed_input_tokens"))


def stop_of(message: object) -> StopKind:
    """Reason for which a whole message ended."""
    return _stopped(message).kind


def _start(block: object) -> _Block:
    return _Block(
        kind=_string(block, "type"),
        call_id=_string(block, "id"),
        name=_string(block, "name"),
        text=_string(block, "text") or _string(block, "thinking"),
        signature=_string(block, "signature") or _string(block, "data"),
        input=_input(_get(block, "input")),
    )


def _input(given: object) -> str:
    if isinstance(given, str):
        return given
    return canonical_json(given) if isinstance(given, dict) and given else ""


def _opening(block: _Block) -> Iterator[StreamItem]:
    match block:
        case _Block(kind="text", text=text) if text:
            yield TextDelta(text)
        case _Block(kind="thinking", text=text) if text:
            yield ReasoningDelta(text)
        case _:
            pass


def _delta(block: _Block | None, delta: object) -> Iterator[StreamItem]:
    if block is None:
        return
    match getattr(delta, "type", None):
        case "text_delta":
            if text := _string(delta, "text"):
                yield TextDelta(text)
        case "thinking_delta":
            if text := _string(delta, "thinking"):
                block.text += text
                yield ReasoningDelta(text)
        case "signature_delta":
            block.signature += _string(delta, "signature")
        case "input_json_delta":
            block.text += _string(delta, "partial_json")
        case _:
            pass


def _stop(block: _Block | None, tools: Collection[str]) -> Iterator[StreamItem]:
    match block:
        case _Block(kind="thinking"):
            sent_back = {"type": "thinking", "thinking": block.text, "signature": block.signature}
            yield ReasoningDelta("", canonical_json(sent_back))
        case _Block(kind="redacted_thinking"):
            yield ReasoningDelta("", canonical_json({"type": "redacted_thinking", "data": block.signature}))
        case _Block(kind="tool_use"):
            name = plain_name(block.name, tools)
            arguments = plain_arguments(block.text or block.input, name)
            call_id = block.call_id or f"toolu_{secrets.token_hex(12)}"
            yield ToolCallReady(ToolCallPart(call_id=call_id, name=name, arguments_json=arguments))
        case _:
            pass


def _stopped(delta: object, *, has_calls: bool = False, has_ended: bool = False) -> Stopped:
    """The end by its reason; a whole message whose server says none has come to its end."""
    explanation = _string(_get(delta, "stop_details"), "explanation")
    word = _string(delta, "stop_reason")
    if has_ended and not is_said(word):
        word = "end_turn"
    return stop_at(word, has_calls=has_calls, explanation=explanation)


def _get(value: object, *path: str) -> object:
    for name in path:
        value = getattr(value, name, None)
    return value


def _string(value: object, name: str) -> str:
    found = getattr(value, name, None)
    return found if isinstance(found, str) else ""


def _number(value: object, name: str) -> int | None:
    found = getattr(value, name, None)
    return figure(found)


def _index(event: object) -> int:
    return _number(event, "index") or 0


def _told(table: object, name: str, before: int | None) -> object:
    """A part of the newer usage as it stands there, or the one before where it holds no count."""
    newer = part_of(table, name)
    return newer if before is None or not (newer is None or is_absurd(newer)) else before


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first


# A text cut into content blocks that are marked for the cache, for programs that build their own requests.

MAX_BOUNDARIES = 3


def cache_prefix_blocks(message: str, cache_boundaries: Sequence[int] | None) -> str | list[dict[str, Any]]:
    """Split a text at character offsets into content blocks, each but the rest marked for the cache.

    Args:
        message: any text.
        cache_boundaries: character offsets; taken sorted, without repeats, and only those inside the text
            (0 < offset < length); None for none. Of more than three the last and the first two are kept.

    Returns:
        Blocks whose texts together are the message, or the plain message where no boundary is valid.

    A request has four marks at most (Anthropic "Prompt caching", read 2026-11), of which
    one is left for the system blocks.
    """
    cuts = sorted({offset for offset in cache_boundaries or () if 0 < offset < len(message)})
    if not cuts:
        return message
    if len(cuts) > MAX_BOUNDARIES:
        cuts = [*cuts[: MAX_BOUNDARIES - 1], cuts[-1]]
    starts = [0, *cuts]
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": message[start:end], "cache_control": {"type": "ephemeral"}}
        for start, end in zip(starts, cuts, strict=False)
    ]
    return [*blocks, {"type": "text", "text": message[cuts[-1] :]}]
