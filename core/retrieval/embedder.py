"""Makers of vectors and readers of files, as a search and an indexing run see them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from core.base.errors import SlopError
from core.retrieval.source_text import SourceText
from core.values.retrieval import Corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbedError(SlopError):
    """No vectors: the embedder is away, too slow, or answers what no vector is."""


class NoVectorError(EmbedError):
    """It answers, and makes no vector of one of these texts, or of none at all."""


class Embedder(Protocol):
    """Thread-safe. Another model is another index: `name` tells them apart."""

    @property
    def name(self) -> str:
        """Name of the model and its dimension."""

    @property
    def dimension(self) -> int:
        """Components of a vector."""

    @property
    def is_warm(self) -> bool:
        """True once it has answered: the next answer is not held up by its start."""

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        """Vectors of texts, a row each, quantised.

        Raises:
            EmbedError: see the class.
        """


@runtime_checkable
class EmbedsAway(Protocol):
    """An embedder whose answer may be long in coming."""

    def interrupt(self) -> None:
        """End what is asked for now: who waits for it gets an EmbedError."""


def sound_vectors(embedder: Embedder, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
    """Vectors of texts as an index may hold them: a row each, of the embedder's own dimension, none of it zero.

    Raises:
        EmbedError: it answered something else, or not at all.
    """
    vectors = embedder.embed(texts, timeout_s=timeout_s)
    if vectors.shape != (len(texts), embedder.dimension):
        got = " x ".join(map(str, vectors.shape))
        raise EmbedError(
            f"The embedding model answered {got} figures for {len(texts)} x {embedder.dimension}",
            remedy="Set `embedding_dimension` under `[retrieval]` to the model's own",
        )
    if not vectors.any(axis=1).all():
        raise NoVectorError("The embedding model answered what is no vector", remedy="Choose another model")
    return vectors


class SourceReader(Protocol):
    """Reads files in another process, where parsing and measuring holds nobody up."""

    def read(self, corpus: Corpus, path: str, file: Path, known_sha256: str) -> SourceText:
        """Read a file; `is_known` where its bytes have the hash that is known.

        Raises:
            SlopError: the process failed at it.
        """
