"""What Anthropic refuses with a 400, as far as caching, thinking and the order of turns are concerned.

Sources: "Prompt caching" (limits, edge cases of automatic caching, pre-warming), "Mid-conversation system
messages", "Versions" 2026-10-21, read 2026-10 and 2026-11. The words of the messages are those that live
answers were quoted with where one was found; the rest are worded alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.vendors.billing.anthropic_models import AnthropicModel
from tests.vendors.billing.values import Json, Refused

MAX_MARKS = 4
TTL_S = {"5m": 300.0, "1h": 3600.0}
CLEAR_AT_BETA = "mid-conversation-system-clear-at-2026-08-21"
EFFORT_BETA = "mid-conversation-output-config-2026-07-01"
TOOLS_BETA = "mid-conversation-tool-changes-2026-07-01"
INLINE_BETA = "inline-tools-2026-09-15"
_CHANGES = frozenset({"tool_addition", "tool_removal"})
_ORDER = "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
_SAMPLING = ("temperature", "top_p", "top_k")
_UNMARKABLE = {"thinking", "redacted_thinking"}


@dataclass(slots=True)  # not frozen: a hundred are made for each request
class Place:
    """A block where the request names it: `system.0`, `messages.3.content.1`.

    `block` has no type in tools.
    """

    where: str
    block: Json
    can_be_marked: bool = True


def blocks_of(content: object) -> list[Json]:
    """Content as blocks: a string is one text block, an empty one none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content) if isinstance(content, list | tuple) else []


def places(body: Json) -> Iterator[Place]:
    """Every block in the order of the prefix: tools, system, messages."""
    for number, tool in enumerate(body.get("tools") or ()):
        yield Place(f"tools.{number}", tool)
    for number, block in enumerate(blocks_of(body.get("system"))):
        yield Place(f"system.{number}", block, bool(block.get("text", "").strip()))
    for number, message in enumerate(body["messages"]):
        is_passing = message.get("clear_at") == "next_user_message"
        content = message["content"]
        for place, block in enumerate(blocks_of(content)):
            is_empty = block.get("type") == "text" and not block.get("text", "").strip()
            can_be_marked = not (is_passing or is_empty or block.get("type") in _UNMARKABLE)
            yield Place(f"messages.{number}.content.{place}", block, can_be_marked)


