"""Answers of the table of the world, changed by chance: cut, doubled, spliced with another, a character or a value of another kind."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tests.core.services.providers.typed_fuzz import Recording
from tests.core.services.providers.vendors import VENDORS
from tests.vendors.world.reports import MORE
from tests.vendors.world.rounds import ROUNDS
from tests.vendors.world.table import CLASSES, Row

_VALUE = re.compile(rb':\s*("(?:[^"\\\\]|\\\\.)*"|-?\d[\d.eE+-]*|true|false|null|\{\}|\[\])')
_OTHER = (
    b"null",
    b"-1",
    b"7",
    b"1e400",
    b'""',
    b'"x"',
    b"[]",
    b"{}",
    b"true",
    b'[{"a":1}]',
    b'{"message":5}',
)
_BYTES = (
    b"\r",
    b"\n",
    b"\n\n",
    b"\x00",
    b"\xff",
    b"\xe2\x80\xa8",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\\\",
    b"data: ",
    b": x\n",
    b"event: error\n",
)
_SPLIT = re.compile(rb"(?<=\n)(?=data:|event:|:|\{)")
_MODELS = {vendor.kind: vendor.model for vendor in VENDORS}


def world() -> tuple[Row, ...]:
    """All rows, in their order."""
    return tuple(row for one in (CLASSES, MORE, *ROUNDS) for rows in one.values() for row in rows)


def recording_of(row: Row, data: bytes) -> Recording:
    """An answer like a row's, with other bytes."""
    return Recording(
        kind=row.api,
        model=_MODELS[row.api],
        events=(),
        status=row.status,
        content_type=row.content_type,
        data=data,
    )


def sent(row: Row) -> bytes:
    """The bytes of a row."""
    return row.sent.encode("utf-8", "surrogatepass") if isinstance(row.sent, str) else row.sent


def mutation(rows: Sequence[Row], at: int, seed: int) -> Recording:
    """A row with one to three changes, the same for the same seed."""
    chance = random.Random(f"{seed}/{at}")
    row = rows[at % len(rows)]
    data = sent(row)
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = chance.choice(_CHANGES)(data, chance, sent(chance.choice(rows)))
    return recording_of(row, data)


def _cut(data: bytes, chance: random.Random, _other: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _spliced(data: bytes, chance: random.Random, other: bytes) -> bytes:
    at, behind = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
    return data[:at] + other[behind:]


def _byte(data: bytes, chance: random.Random, _other: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_BYTES) + data[at + chance.randrange(2) :]


def _frames(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """A frame less, one twice, two in another order, or one of another answer between them."""
    parts = [part for part in _SPLIT.split(data) if part]
    if not parts:
        return other
    at = chance.randrange(len(parts))
    match chance.randrange(4):
        case 0:
            del parts[at]
        case 1:
            parts.insert(at, parts[at])
        case 2:
            chance.shuffle(parts)
        case _:
            parts.insert(at, chance.choice([part for part in _SPLIT.split(other) if part] or [other]))
    return b"".join(parts)


def _value(data: bytes, chance: random.Random, _other: bytes) -> bytes:
    places = list(_VALUE.finditer(data))
    if not places:
        return data
    found = chance.choice(places)
    return data[: found.start(1)] + chance.choice(_OTHER) + data[found.end(1) :]


_CHANGES: tuple[Callable[[bytes, random.Random, bytes], bytes], ...] = (
    _cut,
    _spliced,
    _byte,
    _frames,
    _frames,
    _value,
    _value,
)
