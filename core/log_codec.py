"""The log's line format: a record to one canonical JSON line and back, total over any bytes."""

from __future__ import annotations

import json
import math
import re
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from core.values.messages import AttachmentPart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from core.values.records import (
    DeleteRecord,
    EditRecord,
    MarkRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    UsageRecord,
    ViewRecord,
)

VERSION = 1

RECORD_TYPES: dict[str, Any] = {
    "message": MessageRecord,
    "request": RequestRecord,
    "usage": UsageRecord,
    "edit": EditRecord,
    "delete": DeleteRecord,
    "restore": RestoreRecord,
    "view": ViewRecord,
    "mark": MarkRecord,
}
PART_TYPES: dict[str, Any] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "tool_call": ToolCallPart,
    "tool_result": ToolResultPart,
    "attachment": AttachmentPart,
}
_TAGS: dict[Any, str] = {cls: tag for table in (RECORD_TYPES, PART_TYPES) for tag, cls in table.items()}
_SURROGATES = re.compile("[\ud800-\udfff]")

Decoder = Callable[[Any], Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForeignLine:
    """A line that this version cannot read. It stays in the log untouched.

    Args:
        line_number: 1-based; reason: why, one plain phrase.
    """

    line_number: int
    reason: str


def encode(record: Record) -> bytes:
    """Write a record as one line: canonical JSON, UTF-8, ended by LF.

    Keys are sorted, no spaces, no ASCII escapes; None and numbers that are not finite are left out. A lone
    surrogate, which UTF-8 cannot hold, becomes U+FFFD. Never fails on a record.
    """
    data = {"v": VERSION, **_plain(record)}
    line = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"
    try:
        return line.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", line).encode()


def decode(line: bytes, line_number: int) -> Record | ForeignLine:
    """Read one line.

    Args:
        line: any bytes, with or without its line end; line_number: 1-based, for the report.

    Returns:
        The record, or a `ForeignLine` for anything else: broken JSON, another program's line, a type, part or
        version that this program does not know. Unknown keys of a known type are passed over.
    """
    try:
        data = json.loads(line, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return ForeignLine(line_number, "it is not JSON")
    try:
        record: Record = _record(_scrub(data) if b"\\u" in line else data)
    except _UnreadableError as error:
        return ForeignLine(line_number, str(error))
    return record


def to_json_value(value: Any) -> Any:
    """A value of `core.values` (dataclasses, enums, times, tuples) as what JSON knows. None is left out."""
    return _plain(value)


def from_json_value(cls: type[T], data: Any) -> T:
    """Read what `to_json_value` gave for a dataclass.

    Raises:
        ValueError: the data is not of that shape; its text says why.
    """
    hint: Any = cls
    value: T = _decoder(hint)(_scrub(data))
    return value


class _UnreadableError(ValueError):
    """Why a JSON value is no record."""


def _plain(value: Any) -> Any:
    """A value as JSON knows it; dataclasses of the two tables carry their `type`."""
    match value:
        case Enum():
            return value.value
        case str():
            return value
        case datetime():
            return _time_text(value)
        case tuple():
            return [_plain(item) for item in value]
        case _ if is_dataclass(value):
            return _object(value)
        case _:
            return value


def _object(value: Any) -> dict[str, Any]:
    cls: Any = type(value)
    tag = _TAGS.get(cls)
    data: dict[str, Any] = {} if tag is None else {"type": tag}
    for name in _field_names(cls):
        item = getattr(value, name)
        if item is None or (isinstance(item, float) and not math.isfinite(item)):
            continue
        data[name] = _plain(item)
    return data


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def _time_text(at: datetime) -> str:
    moment = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _scrub(value: Any) -> Any:
    """Escapes can smuggle lone surrogates in; nothing behind the log could encode them."""
    match value:
        case str():
            return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
        case list():
            return [_scrub(item) for item in value]
        case dict():
            return {key: _scrub(item) for key, item in value.items()}
        case _:
            return value


def _record(data: Any) -> Any:
    if not isinstance(data, dict):
        raise _UnreadableError("it is no JSON object")
    version = data.get("v")
    if type(version) is not int:
        raise _UnreadableError("it has no version")
    if version != VERSION:
        raise _UnreadableError(f"it is of version {version}, this program reads {VERSION}")
    return _tagged(RECORD_TYPES, data, "record")


def _tagged(table: dict[str, Any], data: Any, noun: str) -> Any:
    tag = data.get("type") if isinstance(data, dict) else None
    cls = table.get(tag) if isinstance(tag, str) else None
    if cls is None:
        raise _UnreadableError(f"it has an unknown type of {noun}, {str(tag)[:40]!r}")
    return _decoder(cls)(data)


@cache
def _decoder(hint: Any) -> Decoder:
    """The reader of one annotated type, built once."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not types.NoneType]
        return _optional(_decoder(inner[0])) if len(inner) < len(args) else _part
    if origin is tuple:
        return _list_of(_decoder(args[0]))
    if is_dataclass(hint):
        return _dataclass_decoder(hint)
    if hint is datetime:
        return _time
    return _member(hint) if issubclass(hint, Enum) else _scalar(hint)


def _part(data: Any) -> Any:
    return _tagged(PART_TYPES, data, "part")


def _optional(inner: Decoder) -> Decoder:
    return lambda data: None if data is None else inner(data)


def _list_of(inner: Decoder) -> Decoder:
    def read(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise _UnreadableError("it has something else where a list belongs")
        return tuple([inner(item) for item in data])

    return read


def _dataclass_decoder(cls: Any) -> Decoder:
    hints = get_type_hints(cls)
    readers = [(field.name, _decoder(hints[field.name]), _is_required(field, hints)) for field in fields(cls)]

    blanks = {field.name: None for field in fields(cls) if types.NoneType in get_args(hints[field.name])}

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise _UnreadableError("it has something else where an object belongs")
        values = {}
        for name, reader, is_required in readers:
            if name in data:
                values[name] = reader(data[name])
            elif is_required:
                raise _UnreadableError(f"it has no {name!r}")
        return cls(**{**blanks, **values})

    return read


def _is_required(field: Field[Any], hints: dict[str, Any]) -> bool:
    has_default = field.default is not MISSING or field.default_factory is not MISSING
    return not has_default and types.NoneType not in get_args(hints[field.name])


def _member(enum: type[Enum]) -> Decoder:
    members = {member.value: member for member in enum}

    def read(data: Any) -> Enum:
        if isinstance(data, (str, int)) and data in members:
            return members[data]
        raise _UnreadableError(f"it has an unknown {enum.__name__.lower()}, {str(data)[:40]!r}")

    return read


def _scalar(kind: type[Any]) -> Decoder:
    def read(data: Any) -> Any:
        if type(data) is kind:
            return data
        if kind is float and type(data) is int and abs(data) < 2**1000:
            return float(data)
        raise _UnreadableError(f"it has something else where a {kind.__name__} belongs")

    return read


def _time(data: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(data)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        raise _UnreadableError(f"it has no readable time, {str(data)[:40]!r}") from None