def marks_of(body: Json) -> dict[int, float]:
    """Which blocks are marked, by their number in the order of the prefix, with the lifetime in seconds.

    Raises:
        Refused: 400 for marks that the API does not take.
    """
    auto = body.get("cache_control")
    if auto is None and not _has_marks(body):
        return {}
    blocks = list(places(body))
    marks = {number: _ttl(place) for number, place in enumerate(blocks) if place.block.get("cache_control")}
    found = len(marks)
    if auto is not None:
        found += _add_automatic(marks, blocks, auto)
    if found > MAX_MARKS:
        raise invalid(f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {found}.")
    _check_order(marks, blocks)
    return marks


def check(body: Json, model: AnthropicModel, betas: frozenset[str]) -> None:
    """Hold a request against the rules that are no marks. Raises Refused."""
    for name in _SAMPLING:
        if name in body:
            raise invalid(f"{name}: Extra inputs are not permitted")
    messages = body.get("messages") or []
    if not messages:
        raise invalid("messages: at least one message is required")
    _check_turns(messages, model, betas)
    _check_changes(body)
    _check_thinking(body, model)
    _check_forced(body, model)
    if body.get("max_tokens") == 0:
        _check_prewarm(body)


def invalid(message: str) -> Refused:
    """A 400 of the kind `invalid_request_error`."""
    return Refused(400, "invalid_request_error", message)


def error_body(refused: Refused, request_id: str) -> Json:
    """The body of the answer."""
    error = {"type": refused.kind, "message": refused.message}
    return {"type": "error", "error": error, "request_id": request_id}


def _has_marks(body: Json) -> bool:
    for group in (body.get("tools"), body.get("system"), *(m["content"] for m in body["messages"])):
        if isinstance(group, list) and any("cache_control" in block for block in group):
            return True
    return False


def _control_ttl(control: object, where: str) -> str:
    if not isinstance(control, dict) or control.get("type") != "ephemeral":
        raise invalid(f"{where}.type: Input should be 'ephemeral'")
    for name in control:
        if name not in {"type", "ttl"}:
            raise invalid(f"{where}.{name}: Extra inputs are not permitted")
    ttl = control.get("ttl") or "5m"
    if ttl not in TTL_S:
        raise invalid(f"{where}.ttl: Input should be '5m' or '1h'")
    return str(ttl)


def _ttl(place: Place) -> float:
    block, where = place.block, place.where
    ttl = _control_ttl(block["cache_control"], f"{where}.cache_control")
    if not place.can_be_marked:
        kind = str(block.get("type"))
        if kind == "text" and not block.get("text", "").strip():
            raise invalid(f"{where}.text: cache_control cannot be set for empty text blocks")
        if kind in _UNMARKABLE:
            raise invalid(f"{where}.{kind}.cache_control: Extra inputs are not permitted")
        raise invalid(f"{where}.cache_control: cache_control cannot be set on a message with clear_at")
    return TTL_S[ttl]


def _add_automatic(marks: dict[int, float], blocks: list[Place], control: object) -> int:
    """Add the automatic mark on the last block that can have one. Returns the slots it takes, 0 or 1."""
    ttl = _control_ttl(control, "cache_control")
    target = next((n for n in reversed(range(len(blocks))) if blocks[n].can_be_marked), None)
    if target is None:
        return 0
    if target in marks and marks[target] != TTL_S[ttl]:
        there = "1h" if marks[target] == TTL_S["1h"] else "5m"
        raise invalid(
            f"Top-level cache_control has ttl='{ttl}' but the target block already has cache_control with"
            f" ttl='{there}'. When both are specified on the same block, they must have matching TTLs."
        )
    is_full = len(marks) >= MAX_MARKS
    is_new = target not in marks
    marks[target] = TTL_S[ttl]
    return 1 if is_new or is_full else 0


def _check_order(marks: dict[int, float], blocks: list[Place]) -> None:
    has_short = False
    for number in sorted(marks):
        if marks[number] == TTL_S["5m"]:
            has_short = True
        elif has_short:
            raise invalid(
                f"{blocks[number].where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a"
                f" ttl='5m' cache_control block. {_ORDER}"
            )


def _check_turns(messages: list[Json], model: AnthropicModel, betas: frozenset[str]) -> None:
    for number, message in enumerate(messages):
        if "clear_at" in message and (message["role"] != "system" or CLEAR_AT_BETA not in betas):
            raise invalid(f"messages.{number}.clear_at: Extra inputs are not permitted")
        if message["role"] == "system":
            _check_system_turn(messages, number, model, betas)
    last = messages[-1]
    if last["role"] == "assistant" and not model.takes_prefill:
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_changes(body: Json) -> None:
    """Tools that come and go by reference were declared before. Source: anthropic 2.14.0, types/beta/beta_tool_change_tool_reference_param.py."""
    declared = {tool.get("name") for tool in body.get("tools") or ()}
    for number, message in enumerate(body["messages"]):
        changes = blocks_of(message["content"]) if message["role"] == "system" else ()
        for place, block in enumerate(changes):
            tool = block.get("tool") or {}
            if tool.get("type") == "tool_definition":
                declared.add(tool["definition"]["name"])
            elif block.get("type") in _CHANGES and tool.get("name") not in declared:
                raise invalid(
                    f"messages.{number}.content.{place}.tool: no tool named {tool.get('name')!r} was declared"
                )


def _check_system_turn(
    messages: list[Json], number: int, model: AnthropicModel, betas: frozenset[str]
) -> None:
    if not model.takes_system_turns:
        raise invalid("role 'system' is not supported on this model")
    message = messages[number]
    if not blocks_of(message["content"]):
        if not message.get("output_config") or EFFORT_BETA not in betas:
            raise invalid(f"messages.{number}: system messages must have content")
        return  # effort alone may stand anywhere
    if message.get("output_config") and EFFORT_BETA not in betas:
        raise invalid(f"messages.{number}.output_config: Extra inputs are not permitted")
    for place, block in enumerate(blocks_of(message["content"])):
        is_change = block.get("type") in _CHANGES and TOOLS_BETA in betas
        if block.get("type") != "text" and not is_change:
            raise invalid(f"messages.{number}: system messages may contain text only")
        if is_change and block["tool"].get("type") == "tool_definition" and INLINE_BETA not in betas:
            raise invalid(
                f"messages.{number}.content.{place}.tool: Input tag 'tool_definition' is not expected"
            )
    before = messages[number - 1] if number else None
    follows = messages[number + 1]["role"] if number + 1 < len(messages) else "assistant"
    if before is None or follows != "assistant" or not _may_precede_system(before):
        raise invalid(
            f"messages.{number}: system messages must follow a user turn and end the input or precede an assistant"
            " turn"
        )


def _may_precede_system(message: Json) -> bool:
    if message["role"] != "assistant":
        return bool(message["role"] == "user")
    blocks = blocks_of(message["content"])
    return bool(blocks) and str(blocks[-1].get("type")).endswith("_tool_result")


def _check_thinking(body: Json, model: AnthropicModel) -> None:
    kind = (body.get("thinking") or {}).get("type")
    if kind in model.refused_thinking:
        raise invalid(
            f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and'
            ' "output_config.effort" to control thinking behavior.'
        )


def _check_forced(body: Json, model: AnthropicModel) -> None:
    kind = (body.get("tool_choice") or {}).get("type")
    if kind in {"any", "tool"} and not model.takes_forced_tools:
        raise invalid(f'tool_choice.type: "{kind}" is not supported for this model')


def _check_prewarm(body: Json) -> None:
    refused = {
        "stream": bool(body.get("stream")),
        "thinking.type": (body.get("thinking") or {}).get("type") == "enabled",
        "output_config.format": bool((body.get("output_config") or {}).get("format")),
        "tool_choice": (body.get("tool_choice") or {}).get("type") in {"any", "tool"},
    }
    for name, is_set in refused.items():
        if is_set:
            raise invalid(f"max_tokens: 0 cannot be combined with `{name}`")
