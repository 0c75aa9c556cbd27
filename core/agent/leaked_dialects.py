"""Calls in the markers of chat templates that servers leave in a text: a name, its arguments, and tokens around both.

Source: chat templates and parsers of Kimi K2, DeepSeek R1, V3, V3.1 and V3.2, Mistral, GLM 4.5, MiniMax M2, Step 3, gpt-oss,
Cohere Command, Hunyuan, Nemotron, Granite, Phi 4, InternLM, LFM2, and the issues of their servers (read 2026-11).
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from core.agent.leaked_yaml import YAML_HEAD, typed_arguments, yaml_arguments, yaml_calls
from core.kernel.codecs import DECODER, DEEPEST, end_of, loose_value, read_json
from core.kernel.patterns import late
from core.kernel.values.stack import ToolSchema

Found = tuple[list[tuple[str, dict[str, Any]]], int]
"""Calls as a tool's name and arguments, and where the last of them ends."""

_OF_CALLS = r"(?i:tool|function|call|invoke|action|exec|python_tag)"
CALL_WORD = r"(?i:(?:tool|function)(?:[ _-]?(?:calls?|use))?|action|invoke|calls?)(?: \d{1,2})?"
"""Words that a label of a call has, with its number."""
_PREFIX = r"(?:[\w-]{1,20}:)?"
_INVOKES = rf"[a-z_-]{{0,20}}{_OF_CALLS}[a-z_-]{{0,20}}\s+(?:[\w-]{{1,20}}=[^\s<>]{{1,80}}\s+)?(?:name|tool|function)="
_NAMED_INSIDE = rf"[<\[]{{1,2}}[|｜]?{CALL_WORD}(?:[:=]\s?|\s)(?P<inside>[\w.-]{{1,200}})[|｜]?[>\]]{{1,2}}"
"""A marker with the name in it, as `[tool:read_file]`."""
_CALLED = rf"[^<>=\s\[\]{{}}]{{0,30}}{_OF_CALLS}[^<>=\s\[\]{{}}]{{0,30}}"
_DRESSES = (
    rf"<{{1,3}}[|｜]?(?!/|END){_CALLED}>{{1,3}}|^{_CALLED}>>>",
    rf"\[{{1,2}}(?!END|/)[A-Za-z_-]{{0,20}}{_OF_CALLS}[A-Za-z_-]{{0,20}}\]{{1,2}}(?!\()",
    rf"\{{\{{(?!/)\w{{0,20}}{_OF_CALLS}\w{{0,20}}\}}\}}",
    r"✿[A-Z_]{2,20}✿:?",
)
"""A word that tells of calls, as models dress it: in angles, brackets or braces, single or double, or between flowers."""
_ENDS = (
    rf"<{{1,3}}(?:/|END){_CALLED}>{{1,3}}",
    rf"\[{{1,2}}(?:/|END_)[A-Za-z_-]{{0,20}}{_OF_CALLS}[A-Za-z_-]{{0,20}}\]{{1,2}}",
    rf"\{{\{{/\w{{0,20}}{_OF_CALLS}\w{{0,20}}\}}\}}",
)
_TOKEN = (
    r"<\|[^<>|\s]{1,40}\|?>|<[^<>|/\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|\[/?[A-Z][A-Z_]{2,30}\]"
    rf"|{'|'.join((*_DRESSES, *_ENDS))}|functools(?=\[)|tool_code(?=print\()"
)
"""A marker in any dress, or between pipes on both sides or one, or a word of Phi or Gemini."""

_WITH = r"\s*(?:(?i:with )?(?i:arguments|args|parameters|params|input):?\s*)?"
_SAID = rf"\[(?i:(?:call|us|invok|runn?)(?:e|ing)?[ _](?:tool|function)|(?:tool|function)[ _](?:call|use))s?:?\s*(?=[\w.:-]{{1,200}}(?:\]\s*\{{|{_WITH}[{{(]))"
"""Words in brackets before a call, as some models write them. Source: waybarrios/vllm-mlx#15, Qwen3 (read 2026-11)."""
_LABEL = r"(?i:action|(?:assistant )?(?:tool|function)(?:[ _](?:call|use|name))?)(?: \d{1,2})?[*_]{0,2}:[ \t*`\"']{0,9}"
_LABEL_OF_INPUT = r"[ \t*`\"',]{0,9}\n[ \t*]{0,9}(?i:(?:action|tool|function)[ _]input|input|arg(?:ument)?s|param(?:eter)?s)(?: \d{1,2})?[*_]{0,2}:"
"""A line that names the tool, and the one behind it with its input, as agents' prompts have them."""

