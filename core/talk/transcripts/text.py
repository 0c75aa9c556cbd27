"""Bytes as text and dates in every form, as other programs write them."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

import msgspec

from core.kernel.codecs import from_json, json_encoder, read_json
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import TranscriptMessage, Unread
from core.kernel.values.messages import TextPart

Buffer = Any
"""Bytes, a memory view, or a mapped file: has a length, slices and `find`."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is passed over: no message is as long."""

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_STAMP = late(
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


def line_ends(buffer: Buffer, start: int, end: int) -> Iterator[int]:
    """Numbers of line ends between two bytes, a piece at a time."""
    for at in range(start, end, MAX_LINE_BYTES):
        yield bytes(buffer[at : min(end, at + MAX_LINE_BYTES)]).count(b"\n")


_encode = json_encoder("sorted").encode


def as_json(value: Any) -> str:
    """A value as JSON on one line, keys in order, with blanks as `json.dumps` puts them, in a third of its time."""
    try:
        return msgspec.json.format(_encode(value), indent=0).decode()
    except (ValueError, OverflowError):  # half a character, or a number of more than 64 bits
        return json.dumps(value, sort_keys=True, ensure_ascii=False)


def moment(value: Any) -> datetime | None:
    """A date in any form that programs write: seconds or parts of them since 1970, ISO 8601, or close to it.

    Returns:
        Aware, UTC; a time without a zone counts as UTC. None where it is no date.
    """
    if isinstance(value, str):
        return _of_iso(value) or _of_text(value.strip())
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
        if found.tzinfo is UTC:
            return found
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


# Identity of conversations that have no id of their own: by what they begin with, which stays when they
# grow.


def content_id(messages: Sequence[TranscriptMessage], at: datetime | None = None) -> str:
    """Id by the first words that were said, who said them and when. `at`: when the conversation began, if known."""
    first = next((one for one in messages if not one.is_aside), messages[0] if messages else None)
    words = "" if first is None else "\0".join(p.text for p in first.parts if isinstance(p, TextPart))
    said_at = at or (first.at if first is not None else None)
    told = (
        said_at.isoformat() if said_at is not None else "",
        first.role if first is not None else "",
        words,
    )
    return f"content-{sha256(chr(0).join(told).encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


# Arrays of JSON in pieces: an element at a time, whatever the file's size, and around what is damaged in
# it.

READ_BYTES = 1 << 20
MAX_ELEMENT_BYTES = 256 * 1024 * 1024
"""A longer conversation is passed over, and named."""

MAX_DEPTH = 200
"""Levels of brackets in an element; no conversation nests as deep."""

EXPORT_AGAIN = tr("Export again, or download the file again")

_BRACKET = late(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([\[\]{}"]|\Z)', re.DOTALL)
"""The next bracket outside of strings, or the quote of a string that does not end, or the end."""

_BLANK = late(rb"[\s,\x00]*")
_QUOTE = ord('"')
_CLOSES = {ord("]"): ord("["), ord("}"): ord("{")}


class Stream(Protocol):
    """Anything that is read forward."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, none at the end."""
        ...


def elements(buffer: Buffer) -> Iterator[Any]:
    """Elements of an array in a buffer: raw ones where the whole is sound, else all that are whole by themselves.

    Args:
        buffer: one array, or one object, which counts as its only element; or several of them, as one a line.

    Yields:
        `msgspec.Raw`, plain data, or `Unread` for what could not be read.
    """
    buffer = _plain(buffer)
    try:
        is_array = bytes(buffer[:READ_BYTES]).lstrip().startswith(b"[")
        found = from_json(buffer, list[msgspec.Raw]) if is_array else [from_json(buffer, msgspec.Raw)]
    except (msgspec.DecodeError, RecursionError, ValueError):
        yield from damaged(_Reading(buffer))
        return
    for number, one in enumerate(found, 1):
        if len(memoryview(one)) > MAX_ELEMENT_BYTES:
            yield _too_large(number)
        else:
            yield one


def damaged(stream: Stream) -> Iterator[Any]:
    """Elements of arrays and objects that come through a pipe, are damaged or follow one another without an array.

    An element that is broken by itself is named and passed over; what follows it is read.

    Yields:
        `msgspec.Raw`, plain data where only a lenient reader takes it, or `Unread` with the place.
    """
    yield from _Splitter(stream).elements()


def _plain(buffer: Buffer) -> Buffer:
    """The same in UTF-8 without a mark, as JSON must be."""
    head = bytes(buffer[:4])
    if head.startswith(codecs.BOM_UTF8):
        return memoryview(buffer)[len(codecs.BOM_UTF8) :]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decoded(bytes(buffer[:])).encode()
    return buffer


def _too_large(number: int) -> Unread:
    return Unread(
        place=tr("conversation {number}", number=number),
        why=tr("this conversation is larger than 256 MB"),
        is_conversation=True,
    )


class _Reading:
    """A buffer that is read forward."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer, self._at = buffer, 0

    def read(self, size: int = -1) -> bytes:
        end = len(self._buffer) if size < 0 else min(len(self._buffer), self._at + size)
        part = bytes(self._buffer[self._at : end])
        self._at = end
        return part


class _Splitter:
    """Cuts a stream into the elements of its arrays, and the objects outside of them, by brackets and strings alone.

    Holds one element, and a read piece. O(bytes).
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._number = 0
        self._before = 0  # bytes of the stream in front of `_data`
        self._data = bytearray()
        self._at = 0  # of `_data`: up to here every token is known
        self._start = -1  # of the element in `_data`, -1 outside of one
        self._begun_at = 0
        self._stack = bytearray()  # brackets that are open, of elements and of arrays around them
        self._base = 0  # brackets that are open around the element
        self._depth = 0  # of the deepest point of the element
        self._left = 0  # of `_data`: up to here, what stands between elements was looked at
        self._is_skipped = False  # the element is too long to be held

    def elements(self) -> Iterator[Any]:
        """Elements, and what is wrong between and in them."""
        while part := self._stream.read(
            max(READ_BYTES, len(self._data))
        ):  # a string that is open is looked at anew
            self._data += part
            yield from self._tokens(is_end=False)
            self._forget()
        yield from self._tokens(is_end=True)
        if self._start < 0:
            yield from self._between(len(self._data), is_end=True)
        if self._stack:
            yield self._cut()

    def _cut(self) -> Unread:
        """The break at the end of what was read."""
        where = tr(
            " of conversation {number}, which begins at byte {begun_at:,}",
            number=self._number + 1,
            begun_at=self._begun_at,
        )
        why = tr(
            "the file ends in the middle{where}; the program read everything before that",
            where=where if self._start >= 0 else "",
        )
        if self._start >= 0 and self._depth - self._base > MAX_DEPTH:
            why = tr("the data is nested more than {MAX_DEPTH} deep{where}", MAX_DEPTH=MAX_DEPTH, where=where)
        place = tr(
            "after conversation {number}, near byte {byte:,}",
            number=self._number,
            byte=self._before + len(self._data),
        )
        return Unread(place=place, why=why, remedy=EXPORT_AGAIN, is_cut=True)

    def _tokens(self, *, is_end: bool) -> Iterator[Any]:
        data, stack = self._data, self._stack
        for match in _BRACKET.finditer(data, self._at):
            place = match.start(1)
            if place == len(data):
                break
            token = data[place]
            if token == _QUOTE:  # of a string that the next piece may end
                if not is_end:
                    self._at = place
                    return
                break
            if self._start < 0 or len(stack) <= self._base + 1:
                yield from self._closed(token, place) if token in _CLOSES else self._opened(token, place)
            elif token not in _CLOSES:
                stack.append(token)
                self._depth = max(self._depth, len(stack))
            elif stack[-1] == _CLOSES[token]:
                stack.pop()
            else:
                yield from self._closed(token, place)
            self._at = match.end()
        self._at = len(data)

    def _opened(self, token: int, place: int) -> Iterator[Any]:
        is_list = token == ord("[")
        if self._start < 0 and not (is_list and not self._stack):
            yield from self._between(place)
            self._start, self._begun_at, self._depth = place, self._before + place, len(self._stack)
            self._base = len(self._stack)
        elif self._start < 0:
            yield from self._between(place)
            self._left = place + 1
        self._stack.append(token)
        self._depth = max(self._depth, len(self._stack))

    def _closed(self, token: int, place: int) -> Iterator[Any]:
        if self._start < 0:
            yield from self._between(place)
            self._left = place + 1
            if self._stack and self._stack[-1] == _CLOSES[token]:
                self._stack.pop()
            return
        while len(self._stack) > self._base and self._stack[-1] != _CLOSES[token]:
            self._stack.pop()  # a bracket is missing: the element is broken, and is told so when it is decoded
        if len(self._stack) > self._base:
            self._stack.pop()
        if len(self._stack) == self._base:
            yield self._element(bytes(self._data[self._start : place + 1]))
            self._start, self._left, self._is_skipped = -1, place + 1, False

    def _element(self, data: bytes) -> Any:
        self._number += 1
        if self._is_skipped or len(data) > MAX_ELEMENT_BYTES:
            return _too_large(self._number)
        place = tr("conversation {number}, near byte {byte:,}", number=self._number, byte=self._begun_at)
        if self._depth - self._base > MAX_DEPTH:
            return Unread(
                place=place,
                why=tr(
                    "this conversation is nested more than {MAX_DEPTH} deep; the program read the others",
                    MAX_DEPTH=MAX_DEPTH,
                ),
                is_conversation=True,
            )
        try:
            from_json(data, msgspec.Raw)
            return msgspec.Raw(data)
        except (msgspec.DecodeError, RecursionError, ValueError):
            pass
        try:
            return read_json(decoded(data))
        except (ValueError, RecursionError):
            return Unread(
                place=place,
                why=tr("this part is not JSON; the program read the others"),
                remedy=EXPORT_AGAIN,
                is_conversation=True,
            )

    def _between(self, end: int, *, is_end: bool = False) -> Iterator[Unread]:
        """Report text between two elements that is no element."""
        odd = bytes(self._data[self._left : end])
        at = _BLANK.match(odd)
        assert at is not None
        if at.end() < len(odd) and (is_end or self._number or self._stack):
            words = odd[at.end() : at.end() + 24].decode("utf-8", "replace").strip()
            place = tr(
                "after conversation {number}, near byte {byte:,}",
                number=self._number,
                byte=self._before + self._left + at.end(),
            )
            yield Unread(
                place=place,
                why=tr(
                    "the text {text!r} is not a conversation; the program read the text before and after it",
                    text=words,
                ),
            )
        self._left = end

    def _forget(self) -> None:
        """Let go of what was cut off already."""
        if self._start >= 0 and self._at - self._start > MAX_ELEMENT_BYTES:
            self._is_skipped = True
        keep = self._at if self._is_skipped else self._start if self._start >= 0 else self._left
        if self._is_skipped:
            self._start = 0
        elif self._start >= 0:
            self._start -= keep
        del self._data[:keep]
        self._before += keep
        self._at -= keep
        self._left = max(0, self._left - keep)
