"""Pieces and layers: the immutable parts that the stack is put together from, with their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.values.provider import RequestPart
from core.values.stack import LayerId, Segment


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of one layer.

    Args:
        key: stable name inside the stack (`10/src/a.py`).
        text: as it stands in the canonical text.
        sha256: hex digest of what goes over the wire for it.
        wire: what stands for it in a request; None where the request carries it in another form (tools).
        mark: what the layer's digest must tell apart beside the content (the role of a turn).
    """

    key: str
    text: str
    sha256: str
    wire: RequestPart | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the twelve layers, rendered. Equal content gives equal `sha256`, wherever the layer stands."""

    id: LayerId
    pieces: tuple[Piece, ...]
    length_chars: int
    sha256: str

    @property
    def text(self) -> str:
        """The canonical text of the layer. O(n) in characters: joined when asked for, not kept."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The layer's texts as they go over the wire, in order."""
        return tuple(piece.wire for piece in self.pieces if isinstance(piece.wire, Segment))


def digest(text: str) -> str:
    """The hex sha256 of a text's UTF-8 bytes. Lone surrogates do not stop it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_pieces(pieces: Sequence[Piece]) -> str:
    """The hex digest of a run of pieces, made from theirs. One unmarked piece has its own."""
    if len(pieces) == 1 and not pieces[0].mark:
        return pieces[0].sha256
    return digest("\n".join(piece.mark + piece.sha256 for piece in pieces) if pieces else "")


def make_layer(layer: LayerId, pieces: Iterable[Piece]) -> Layer:
    """Put a layer together. O(n) in pieces; the texts are not touched."""
    kept = tuple(pieces)
    return Layer(layer, kept, sum(len(piece.text) for piece in kept), digest_of_pieces(kept))


def text_piece(
    layer: LayerId, key: str, text: str, *, sha256: str = "", canonical: str | None = None
) -> Piece:
    """A piece that goes over the wire as text.

    Args:
        key: name inside the layer; `10` and `src/a.py` give `10/src/a.py`, empty gives `10`.
        text: what the wire carries.
        sha256: the digest that names `text` where it is known already.
        canonical: its form in the canonical text where that differs.
    """
    full_key = f"{int(layer)}/{key}" if key else str(int(layer))
    name = sha256 or digest(text)
    shown = text if canonical is None else canonical
    return Piece(full_key, shown, name, Segment(layer, full_key, text, name))


def unique_key(name: str, taken: set[str]) -> str:
    """`name`, or `name#2`, `name#3`, … where it is taken; the key is added to `taken`."""
    key, number = name, 1
    while key in taken:
        number += 1
        key = f"{name}#{number}"
    taken.add(key)
    return key


def joined_segment(layer: Layer) -> Segment:
    """All texts of a layer as one segment for the wire; its digest is the layer's."""
    segments = layer.segments
    if len(segments) == 1:
        return segments[0]
    return Segment(layer.id, str(int(layer.id)), "".join(s.text for s in segments), layer.sha256)
