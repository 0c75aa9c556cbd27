"""What Anthropic's Messages API accepts, version 2026-10-21, as its documents say it; caching and thinking aside.

Source: platform.claude.com "Messages", "Errors", "Versions", "Extended thinking" (read 2026-11); anthropic 2.10.0 types.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from dataclasses import dataclass
from itertools import takewhile

from tests.pdfs import pages_of
from tests.vendors.loopback import Json

VERSION = "2026-10-21"
MAX_BODY_BYTES = 32_000_000
_FIELDS = frozenset(
    [
        "max_tokens",
        "messages",
        "model",
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "metadata",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
        "user_profile_id",
    ]
)
_COUNT_FIELDS = frozenset(
    [
        "messages",
        "model",
        "cache_control",
        "output_config",
        "speed",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    ]
)
_BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "image": {"type", "source", "cache_control", "transformations"},
    "document": {"type", "source", "cache_control", "title", "context", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "tool_addition": {"type", "tool", "cache_control"},
    "tool_removal": {"type", "tool", "cache_control"},
}
_MOST_IMAGE_CHARS = 5_242_880
_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_TOOL = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the vendor describes it."""

    id: str
    name: str
    window: int = 1_000_000
    max_output: int = 128_000
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")
    thinking: tuple[str, ...] = ("adaptive",)
    takes_prefill: bool = False


MODELS = {
    model.id: model
    for model in (
        Model("claude-opus-5-5", "Claude Opus 5.5"),
        Model("claude-sonnet-5-5", "Claude Sonnet 5.5", thinking=("adaptive", "between_tools")),
        Model("claude-haiku-5-5", "Claude Haiku 5.5", thinking=("adaptive", "disabled")),
        Model(
            "claude-haiku-4-5",
            "Claude Haiku 4.5",
            window=200_000,
            max_output=64_000,
            efforts=(),
            thinking=("enabled", "disabled"),
            takes_prefill=True,
        ),
        Model("claude-novel-6", "Claude Novel 6", max_output=256_000, efforts=("low", "high")),
    )
}


class RefusedError(Exception):
    """A request that breaks a rule. `kind` and `message` go into the error's body."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def check(body: Json, *, counts_only: bool = False) -> Model:
    """Hold a request against the rules. Raises RefusedError with the vendor's words."""
    for name in body:
        if name not in (_COUNT_FIELDS if counts_only else _FIELDS):
            raise _invalid(f"{name}: Extra inputs are not permitted")
    for name in ("model", "messages") if counts_only else ("model", "max_tokens", "messages"):
        if name not in body:
            raise _invalid(f"{name}: Field required")
    model = MODELS.get(str(body["model"]))
    if model is None:
        raise RefusedError(404, "not_found_error", f"model: {body['model']}")
    if not counts_only:
        _check_max_tokens(body["max_tokens"], model)
    _check_system(body.get("system", []))
    _check_tools(body.get("tools", []))
    _check_thinking(body, model)
    _check_messages(body["messages"], model)
    return model


