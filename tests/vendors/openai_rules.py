"""What OpenAI's Responses API refuses, as its documents and its SDK's types say (read 2026-11-20)."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from tests.pdfs import pages_of

Json = dict[str, Any]

FIELDS = frozenset(
    [
        "background",
        "context_management",
        "conversation",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ]
)
COUNTED_FIELDS = frozenset(
    [
        "conversation",
        "input",
        "instructions",
        "model",
        "parallel_tool_calls",
        "personality",
        "previous_response_id",
        "reasoning",
        "text",
        "tool_choice",
        "tools",
        "truncation",
    ]
)
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_UPDATED = re.compile(r"^gpt-(?:[6-9]|\d\d)")
"""Models that take `configuration_update`. Source: OpenAI "Prompt caching" (read 2026-11)."""
INPUT_TYPES = {"input_text", "input_image", "input_file"}
OUTPUT_TYPES = {"output_text", "refusal"}
IMAGE_TYPES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
SEAL = "sealed:"
"""Encrypted reasoning of this server begins so; anything else cannot be verified."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the vendor."""

    id: str
    window: int = 1_050_000
    max_output: int = 128_000
    efforts: tuple[str, ...] = ("none", "low", "medium", "high", "xhigh", "max")


MODELS = {
    model.id: model
    for model in (
        Model("gpt-6.1-sol"),
        Model("gpt-5.5", 1_000_000, efforts=("none", "low", "medium", "high", "xhigh")),
        Model("gpt-4o", 128_000, 16_384, efforts=()),
        Model("tiny", 200, 100, efforts=()),
    )
}
LISTED = (*MODELS, "text-embedding-4", "gpt-realtime-2", "whisper-2", "gpt-image-2", "o4-mini")


class RefusedError(Exception):
    """A request that the vendor refuses."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def check(body: Json, *, counts_only: bool = False) -> Model:
    """Refuse what the vendor refuses.

    Returns:
        The model that was asked for.
    """
    for name in body:
        if name not in (COUNTED_FIELDS if counts_only else FIELDS):
            raise RefusedError(400, f"Unknown parameter: '{name}'.", code="unknown_parameter", param=name)
    model = MODELS.get(body.get("model", ""))
    if model is None:
        message = f"The requested model '{body.get('model')}' does not exist."
        raise RefusedError(400, message, code="model_not_found", param="model")
    limit = body.get("max_output_tokens")
    if limit is not None and limit < 16:
        message = f"Invalid 'max_output_tokens': integer below minimum value. Expected >= 16, got {limit}."
        raise RefusedError(400, message, code="integer_below_min_value", param="max_output_tokens")
    _check_reasoning(body, model)
    _check_input(body.get("input"), takes_updates=bool(_UPDATED.match(model.id)))
    _check_choice(body)
    _check_tools(body.get("tools", []))
    _check_format(body.get("text", {}).get("format"))
    return model


def _check_reasoning(body: Json, model: Model) -> None:
    reasoning = body.get("reasoning")
    if reasoning and not model.efforts:
        name = next(iter(reasoning))
        message = f"Unsupported parameter: 'reasoning.{name}' is not supported with this model."
        raise RefusedError(400, message, code="unsupported_parameter", param=f"reasoning.{name}")
    effort = (reasoning or {}).get("effort")
    if effort is not None and effort not in model.efforts:
        message = f"Unsupported value: '{effort}' is not supported with the '{model.id}' model."
        raise RefusedError(400, message, code="unsupported_value", param="reasoning.effort")
    if "reasoning.encrypted_content" in body.get("include", []) and not model.efforts:
        raise RefusedError(400, "Encrypted content is not supported with this model.", param="include")


def _check_update(item: Json, where: str) -> None:
    """Source: openai 3.57.0, types/responses/response_configuration_update_item_param.py."""
    for name in item:
        if name not in {"type", "id", "reasoning", "text"}:
            raise RefusedError(
                400, f"Unknown parameter: '{where}.{name}'.", code="unknown_parameter", param=where
            )
    if not (item.get("reasoning") or item.get("text")) or set(item.get("reasoning") or ()) - {"effort"}:
        raise RefusedError(400, "Only effort is supported.", code="invalid_value", param=f"{where}.reasoning")


def _check_choice(body: Json) -> None:
    """A choice names tools that the request describes."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict) or choice.get("type") != "allowed_tools":
        return
    added = [
        tool for item in body["input"] if item.get("type") == "additional_tools" for tool in item["tools"]
    ]
    known = {tool.get("name") for tool in (*body.get("tools", []), *added)}
    for tool in choice["tools"]:
        if tool.get("name") not in known:
            message = f"Tool choice '{tool.get('name')}' not found in 'tools' parameter."
            raise RefusedError(400, message, code="invalid_value", param="tool_choice")