_LABELLED = rf"[ \t]{{0,3}}(?:(?:#{{1,6}} |[@/!]|\*\*|\[{{1,2}}){CALL_WORD}[*:]{{0,3}}|{CALL_WORD}:|[A-Z]{{4,9}}_CALLS?(?=\n)|(?:[-=~]{{1,2}}>|[→⇒➜➔➡►▶⚙🔧🛠]\ufe0f?)(?=\s?[\w.:-]{{1,200}}\s?[({{]))[ \t]*\n{{0,2}}"
"""A label at the begin of a line, also as a heading, in bold, behind an at or as an arrow: what follows must be a whole call."""

OPENINGS = late(
    rf"{'|'.join(_DRESSES)}|<{_PREFIX}{_INVOKES}|{_NAMED_INSIDE.replace('?P<inside>', '')}"
    r"|<[|｜][^<>|｜\s]{1,40}[|｜]?>(?=\s*[\[{])|\bfunctools(?=\[)|^tool_code(?=print\()"
    r"|(?:(?:<\|start\|>)?assistant\s*)?(?:<\|channel\|>\s*|^[ \t]*|(?<=assistant)\s*)(?:commentary|analysis)\s+(?:json\s+)?to=|(?:^|<\|start\|>|(?<=[.!?] ))assistant\s+to=|^[ \t]*to=(?=functions\.|multi_tool_use\.)"
    rf"|^[ \t*]{{0,9}}{_LABEL}(?=[\w.:-]{{1,200}}{_LABEL_OF_INPUT})"
    rf"|^{_LABELLED}(?=[ \t]{{0,9}}[\[{{<`\w])"
    r"|^(?:functions|default_api)[.:](?=[\w.:-]{1,200}[ \t]?[{(])"
    r"|^[ \t]*`{3,}(?:(?:tool|function)_?(?:code|calls?|use)?|action|invoke)[ \t]*$|(?:^|(?<=[\s>|]))call:\s*(?=[\w.:-]{1,200}\s*[{(])"
    rf"|{_SAID}",
    re.MULTILINE,
)
"""Begin of calls; a function in angle brackets and JSON in a `<tool_call>` are read beside this module."""

TELLS_OF_CALLS = late(
    rf"</?[^<>=\s]{{0,30}}{_OF_CALLS}[^<>=\s]{{0,30}}>|\[/?[A-Z_]{{0,20}}(?:TOOL|CALL|ARGS)[A-Z_]{{0,20}}\]|</?\w{{0,20}}arg_(?:key|value)>"
)
"""A marker of calls, opening or closing."""

_TOKENS = late(rf"(?:\s|`{{3,}}\w*|{_TOKEN})*")
_CHANNEL = late(
    r"(?:(?:<\|start\|>)?assistant\s*)?(?:(?:<\|channel\|>)?\s*(?:commentary|analysis)\s+(?:json\s+)?)?to=([^\s<>]{1,200})"
    r"[^<>{}]{0,40}(?:<\|[^<>|\s]{1,40}\|>[^<>{}]{0,40}){0,3}(?=\{)"
)
_PAIR = late(r"\s*<(\w{0,20})arg_key>([^<>]{1,128})</\w{0,20}arg_key>\s*<\w{0,20}arg_value>")
_INVOKE = late(rf"<({_PREFIX})({_INVOKES})[\"']?([^\s\"'<>]{{1,200}})[\"']?[^<>]{{0,80}}>")
_PARAMETER = late(
    rf"\s*<({_PREFIX}(?:parameter|param|argument|arg))\s+(?:name|key)=[\"']?([^\s\"'<>]{{1,128}})[\"']?([^<>]{{0,60}})>"
)
_ELEMENT = late(r"\s*<(([\w.:-]{1,128}))()>")
"""With the groups of `_PARAMETER`: the tag, the name, what else it says of itself."""
_WORD = late(r"[\w-]+")
_AFFIXES = late(r"\Afunctions?_|_\d{1,3}\Z")
"""Kimi counts its calls, and some gateways write its dots and colons as lines. Source: ggml-org/llama.cpp#24658."""
_MOST_PYTHON = 20_000
_MOST_CALLS = 20


