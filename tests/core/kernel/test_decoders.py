"""Types are looked at by one thread at a time: msgspec brings the interpreter down otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from core.kernel.codecs import decoder_of, from_builtins, from_json, packed_decoder_of, read_json

meeting = threading.Barrier(2)
alone: list[bool] = []


def looked_at() -> type[int]:
    """Called by msgspec each time a thread looks at a struct below: two at once meet here."""
    try:
        meeting.wait(0.1)
        alone.append(False)
    except threading.BrokenBarrierError:
        alone.append(True)
        meeting.reset()
    return int


READERS: dict[str, Callable[[Any], Any]] = {
    "JSON": lambda form: from_json(b'{"figure":1}', form).figure,
    "plain data": lambda form: from_builtins({"figure": 1}, form).figure,
    "MessagePack": lambda form: packed_decoder_of(form).decode(msgspec.msgpack.encode({"figure": 1})).figure,
}


@pytest.mark.parametrize("first", READERS)
def test_two_threads_never_look_at_a_type_at_once(first: str) -> None:
    alone.clear()
    form = msgspec.defstruct("Unseen", [("figure", "looked_at()")], module=__name__)

    with ThreadPoolExecutor(2) as threads:
        read = list(threads.map(lambda name: READERS[name](form), [first, "JSON"]))

    assert read == [1, 1]
    assert alone == [True]


def test_all_who_read_a_type_share_one_decoder() -> None:
    assert decoder_of(dict[str, int]) is decoder_of(dict[str, int])
    assert from_json(b'{"a":1}', dict[str, int]) == {"a": 1}
    with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
        from_json(b'{"a":"1"}', dict[str, int])


HOSTILE = {
    "lists without end": b'{"figure":1,"more":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a number of 5,000 digits": b'{"figure":' + b"1" * 5_000 + b"}",
    "bytes that are no UTF-8": b'{"figure":1,"\xff":"\xfe","words":"\xff"}',
    "half an emoji": b'{"figure":1,"words":"\\ud800"}',
    "another type": b'{"figure":[1]}',
    "nothing": b"",
}


class _Row(msgspec.Struct):
    figure: int = 0
    words: str = ""


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_is_wrong_with_data_is_a_fault_of_one_kind(kind: str) -> None:
    """Whoever reads a file catches this one: of a page of lists in lists the reader of a queue would end otherwise."""
    with pytest.raises(msgspec.DecodeError):
        from_json(HOSTILE[kind], _Row)
    packed = b"\x82\xa6figure\x01\xa4more" + b"\x91" * 100_000 + b"\xc0"
    with pytest.raises(msgspec.DecodeError):
        packed_decoder_of(_Row).decode(packed)


def test_plain_data_and_text_that_cannot_be_read_are_of_that_kind_too() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(msgspec.ValidationError):
        from_builtins({"figure": 1, "words": deep}, _Row)
    with pytest.raises(msgspec.DecodeError):
        from_json('{"words":"\ud800"}', _Row)
    while deep:  # level by level: a list frees what it holds by calling itself
        deep = deep[0]  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind not in {"half an emoji", "another type"}])
def test_whatever_is_wrong_with_json_as_plain_data_is_a_value_error(kind: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_json(HOSTILE[kind])
