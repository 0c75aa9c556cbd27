"""How OpenAI renders a request (Responses or Chat Completions): settings, tools, then the input in pieces.

Source: developers.openai.com "Prompt caching", "What can be cached", "How caching works" (read 2026-10).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.vendors.billing.tokens import as_json, fields, sealed_tokens
from tests.vendors.billing.values import Json, Refused

IMAGE_TOKENS = 1_000  # guess: an image of a megapixel
FILE_TOKENS = 3_000  # guess
MARK = "prompt_cache_breakpoint"
TTL_S = {"30m": 1800.0, "12h": 43200.0}
_MARKABLE = {"input_text", "input_image", "input_file", "text", "image_url", "file", "input_audio"}
_DEVELOPER = {"developer", "system"}


@dataclass(slots=True)
class Piece:
    """A content block, or a tool, or an item without blocks.

    Args:
        kind: role, type, and whether it begins its message; text: its content; tokens: where it is no text.
        mark_s: lifetime of its explicit breakpoint in seconds, 0 for none.
        ends: what ends here: `user`, `tool`, `developer` (the first run of developer messages), or nothing.
    """

    kind: str
    text: str
    tokens: int | None = None
    mark_s: float = 0.0
    ends: str = ""


def pieces(body: Json) -> list[Piece]:
    """A request as pieces, in the order of the prompt. Raises Refused for a breakpoint where none may be."""
    found = [*_head(body)]
    items = list(_items(body))
    developer = _developer_end(items)
    if body.get("instructions") and developer < 0:
        found[-1].ends = "developer"
    default_s = _request_ttl(body)
    for number, item in enumerate(items):
        before = len(found)
        found.extend(_item(item, number, default_s))
        if len(found) > before:
            found[-1].ends = _ends(items, number, developer)
    return found


def settings(body: Json) -> dict[str, str]:
    """What is part of every prefix, by the name of the reason that a change of it has in diagnostics."""
    text = body.get("text") or {}
    form = text.get("format") or body.get("response_format") or {"type": "text"}
    effort = (body.get("reasoning") or {}).get("effort") or body.get("reasoning_effort") or ""
    tier = body.get("service_tier") or "default"
    return {
        "model_changed": str(body["model"]),
        "prompt_cache_key_changed": str(body.get("prompt_cache_key") or ""),
        "service_tier_changed": "default" if tier == "auto" else str(tier),
        "tools_changed": as_json([fields(tool) for tool in body.get("tools") or ()])
        + str(body.get("parallel_tool_calls", True)),
        "text_format_changed": fields(form),
        "reasoning_effort_changed": str(effort),
        "verbosity_changed": str(text.get("verbosity") or body.get("verbosity") or "medium"),
    }


def uses_breakpoints(body: Json) -> bool:
    """Whether a request has anything that only models since 5.6 take."""
    return "prompt_cache_options" in body or any(
        MARK in part for item in _items(body) for part in _parts_of(item) if isinstance(part, dict)
    )


def _head(body: Json) -> Iterator[Piece]:
    form = (body.get("text") or {}).get("format") or body.get("response_format") or {}
    if form.get("type") == "json_schema":
        yield Piece("format", fields(form))
    for tool in body.get("tools") or ():
        yield Piece("tool", fields(tool))
    if body.get("instructions"):
        yield Piece("developer ^", str(body["instructions"]))


def _items(body: Json) -> Iterator[Json]:
    given = body["messages"] if "messages" in body else body.get("input", ())
    if isinstance(given, str):
        yield {"role": "user", "content": given}
    else:
        yield from given


def _parts_of(item: Json) -> list[Any]:
    content = item.get("output" if item.get("type") == "function_call_output" else "content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def _role(item: Json) -> str:
    if item.get("type") == "function_call_output":
        return "tool"
    role = str(item.get("role") or item.get("type") or "")
    return "developer" if role in _DEVELOPER else role


def _developer_end(items: list[Json]) -> int:
    """Number of the last item of the first run of developer messages, -1 where the input begins otherwise."""
    end = -1
    for number, item in enumerate(items):
        if _role(item) != "developer":
            break
        end = number
    return end


def _ends(items: list[Json], number: int, developer: int) -> str:
    role = _role(items[number])
    if role == "user":
        return "user"
    if role == "tool" and (number + 1 == len(items) or _role(items[number + 1]) != "tool"):
        return "tool"
    return "developer" if number == developer else ""


def _item(item: Json, number: int, default_s: float) -> Iterator[Piece]:
    role = _role(item)
    call = str(item.get("call_id") or item.get("tool_call_id") or "")
    parts = _parts_of(item)
    for place, part in enumerate(parts):
        kind = f"{role} {call}{'^' if place == 0 else ''}"
        mark_s = _mark(part, role, f"input[{number}].content[{place}]", default_s)
        yield _part(kind, part, mark_s)
    for tool_call in item.get("tool_calls") or ():
        yield Piece("function_call", fields(tool_call))
    if not parts and "content" not in item and role != "tool":
        sealed = sealed_tokens(str(item.get("encrypted_content") or ""))
        yield Piece(role, fields(item), sealed)  # function_call, reasoning, configuration_update …


def _part(kind: str, part: Json, mark_s: float) -> Piece:
    match part.get("type"):
        case "text" | "input_text" | "output_text" | "refusal":
            return Piece(kind, str(part.get("text") or part.get("refusal") or ""), None, mark_s)
        case "input_image" | "image_url":
            return Piece(f"{kind} image", fields(part, MARK), IMAGE_TOKENS, mark_s)
        case _:
            return Piece(f"{kind} file", fields(part, MARK), FILE_TOKENS, mark_s)


def _mark(part: Json, role: str, where: str, default_s: float) -> float:
    mark = part.get(MARK)
    if mark is None:
        return 0.0
    if role in {"assistant", ""} or part.get("type") not in _MARKABLE:
        raise bad(f"Unknown parameter: '{where}.{MARK}'.", f"{where}.{MARK}", "unknown_parameter")
    if mark.get("mode") != "explicit":
        raise bad(
            f"Invalid value: '{mark.get('mode')}'. Supported values are: 'explicit'.", f"{where}.{MARK}.mode"
        )
    ttl = mark.get("ttl")
    if ttl is not None and ttl not in TTL_S:
        raise bad(f"Invalid value: '{ttl}'. Supported values are: '30m' and '12h'.", f"{where}.{MARK}.ttl")
    return TTL_S[ttl] if ttl else default_s


def _request_ttl(body: Json) -> float:
    return TTL_S.get((body.get("prompt_cache_options") or {}).get("ttl") or "30m", TTL_S["30m"])


def bad(message: str, param: str, code: str = "invalid_value") -> Refused:
    """A 400 of the kind `invalid_request_error`."""
    return Refused(400, "invalid_request_error", message, param=param, code=code)


def error_body(refused: Refused) -> Json:
    """The body of the answer."""
    return {
        "error": {
            "message": refused.message,
            "type": refused.kind,
            "param": refused.param,
            "code": refused.code,
        }
    }
