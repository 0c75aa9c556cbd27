"""Primitives that the canvas draws, as plain tuples, and who keeps which of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

Spec = tuple[Any, ...]
"""A drawing primitive: its kind, then what it needs. See `gui.canvas.Canvas.sync`."""


class Press(msgspec.Struct, frozen=True):
    """A press of the left button at a point of the viewport; `count`: 2 for the second of a double click."""

    x: float
    y: float
    count: int = 1
    is_extending: bool = False


class Painted(Protocol):
    """Element that is on the screen by primitives of its own, in `plane` or (0) in its pane's drawlist itself."""

    prims: list[Spec]
    prim_ids: list[int]
    plane: int


class PaneOwner(Protocol):
    """Owner of a pane: its kids in the order in which the toolkit must hold their items."""

    @property
    def order(self) -> Sequence[Any]:
        """The kids, elements with `inner_items`."""
        ...
