"""Data to values of a type: the one place where msgspec looks at types, one thread at a time, and where all faults are of one kind.

What cannot be read is a `msgspec.DecodeError`, a ValueError, whatever is wrong with it: lists in lists without end, bytes that
are no UTF-8, half an emoji. Who reads a file of another program or of another version need know no other.

msgspec 0.22 writes what it learns of a struct into the type while it is still learning. A second thread that needs the type at
that moment (a restart's assembly and its keeper of caches, two tool calls with the same arguments) brings the interpreter down.
"""

from __future__ import annotations

from _thread import RLock  # a lock and no thread: pure modules stand on this one
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Generic, TypeVar, overload

import msgspec
from msgspec import inspect

T = TypeVar("T")
V = TypeVar("V")
Data = bytes | bytearray | memoryview | str | msgspec.Raw

_looking = RLock()

enum_value = attrgetter("_value_")
"""`enum_value(member)` is `member.value` at the price of an attribute: `.value` takes three steps, and hashing a member two.
Source: Python "enum", supported `_sunder_` names."""


class TypedReader(Generic[T]):
    """Reader of data of one type. Any thread. Made by `decoder_of` and `packed_decoder_of`."""

    __slots__ = ("_decoder",)

    def __init__(self, decoder: msgspec.json.Decoder[T] | msgspec.msgpack.Decoder[T]) -> None:
        self._decoder = decoder

    def decode(self, data: Data) -> T:
        """The data as a value of the type. Raises msgspec.DecodeError."""
        return _read(self._decoder.decode, data)

    def decode_lines(self, data: bytes) -> list[T]:
        """JSON, a value a line. Raises msgspec.DecodeError: a line is none."""
        assert isinstance(self._decoder, msgspec.json.Decoder)
        return _read(self._decoder.decode_lines, data)


def _read(decode: Callable[[Any], V], data: Data) -> V:
    try:
        return decode(data)
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise msgspec.DecodeError(f"The text is no UTF-8 ({error.reason})") from None


_TOO_DEEP = "Lists or objects are nested too deep"
_readers: dict[tuple[type, Any], TypedReader[Any]] = {}


def _reader(kind: type, form: Any) -> TypedReader[Any]:
    """The reader of that kind to `form`, made by the first who asks."""
    made = _readers.get((kind, form))
    if made is None:
        with _looking:
            made = _readers.setdefault((kind, form), TypedReader(kind(form)))
    return made


@overload
def decoder_of(form: type[T]) -> TypedReader[T]: ...
@overload
def decoder_of(form: Any) -> TypedReader[Any]: ...
def decoder_of(form: Any) -> TypedReader[Any]:
    """The decoder of JSON to `form`, the same one for all who ask. Any thread."""
    return _reader(msgspec.json.Decoder, form)


@overload
def packed_decoder_of(form: type[T]) -> TypedReader[T]: ...
@overload
def packed_decoder_of(form: Any) -> TypedReader[Any]: ...
def packed_decoder_of(form: Any) -> TypedReader[Any]:
    """The decoder of MessagePack to `form`, the same one for all who ask. Any thread."""
    return _reader(msgspec.msgpack.Decoder, form)


@overload
def from_json(data: Data, form: type[T]) -> T: ...
@overload
def from_json(data: Data, form: Any) -> Any: ...
def from_json(data: Data, form: Any) -> Any:
    """JSON as a value of `form`. Any thread. Raises msgspec.DecodeError."""
    return decoder_of(form).decode(data)


@overload
def from_builtins(data: Any, form: type[T]) -> T: ...
@overload
def from_builtins(data: Any, form: Any) -> Any: ...
def from_builtins(data: Any, form: Any) -> Any:
    """Plain data as a value of `form`. Any thread. Raises msgspec.ValidationError."""
    decoder_of(form)
    try:
        return msgspec.convert(data, form)
    except RecursionError:
        raise msgspec.ValidationError(_TOO_DEEP) from None
    except UnicodeEncodeError as error:
        raise msgspec.ValidationError(f"The text is no UTF-8 ({error.reason})") from None


def schemas_of(forms: Iterable[Any], place: str) -> dict[str, Any]:
    """JSON schemas of types by name; `place` is how one points at another, with `{name}` in it."""
    with _looking:
        return msgspec.json.schema_components(forms, ref_template=place)[1]


def description_of(form: Any) -> inspect.Type:
    """A type as msgspec understands it."""
    with _looking:
        return inspect.type_info(form)
