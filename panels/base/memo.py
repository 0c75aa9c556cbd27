"""Derived data kept for as long as the parts of state that it was made from are the same objects."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import date
from typing import TypeVar, cast

T = TypeVar("T")
_SCALARS = (str, int, float, date)


class Same:
    """Equal to another while all parts are the same objects; keeps them, so that an id is never reused."""

    __slots__ = ("parts",)

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and _are_same(self.parts, other.parts)

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.parts)))


class Memo:
    """One remembered value for each name, made again when a part changes. Not thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[tuple[object, ...], object]] = {}

    def get(self, name: Hashable, parts: tuple[object, ...], make: Callable[[], T]) -> T:
        """The value of `make` for these parts.

        Args:
            name: what is remembered; a name keeps only its newest value.
            parts: what `make` reads. Objects are compared by identity, short values (str, int, date) by value.
        """
        kept = self._kept.get(name)
        if kept is not None and _are_alike(kept[0], parts):
            return cast("T", kept[1])
        value = make()
        self._kept[name] = (parts, value)
        return value


def _are_same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


def _are_alike(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return len(first) == len(second) and all(
        a is b or (isinstance(a, _SCALARS) and a == b) for a, b in zip(first, second, strict=True)
    )
