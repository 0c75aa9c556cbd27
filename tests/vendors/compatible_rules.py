"""What servers of Chat Completions refuse of tool turns, as OpenAI's reference and the servers' sources say it.

Source: OpenAI API reference, "Create chat completion" (messages), and its answers of status 400; llama.cpp and vLLM,
which parse the arguments of calls for their chat templates (read 2026-11-23).
"""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


class RefusedError(Exception):
    """Messages that break a rule, in the servers' words."""


def check(messages: list[Json]) -> None:
    """Hold messages against the rules of calls and their results. Raises RefusedError."""
    open_ids: list[str] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            _check_result(message, open_ids, number)
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            raise RefusedError(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
                f" 'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)}"
            )
        if role not in {"system", "developer", "user", "assistant"}:
            raise RefusedError(f"Invalid value: '{role}' at messages[{number}].role")
        if role == "assistant":
            open_ids = [_checked_call(call, number) for call in message.get("tool_calls", [])]
            if len(set(open_ids)) != len(open_ids):
                raise RefusedError(f"Duplicate tool call ids at messages[{number}]")
    if open_ids:
        raise RefusedError(f"tool_call_ids did not have response messages: {', '.join(open_ids)}")


def _check_result(message: Json, open_ids: list[str], number: int) -> None:
    if message.get("tool_call_id") not in open_ids:
        raise RefusedError(
            f"Invalid parameter: messages[{number}] with role 'tool' must be a response to a preceding message with"
            " 'tool_calls'."
        )
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    if not isinstance(content, str | list) or any(part.get("type") != "text" for part in parts):
        raise RefusedError(
            f"Invalid type for 'messages[{number}].content': a tool's message holds text alone."
        )


def _checked_call(call: Json, number: int) -> str:
    function = call.get("function", {})
    if call.get("type") != "function" or not call.get("id"):
        raise RefusedError(f"Missing required parameter: 'messages[{number}].tool_calls[].id'.")
    if not _NAME.match(function.get("name", "")):
        raise RefusedError(f"Invalid 'messages[{number}].tool_calls[].function.name'.")
    try:
        arguments = json.loads(function["arguments"])
    except ValueError as error:
        raise RefusedError("Failed to parse tool call arguments as JSON") from error
    if not isinstance(arguments, dict):
        raise RefusedError("Tool call arguments are no JSON object")
    return str(call["id"])
