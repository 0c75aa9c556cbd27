"""Fields of a view that outlive the window: their key in the window's file, and how they are read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import msgspec

Read = Callable[[object, Any], Any]
"""Makes a value of what the file holds (None: nothing) and the value so far, which stays where that is no good."""


def _same(value: Any) -> Any:
    return value


class Kept(msgspec.Struct, frozen=True):
    """A field that persists: its key in the file, its name in the view, how it is read and what is written of it.

    Its value is replaced, never changed in place: the window sees by identity that there is nothing to write.
    """

    key: str
    name: str
    read: Read
    write: Callable[[Any], Any] = _same


class RoomView(Protocol):
    """View of a room, which alone knows it. `kept`: what of it persists."""

    kept: ClassVar[tuple[Kept, ...]]


def one_of(*allowed: str) -> Read:
    """One of these words."""
    return lambda value, now: value if isinstance(value, str) and value in allowed else now


def text(value: object, now: str) -> str:
    """Any words."""
    return value if isinstance(value, str) else now


def yes_or_no(value: object, now: bool) -> bool:
    """A switch; what is neither counts as no."""
    return now if value is None else value is True


def within(low: float, high: float) -> Read:
    """A number, brought into its range."""

    def read(value: object, now: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return now
        return min(max(float(value), low), high) if value == value else now  # noqa: PLR0124 (NaN)

    return read
