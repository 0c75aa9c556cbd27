"""The log's line format: a record to one canonical JSON line and back, total over any bytes."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import msgspec

from core.kernel.codecs import TypedReader, decoder_of, enum_value, from_builtins, read_json
from core.kernel.language import english, tr
from core.kernel.patterns import late
from core.kernel.values.records import (
    ChooseRecord,
    DeleteRecord,
    EditRecord,
    MarkRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    StartRecord,
    UsageRecord,
    ViewRecord,
)

VERSION = 1

_RECORDS: tuple[type[Record], ...] = (
    MessageRecord,
    ChooseRecord,
    RequestRecord,
    UsageRecord,
    EditRecord,
    DeleteRecord,
    RestoreRecord,
    ViewRecord,
    StartRecord,
    MarkRecord,
)
RECORD_TYPES: dict[str, type[Record]] = {str(cls.__struct_config__.tag): cls for cls in _RECORDS}
_SURROGATES = late("[\ud800-\udfff]")
_ONLY_WHEN_TRUE = frozenset(
    {
        "asks_rest",
        "attachments",
        "is_autonomous",
        "is_estimate",
        "is_inherited",
        "is_told",
        "pages",
        "paid_model",
        "paid_provider",
        "side_px",
        "text_bytes",
        "text_sha256",
        "version_of",
    }
)
"""Fields that later versions added: left out where they say nothing, so that a log's bytes stay what they were."""

T = TypeVar("T")


class ForeignLine(msgspec.Struct, frozen=True):
    """A line that this version cannot read. It stays in the log untouched.

    Args:
        line_number: 1-based; reason: why, one plain phrase.
    """

    line_number: int
    reason: str


class _Head(msgspec.Struct, frozen=True):
    """Head of a line, which says how it is to be read."""

    v: int
    type: str


_HEAD = decoder_of(_Head)
_DECODERS = {tag: decoder_of(cls) for tag, cls in RECORD_TYPES.items()}
_ENDS = {f',"type":"{tag}","v":{VERSION}}}\n'.encode(): decoder for tag, decoder in _DECODERS.items()}
"""The last keys of most lines that this program wrote: where they end a JSON object, they are the object's own."""

_LONGEST_END = max(map(len, _ENDS))
_UNREADABLE = (ValueError, RecursionError)
_REASONS = (
    (late("^Object missing required field `(.*)`$", re.DOTALL), tr("'\\1' is missing")),
    (late("^Expected `(.*)`, got `(.*)`$", re.DOTALL), tr("there is \\2 where \\1 belongs")),
    (
        late("^Expected `(?:int|float)` ([<>]=) (.*)$", re.DOTALL),
        tr("a number is not \\1 \\2"),
    ),
    (late("^Invalid RFC3339 encoded datetime$"), tr("there is no readable time")),
    (late("^Invalid (?:enum )?value (.{0,40}).*$", re.DOTALL), tr("the value \\1 is unknown")),
)
"""Words for a person in place of msgspec's."""


_JSON = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def encode(record: Record) -> bytes:
    """Write a record as one line: canonical JSON, UTF-8, ended by LF.

    Keys are sorted, no spaces, no ASCII escapes; None and numbers that are not finite are left out. A lone
    surrogate, which UTF-8 cannot hold, becomes U+FFFD. Never fails on a record.

    `json` writes, not msgspec: the bytes of a log stay what they were (1e-05, which msgspec writes as 0.00001).
    """
    data = {"v": VERSION, **_plain(record)}
    line = _JSON.encode(data) + "\n"
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
        record = _decoder(line).decode(line)
    except _UNREADABLE:
        return _decode_slowly(line, line_number)
    return record if record.at.tzinfo is UTC else _decode_slowly(line, line_number)


def to_json_value(value: Any) -> Any:
    """A value of `core.kernel.values` (structs, enums, times, tuples) as what JSON knows. None is left out."""
    return _plain(value)


def from_json_value(cls: type[T], data: Any) -> T:
    """Read what `to_json_value` gave for a struct.

    Raises:
        ValueError: the data is not of that shape; its text says why.
    """
    try:
        return from_builtins(_mended(data), cls)
    except msgspec.ValidationError as error:
        raise ValueError(_reason(error)) from None


