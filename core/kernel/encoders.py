"""JSON and MessagePack of the program's values: the one door out, where texts for a person become English."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from core.kernel.language import Translated

Order = Literal["deterministic", "sorted"] | None


def _in_english(value: object) -> str:
    if isinstance(value, Translated):
        return value.english
    raise NotImplementedError(f"no encoding is known for {type(value).__name__}")


def json_encoder(order: Order = None) -> msgspec.json.Encoder:
    """An encoder of JSON, for a caller that keeps it."""
    return msgspec.json.Encoder(enc_hook=_in_english, order=order)


def msgpack_encoder(order: Order = None) -> msgspec.msgpack.Encoder:
    """An encoder of MessagePack, for a caller that keeps it."""
    return msgspec.msgpack.Encoder(enc_hook=_in_english, order=order)


def to_json(value: object, *, order: Order = None) -> bytes:
    """A value as JSON, compact."""
    return msgspec.json.encode(value, enc_hook=_in_english, order=order)


def to_msgpack(value: object) -> bytes:
    """A value as MessagePack."""
    return msgspec.msgpack.encode(value, enc_hook=_in_english)


def builtins_of(value: object) -> Any:
    """A value as dicts, lists and plain values, as `msgspec.to_builtins` gives them."""
    return msgspec.to_builtins(value, enc_hook=_in_english)
