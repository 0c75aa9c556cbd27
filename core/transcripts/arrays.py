"""Arrays of JSON in pieces: an element at a time, whatever the file's size, and as far as a damaged one goes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from core.transcripts.text import Buffer, decoded
from core.values.transcript import Unread

READ_BYTES = 1 << 16
MAX_ELEMENT_BYTES = 256 * 1024 * 1024
"""A longer conversation is passed over, and named."""

MAX_DEPTH = 200
"""Of brackets in what comes through a pipe or is damaged; no conversation nests as deep."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Stream(Protocol):
    """Anything that is read forward."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, none at the end."""
        ...


def elements(buffer: Buffer) -> Iterator[Any]:
    """Elements of an array in a buffer: raw ones where the whole is sound, else decoded ones as far as it is.

    Args:
        buffer: one array, or one object, which counts as its only element.

    Yields:
        `msgspec.Raw`, plain data, or `Unread` for what could not be read.
    """
    buffer = _plain(buffer)
    try:
        is_array = bytes(buffer[:READ_BYTES]).lstrip().startswith(b"[")
        found = (
            msgspec.json.decode(buffer, type=list[msgspec.Raw])
            if is_array
            else [msgspec.json.decode(buffer, type=msgspec.Raw)]
        )
    except (msgspec.DecodeError, RecursionError, ValueError):
        yield from damaged(_Reading(buffer))
        return
    for number, one in enumerate(found, 1):
        if len(memoryview(one)) > MAX_ELEMENT_BYTES:
            yield Unread(f"conversation {number}", "it is larger than 256 MB")
        else:
            yield one


def damaged(stream: Stream) -> Iterator[Any]:
    """Elements of arrays that come through a pipe, or break off: each that came whole, then where it broke.

    Yields:
        Plain data, then `Unread` where it is not sound to its end.
    """
    import ijson  # type: ignore[import-untyped]

    counted = _Counted(stream)
    number = 0
    try:
        for one in ijson.items(counted, "item", use_float=True, multiple_values=True, buf_size=READ_BYTES):
            number += 1
            yield one
    except (ijson.JSONError, ValueError, RecursionError, OverflowError) as error:
        is_cut = isinstance(error, ijson.IncompleteJSONError) and counted.at_end
        why = "it ends in the middle" if is_cut else str(error) if counted.is_deep else "it is no JSON"
        yield Unread(
            f"after conversation {number}, near byte {counted.count:,}",
            f"{why}; what stands before it was read",
        )


def _plain(buffer: Buffer) -> Buffer:
    """The same in UTF-8 without a mark, as JSON must be."""
    head = bytes(buffer[:4])
    if head.startswith(codecs.BOM_UTF8):
        return memoryview(buffer)[len(codecs.BOM_UTF8) :]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decoded(bytes(buffer[:])).encode()
    return buffer


class _Reading:
    """A buffer that is read forward."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer, self._at = buffer, 0

    def read(self, size: int = -1) -> bytes:
        end = len(self._buffer) if size < 0 else min(len(self._buffer), self._at + size)
        part = bytes(self._buffer[self._at : end])
        self._at = end
        return part


class _Counted:
    """A stream that knows how much of it was read, whether that was all, and how deep it is nested."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self.count, self.at_end = stream, 0, False
        self._depth, self._is_inside, self._held = 0, False, b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes.

        Raises:
            ValueError: they nest too deep: what reads them takes quadratic time.
        """
        part = self._stream.read(size)
        self.count += len(part)
        self.at_end = self.at_end or not part
        for bracket in self._brackets(part):
            self._depth += 1 if bracket in b"[{" else -1
            if self.is_deep:
                raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
        return part

    @property
    def is_deep(self) -> bool:
        """True if it is nested too deep."""
        return self._depth > MAX_DEPTH

    def _brackets(self, part: bytes) -> bytes:
        """Brackets outside of strings, in order. O(n), in C."""
        part, self._held = self._held + part, b""
        if self._is_inside:
            end = _REST.match(part)
            if end is None:
                self._held = _open_escape(part)
                return b""
            part, self._is_inside = part[end.end() :], False
        bare, quote, rest = _STRING.sub(b"", part).partition(b'"')
        self._is_inside, self._held = bool(quote), _open_escape(rest)
        return bare.translate(None, _NO_BRACKETS)


def _open_escape(part: bytes) -> bytes:
    """The backslash at the end of a string's part that belongs to what comes next, if there is one."""
    return b"\\" if (len(part) - len(part.rstrip(b"\\"))) % 2 else b""
