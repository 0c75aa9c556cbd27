"""A check for request bodies: each consecutive pair agrees on the bytes of the stable prefix, or says why not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Body = Mapping[str, object]
PrefixParts = Callable[[Body], object]
"""Takes a vendor's request body and gives its prefix parts: tools, system, messages up to the end of layer 7."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it went out.

    Args:
        body: parsed JSON of the request; reason: why its prefix differs from the request before, if it does.
        stable_texts: texts of the segments of layers 1 to 7 that it must carry, in wire order.
    """

    body: Body
    stable_texts: tuple[str, ...] = ()
    reason: str = ""


def canonical_bytes(value: object) -> bytes:
    """JSON with sorted keys, as UTF-8: the form in which bodies are compared."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def check_prefixes(requests: Sequence[Recorded], prefix_parts: PrefixParts) -> int:
    """Check every consecutive pair, and that each request carries its stable texts in order, inside the prefix.

    Returns:
        How many pairs were compared byte by byte.

    Raises:
        AssertionError: names the request and the first differing byte.
    """
    for number, request in enumerate(requests):
        _check_carried(number, request, prefix_parts)
    compared = 0
    for number, (first, second) in enumerate(pairwise(requests), 1):
        old, new = canonical_bytes(prefix_parts(first.body)), canonical_bytes(prefix_parts(second.body))
        if second.reason:
            assert old != new, f"request {number} gives a reason for a change that did not happen"
            continue
        place = next((i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
        place = min(len(old), len(new)) if place is None and old != new else place
        assert place is None, (
            f"request {number}: the prefix differs at byte {place}: {_around(old, new, place)}"
        )
        compared += 1
    return compared


def _check_carried(number: int, request: Recorded, prefix_parts: PrefixParts) -> None:
    found = "\x00".join(_strings(prefix_parts(request.body)))
    start = 0
    for text in request.stable_texts:
        place = found.find(text.rstrip("\n"), start)
        assert place >= 0, f"request {number}: the prefix does not carry {text[:80]!r} where it should"
        start = place + len(text.rstrip("\n"))


def _strings(value: object) -> Iterator[str]:
    """All strings of a JSON value, in the order in which they stand on the wire."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _around(old: bytes, new: bytes, place: int) -> str:
    return f"{old[max(0, place - 30) : place + 30]!r} became {new[max(0, place - 30) : place + 30]!r}"
