"""Data to values of a type: the one place where msgspec looks at types, one thread at a time.

msgspec 0.22 writes what it learns of a struct into the type while it is still learning. A second thread that needs the type at
that moment (a restart's assembly and its keeper of caches, two tool calls with the same arguments) brings the interpreter down.
"""

from __future__ import annotations

from _thread import RLock  # a lock and no thread: pure modules stand on this one
from collections.abc import Iterable
from typing import Any, TypeVar, cast, overload

import msgspec
from msgspec import inspect

T = TypeVar("T")

_looking = RLock()
_decoders: dict[tuple[type, Any], Any] = {}


def _decoder(kind: type, form: Any) -> Any:
    """The decoder of that kind to `form`, made by the first who asks."""
    made = _decoders.get((kind, form))
    if made is None:
        with _looking:
            made = _decoders.setdefault((kind, form), kind(form))
    return made


@overload
def decoder_of(form: type[T]) -> msgspec.json.Decoder[T]: ...
@overload
def decoder_of(form: Any) -> msgspec.json.Decoder[Any]: ...
def decoder_of(form: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of JSON to `form`, the same one for all who ask. Any thread."""
    return cast(msgspec.json.Decoder[Any], _decoder(msgspec.json.Decoder, form))


@overload
def packed_decoder_of(form: type[T]) -> msgspec.msgpack.Decoder[T]: ...
@overload
def packed_decoder_of(form: Any) -> msgspec.msgpack.Decoder[Any]: ...
def packed_decoder_of(form: Any) -> msgspec.msgpack.Decoder[Any]:
    """The decoder of MessagePack to `form`, the same one for all who ask. Any thread."""
    return cast(msgspec.msgpack.Decoder[Any], _decoder(msgspec.msgpack.Decoder, form))


@overload
def from_json(data: bytes | bytearray | memoryview | str | msgspec.Raw, form: type[T]) -> T: ...
@overload
def from_json(data: bytes | bytearray | memoryview | str | msgspec.Raw, form: Any) -> Any: ...
def from_json(data: bytes | bytearray | memoryview | str | msgspec.Raw, form: Any) -> Any:
    """JSON as a value of `form`. Any thread. Raises msgspec.DecodeError, UnicodeError, RecursionError."""
    return decoder_of(form).decode(data)


@overload
def from_builtins(data: Any, form: type[T]) -> T: ...
@overload
def from_builtins(data: Any, form: Any) -> Any: ...
def from_builtins(data: Any, form: Any) -> Any:
    """Plain data as a value of `form`. Any thread. Raises msgspec.ValidationError, RecursionError."""
    decoder_of(form)
    return msgspec.convert(data, form)


def schemas_of(forms: Iterable[Any], place: str) -> dict[str, Any]:
    """JSON schemas of types by name; `place` is how one points at another, with `{name}` in it."""
    with _looking:
        return msgspec.json.schema_components(forms, ref_template=place)[1]


def description_of(form: Any) -> inspect.Type:
    """A type as msgspec understands it."""
    with _looking:
        return inspect.type_info(form)
