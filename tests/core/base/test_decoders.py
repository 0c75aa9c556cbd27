"""Types are looked at by one thread at a time: msgspec brings the interpreter down otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from core.base.decoders import decoder_of, from_builtins, from_json, packed_decoder_of

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
