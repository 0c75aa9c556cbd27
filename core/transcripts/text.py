"""Bytes as text and dates in every form, as other programs write them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from core.base.text import clean

Buffer = Any
"""Bytes, a memory view, or a mapped file: has a length, slices and `find`."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is passed over: no message is as long."""

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T _](\d{2})[:-](\d{2})[:-](\d{2})(\.\d{1,9})?[ ]?(Z|UTC|[+-]\d{2}:?\d{2})?"
)
_MILLISECONDS, _MICROSECONDS, _NANOSECONDS = 1e11, 1e14, 1e17
"""Seconds since 1970 that are as large are meant in a smaller unit: no date lies behind the year 5138."""


def decoded(data: bytes) -> str:
    """Text of any bytes: UTF-8 with or without a mark, UTF-16 by its mark; a line that is neither is Windows-1252."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return clean(data[len(mark) :].decode(name, "replace"))
    bare = data.removeprefix(codecs.BOM_UTF8)
    try:
        return clean(bare.decode())
    except UnicodeDecodeError:
        return clean("\n".join(map(_line, bare.split(b"\n"))))


def lines(buffer: Buffer) -> Iterator[bytes]:
    """Lines of a buffer without their ends, one after another; of one that is too long, its head alone."""
    start, end = 0, len(buffer)
    while start < end:
        stop = buffer.find(b"\n", start)
        stop = end if stop < 0 else stop
        yield bytes(buffer[start : min(stop, start + MAX_LINE_BYTES)]).removesuffix(b"\r")
        start = stop + 1


def moment(value: Any) -> datetime | None:
    """A date in any form that programs write: seconds or parts of them since 1970, ISO 8601, or close to it.

    Returns:
        Aware, UTC; a time without a zone counts as UTC. None where it is no date.
    """
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return _of_seconds(float(value)) if abs(value) < 1e21 else None


def _of_seconds(seconds: float) -> datetime | None:
    size = abs(seconds)
    scale = (
        1e9
        if size >= _NANOSECONDS
        else 1e6
        if size >= _MICROSECONDS
        else 1e3
        if size >= _MILLISECONDS
        else 1.0
    )
    try:
        return datetime.fromtimestamp(seconds / scale, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _of_text(text: str) -> datetime | None:
    if (found := _of_iso(text)) is not None:
        return found
    if (match := _STAMP.fullmatch(text)) is not None:
        day, hour, minute, second, part, zone = match.groups()
        zone = "+00:00" if zone in {None, "Z", "UTC"} else zone
        return _of_iso(f"{day}T{hour}:{minute}:{second}{(part or '')[:7]}{zone}")
    if re.fullmatch(r"-?\d{1,20}(\.\d{1,9})?", text) is not None and len(text) >= 9:
        return _of_seconds(float(text))
    return None


def _of_iso(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")
