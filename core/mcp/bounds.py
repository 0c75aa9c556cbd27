"""Bounds of what an MCP server may offer and answer, and the words for what was left out. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from core.kernel import figures
from core.kernel.codecs import TypedReader, decoder_of, json_encoder, read_json
from core.kernel.frame import clean, flat, one_line, size_bytes
from core.kernel.language import spliced, tr
from core.kernel.patterns import late
from core.kernel.values.mcp import McpPicture, McpTool, WrappedCommand
from core.kernel.values.stack import ToolSchema

MOST_TOOLS = 256
MOST_LISTED = 10_000
"""Tools that are looked at. A listing without an end ends here."""
MOST_PAGES = 100
MOST_LISTED_BYTES = 16_000_000
"""Bytes of a listing, over all its pages; the page that reaches them is still read."""
MOST_SCHEMA_BYTES = 128_000
"""All descriptions and schemas of a server: each request carries them."""
MOST_TOOL_BYTES = 32_000
MOST_NAME_CHARS = 64
"""Characters of `server__tool`, at most. Source: OpenAI "Function calling" and Anthropic "Tool use", names of tools (read 2026-11-23)."""
MOST_DEPTH = 24
MOST_MESSAGE_BYTES = 16_000_000
MOST_PARTS = 250_000
"""Values of a message: 16 MB of empty lists would be two gigabytes of objects, and minutes in which no server is heard."""
MOST_TEXT_BYTES = 200_000
MOST_PICTURES = 8
MOST_PICTURE_BYTES = 5_000_000
MOST_JUNK_LINES = 200
MOST_WAITING = 256
"""Messages to a server that it did not take yet."""
_MOST_NAMED = 20
_NAME = late(r"[A-Za-z0-9_-]+")
_DOTS = late(r"[./]")
_PROPERTY = late(r"[A-Za-z0-9_.-]{1,64}")
_NOT_AT_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")
_TITLE_CHARS = 60
_STRING = late(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_MARKS = (b",", b"{", b"[")


class ListedTool(msgspec.Struct, frozen=True):
    """A tool as a server listed it, not judged yet. `is_task`: it runs as a task of the protocol alone."""

    name: str
    description: str
    schema: Mapping[str, Any]
    says_read_only: bool = False
    is_task: bool = False


def tool_name(server: str, tool: str) -> str:
    """Name of a server's tool as a model is given it: dots and slashes, which the protocol takes and providers do not, as lines."""
    return f"{server}__{_DOTS.sub('_', tool)}"


def offered_tools(server: str, listed: Iterable[ListedTool]) -> tuple[tuple[McpTool, ...], tuple[str, ...]]:
    """Judge a listing.

    Returns:
        Tools that a model can be offered, sorted by name, and a sentence for each that was left out, at most 20 and one
        for the rest. The order in which the server lists them changes nothing.
    """
    tools: dict[str, McpTool] = {}
    left_out: list[str] = []
    twice: set[str] = set()
    for tool in sorted(listed, key=lambda each: each.name):
        shown = one_line(flat(tool.name), _TITLE_CHARS) or tr("a tool without a name")
        problem = _problem(server, tool)
        if problem:
            left_out.append(spliced("{}: {}", shown, problem))
            continue
        named = tool_name(server, tool.name)
        schema = ToolSchema(
            name=named,
            description=clean(tool.description).strip(),
            parameters_json=_canonical(tool.schema),
        )
        made = McpTool(name=tool.name, schema=schema, says_read_only=tool.says_read_only)
        if tools.setdefault(named, made) != made:  # the same once more: a server that knows no pages
            twice.add(named)
    # which of them a call would reach, nobody knows
    left_out += [tr("{name}: it is listed twice", name=tools.pop(named).name) for named in sorted(twice)]
    kept: list[McpTool] = []
    size = looked_at = 0
    over: list[str] = []
    for named in sorted(tools):
        name, schema = tools[named].name, tools[named].schema
        tool_bytes = _size(schema)
        looked_at += tool_bytes
        if (
            len(kept) == MOST_TOOLS
            or size + tool_bytes > MOST_SCHEMA_BYTES
            or looked_at > 2 * MOST_SCHEMA_BYTES
        ):
            over.append(name)
        elif not _is_of_dialect(schema):
            left_out.append(
                tr("{name}: its schema is not JSON Schema 2020-12, which providers require", name=name)
            )
        else:
            kept.append(tools[named])
            size += tool_bytes
    if over:
        bound = tr(
            "{MOST_TOOLS} tools and {MOST_SCHEMA_BYTES} of descriptions",
            MOST_TOOLS=MOST_TOOLS,
            MOST_SCHEMA_BYTES=figures.size(MOST_SCHEMA_BYTES),
        )
        names = ", ".join(over[:3]) + (" …" if len(over) > 3 else "")
        left_out.append(
            tr(
                "{over:,} tools exceed the maximum of {bound} for a server: {names}",
                over=len(over),
                bound=bound,
                names=names,
            )
        )
    return tuple(kept), _named(left_out)