def _decoder(line: bytes) -> TypedReader[Record]:
    """The reader of a line's type. Raises ValueError where there is none, or a byte is damaged.

    msgspec looks for damage only in what it keeps: a key with a broken byte would be one more unknown key.
    """
    if not line.isascii():
        line.decode()
    end = line[-_LONGEST_END:]
    decoder = _ENDS.get(end[end.find(b',"type":') :])
    if decoder is not None:
        return decoder
    head = _HEAD.decode(line)
    decoder = _DECODERS.get(head.type)
    if decoder is None or head.v != VERSION:
        raise ValueError("another version or type")
    return decoder


def _decode_slowly(line: bytes, line_number: int) -> Record | ForeignLine:
    """Read what msgspec refuses or reads otherwise: lone surrogates, a BOM, 1e400, times of other zones or none."""
    try:
        data = read_json(line, parse_float=_finite, parse_constant=_finite)
    except _UNREADABLE:
        return ForeignLine(line_number, tr("the line is not JSON"))
    try:
        return from_json_value(_record_type(data), data)
    except _UNREADABLE as error:
        return ForeignLine(line_number, str(error))


def _record_type(data: Any) -> type[Record]:
    if not isinstance(data, dict):
        raise ValueError(tr("the line is not a JSON object"))  # noqa: TRY004 (a line's fault, not a caller's)
    version, tag = data.get("v"), data.get("type")
    if type(version) is not int:
        raise ValueError(tr("the log has no version"))
    if version != VERSION:
        raise ValueError(
            tr(
                "the log has version {version}; this program reads {VERSION}",
                version=version,
                VERSION=VERSION,
            )
        )
    if not isinstance(tag, str) or tag not in RECORD_TYPES:
        raise ValueError(tr("the line has an unknown type of record, {tag!r}", tag=str(tag)[:40]))
    return RECORD_TYPES[tag]


def _reason(error: msgspec.ValidationError) -> str:
    """Reason of a failure, as the end of a sentence."""
    words, _, place = str(error).partition(" - at ")
    for pattern, reason in _REASONS:
        words = pattern.sub(reason, words)
    place = place.strip("`").removeprefix("$").removeprefix(".")
    return f"{words}, at {place}" if place else words


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _mended(value: Any, key: str = "") -> Any:
    """Data without lone surrogates, which nothing behind the log could encode, and with its times in UTC."""
    match value:
        case str():
            return _time(value) if key == "at" or key.endswith("_at") else _scrubbed(value)
        case list():
            return [_mended(item) for item in value]
        case dict():
            return {_scrubbed(name): _mended(item, name) for name, item in value.items()}
        case _:
            return value


def _scrubbed(text: str) -> str:
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _time(text: str) -> datetime | str:
    """A moment; the text as it stands where it says none. Raises ValueError: UTC has no such year."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _scrubbed(text)
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError(tr("the time {text!r} is outside the years 1 to 9999", text=text[:40])) from None


def _plain(value: Any) -> Any:
    """A value as JSON knows it; records and parts carry their `type`."""
    kind = type(value)
    if kind in _BARE:
        return value
    if kind is tuple:
        return [_plain(item) for item in value]
    match value:
        case msgspec.Struct():
            return _object(value)
        case Enum():
            return enum_value(value)
        case datetime():
            return _time_text(value)
        case tuple():
            return [_plain(item) for item in value]
        case _:
            return english(value)


_WRITTEN_AS_IT_IS = frozenset({str, int, bool})
_BARE = _WRITTEN_AS_IT_IS | {type(None), float}


@cache
def _form(cls: type[msgspec.Struct]) -> tuple[dict[str, Any], tuple[tuple[str, bool], ...]]:
    """Head of every object of a struct, and its fields: the name, and if it stands only when true."""
    tag = cls.__struct_config__.tag
    fields = tuple((name, name in _ONLY_WHEN_TRUE) for name in cls.__struct_fields__)
    return ({} if tag is None else {"type": tag}), fields


def _object(value: msgspec.Struct) -> dict[str, Any]:
    head, fields = _form(type(value))
    data = head.copy()
    for name, only_when_true in fields:
        item = getattr(value, name)
        if item is None or (only_when_true and not item):
            continue
        if type(item) in _WRITTEN_AS_IT_IS:
            data[name] = item
        elif not isinstance(item, float) or math.isfinite(item):
            data[name] = _plain(item)
    return data


def _time_text(at: datetime) -> str:
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return at.isoformat().replace("+00:00", "Z")
