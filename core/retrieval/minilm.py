"""The embedding model in a process: MiniLM by onnxruntime, its tokens, texts in, int8 vectors out.

Source of weights and figures: assets/models/minilm-l6-v2-int8/README.md.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core.kernel.cores import usable_cores
from core.kernel.decoders import from_json
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.retrieval.embedding import DIMENSION, quantised
from core.retrieval.word_pieces import WordPieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_NAME = "minilm-l6-v2-int8"
MODEL_SHA256 = "5cebc27a38777dd1f442d8f7cf1b424246206e5af6cc414956f59e6e1ec63dbe"
MODEL_FOLDER = Path(__file__).parents[2] / "assets" / "models" / MODEL_NAME
MODEL_BYTES = 64_000_000
MAX_TOKENS = 256

_BEGIN, _END = 101, 102
"""Tokens around a text, `[CLS]` and `[SEP]`."""

_PIECE = late(r"\w{1,3}|[^\w\s]")


class ModelError(SlopError):
    """The embedding model cannot be used."""


class Tokens:
    """The model's own tokenizer, loaded when first needed."""

    def __init__(self, folder: Path = MODEL_FOLDER) -> None:
        self._folder = folder
        self._pieces: WordPieces | None = None

    def starts(self, text: str) -> list[int]:
        """Start of each token of a text, in characters; of rather too many where there is no tokenizer.

        Without it nothing can be embedded, but all can be found by its words.
        """
        try:
            return self._loaded().starts(text)
        except ModelError:
            return [piece.start() for piece in _PIECE.finditer(text)]

    def batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text with the two tokens around it, cut at what the model takes."""
        return [[_BEGIN, *self._loaded().ids(text)[: MAX_TOKENS - 2], _END] for text in texts]

    def _loaded(self) -> WordPieces:
        if self._pieces is None:
            path = self._folder / "tokenizer.json"
            try:
                file = from_json(read_file(path, most_bytes=MODEL_BYTES), _TokenizerFile)
            except (OSError, SlopError, msgspec.MsgspecError, ValueError) as error:
                raise ModelError(
                    tr("The program cannot read the embedder's tokenizer"), where=str(path), remedy=str(error)
                ) from error
            self._pieces = WordPieces(file.model.vocab)
        return self._pieces


class _Vocabulary(msgspec.Struct, frozen=True):
    vocab: dict[str, int]


class _TokenizerFile(msgspec.Struct, frozen=True):
    model: _Vocabulary


class MiniLM:
    """Embeds texts. Loaded when first needed; used by one thread at a time.

    Each text is run apart, by one thread: its vector is the same whatever stands beside it, nothing is padded, and no thread
    of the runtime spins for work that does not come. The runtime's own threads on whole batches took twice the processor time,
    and up to 24 ms of a core after each question (two cores, 2026-11-24).

    Args:
        folder: with `model.onnx` and `tokenizer.json`; threads: texts that are run at once, 0 for one a core.
    """

    def __init__(self, folder: Path = MODEL_FOLDER, threads: int = 0) -> None:
        self.tokens = Tokens(folder)
        self._path = folder / "model.onnx"
        self._threads = threads or usable_cores()
        self._session: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """Embed texts.

        Returns:
            int8, one row of 384 a text, in the order of the texts; a text without tokens is not zero.

        Raises:
            ModelError: the model is missing, not the one that is expected, or cannot be run.
        """
        return quantised(self.vectors(texts))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed`, before they are quantised: each of length 1."""
        import numpy as np

        session, ids = self._loaded(), self.tokens.batch(texts)
        out = np.zeros((len(ids), DIMENSION), np.float32)

        def embed_one(row: int) -> None:
            tokens = np.array([ids[row]], np.int64)
            fed = {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            }
            mean = session.run(["last_hidden_state"], fed)[0][0].mean(axis=0)
            out[row] = mean / np.linalg.norm(mean)

        each_apart(embed_one, len(ids), self._threads)
        return out

    def _loaded(self) -> Any:
        if self._session is None:
            self._session = loaded_session(self._path, MODEL_SHA256)
        return self._session


def each_apart(embed_one: Callable[[int], None], count: int, threads: int) -> None:
    """Run each text by one thread, several at once."""
    if count > 1 and threads > 1:
        with ThreadPoolExecutor(min(threads, count), "embed") as pool:
            list(pool.map(embed_one, range(count)))
    else:
        for row in range(count):
            embed_one(row)


def loaded_session(path: Path, sha256: str) -> Any:
    """A model that is ready to run. Raises ModelError: it is missing, not the one that is expected, or cannot be loaded."""
    data = _checked(path, sha256)
    onnxruntime = _silent_runtime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises bare exceptions
        raise ModelError(tr("The program cannot load the embedder"), remedy=str(error)) from error


def _checked(path: Path, sha256: str) -> bytes:
    try:
        data = read_file(path, most_bytes=MODEL_BYTES)
    except FileNotFoundError as error:
        raise ModelError(
            tr("The embedder is missing"), where=str(path), remedy=tr("Install Manual Slop again")
        ) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ModelError(
            tr("The embedder's file is damaged"), where=str(path), remedy=tr("Install Manual Slop again")
        )
    return data


def _silent_runtime() -> Any:
    """The runtime, told before it loads that it is to send nothing, and to keep no id of this machine.

    Source: onnxruntime pull request 27379: telemetry is on by default in the official builds since 1.29; the variable
    is the whole opt-out where there is no Windows, and is read once; on Windows it is a call (read 2026-11-23).
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime
