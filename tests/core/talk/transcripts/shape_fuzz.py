"""Files of other programs with fields of every other type, cut lines and odd bytes: each is read, or said, and nothing raises."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from core.imports.import_plan import plan_import
from core.kernel.values.imports import Transcript
from core.talk.transcripts.transcript_reader import read_transcripts, recognised
from tests.core.talk.transcripts import (
    test_shapes_of_chats,
    test_shapes_of_exports,
    test_shapes_of_others,
    test_shapes_of_sessions,
)
from tests.core.talk.transcripts.shapes import Shape

WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e300,
    2**70,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    {},
    {"a": {}},
    [None, 1, "x", {}],
)
"""Values of every type, one of which a field is given in place of its own."""

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
SHAPES: tuple[Shape, ...] = (
    *test_shapes_of_sessions.SHAPES,
    *test_shapes_of_exports.SHAPES,
    *test_shapes_of_chats.SHAPES,
    *test_shapes_of_others.SHAPES,
)


def changed(shape: Shape, chance: random.Random) -> bytes:
    """A file with one thing in it that its program would not write."""
    rows = shape.data.split("\n")
    number = chance.randrange(len(rows))
    try:
        row = json.loads(rows[number])
    except ValueError:
        return _torn(shape.data.encode(), chance)
    if chance.random() < 0.1:
        return _torn(shape.data.encode(), chance)
    places = list(_places(row))
    if not places:
        return _torn(shape.data.encode(), chance)
    holder, key = chance.choice(places)
    if isinstance(holder, dict) and chance.random() < 0.2:
        del holder[key]
    else:
        holder[key] = chance.choice(WRONG)
    rows[number] = json.dumps(row)
    return "\n".join(rows).encode()


def _torn(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return chance.choice(
        (
            data[:at],
            data[:at] + b"\xff\x00" + data[at:],
            data[at:],
            data[:at] + data,
            data[:at] + b'"' + data[at:],
        )
    )


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def problem(shape: Shape, seed: int) -> str:
    """Fault of the changed file of a seed, empty where all held."""
    data = changed(shape, random.Random(f"{shape.id} {seed}"))
    try:
        for kind in dict.fromkeys((recognised(data, shape.named), shape.kind)):
            try:
                found = list(read_transcripts(kind, data))
            except ValueError:
                if kind is shape.kind:
                    raise
                continue
            for one in found:
                if isinstance(one, Transcript):
                    plan_import(kind, one, lambda _: None, NOW, "a file")
    except Exception as error:  # noqa: BLE001 - any is a fault of ours
        return f"{shape.id}, seed {seed}: {type(error).__name__}: {error}"
    return ""