def _check_input(items: object, *, takes_updates: bool = False) -> None:
    if isinstance(items, str):
        return
    if not isinstance(items, list) or not items:
        raise RefusedError(400, "Missing required parameter: 'input'.", param="input")
    called: list[str] = []
    answered: set[str] = set()
    for number, item in enumerate(items):
        where = f"input[{number}]"
        match item.get("type", "message"):
            case "message":
                _check_content(item, where)
            case "function_call":
                _check_call(item, where)
                called.append(item["call_id"])
            case "function_call_output":
                _check_output(item, where)
                answered.add(item["call_id"])
                if item["call_id"] not in called:
                    call = item["call_id"]
                    raise RefusedError(
                        400,
                        f"No tool call found for function call output with call_id {call}.",
                        param="input",
                    )
            case "reasoning":
                _check_reasoning_item(item, items[number + 1 :], where)
            case "configuration_update" | "additional_tools" if not takes_updates:
                raise RefusedError(
                    400, f"Invalid value: '{item['type']}'.", code="invalid_value", param=where
                )
            case "configuration_update":
                _check_update(item, where)
            case "additional_tools":
                _check_tools(item["tools"])
                if item.get("role") != "developer":
                    raise RefusedError(400, "Invalid value.", code="invalid_value", param=f"{where}.role")
            case kind:
                raise RefusedError(400, f"Invalid value: '{kind}'.", code="invalid_value", param=where)
    if missing := next((call for call in called if call not in answered), None):
        raise RefusedError(400, f"No tool output found for function call {missing}.", param="input")


def _check_call(item: Json, where: str) -> None:
    """Source: the API's answers of status 400 to names and ids (read 2026-11-23)."""
    if not _NAME.match(item.get("name", "")):
        message = f"Invalid '{where}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        raise RefusedError(400, message, code="invalid_value", param=f"{where}.name")
    if not isinstance(item.get("arguments"), str):
        raise RefusedError(400, f"Invalid type for '{where}.arguments'.", param=f"{where}.arguments")
    if not 1 <= len(item.get("call_id", "")) <= 64:
        message = f"Invalid '{where}.call_id': string too long. Expected a string with maximum length 64."
        raise RefusedError(400, message, code="string_above_max_length", param=f"{where}.call_id")


def _check_output(item: Json, where: str) -> None:
    """Source: openai 3.51.0, types/responses/response_function_call_output_item_list_param.py."""
    output = item.get("output")
    if not isinstance(output, str | list) or output == []:
        raise RefusedError(400, f"Invalid type for '{where}.output'.", param=f"{where}.output")
    if isinstance(output, list):
        _check_content({"role": "user", "content": output}, f"{where}.output")


def _check_content(item: Json, where: str) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in {"user", "assistant", "system", "developer"}:
        raise RefusedError(400, f"Invalid value: '{role}'.", code="invalid_value", param=f"{where}.role")
    if isinstance(content, str):
        return
    allowed = OUTPUT_TYPES if role == "assistant" else INPUT_TYPES
    for place, part in enumerate(content or []):
        param = f"{where}.content[{place}]"
        if part["type"] not in allowed:
            names = " and ".join(f"'{name}'" for name in sorted(allowed))
            message = f"Invalid value: '{part['type']}'. Supported values are: {names}."
            raise RefusedError(400, message, code="invalid_value", param=param)
        if part["type"] == "input_image":
            _check_image(part["image_url"], param)
        if part["type"] == "input_file":
            _check_file(part, param)


def _check_file(part: Json, param: str) -> None:
    """A PDF as a data URL with its name. Source: OpenAI "File inputs" (read 2026-11-22)."""
    if not part.get("filename"):
        raise RefusedError(
            400, "Missing required parameter.", code="missing_required_parameter", param=f"{param}.filename"
        )
    head, _, data = str(part.get("file_data", "")).partition(",")
    if head != "data:application/pdf;base64":
        message = f"Invalid MIME type: '{head.removeprefix('data:').removesuffix(';base64')}'."
        raise RefusedError(400, message, code="invalid_value", param=f"{param}.file_data")
    try:
        pages = pages_of(base64.b64decode(data, validate=True))
    except binascii.Error:
        pages = None
    if not pages:
        raise RefusedError(
            400, "The file is not a valid PDF.", code="invalid_file", param=f"{param}.file_data"
        )


def _check_image(url: str, param: str) -> None:
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").removesuffix(";base64")
    if media_type not in IMAGE_TYPES:
        message = f"Invalid MIME type: '{media_type}'."
        raise RefusedError(400, message, code="unsupported_image_media_type", param=param)
    try:
        base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise RefusedError(400, "Invalid base64 image.", code="invalid_base64_image", param=param) from error


def _check_reasoning_item(item: Json, following: list[Json], where: str) -> None:
    sealed = item.get("encrypted_content", "")
    if not sealed.startswith(SEAL):
        message = f"The encrypted content for item {item.get('id')} could not be verified."
        raise RefusedError(400, message, code="invalid_encrypted_content", param=where)
    following = [other for other in following if other.get("type") != "reasoning"]
    is_followed = bool(following) and (
        following[0].get("type") == "function_call" or following[0].get("role") == "assistant"
    )
    if not is_followed:
        name = item.get("id")
        message = f"Item '{name}' of type 'reasoning' was provided without its required following item."
        raise RefusedError(400, message, param=where)


def _check_tools(tools: list[Json]) -> None:
    for number, tool in enumerate(tools):
        if tool.get("type") == "function" and not tool.get("name"):
            raise RefusedError(400, "Missing required parameter: 'name'.", param=f"tools[{number}].name")


def _check_format(form: Json | None) -> None:
    if not form or form.get("type") != "json_schema" or not form.get("strict"):
        return
    schema = form["schema"]
    is_closed = schema.get("additionalProperties") is False
    if not is_closed or set(schema.get("required", [])) != set(schema.get("properties", {})):
        message = (
            "Invalid schema for response_format 'reply': 'additionalProperties' is required to be false."
        )
        raise RefusedError(400, message, code="invalid_json_schema", param="text.format.schema")