def blocks_of(content: object) -> list[Json]:
    """Content as blocks: a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])  # type: ignore[call-overload]


def _check_max_tokens(value: object, model: Model) -> None:
    if not isinstance(value, int) or value < 0:
        raise _invalid("max_tokens: Input should be greater than or equal to 0")
    if value > model.max_output:
        raise _invalid(
            f"max_tokens: {value} > {model.max_output}, which is the maximum allowed number of output tokens"
            f" for {model.id}"
        )


def _check_system(system: object) -> None:
    for number, block in enumerate(blocks_of(system)):
        if block.get("type") != "text":
            raise _invalid(f"system.{number}.type: Input should be 'text'")
        _check_text(block, f"system.{number}", "system")


def _check_tools(tools: list[Json]) -> None:
    names = [tool.get("name") for tool in tools]
    if len(set(names)) != len(names):
        raise _invalid("tools: Tool names must be unique.")
    for number, tool in enumerate(tools):
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise _invalid(f"tools.{number}.custom.input_schema.type: Input should be 'object'")


def _check_thinking(body: Json, model: Model) -> None:
    thinking, output = body.get("thinking"), body.get("output_config", {})
    if thinking is not None:
        kind = thinking.get("type")
        if kind not in model.thinking:
            raise _invalid(
                f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and'
                ' "output_config.effort" to control thinking behavior.'
            )
        if kind == "enabled":
            budget = thinking.get("budget_tokens", 0)
            if budget < 1024:
                raise _invalid(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
                )
            if budget >= body.get("max_tokens", budget + 1):
                raise _invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
    effort = output.get("effort")
    if effort is not None and effort not in model.efforts:
        raise _invalid(f"output_config.effort: '{effort}' is not supported for this model")


def _check_messages(messages: list[Json], model: Model) -> None:
    if not messages:
        raise _invalid("messages: at least one message is required")
    for number, message in enumerate(messages):
        role, where = message.get("role"), f"messages.{number}"
        if role not in {"user", "assistant", "system"}:
            raise _invalid(f"{where}.role: Input should be 'user', 'assistant' or 'system'")
        blocks = blocks_of(message.get("content"))
        is_last_assistant = role == "assistant" and number == len(messages) - 1
        if not (blocks or is_last_assistant or message.get("output_config")):
            raise _invalid(
                f"{where}: all messages must have non-empty content except for the optional final assistant message"
            )
        for place, block in enumerate(blocks):
            _check_block(block, role, f"{where}.content.{place}")
    if messages[0]["role"] != "user":
        raise _invalid('messages: first message must use the "user" role')
    _check_system_turns(messages)
    if messages[-1]["role"] == "assistant" and not model.takes_prefill:
        raise _invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    _check_tool_pairs(messages)


def _check_system_turns(messages: list[Json]) -> None:
    for number, message in enumerate(messages):
        if message["role"] != "system" or not blocks_of(message["content"]):
            continue  # effort alone may stand anywhere
        follows = messages[number + 1]["role"] if number + 1 < len(messages) else "assistant"
        if messages[number - 1]["role"] != "user" or follows != "assistant":
            raise _invalid(
                f"messages.{number}: system messages must follow a user turn and end the input or precede an"
                " assistant turn"
            )


def _check_block(block: Json, role: str, where: str) -> None:
    kind = str(block.get("type"))
    if kind not in _BLOCK_FIELDS:
        raise _invalid(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        )
    for name in block:
        if name not in _BLOCK_FIELDS[kind]:
            raise _invalid(f"{where}.{kind}.{name}: Extra inputs are not permitted")
    match kind:
        case "text":
            _check_text(block, where, role)
        case "image":
            _check_image(block, where)
        case "document" if role == "assistant":
            raise _invalid(f"{where}: document blocks are not permitted in assistant messages")
        case "document":
            _check_document(block, where)
        case "tool_addition" | "tool_removal" if role != "system":
            raise _invalid(f"{where}: `{kind}` blocks can only be in `system` messages")
        case "tool_addition" | "tool_removal":
            _check_tools([block["tool"]["definition"]] if "definition" in block["tool"] else [])
        case "tool_use" | "thinking" | "redacted_thinking" if role != "assistant":
            raise _invalid(f"{where}: `{kind}` blocks can only be in `assistant` messages")
        case "tool_result" if role != "user":
            raise _invalid(f"{where}: `tool_result` blocks can only be in `user` messages")
        case "tool_result":
            _check_result(block, where)
        case "tool_use" if not _TOOL.match(str(block.get("name"))):
            raise _invalid(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        case "tool_use" if not _ID.match(str(block.get("id"))):
            raise _invalid(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        case "tool_use" if not isinstance(block.get("input"), dict):
            raise _invalid(f"{where}.tool_use.input: Input should be a valid dictionary")


def _check_result(block: Json, where: str) -> None:
    """Source: "Handle tool calls", and the API's answers of status 400 (read 2026-11-23)."""
    if not _ID.match(str(block.get("tool_use_id"))):
        raise _invalid(f"{where}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    for place, inner in enumerate(blocks_of(block.get("content"))):
        if inner.get("type") not in {"text", "image", "document"}:
            raise _invalid(
                f"{where}.tool_result.content.{place}: Input tag '{inner.get('type')}' is not expected"
            )
        if block.get("is_error") and inner["type"] != "text":
            raise _invalid(f"{where}.tool_result: all content must be type `text` if `is_error` is true")
        _check_block(inner, "user", f"{where}.tool_result.content.{place}")


def _check_text(block: Json, where: str, role: str) -> None:
    text = block.get("text")
    if not isinstance(text, str) or not text:
        raise _invalid("messages: text content blocks must be non-empty")
    if not text.strip():
        raise _invalid("messages: text content blocks must contain non-whitespace text")
    if block.get("citations") and role == "user":
        raise _invalid(f"{where}.text.citations: citations are not permitted in user messages")


def _check_image(block: Json, where: str) -> None:
    source = block.get("source", {})
    if source.get("type") != "base64" or source.get("media_type") not in _IMAGES:
        raise _invalid(f"{where}.image.source.media_type: Input should be {sorted(_IMAGES)}")
    if (chars := len(source.get("data", ""))) > _MOST_IMAGE_CHARS:
        raise _invalid(
            f"{where}.image.source.base64: image exceeds 5 MB maximum: {chars} bytes > {_MOST_IMAGE_CHARS} bytes"
        )
    try:
        data = base64.b64decode(source.get("data", ""), validate=True)
    except binascii.Error as error:
        raise _invalid(f"{where}.image.source.base64: invalid base64 data") from error
    if data.startswith(b"\x89PNG") and len(data) >= 24 and max(struct.unpack(">II", data[16:24])) > 8_000:
        raise _invalid(
            f"{where}.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"
        )


def _check_document(block: Json, where: str) -> None:
    """A PDF, not encrypted. Source: "PDF support", requirements (read 2026-11-22)."""
    source = block.get("source", {})
    if source.get("type") != "base64" or source.get("media_type") != "application/pdf":
        raise _invalid(f"{where}.document.source.base64.media_type: Input should be 'application/pdf'")
    try:
        data = base64.b64decode(source.get("data", ""), validate=True)
    except binascii.Error as error:
        raise _invalid(f"{where}.document.source.base64: invalid base64 data") from error
    pages = pages_of(data)
    if pages is None:
        raise _invalid(f"{where}.document.source.base64.data: The PDF specified was not valid.")
    if pages > 600:
        raise _invalid("messages: A maximum of 600 PDF pages may be provided.")
    if block.get("title") is not None and not 1 <= len(block["title"]) <= 500:
        raise _invalid(f"{where}.document.title: String should have at least 1 and at most 500 characters")


def _check_tool_pairs(messages: list[Json]) -> None:
    turns = _merged(messages)
    ids = [b["id"] for _, blocks in turns for b in blocks if b["type"] == "tool_use"]
    if len(set(ids)) != len(ids):
        raise _invalid("messages: `tool_use` ids must be unique")
    for number, (role, blocks) in enumerate(turns):
        asked = {b["id"] for b in blocks if b["type"] == "tool_use"}
        following = turns[number + 1][1] if number + 1 < len(turns) else []
        # Results that do not stand first in the message are not seen as following their calls.
        first = list(takewhile(lambda b: b["type"] == "tool_result", following))
        answered = {b["tool_use_id"] for b in first}
        if len(first) != len(answered):
            raise _invalid(f"messages.{number + 1}: each tool_use must have a single result")
        if asked - answered:
            raise _invalid(
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after:"
                f" {', '.join(sorted(asked - answered))}."
            )
        before = turns[number - 1][1] if number else []
        known = {b["id"] for b in before if b["type"] == "tool_use"}
        loose = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"} - known
        if role == "user" and loose:
            raise _invalid(
                f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {loose}"
            )


def _merged(messages: list[Json]) -> list[tuple[str, list[Json]]]:
    turns: list[tuple[str, list[Json]]] = []
    for message in messages:
        blocks = blocks_of(message["content"])
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks)))
    return turns


def _invalid(message: str) -> RefusedError:
    return RefusedError(400, "invalid_request_error", message)
