"""Calls in the markers of chat templates that servers leave in a text: a name, its arguments, and tokens around both.

Source: chat templates and parsers of Kimi K2, DeepSeek R1, V3, V3.1 and V3.2, Mistral, GLM 4.5, MiniMax M2, Step 3, gpt-oss,
Cohere Command, Hunyuan, Nemotron, Granite, Phi 4, InternLM, LFM2, and the issues of their servers (read 2026-11).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from core.kernel.decoders import read_json
from core.kernel.values.stack import ToolSchema

Found = tuple[list[tuple[str, dict[str, Any]]], int]
"""Calls as a tool's name and arguments, and where the last of them ends."""

_PREFIX = r"(?:[\w-]{1,20}:|｜DSML｜)?"
_TOKEN = (
    r"<\|[^<>|\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|\[/?TOOL_CALLS\]|\[END_TOOL_CALLS?\]"
    rf"|</?{_PREFIX}(?:tool_calls?|function_calls?|TOOLCALL|tool_sep)>"
)
OPENINGS = re.compile(
    r"<\|(?:tool_calls?(?:_section)?(?:_begin|_start)?|START_ACTION|action_start|python_tag)\|>"
    r"|<｜tool▁calls?▁begin｜>|<｜tool_calls?_begin｜>|\[TOOL_CALLS\]"
    rf"|<{_PREFIX}(?:tool_calls?|function_calls?|TOOLCALL)>|<{_PREFIX}invoke\s+name="
    r"|<\|channel\|>\s*(?:commentary|analysis)\s+to=|<\|start\|>assistant\s+to="
)
"""Begin of calls; a function in angle brackets and JSON in a `<tool_call>` are read beside this module."""

_TOKENS = re.compile(rf"(?:\s|```|{_TOKEN})*")
_NAMED = re.compile(
    r"(?:function<｜tool▁sep｜>)?([^\s<>{}\[\]`\"'()]{1,200})"
    rf"(?:\s|```(?:json)?|\[CALL_ID\]\w{{1,40}}|\[ARGS\]|{_TOKEN})*(?=\{{)"
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>assistant\s*)?(?:<\|channel\|>\s*(?:commentary|analysis)\s+)?to=([^\s<>]{1,200})"
    r"[^<>{}]{0,40}(?:<\|[^<>|\s]{1,40}\|>[^<>{}]{0,40}){0,3}(?=\{)"
)
_PAIRS = re.compile(r"([^\s<>{}]{1,200})\s*(?=<arg_key>)")
_PAIR = re.compile(r"\s*<arg_key>([^<>]{1,128})</arg_key>\s*<arg_value>")
_PAIR_END = "</arg_value>"
_INVOKE = re.compile(rf"<({_PREFIX})invoke\s+name=[\"']?([^\s\"'<>]{{1,200}})[\"']?\s*>")
_PARAMETER = re.compile(rf"\s*<{_PREFIX}parameter\s+name=[\"']?([^\s\"'<>]{{1,128}})[\"']?([^<>]{{0,60}})>")
_WORD = re.compile(r"[\w-]+")
_MOST_PYTHON = 20_000
_MOST_CALLS = 20
_DECODER = json.JSONDecoder()


