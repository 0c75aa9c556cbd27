"""Memo of a discussion's last assembly, so that unchanged inputs are not rendered again."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import msgspec

from core.context.pieces import GrownLayer, Layer, Piece
from core.values.messages import Message
from core.values.stack import LayerId

Pieces = dict[Hashable, tuple[Piece, ...]]


class SaidTurns(msgspec.Struct, frozen=True):
    """Turns as layer 11 was rendered from them.

    Args:
        pieces: of each of them, in their order; running_from: how many come before the running turn.
    """

    turns: tuple[Message, ...] = ()
    running_from: int = 0
    pieces: tuple[tuple[Piece, ...], ...] = ()


class StackMemo:
    """Layers by the inputs they were rendered from, and pieces of files and turns by their content.

    One for each discussion; used by one thread at a time. It holds what the last assembly used, no more.
    """

    def __init__(self) -> None:
        self.said = SaidTurns()
        self.turns = GrownLayer()
        self._layers: dict[LayerId, tuple[object, Layer]] = {}
        self._pieces: dict[LayerId, Pieces] = {}

    def layer(self, layer: LayerId, source: object, render: Callable[[], Layer]) -> Layer:
        """The layer rendered from `source`, taken over when the last source equals it.

        Args:
            source: an immutable value that compares by content; unchanged objects compare at once.
            render: makes the layer; called only when the source differs.
        """
        known = self._layers.get(layer)
        if known is not None and known[0] == source:
            return known[1]
        fresh = render()
        self._layers[layer] = (source, fresh)
        return fresh

    def pieces(self, layer: LayerId) -> PieceMemo:
        """The pieces of a layer that is rendered anew; `PieceMemo.keep` hands them to the next time."""
        return PieceMemo(self._pieces.get(layer, {}), lambda fresh: self._pieces.__setitem__(layer, fresh))


class PieceMemo:
    """Pieces of one layer by the content they were rendered from."""

    def __init__(self, known: Pieces, store: Callable[[Pieces], None]) -> None:
        self._known = known
        self._fresh: Pieces = {}
        self._store = store

    def get(self, content: Hashable) -> tuple[Piece, ...] | None:
        """The pieces rendered from `content`, or None where they must be rendered (then `put` them)."""
        pieces = self._known.get(content)
        if pieces is not None:
            self._fresh[content] = pieces
        return pieces

    def put(self, content: Hashable, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """Hold what was rendered from `content`, and give it back."""
        self._fresh[content] = pieces
        return pieces

    def keep(self) -> None:
        """Forget what was not asked for."""
        self._store(self._fresh)