def dialect_calls(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """The calls that begin with the marker here, one behind another; None where they are not whole or of no tool."""
    calls: list[tuple[str, dict[str, Any]]] = []
    end = at
    for _ in range(_MOST_CALLS):
        found = _call_at(text, end_of(_COMMAS, text, end) if calls else end, tools)
        if found is None:
            break
        calls += found[0]
        end = found[1]
    return (calls, end) if calls else None


_COMMAS = late(r"\s*[;,]\s*(?=[\[{\w<])")
"""Llama and NexusRaven write semicolons between calls."""
_LAST = late(
    rf"(?:function call<\|role_sep\|>|{_TOKEN}|<[|｜]?(?:\w{{1,10}}[|｜:])?[|｜]?(?:tool|function)_calls?)\Z"
)
_MOST_TOKEN = 100
"""Characters of a marker, at most."""


def without_last_tokens(text: str) -> str:
    """The text without the markers that a server left at its end, where it read the call itself."""
    words = text.rstrip()
    end = len(words)
    while found := _LAST.search(words, max(0, end - _MOST_TOKEN), end):
        end = found.start()
        while end and words[end - 1].isspace():
            end -= 1
    rest = words[:end]
    return text if end == len(words) or OPENINGS.search(rest) else rest


def without_tokens(text: str) -> str:
    """The text without the markers: a page may show the call alone."""
    return re.sub(_TOKEN, "", text)


def _call_at(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """The next call behind the tokens before it, and the tokens that close it."""
    label = _LABEL_LINE.match(text, at) if at == 0 or text[at - 1] == "\n" else None
    starts = dict.fromkeys(
        (
            end_of(_TOKENS, text, label.end() if label else at),
            end_of(_TOKENS, text, at),
            at + (_BOXED.match(text, at) is not None),
        )
    )
    for read in _FORMS:
        for start in starts:
            if (found := read(text, start, tools)) is not None:
                return found[0], _closed(text, found[1])
    return None


_LABEL_LINE = late(_LABELLED)
_BOXED = late(r"\[(?=[\w.:-]{1,200}\]:?[ \t]{0,9}\{)")


def _closed(text: str, at: int) -> int:
    """End of the tokens behind a call: blanks alone belong to what follows."""
    end = end_of(_CLOSING, text, at)
    return end if text[at:end].strip() else at


_CLOSING = late(rf"(?:\s|`{{3,}}\w*|(?!<(?:tool_|function_)?name>)(?:{_TOKEN}))*")
"""A tag of a name belongs to the next call."""


def _tool(name: str, tools: Mapping[str, ToolSchema]) -> str:
    """The offered tool of this name, which may stand behind `functions.` or before a number; empty for none."""
    meant = {name, _AFFIXES.sub("", name)} & tools.keys() or set(_WORD.findall(name)) & tools.keys()
    return meant.pop() if len(meant) == 1 else ""


def _object_at(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """An object: JSON, or as `loose_value` reads it."""
    read = _value_at(text, at)
    return read if read is not None and isinstance(read[0], dict) else None


def _value_at(text: str, at: int) -> tuple[Any, int] | None:
    """A value of JSON, or as `loose_value` reads it."""
    try:
        return DECODER.raw_decode(text, at)
    except RecursionError:
        return None
    except ValueError:
        try:
            return loose_value(text, at)
        except ValueError:
            return None


def _with_object(head: re.Match[str] | None, text: str, tools: Mapping[str, ToolSchema]) -> Found | None:
    name = _tool(head[1], tools) if head else ""
    given = _object_at(text, head.end()) if head and name else None
    return ([(name, given[0])], given[1]) if given else None


def _in_channel(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A name behind `to=`, as gpt-oss writes it, or that of several calls at once."""
    head = _CHANNEL.match(text, at)
    if head and head[1].startswith("multi_tool_use"):
        return _listed(text, head.end(), tools)
    return _with_object(head, text, tools)


def _listed(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """Objects with a name and arguments, alone or in a list."""
    if text[at : at + 1] not in {"{", "["}:
        return None
    read = _value_at(text, at)
    if read is None:
        return None
    value, end = read
    several = [json_call(one, tools) for one in calls_in(value)]
    calls = [one for one in several if one is not None]
    return (calls, end) if calls and len(calls) == len(several) else None


LISTS_OF_CALLS = ("tool_calls", "tool_uses")
"""Keys under which calls stand. `tool_uses`: `multi_tool_use.parallel`, which some models of OpenAI call."""


def calls_in(value: Any) -> list[Any]:
    """The calls of a value: one, a list of them, or such a list under a key."""
    if isinstance(value, dict):
        value = next((value[key] for key in LISTS_OF_CALLS if isinstance(value.get(key), list)), value)
    is_pair = isinstance(value, list) and len(value) == _PAIR_LENGTH and isinstance(value[0], str)
    return value if isinstance(value, list) and not is_pair else [value]


_CALL_NAMES = ("name", "tool_name", "function_name", "tool", "function", "recipient_name", "action")
_CALL_ARGUMENTS = (
    "arguments",
    "parameters",
    "input",
    "args",
    "params",
    "tool_input",
    "tool_args",
    "action_input",
    "kwargs",
)
"""Keys of a call as models write it: OpenAI's, Llama's, Anthropic's, and those of agents' prompts."""


WRAPS = ("function", "function_call", "functionCall", "tool_call", "toolCall", "tool_use", "toolUse")
"""Keys of an object that holds a call. Source: OpenAI, Gemini, Bedrock (read 2026-11)."""


def json_call(value: Any, tools: Mapping[str, ToolSchema]) -> tuple[str, dict[str, Any]] | None:
    """A call as an object with a name and arguments; None for anything else, and for an unknown tool."""
    for wrap in WRAPS:
        if isinstance(value, dict) and isinstance(value.get(wrap), dict):
            value = value[wrap]
    if isinstance(value, list) and len(value) == _PAIR_LENGTH and isinstance(value[0], str):
        value = {"name": value[0], "arguments": value[1]}
    if not isinstance(value, dict):
        return None
    if len(value) == 1 and isinstance(given := next(iter(value.values())), dict):
        alone = next(iter(value))
        return (alone, given) if alone in tools else None
    named = next((value[key] for key in _CALL_NAMES if isinstance(value.get(key), str)), "")
    name = _tool(named, tools) if len(named) <= _MOST_NAME else ""
    if not name:
        return None
    arguments: Any = next((value[key] for key in _CALL_ARGUMENTS if value.get(key) is not None), None)
    beside = {key: one for key, one in value.items() if key not in _CALL_NAMES}
    if arguments is None and beside and beside.keys() <= types_of(tools[name]).keys():
        arguments = beside  # cloudflare/ai#574
    arguments = _plain_arguments(arguments)
    if is_schema(arguments) or (arguments is None and "description" in value):
        return None
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments or "{}")
        except (ValueError, RecursionError):
            return None
    arguments = {} if arguments is None else arguments
    return (name, arguments) if isinstance(arguments, dict) else None


def _plain_arguments(given: Any) -> Any:
    """Arguments without what small models put around them: a list of one, a list of names and values, a schema with values."""
    if isinstance(given, list) and given and all(isinstance(one, dict) for one in given):
        named = all(one.keys() == {"name", "value"} for one in given)
        return (
            {one["name"]: one["value"] for one in given} if named else given[0] if len(given) == 1 else given
        )
    inner = given.get("properties") if isinstance(given, dict) else None
    is_filled = isinstance(inner, dict) and not any(isinstance(one, dict) for one in inner.values())
    return inner if inner and is_filled and given.keys() <= {"type", "properties", "required"} else given


_PAIR_LENGTH = 2
_MOST_NAME = 300


def is_schema(value: Any) -> bool:
    """True for the schema of a tool's arguments, which a model may quote."""
    return (
        isinstance(value, dict)
        and value.get("type") == "object"
        and isinstance(value.get("properties"), dict)
    )


def _yamled(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """YAML: a name and arguments, or behind a marker the name in a line of its own."""
    try:
        if YAML_HEAD.match(text, at):
            told, end = yaml_calls(text, at)
        elif (
            (head := _NAME_LINE.match(text, at)) and _is_marked(text, at) and (name := _tool(head[1], tools))
        ):
            arguments, end = yaml_arguments(text, head.end(), types_of(tools[name]))
            return [(name, arguments)], end
        else:
            return None
        calls = [
            (name, typed_arguments(given, types_of(tools[name])))
            for said, given in told
            if (name := _tool(said, tools))
        ]
    except ValueError:
        return None
    return (calls, end) if calls and len(calls) == len(told) else None


_NAME_LINE = late(r"([\w.:-]{1,200})[ \t]*\r?\n")


def _is_marked(text: str, at: int) -> bool:
    """True behind a marker."""
    return text[max(0, at - 9) : at].rstrip()[-1:] in {">", "]"}


def _invoked(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """An element with the name, and one with each parameter or an object inside."""
    head = _INVOKE.match(text, at)
    name = _tool(head[3], tools) if head else ""
    if head is None or not name:
        return None
    return _with_inside(text, head.end(), name, _PARAMETER, head[1] + head[2].split()[0], tools)


def _with_attributes(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """An element without anything in it, that has the name of a tool and each parameter as an attribute."""
    head = _ATTRIBUTED.match(text, at)
    if head is None:
        return None
    told = {key: html.unescape(words[1:-1]) for key, words in _ATTRIBUTE.findall(head[2])}
    name = head[1] if head[1] in tools else ""
    if not name and _CALL_TAG.fullmatch(head[1]):
        name = _tool(next((told.pop(key) for key in ("name", "tool", "function") if key in told), ""), tools)
    if not name:
        return None
    types = types_of(tools[name])
    given = {
        key: value_of(words, types.get(key))
        for key, words in told.items()
        if key in types or key not in _BESIDE
    }
    return [(name, _unwrapped(given, types))], head.end()


def _unwrapped(given: dict[str, Any], types: Mapping[str, object]) -> dict[str, Any]:
    """Arguments, without a name for all of them around them."""
    inner = next(iter(given.values())) if len(given) == 1 else None
    is_around = isinstance(inner, dict) and given.keys() <= {*_CALL_ARGUMENTS} - types.keys()
    return inner if isinstance(inner, dict) and is_around else given


_CALL_TAG = late(rf"[a-z_-]{{0,20}}{_OF_CALLS}[a-z_-]{{0,20}}")
_BESIDE = ("id", "type", "category", "index")
"""Attributes that say nothing of the call itself."""


_ATTRIBUTE = late(r"([\w.-]{1,128})=(\"[^\"]*\"|'[^']*')")
_ATTRIBUTED = late(r"\s*<([\w.:-]{1,128})((?:\s+[\w.-]{1,128}=(?:\"[^\"]*\"|'[^']*'))+)\s*(?:/>|>\s*</\1>)")


def _element(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """An element that has the name of a tool, and in it one with each parameter or an object."""
    head = _ELEMENT.match(text, at)
    if head is None or head[1] not in tools:
        return None
    return _with_inside(text, head.end(), head[1], _ELEMENT, head[1], tools)


def _headed(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A name in any dress, and arguments in any notation."""
    head = _HEAD.match(text, at)
    name = _tool(head["inside"] or head["element"] or head["word"], tools) if head else ""
    if head is None or not name:
        return None
    types = types_of(tools[name])
    for read in _NOTATIONS:
        if (found := read(text, head.end(), types)) is not None:
            end = end_of(_HEAD_END, text, found[1])
            is_open = head["bracket"] and not head["closed"] and "]" not in text[found[1] : end]
            return None if is_open else ([(name, found[0])], end)
    return ([(name, {})], head.end("empty")) if head["empty"] else None


_KEY_MARK = r"<[|｜][^<>|｜\s]{0,30}(?:key|param|name)[^<>|｜\s]{0,10}[|｜]>"
_HEAD = late(
    rf"(?:{_NAMED_INSIDE}|(?:[ \t*]{{0,9}}{_LABEL}|(?i:name):\s{{0,9}}|(?P<bracket>{_SAID})|function<[|｜]tool[_▁]sep[|｜]>)?"
    rf"(?:<(?:(?:tool_|function_)?name|function|tool)>\s*(?P<element>[^<>\s]{{1,200}})\s*</\w{{1,20}}>|(?P<word>[^\s<>{{}}\[\]`\"'()=]{{1,200}})))"
    rf"(?:{_LABEL_OF_INPUT}|(?P<closed>\])|(?i:with )?(?i:arg(?:ument)?s|param(?:eter)?s|input)\b:?|[\s*]|[:=]>?|->|`{{1,3}}(?:json)?|\[CALL_ID\]\w{{1,40}}"
    rf"|(?P<empty><(arguments|parameters|input|args|params)>\s*</\w{{1,20}}>)|</?(?:\w{{0,20}}arg(?:ument)?s|param(?:eter)?s|input)>|(?!{_KEY_MARK}){_TOKEN})*"
)
"""A name, alone, behind a label or in an element, and what stands between it and its arguments."""
_HEAD_END = late(
    r"(?:\s*</(?:\w{0,20}arg(?:ument)?s|param(?:eter)?s|input|params)>|(?:\s*`{3,})?\s*[*]{0,2}Observation:?[*]{0,2}\s*\Z)?(?:\s*\])?"
)
"""End of arguments, and the word at which an agent's prompt lets a model stop."""


def _in_pairs(text: str, at: int, types: Mapping[str, object]) -> tuple[dict[str, Any], int] | None:
    """A key and a value each, as GLM writes them."""
    given: dict[str, Any] = {}
    while (pair := _PAIR.match(text, at)) is not None:
        pair_end = f"</{pair[1]}arg_value>"
        end = text.find(pair_end, pair.end())
        if end < 0:
            return None
        key = pair[2].strip()
        given[key] = value_of(text[pair.end() : end], types.get(key))
        at = end + len(pair_end)
    return (given, at) if given else None


def _in_lines(text: str, at: int, types: Mapping[str, object]) -> tuple[dict[str, Any], int] | None:
    """A line or a word with each parameter, as `path: "a"`, `path=a`, `- path: a` or `--path a`."""
    given: dict[str, Any] = {}
    while (line := _LINE.match(text, at)) is not None and line["key"] in types:
        words, kind = line["value"].strip().strip("`"), types[line["key"]]
        value = value_of(words, None if words.startswith('"') else kind)
        if isinstance(value, str) and kind in {"integer", "number", "boolean"}:
            return None
        given[line["key"]] = value
        at = line.end()
    return (given, at) if given and _MARKER.match(text, at) else None


_LINE = late(
    r"[\s,>]*(?:(?P<bullet>[-*])[ \t]|--)?[*`]{0,3}(?P<key>[\w.-]{1,128})[*`]{0,3}(?:[ \t]*(?:=|:(?![ \t]*[&*!|>]))[ \t]*|(?<!-)[ \t])"
    r"(?P<value>\"(?:[^\"\\\n]|\\.)*\"(?=[ \t]*(?:[\n,/>]|[\w.-]{1,128}=|\Z|</|<[|｜]))|[^\n<]+(?=\n|</|<[|｜])|(?(bullet)[^\n<]+\Z|(?!)))[ \t]*/?>?"
)
_MARKER = late(rf"\s*(?:{_TOKEN}|`{{3,}}|</|\[/|\Z)")


def _in_elements(text: str, at: int, types: Mapping[str, object]) -> tuple[dict[str, Any], int] | None:
    """An element with each parameter, by its tag or a name in it."""
    given: dict[str, Any] = {}
    while (one := _PARAMETER.match(text, at) or _ELEMENT.match(text, at)) is not None and one[2] in types:
        end = text.find(f"</{one[1]}>", one.end())
        if end < 0:
            return None
        given[one[2]] = _inside(text[one.end() : end], types[one[2]])
        at = end + len(one[1]) + 3
    return (given, at) if given else None


def _in_tokens(text: str, at: int, types: Mapping[str, object]) -> tuple[dict[str, Any], int] | None:
    """A token before each key and each value."""
    given: dict[str, Any] = {}
    while (pair := _TOKEN_PAIR.match(text, at)) is not None and pair[1] in types:
        end = _TOKEN_END.search(text, pair.end())
        if end is None:
            return None
        given[pair[1]] = value_of(text[pair.end() : end.start()], types[pair[1]])
        at = end.start()
    return (given, at) if given else None


_TOKEN_PAIR = late(rf"\s*{_KEY_MARK}([\w.-]{{1,128}})<[|｜][^<>|｜\s]{{1,40}}[|｜]>")
_TOKEN_END = late(rf"(?:</[|｜][^<>|｜\s]{{1,40}}[|｜]>)|(?=<[|｜])|(?={'|'.join(_ENDS)})")


def _with_inside(
    text: str, place: int, name: str, opening: re.Pattern[str], tag: str, tools: Mapping[str, ToolSchema]
) -> Found | None:
    """The call of an element of this tag, from behind its opening: an object, then an element with each parameter."""
    types, arguments = types_of(tools[name]), dict[str, Any]()
    if inner := _object_at(text, end_of(_BLANKS, text, place)):
        arguments, place = inner
    else:
        with suppress(ValueError):
            arguments, place = yaml_arguments(text, place, types)
    while (parameter := opening.match(text, place) or _ELEMENT.match(text, place)) is not None:
        parameter_end = f"</{parameter[1]}>"
        end = text.find(parameter_end, _behind_cdata(text, parameter.end()))
        ends_call = text.find(f"</{tag}>", parameter.end()) if end < 0 and tag else -1
        if end < 0 and ends_call < 0:
            return None
        if end < 0:
            arguments[parameter[2]] = value_of(
                text[parameter.end() : ends_call].strip(), types.get(parameter[2])
            )
            place = ends_call
            break
        kind = "string" if 'string="true"' in parameter[3] else types.get(parameter[2])
        kind = None if 'string="false"' in parameter[3] else kind
        arguments[parameter[2]] = _inside(text[parameter.end() : end], kind)
        place = end + len(parameter_end)
    if not arguments and len(types) == 1 and tag and (alone := _PLAIN_TEXT.match(text, place)):
        ((only, kind),) = types.items()
        arguments, place = {only: value_of(alone[0], kind)}, alone.end()
    arguments = _unwrapped(arguments, types)
    close = re.compile(rf"\s*</{re.escape(tag)}>" if tag else r"(?=\s*</)").match(text, place)
    if close is None and arguments and not text[place:].strip():
        return [(name, arguments)], len(text)  # a server took the closing tag for the end of the reply
    return ([(name, arguments)], close.end()) if close else None


_PLAIN_TEXT = late(r"[^\s<>{}][^<>]*(?=</)")


def _inside(text: str, kind: object, depth: int = 0) -> Any:
    """The value of an element: an object or a list may be written as elements, as MiniMax M3 does."""
    if kind == "string" or depth > DEEPEST or not (parts := _elements_in(text)):
        return value_of(text, kind)
    if {name for name, _ in parts} == {"item"}:
        return [_inside(one, None, depth + 1) for _, one in parts]
    return {name: _inside(one, None, depth + 1) for name, one in parts}


def _elements_in(text: str) -> list[tuple[str, str]]:
    """The elements that a text is made of; none where there is anything beside them."""
    found: list[tuple[str, str]] = []
    at = 0
    while (opened := _ELEMENT.match(text, at)) is not None:
        end = text.find(f"</{opened[1]}>", opened.end())
        if end < 0:
            return []
        found.append((opened[2], text[opened.end() : end]))
        at = end + len(opened[1]) + 3
    return found if not text[at:].strip() else []


def _behind_cdata(text: str, at: int) -> int:
    """The end of a text that XML keeps as it is, else this place."""
    return max(at, text.find("]]>", at)) if text.startswith("<![CDATA[", at) else at


_BLANKS = late(r"\s*")


def python_calls(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """Calls as Python writes them, with values that are written out: a list of them, or one alone, also as what is printed."""
    is_list = text[at : at + 1] == "["
    head = None if is_list else _PYTHON.match(text, at)
    if not (is_list or (head and _tool(head[1], tools))):
        return None
    for close in islice(
        re.compile(r"\)\s*\]" if is_list else r"\)+").finditer(text, at, at + _MOST_PYTHON), _MOST_CALLS
    ):
        try:
            tree = ast.parse(text[at : close.end()], mode="eval").body
            calls = [_python_call(one) for one in (tree.elts if isinstance(tree, ast.List) else [tree])]
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        named = [(_tool(name, tools), given) for name, given in calls]
        return (named, close.end()) if named and all(name for name, _ in named) else None
    return None


_PYTHON = late(r"(?:print\()?([\w.]{1,200})\(")


def _python_call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and len(node.args) == 1
    ):
        node = node.args[0]
    if not isinstance(node, ast.Call) or node.args:
        return "", {}
    return ast.unparse(node.func), {
        one.arg or "": ast.literal_eval(_JSON_WORDS.visit(one.value)) for one in node.keywords
    }


class _JsonWords(ast.NodeTransformer):
    """OLMo and Llama 4 write the words of JSON into calls of Python."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_WORDS[node.id]) if node.id in _WORDS else node


_JSON_WORDS = _JsonWords()
_WORDS = {"true": True, "false": False, "null": None}


def _alone(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """A name between markers, for a tool that needs no arguments."""
    head = _NAME_ALONE.match(text, at)
    name = _tool(head[1], tools) if head and _is_marked(text, at) else ""
    return ([(name, {})], head.end()) if head and name and not _needs_arguments(tools[name]) else None


def _needs_arguments(tool: ToolSchema) -> bool:
    try:
        return bool(read_json(tool.parameters_json).get("required"))
    except (ValueError, AttributeError):
        return False


_NAME_ALONE = late(
    rf"([\w.:-]{{1,200}})\s*(?!</\w{{1,20}}>\s*<(?:arguments|parameters|input|args|params)\b)(?=</[^<>=\s]{{0,30}}{_OF_CALLS}[^<>=\s]{{0,30}}>|<[|｜](?![^<>|｜\s]{{0,40}}(?:arg|begin|start|sep))[^<>|｜\s]{{0,40}}(?i:call)[^<>|｜\s]{{0,40}}[|｜]?>|\[/[A-Z_]{{0,20}}CALLS?\])"
)
_FORMS = (
    _with_attributes,
    _invoked,
    _in_channel,
    _element,
    python_calls,
    _listed,
    _yamled,
    _headed,
    _alone,
)


def _only(text: str, at: int, types: Mapping[str, object]) -> tuple[dict[str, Any], int] | None:
    """The value alone, of a tool with one parameter: in round brackets, or behind an angle that closes the name."""
    found = _ONE_VALUE.match(text, at) if len(types) == 1 else None
    if found is None:
        return None
    ((name, kind),) = types.items()
    return {name: value_of(found["quoted"] or found["plain"], kind)}, found.end()


_ONE_VALUE = late(
    r"\(\s*([\"'])(?P<quoted>[^\n]{1,2000}?)\1\s*\)(?=\s*(?:<|\Z))|>(?P<plain>[^\n<>]{1,2000})(?=</)"
)


_NOTATIONS: tuple[Callable[[str, int, Mapping[str, object]], tuple[dict[str, Any], int] | None], ...] = (
    lambda text, at, _: _object_at(text, at),
    _in_pairs,
    _in_tokens,
    _in_elements,
    _in_lines,
    _only,
)
"""Arguments as models write them behind a name: `_HEAD` and these are the grammar of all families that begin with a name."""


def arguments_alone(text: str, types: Mapping[str, object]) -> dict[str, Any]:
    """The arguments that a text is, with nothing beside them, as an object or in lines; empty for anything else."""
    body = text.strip()
    read = _object_at(body, 0) or _in_lines(f"{body}\n</", 0, types)
    is_all = read is not None and not body[read[1] :].strip()
    return read[0] if read is not None and is_all and read[0].keys() <= types.keys() else {}


def fits(tool: ToolSchema, given: Mapping[str, Any] | str) -> bool:
    """True for arguments, or their JSON, of which the tool knows each and misses none."""
    told = read_json(given) if isinstance(given, str) else given
    try:
        required = read_json(tool.parameters_json).get("required") or ()
    except (ValueError, AttributeError):
        return False
    return told.keys() <= types_of(tool).keys() and told.keys() >= {*required}


def types_of(tool: ToolSchema) -> Mapping[str, object]:
    """Types of a tool's parameters by their names."""
    try:
        properties = read_json(tool.parameters_json).get("properties", {})
        return {name: schema.get("type") for name, schema in properties.items()}
    except (ValueError, AttributeError):
        return {}


def value_of(text: str, kind: object) -> Any:
    """Value of a parameter: text where the schema asks for that, else JSON where it is such.

    A line end belongs to the value where it has several lines and none before them: such a text is a file's.
    """
    is_framed = text.startswith("\n") or text.count("\n") == 1
    words = text.removeprefix("\n").removesuffix("\n") if is_framed else text
    if words.startswith("<![CDATA[") and words.endswith("]]>"):
        words = words[9:-3]
    if kind == "string":
        return words
    try:
        return read_json(words)
    except (ValueError, RecursionError):
        return _python_value(words.strip()) if kind in _NO_WORDS and len(words) <= _MOST_PYTHON else words


_NO_WORDS = ("boolean", "integer", "number", "array", "object")


def _python_value(words: str) -> Any:
    """A value as Python writes it, such as `True`; else the words."""
    try:
        return ast.literal_eval(_JSON_WORDS.visit(ast.parse(words, mode="eval").body))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return words