def _named(left_out: list[str]) -> tuple[str, ...]:
    if len(left_out) <= _MOST_NAMED:
        return tuple(left_out)
    rest = len(left_out) - (_MOST_NAMED - 2)
    return (
        *left_out[: _MOST_NAMED - 2],
        tr("the program left out {rest:,} more tools", rest=rest - 1),
        left_out[-1],
    )


def _problem(server: str, tool: ListedTool) -> str:
    """Reason why a tool cannot be offered, empty where it can."""
    if _NAME.fullmatch(_DOTS.sub("_", tool.name)) is None:
        return tr("the tool's name holds characters that providers refuse")
    if len(tool_name(server, tool.name)) > MOST_NAME_CHARS:
        return tr(
            "the names of tool and server together exceed {most} characters",
            most=MOST_NAME_CHARS,
        )
    if tool.is_task:
        return tr("the program does not support tools that run as background tasks")
    if tool.schema.get("type", "object") != "object":
        return tr("the tool's schema does not describe an object")
    problem = _top_problem(tool.schema) or _schema_problem(tool.schema, MOST_DEPTH)
    if problem:
        return problem
    try:
        schema = _canonical(tool.schema)
    except ValueError:
        return tr("the tool's schema holds a number that JSON does not have")
    if _size(ToolSchema(name="", description=tool.description, parameters_json=schema)) > MOST_TOOL_BYTES:
        return tr(
            "the tool's description and schema are over {most}",
            most=figures.size(MOST_TOOL_BYTES),
        )
    return ""


_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMAS = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
)
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def _top_problem(schema: Mapping[str, Any]) -> str:
    """Reason why models' servers refuse a schema by its top, empty where they do not: they refuse the whole request with it.

    Source: answers of Anthropic's and OpenAI's servers, as their users report them (read 2026-11-28).
    """
    refused = next((key for key in _NOT_AT_TOP if key in schema), "")
    if refused:
        return tr("the tool's schema has {refused} at its top, which providers refuse", refused=refused)
    properties = schema.get("properties")
    names = properties if isinstance(properties, Mapping) else ()
    odd = next((name for name in names if _PROPERTY.fullmatch(name) is None), None)
    if odd is not None:
        return tr("providers refuse the name of its argument {odd!r}", odd=one_line(flat(odd), _TITLE_CHARS))
    return ""


def _is_of_dialect(schema: ToolSchema) -> bool:
    """True for a schema of the dialect that the protocol names, and Anthropic's servers hold every tool to."""
    return bool(_dialect().is_valid(read_json(schema.parameters_json)))


@cache
def _dialect() -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # the SDK brings it

    return Draft202012Validator(Draft202012Validator.META_SCHEMA)


def _schema_problem(schema: object, depth: int) -> str:
    """Reason why a value is no JSON Schema that a model's server takes, empty where it is one."""
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, Mapping):
        return tr("the tool's schema is not a JSON Schema")
    if depth == 0:
        return tr("the tool's schema is deeper than {most} levels", most=MOST_DEPTH)
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is not None and not all(isinstance(each, str) and each in _TYPES for each in kinds):
        return tr("the tool's schema names a type that JSON Schema does not have")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        return tr("the tool's schema is not a JSON Schema")
    for key in ("$ref", "$dynamicRef", "$recursiveRef"):
        reference = schema.get(key, "#")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return tr("the tool's schema refers to another document")
    for key in _SCHEMAS_BY_NAME:
        inner = schema.get(key, {})
        if not isinstance(inner, Mapping):
            return tr("the tool's schema is not a JSON Schema")
        for each in inner.values():
            if problem := _schema_problem(each, depth - 1):
                return problem
    for key in (*_SCHEMAS, *_SCHEMA_LISTS):
        found = schema.get(key)
        many = key in _SCHEMA_LISTS or (key == "items" and isinstance(found, list))
        if many and found is not None and not isinstance(found, list):
            return tr("the tool's schema is not a JSON Schema")
        for each in found if isinstance(found, list) and many else [] if found is None else [found]:
            if problem := _schema_problem(each, depth - 1):
                return problem
    return ""


def _canonical(schema: Mapping[str, Any]) -> str:
    whole = {"type": "object", "properties": {}, **schema}
    whole.pop("$schema", None)  # models' servers read one dialect, and some refuse the key
    return clean(
        json.dumps(
            whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=str
        )
    )


def _size(schema: ToolSchema) -> int:
    return size_bytes(schema.name) + size_bytes(schema.description) + size_bytes(schema.parameters_json)


