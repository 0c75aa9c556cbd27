"""The interface of an index, and what both kinds of it speak in: a shelf is a corpus's chunks of one kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from core.kernel.errors import SlopError
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchFilters, SourceHead
from core.retrieval.fusion import ChunkPlace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Shelf(NamedTuple):
    """Chunks of one kind in one corpus: searched by themselves, with statistics of their own."""

    corpus: Corpus
    kind: ChunkKind

    @property
    def name(self) -> str:
        """Name for tables and files."""
        return f"{self.corpus.value}_{self.kind.value}"


SHELVES = (
    Shelf(Corpus.NOTES, ChunkKind.PROSE),
    Shelf(Corpus.KNOWLEDGE, ChunkKind.KNOWLEDGE),
    Shelf(Corpus.DISCUSSIONS, ChunkKind.CONVERSATION),
    Shelf(Corpus.PROJECT, ChunkKind.CODE),
    Shelf(Corpus.PROJECT, ChunkKind.PROSE),
)
"""All that there are."""

BY_NAME = {shelf.name: shelf for shelf in SHELVES}

HOME_CORPORA = (Corpus.KNOWLEDGE, Corpus.DISCUSSIONS)
"""Corpora that are made of a home's own files. Notes and project files are the person's, and no forgetting's."""


class SourceKey(NamedTuple):
    """A source: its corpus, the folder that it counts in (empty for what belongs to the home), and its path there."""

    corpus: Corpus
    scope: str
    path: str

    @property
    def text(self) -> str:
        """The key as one text, which ties are ordered by."""
        return f"{self.corpus.value}\0{self.scope}\0{self.path}"


class SourceState(msgspec.Struct, frozen=True, gc=False):
    """State of a source as the index knows it.

    Args:
        stamp: of the file when it was read, for a quick look; sha256: of its bytes.
        chunks: how many it has; bare: how many of them have no vector yet.
        problem: why it gives nothing, in a phrase, empty where it does; the index on this machine alone keeps it.
    """

    stamp: str
    sha256: str
    head: SourceHead = SourceHead()
    chunks: int = 0
    bare: int = 0
    problem: str = ""


def folder_starts(folder: str, scopes: Iterable[str]) -> list[tuple[str, str]]:
    """Starts of the paths that lie below a folder, each with the scope that it counts in, empty for any.

    A folder is named from the one that is searched (`sea`), from further up (`notes/sea`), or by its whole path.
    """
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    found = [("", _start(parts))]
    for scope in scopes:
        above = [part for part in scope.replace("\\", "/").split("/") if part]
        shared = range(1, min(len(parts), len(above)) + 1)
        found += [(scope, _start(parts[count:])) for count in shared if above[-count:] == parts[:count]]
    return found


def _start(parts: Sequence[str]) -> str:
    return "".join(f"{part}/" for part in parts)


class StoredChunk(msgspec.Struct, frozen=True):
    """A chunk as it is read back, with its source."""

    source: SourceKey
    head: SourceHead
    chunk: Chunk


class Scan(msgspec.Struct, frozen=True):
    """Cosines that a shelf's vectors gave, and the least of all that were scanned."""

    scores: Mapping[ChunkPlace, float]
    least: float = 0.0


class ServerFaultError(SlopError):
    """The index on a server cannot be read or written. The one on this machine answers instead."""


class VectorStore(Protocol):
    """An index of chunks. One writer at a time; searches beside it.

    Raises, all of it: IndexFaultError where the index cannot be read or written.
    """

    def sources(self, corpus: Corpus, scope: str) -> dict[str, SourceState]:
        """State of each source of a corpus by its path."""

    def put(self, key: SourceKey, state: SourceState, chunks: Sequence[Chunk]) -> None:
        """Take a source with all its chunks; what it had before is gone. A text that it had before keeps its vector."""

    def remove(self, keys: Iterable[SourceKey]) -> int:
        """Take sources out. The number of those that were there."""

    def bare(self, count: int) -> list[tuple[ChunkPlace, Chunk]]:
        """Up to `count` chunks that have no vector yet."""

    def is_bare(self, shelves: Iterable[Shelf], scopes: Sequence[str]) -> bool:
        """True if a chunk of these shelves that counts in the scopes has no vector yet."""

    def give(self, vectors: Mapping[ChunkPlace, bytes]) -> None:
        """Give chunks their vectors; those that are gone are passed over."""

    def keyword(
        self, shelf: Shelf, terms: Sequence[str], scopes: Sequence[str], filters: SearchFilters, count: int
    ) -> dict[ChunkPlace, float]:
        """BM25 of the best chunks with any of the terms, higher is better."""

    def frequency(self, shelf: Shelf, term: str, most: int) -> int:
        """Chunks of a shelf that hold a term, counted up to `most`."""

    def vector(
        self,
        shelf: Shelf,
        query: NDArray[np.int8],
        scopes: Sequence[str],
        filters: SearchFilters,
        count: int,
        also: Iterable[ChunkPlace],
    ) -> Scan:
        """Cosines of the best chunks, and of `also`."""

    def read(self, candidates: Iterable[ChunkPlace]) -> dict[ChunkPlace, StoredChunk]:
        """Chunks as they were stored; those that are gone are missing."""

    def count(self, shelf: Shelf) -> int:
        """Chunks of a shelf."""

    def close(self) -> None:
        """Let files and connections go."""


class ServerStore(VectorStore, Protocol):
    """An index on a server. Raises, all of it: ServerFaultError, in bounded time."""

    def ready(self) -> None:
        """Raise where the server is known to be away, or cannot be reached now."""


class ServedIndex(NamedTuple):
    """An index on a server, and the one on this machine, which answers where the server is away."""

    server: ServerStore
    here: VectorStore


def joined_tags(tags: Sequence[str]) -> str:
    """Tags as a store keeps them: each can be looked for whole."""
    return "\n" + "\n".join(tag.lower() for tag in tags) + "\n" if tags else ""


def tags_of(joined: str) -> tuple[str, ...]:
    """Tags out of what `joined_tags` made."""
    return tuple(tag for tag in joined.split("\n") if tag)


def asked_tag(said: str) -> str:
    """A tag that is asked for, as heads hold it: `#Wader/Big` is `wader/big`."""
    return said.strip().removeprefix("#").strip("/ ").lower()
