"""Pieces and layers: the immutable parts that the stack is put together from, with their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum

import msgspec

from core.kernel.structures import shared_run
from core.kernel.values.messages import Message
from core.kernel.values.provider import RequestPart
from core.kernel.values.stack import LayerId, LayerText, Segment
from core.kernel.values.window import BaseFile


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A run of one layer.

    Args:
        key: stable name inside the stack (`10/src/a.py`).
        parts: its canonical text, in parts, so that a file's content need not be copied to stand in a frame.
        sha256: hex digest of what goes over the wire for it.
        wire: what stands for it in a request; `AS_TEXT`: its canonical text; None: nothing of its own, the
            request carries it in another form (tools).
        mark: what the layer's digest must tell apart beside the content (the role of a turn).
    """

    key: str
    parts: tuple[str, ...]
    sha256: str
    wire: RequestPart | AsText | None = None
    mark: str = ""

    @property
    def text(self) -> str:
        """The canonical text. O(n) in characters where there are several parts."""
        return self.parts[0] if len(self.parts) == 1 else "".join(self.parts)

    @property
    def length_chars(self) -> int:
        """Length of the canonical text."""
        return sum(map(len, self.parts))


class AsText(Enum):
    """The one value of `AS_TEXT`."""

    AS_TEXT = "as text"


AS_TEXT = AsText.AS_TEXT


class _JoinedText:
    """The text of some pieces, joined once, and the same as files of a base. Any two are equal: they say nothing that the
    pieces do not say.
    """

    __slots__ = ("files", "files_of", "pieces", "text")

    def __init__(self) -> None:
        self.pieces: tuple[Piece, ...] | None = None
        self.text = ""
        self.files_of: tuple[Piece, ...] | None = None
        self.files: tuple[BaseFile, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _JoinedText)

    def __hash__(self) -> int:
        return hash(_JoinedText)

    def __repr__(self) -> str:
        return "…"


class Layer(msgspec.Struct, frozen=True):
    """One of the twelve layers, rendered. Equal content gives equal `sha256`, wherever the layer stands."""

    id: LayerId
    pieces: tuple[Piece, ...]
    length_chars: int
    sha256: str
    _joined: _JoinedText = msgspec.field(default_factory=_JoinedText)

    @property
    def text(self) -> str:
        """The canonical text of the layer, joined when first asked for and then kept."""
        joined = self._joined
        if joined.pieces is not self.pieces:
            joined.pieces, joined.text = self.pieces, "".join(self.parts)
        return joined.text

    @property
    def as_files(self) -> tuple[BaseFile, ...]:
        """The pieces as the base of a view holds them, made when first asked for and then kept."""
        joined = self._joined
        if joined.files_of is not self.pieces:
            files = [BaseFile(key=one.key, sha256=one.sha256, text=one.text) for one in self.pieces]
            joined.files_of, joined.files = self.pieces, tuple(files)
        return joined.files

    @property
    def parts(self) -> list[str]:
        """Parts that the canonical text is put together from; a text that was joined already is one part."""
        if self._joined.pieces is self.pieces:
            return [self._joined.text]
        return [part for piece in self.pieces for part in piece.parts]

    @property
    def in_parts(self) -> LayerText:
        """The canonical text for reading, not joined."""
        return LayerText(tuple(self.parts))

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The layer's texts as they go over the wire, in order."""
        return tuple(
            piece.wire
            if isinstance(piece.wire, Segment)
            else Segment(layer=self.id, key=piece.key, text=piece.text, sha256=piece.sha256)
            for piece in self.pieces
            if piece.wire is AS_TEXT or isinstance(piece.wire, Segment)
        )


_AT_ONCE_CHARS = 1_000_000
"""Characters of a text that are encoded at once to be hashed: a large text is not held twice."""


def digest(text: str) -> str:
    """The hex sha256 of a text's UTF-8 bytes. Lone surrogates do not stop it."""
    if len(text) <= _AT_ONCE_CHARS:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    whole = hashlib.sha256()
    for start in range(0, len(text), _AT_ONCE_CHARS):
        whole.update(text[start : start + _AT_ONCE_CHARS].encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def digest_of_pieces(pieces: Sequence[Piece]) -> str:
    """The hex digest of a run of pieces, made from theirs. One unmarked piece has its own."""
    if len(pieces) == 1 and not pieces[0].mark:
        return pieces[0].sha256
    return digest("\n".join(piece.mark + piece.sha256 for piece in pieces) if pieces else "")


def make_layer(layer: LayerId, pieces: Iterable[Piece]) -> Layer:
    """Put a layer together. O(n) in pieces; the texts are not touched."""
    kept = tuple(pieces)
    return Layer(
        id=layer,
        pieces=kept,
        length_chars=sum(piece.length_chars for piece in kept),
        sha256=digest_of_pieces(kept),
    )


class GrownLayer:
    """A layer that most often only grows: length and digest go on from those of the last one. One thread at a time."""

    def __init__(self) -> None:
        self._last: tuple[Piece, ...] = ()
        self._length = 0
        self._hash = hashlib.sha256()

    def make(self, layer: LayerId, pieces: Iterable[Piece]) -> Layer:
        """Put a layer together as `make_layer` does. O(new pieces) where the last one's stand before them, else O(n)."""
        kept = tuple(pieces)
        same = shared_run(self._last, kept)
        if same < len(self._last) or not same:
            same, self._length, self._hash = 0, 0, hashlib.sha256()
        new = kept[same:]
        self._length += sum(piece.length_chars for piece in new)
        lines = "\n".join(piece.mark + piece.sha256 for piece in new)
        self._hash.update(("\n" if same and new else "").encode() + lines.encode())
        self._last = kept
        if len(kept) < 2:
            return make_layer(layer, kept)
        return Layer(id=layer, pieces=kept, length_chars=self._length, sha256=self._hash.copy().hexdigest())


def text_piece(layer: LayerId, key: str, text: str) -> Piece:
    """A piece whose canonical text is what the wire carries.

    Args:
        key: name inside the layer; `6` and `AGENTS.md` give `6/AGENTS.md`, empty gives `6`.
    """
    return Piece(key=full_key(layer, key), parts=(text,), sha256=digest(text), wire=AS_TEXT)


def full_key(layer: LayerId, key: str) -> str:
    """The key of a piece inside the whole stack."""
    return f"{int(layer)}/{key}" if key else str(int(layer))


def unique_key(name: str, taken: set[str]) -> str:
    """`name`, or `name#2`, `name#3`, … where it is taken; the key is added to `taken`."""
    key, number = name, 1
    while key in taken:
        number += 1
        key = f"{name}#{number}"
    taken.add(key)
    return key


# Memo of a discussion's last assembly, so that unchanged inputs are not rendered again.

Pieces = dict[Hashable, tuple[Piece, ...]]


class SaidTurns(msgspec.Struct, frozen=True):
    """Turns as layer 11 was rendered from them.

    Args:
        pieces: of each of them, in their order; running_from: how many come before the running turn.
        maker: provider and model that they were rendered for.
    """

    turns: tuple[Message, ...] = ()
    running_from: int = 0
    pieces: tuple[tuple[Piece, ...], ...] = ()
    maker: tuple[str, str] = ("", "")


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

    def aside(self) -> StackMemo:
        """A memo that knows what this one holds of layers and files. What it is used for leaves this one as it is."""
        other = StackMemo()
        other._layers, other._pieces = dict(self._layers), dict(self._pieces)
        return other

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