def marks_in(data: bytes) -> int:
    """Count of the marks in JSON by which values begin, those inside of strings included."""
    return sum(map(data.count, _MARKS))


def has_too_many_parts(message: bytes) -> bool:
    """True for JSON of more than `MOST_PARTS` values. A long text is one, whatever stands in it."""
    return marks_in(message) > MOST_PARTS and marks_in(_STRING.sub(b"", message)) > MOST_PARTS


def bounded_text(texts: Iterable[str], notes: Iterable[str] = ()) -> str:
    """Join the texts of an answer, cut to `MOST_TEXT_BYTES` with head and tail kept, notes in brackets behind."""
    whole = clean("\n\n".join(texts))
    cut = size_bytes(whole) - MOST_TEXT_BYTES
    if cut > 0:
        data = whole.encode("utf-8", "replace")
        head, tail = MOST_TEXT_BYTES * 3 // 4, MOST_TEXT_BYTES // 4
        left = f"\n[… {figures.size(len(data) - head - tail)} left out …]\n"
        whole = data[:head].decode("utf-8", "ignore") + left + data[-tail:].decode("utf-8", "ignore")
    return "\n".join(part for part in (whole, *(f"[{note}]" for note in notes)) if part)


# Lines between the program and its host of MCP servers: JSON, one message a line, each of a closed union.


class HostStart(msgspec.Struct, frozen=True, tag="start"):
    """Start a server and list its tools. Answered by `HostStarted` or `HostFailure`.

    Args:
        id: of this run of it; command: how one over stdio is started, None for one over HTTP.
        url: of one over HTTP; bearer: sent with each request, empty for none.
        proxy: address of the person's proxy, empty for none.
        may_reach_own: this machine and its network may be connected to.
        timeout_s: until it has listed its tools; list_age_s: over HTTP, after which a call first looks at the list again.
    """

    id: int
    name: str
    command: WrappedCommand | None = None
    url: str = ""
    bearer: str = ""
    proxy: str = ""
    may_reach_own: bool = False
    timeout_s: float = 60.0
    list_age_s: float = 60.0


class HostCall(msgspec.Struct, frozen=True, tag="call"):
    """Call a tool of a run. `tool`: as the server names it; `arguments_json`: a JSON object. Answered by `HostAnswer` or `HostFailure`."""

    id: int
    run: int
    tool: str
    arguments_json: str
    timeout_s: float = 60.0


class HostGiveUp(msgspec.Struct, frozen=True, tag="cancel"):
    """Give a start or a call up. Not answered, nor is what it names from then on."""

    id: int


class HostStop(msgspec.Struct, frozen=True, tag="stop"):
    """End a run and all that it started. Answered by `HostEnd`."""

    run: int


class HostStarted(msgspec.Struct, frozen=True, tag="started"):
    """Tools of a server that runs, sorted by name. `left_out`: tools that a model cannot be offered, a sentence each."""

    id: int
    tools: tuple[McpTool, ...]
    left_out: tuple[str, ...] = ()


class HostAnswer(msgspec.Struct, frozen=True, tag="answered"):
    """Answer of a tool, bounded; fields as in `McpAnswer`."""

    id: int
    text: str
    pictures: tuple[McpPicture, ...] = ()
    is_error: bool = False


class HostFailure(msgspec.Struct, frozen=True, tag="failed"):
    """A start or a call that came to nothing. `problem`: a sentence without a full stop."""

    id: int
    problem: str


class HostChange(msgspec.Struct, frozen=True, tag="changed"):
    """A running server offers other tools now; fields as in `HostStarted`."""

    run: int
    tools: tuple[McpTool, ...]
    left_out: tuple[str, ...] = ()


class HostEnd(msgspec.Struct, frozen=True, tag="gone"):
    """A run is over. `problem`: why, a sentence without a full stop; empty where it was stopped."""

    run: int
    problem: str = ""


ToHost = HostStart | HostCall | HostGiveUp | HostStop
FromHost = HostStarted | HostAnswer | HostFailure | HostChange | HostEnd

_ENCODER = json_encoder()
_TO_HOST: TypedReader[ToHost] = decoder_of(ToHost)
_FROM_HOST: TypedReader[FromHost] = decoder_of(FromHost)


def line_of(message: ToHost | FromHost) -> bytes:
    """A message as its line, newline included. Text with lone surrogates raises UnicodeEncodeError: clean it before."""
    return _ENCODER.encode(message) + b"\n"


def to_host(line: bytes) -> ToHost:
    """Read a line of the program. Raises ValueError for any other line."""
    return _TO_HOST.decode(line)


def from_host(line: bytes) -> FromHost:
    """Read a line of the host. Raises ValueError for any other line."""
    return _FROM_HOST.decode(line)