def dialect_calls(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """The calls that begin with the marker here, one behind another; None where they are not whole or of no tool."""
    calls: list[tuple[str, dict[str, Any]]] = []
    end = at
    for _ in range(_MOST_CALLS):
        found = _call_at(text, end, tools)
        if found is None:
            break
        calls += found[0]
        end = found[1]
    return (calls, end) if calls else None


def without_tokens(text: str) -> str:
    """The text without the markers: a page may show the call alone."""
    return re.sub(_TOKEN, "", text)


def _call_at(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """The next call behind the tokens before it, and the tokens that close it."""
    start = _end_of(_TOKENS, text, at)
    for read in (_invoked, _in_channel, _in_pairs, _named, _listed, _as_python):
        found = read(text, start, tools) or (read(text, at, tools) if at != start else None)
        if found is not None:
            return found[0], _closed(text, found[1])
    return None


def _closed(text: str, at: int) -> int:
    """End of the tokens behind a call: blanks alone belong to what follows."""
    end = _end_of(_TOKENS, text, at)
    return end if text[at:end].strip() else at


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _tool(name: str, tools: Mapping[str, ToolSchema]) -> str:
    """The offered tool of this name, which may stand behind `functions.` or before a number; empty for none."""
    meant = {name} & tools.keys() or set(_WORD.findall(name)) & tools.keys()
    return meant.pop() if len(meant) == 1 else ""


def _object_at(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _with_object(head: re.Match[str] | None, text: str, tools: Mapping[str, ToolSchema]) -> Found | None:
    name = _tool(head[1], tools) if head else ""
    given = _object_at(text, head.end()) if head and name else None
    return ([(name, given[0])], given[1]) if given else None


def _named(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A name, tokens, an object."""
    return _with_object(_NAMED.match(text, at), text, tools)


def _in_channel(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A name behind `to=`, as gpt-oss writes it."""
    return _with_object(_CHANNEL.match(text, at), text, tools)


def _listed(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """Objects with a name and arguments, alone or in a list."""
    if text[at : at + 1] not in {"{", "["}:
        return None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    several = [json_call(one, tools) for one in (value if isinstance(value, list) else [value])]
    calls = [one for one in several if one is not None]
    return (calls, end) if calls and len(calls) == len(several) else None


def json_call(value: Any, tools: Mapping[str, ToolSchema]) -> tuple[str, dict[str, Any]] | None:
    """A call as an object with a name and arguments; None where it is none, or of no tool."""
    inner = value.get("function") if isinstance(value, dict) else None
    given = inner if isinstance(inner, dict) else value
    if not isinstance(given, dict):
        return None
    name = given.get("name", given.get("tool_name"))
    if not isinstance(name, str) or name not in tools:
        return None
    arguments = given.get("arguments", given.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments)
        except (ValueError, RecursionError):
            return None
    return (name, arguments) if isinstance(arguments, dict) else None


def _in_pairs(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A name, then a key and a value each, as GLM writes them."""
    head = _PAIRS.match(text, at)
    name = _tool(head[1], tools) if head else ""
    if head is None or not name:
        return None
    types, arguments, place = types_of(tools[name]), dict[str, Any](), head.end()
    while (pair := _PAIR.match(text, place)) is not None:
        end = text.find(_PAIR_END, pair.end())
        if end < 0:
            return None
        key = pair[1].strip()
        arguments[key] = value_of(text[pair.end() : end], types.get(key))
        place = end + len(_PAIR_END)
    return [(name, arguments)], place


def _invoked(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """An element with the name, and one with each parameter or an object inside."""
    head = _INVOKE.match(text, at)
    name = _tool(head[2], tools) if head else ""
    if head is None or not name:
        return None
    types, arguments, place = types_of(tools[name]), dict[str, Any](), head.end()
    parameter_end = f"</{head[1]}parameter>"
    if inner := _object_at(text, _end_of(re.compile(r"\s*"), text, place)):
        arguments, place = inner
    while (parameter := _PARAMETER.match(text, place)) is not None:
        end = text.find(parameter_end, parameter.end())
        if end < 0:
            return None
        kind = "string" if 'string="true"' in parameter[2] else types.get(parameter[1])
        kind = None if 'string="false"' in parameter[2] else kind
        arguments[parameter[1]] = value_of(text[parameter.end() : end], kind)
        place = end + len(parameter_end)
    close = re.compile(rf"\s*</{re.escape(head[1])}invoke>").match(text, place)
    return ([(name, arguments)], close.end()) if close else None


def _as_python(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A list of calls as Python writes them, with values that are written out."""
    end = text.find(")]", at, at + _MOST_PYTHON)
    if text[at : at + 1] != "[" or end < 0:
        return None
    try:
        tree = ast.parse(text[at : end + 2], mode="eval").body
        calls = [_python_call(one) for one in tree.elts] if isinstance(tree, ast.List) else []
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    is_of_tools = calls and all(name in tools for name, _ in calls)
    return (calls, end + 2) if is_of_tools else None


def _python_call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        return "", {}
    return node.func.id, {one.arg or "": ast.literal_eval(one.value) for one in node.keywords}


def types_of(tool: ToolSchema) -> Mapping[str, object]:
    """Types of a tool's parameters by their names."""
    try:
        properties = read_json(tool.parameters_json).get("properties", {})
        return {name: schema.get("type") for name, schema in properties.items()}
    except (ValueError, AttributeError):
        return {}


def value_of(text: str, kind: object) -> Any:
    """Value of a parameter: text where the schema asks for that, else JSON where it is such."""
    words = text.removeprefix("\n").removesuffix("\n")
    if kind == "string":
        return words
    try:
        return read_json(words)
    except (ValueError, RecursionError):
        return words
