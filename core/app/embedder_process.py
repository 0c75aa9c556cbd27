"""The embedding model and the reading of files, in a worker process of their own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.app.crunch import Crunch, CrunchError
from core.base.decoders import packed_decoder_of
from core.base.figures import time_limit
from core.retrieval.embedder import EmbedError
from core.retrieval.heads import FieldNames
from core.retrieval.minilm import MODEL_NAME
from core.retrieval.quantisation import DIMENSION
from core.retrieval.source_text import SourceText
from core.values.retrieval import Corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READ_S = 600.0

AT_ONCE = 16
"""Texts of one job: a question asked beside an indexing run waits for no more than these, half a second on two slow cores."""


class LocalEmbedder:
    """Embeds with the model that comes with the program, and reads files for the index. Thread-safe.

    The process starts with the first job and ends with `close`, or with this program.
    """

    name = MODEL_NAME
    dimension = DIMENSION

    def __init__(self, fields: FieldNames = FieldNames()) -> None:  # noqa: B008 (frozen)
        self._crunch = Crunch(READ_S)
        self.is_warm = False
        self._fields = msgspec.msgpack.encode(fields)

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        """Vectors of texts; between two jobs of many of them others have their turn. Raises EmbedError."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.int8)
        until_s = time.monotonic() + timeout_s
        alike = sorted(
            range(len(texts)), key=lambda at: len(texts[at])
        )  # short ones are not padded to long ones
        try:
            for start in range(0, len(alike), AT_ONCE):
                part = alike[start : start + AT_ONCE]
                asked = self._crunch.embed([texts[at] for at in part])
                data = asked.result(max(until_s - time.monotonic(), 0.0))
                vectors[part] = np.frombuffer(data, np.int8).reshape(len(part), self.dimension)
        except TimeoutError as error:
            raise EmbedError(
                f"The embedding model took over {time_limit(timeout_s)}", remedy="Try again"
            ) from error
        except (CrunchError, CancelledError) as error:
            why = error.remedy if isinstance(error, CrunchError) else ""
            raise EmbedError(f"The embedding model failed: {why or error}") from error
        self.is_warm = True
        return vectors

    def read(self, corpus: Corpus, path: str, file: Path, known_sha256: str) -> SourceText:
        """Read a file; `is_known` where its bytes have the hash that is known. Raises CrunchError."""
        packed = self._crunch.read_source(corpus.value, path, str(file), known_sha256, self._fields).result()
        return packed_decoder_of(SourceText).decode(packed)

    def close(self) -> None:
        """End the process."""
        self._crunch.close()
