"""Vectors of a shelf in a flat file that is mapped: a row of int8 each, scanned whole.

A row of zeros is free, or waits for its vector. By simsimd where it is there, by numpy where it is not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.kernel.disk import OS_DISK, Disk
from core.kernel.opener import open_file
from core.retrieval.embedding import cosine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SLICE = 512
"""Rows that numpy converts at once: what it makes of them stays in the processor's cache (a seventh of the time of 65,536)."""

_MARKED_AT_ONCE = 4_096
"""As `_SLICE`, of what takes eight times the memory."""

NO_VECTOR = 1
"""Mark of a row of zeros whose text no vector can be made of."""

_FEW = 4
"""Share of the rows, one in so many, up to which those alone are scanned."""


class VectorFile:
    """Rows numbered from 1, as the rows of the shelf's table. One writer; any number of readers beside it.

    Args:
        path: made when the first row is written; dimension: components of a row.
    """

    def __init__(self, path: Path, dimension: int, disk: Disk = OS_DISK) -> None:
        self.path, self._dimension, self._disk = path, dimension, disk
        self._mapped: Any = None
        self._mapped_as: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Rows that the file has room for."""
        try:
            return self.path.stat().st_size // self._dimension
        except FileNotFoundError:
            return 0

    def stamp(self) -> tuple[int, ...]:
        """Device, number, size and time of the file: another in its place, or one written in, has another. Empty: none there."""
        try:
            status = self.path.stat()
        except OSError:
            return ()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def write(self, rows: Mapping[int, bytes]) -> None:
        """Write vectors at their rows; the rows between stay zero.

        Raises:
            OSError: the disk is full, or the file cannot be written.
        """
        descriptor = self._disk.open(self.path, os.O_RDWR | os.O_CREAT)
        try:
            for row, vector in sorted(rows.items()):
                os.lseek(descriptor, (row - 1) * self._dimension, os.SEEK_SET)
                view = memoryview(vector)
                while view:
                    view = view[self._disk.write(descriptor, view) :]
            self._disk.fsync(descriptor)
        finally:
            os.close(descriptor)

    def erase(self, rows: Iterable[int]) -> None:
        """Make rows zero: nothing is left of what stood there."""
        count, empty = self.count, bytes(self._dimension)
        kept = {row: empty for row in rows if row <= count}
        if kept:
            self.write(kept)

    def compare(self, marks: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
        """Rows that do not hold the vector whose mark is given, and all others that hold one. Marks by row, each once."""
        import numpy as np

        matrix = self._matrix()
        count = 0 if matrix is None else len(matrix)
        given: Any = np.fromiter(marks, np.dtype((np.int64, 2)))
        wanted = np.zeros(max(count, int(given[:, 0].max(initial=0))), np.int64)
        wanted[given[:, 0] - 1] = given[:, 1]
        there = np.zeros(len(wanted), np.bool_)
        marked = np.full(len(wanted), NO_VECTOR, np.int64)
        for start in range(0, count, _MARKED_AT_ONCE):
            part = matrix[start : start + _MARKED_AT_ONCE]
            there[start : start + len(part)] = part.any(axis=1)
            marked[start : start + len(part)] = _marks(part)
        lost = np.flatnonzero((wanted != 0) & (marked != wanted)) + 1
        stray = np.flatnonzero(there & (wanted == 0)) + 1
        return lost.tolist(), stray.tolist()

    def read(self, rows: Iterable[int]) -> dict[int, bytes]:
        """Vectors as they stand at rows; those beyond the file are missing."""
        matrix = self._matrix()
        count = 0 if matrix is None else len(matrix)
        return {row: matrix[row - 1].tobytes() for row in rows if row <= count}

    def close(self) -> None:
        """Let the mapping go."""
        self._mapped, self._mapped_as = None, ()

    def best(
        self, query: NDArray[np.int8], count: int, rows: NDArray[np.intp] | None, also: Iterable[int]
    ) -> tuple[dict[int, float], float]:
        """Cosines of the best rows and of `also`, and the least of all that were scanned. Rows that tie with the last of the
        best are among them, however many: who knows their names chooses.

        Args:
            rows: those that are scanned, None for all; also: rows whose cosine is wanted in any case.
        """
        import numpy as np

        matrix = self._matrix()
        if matrix is None or not len(matrix):
            return {}, 0.0
        numbers: NDArray[np.intp] | None = None
        if rows is not None:
            numbers = np.sort(rows) - 1
            numbers = numbers[: np.searchsorted(numbers, len(matrix))]
        dots = _dots(matrix, query) if numbers is None else _some_dots(matrix, query, numbers)
        if not len(dots):
            return {}, 0.0
        is_there = dots != 0
        if not is_there.any():
            return {}, 0.0
        least = float(dots.min() if is_there.all() else dots[is_there].min())
        there = dots if is_there.all() else dots[is_there]
        last = np.partition(there, len(there) - count)[len(there) - count] if len(there) > count else least
        chosen = np.flatnonzero((dots >= last) & is_there)
        asked = np.fromiter(also, np.intp) - 1
        if numbers is None:
            asked = asked[asked < len(dots)]
        else:
            places = np.minimum(np.searchsorted(numbers, asked), len(numbers) - 1)
            asked = places[numbers[places] == asked]
        chosen = np.concatenate((chosen, asked))
        rows_of = (chosen if numbers is None else numbers[chosen]) + 1
        pairs = zip(rows_of.tolist(), dots[chosen].tolist(), strict=True)
        return {row: cosine(dot) for row, dot in pairs if dot}, cosine(least)

    def _matrix(self) -> Any:
        """The file as rows, mapped anew when it has grown, or another stands in its place."""
        import numpy as np

        stamp = self.stamp()[:3]
        count = stamp[2] // self._dimension if stamp else 0
        if count and (self._mapped is None or self._mapped_as != stamp):
            with open_file(self.path) as file:
                data = np.memmap(file, np.int8, "r", shape=(count * self._dimension,))
            self._mapped, self._mapped_as = data.reshape(count, self._dimension), stamp
        return self._mapped if count else None


def mark_of(vector: bytes) -> int:
    """Mark that the index keeps of a vector, by which another at its row is told: a checksum, `NO_VECTOR` of zeros, never 0."""
    import numpy as np

    return int(_marks(np.frombuffer(vector, np.int8)[np.newaxis])[0])


def _marks(rows: Any) -> NDArray[np.int64]:
    """Marks of rows: sums of their components, each times a figure of its place, of which 31 bits count. All at once, and
    nobody waits for the interpreter meanwhile.
    """
    import numpy as np

    places: Any = np.arange(1, rows.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    places ^= places >> np.uint64(30)
    places *= np.uint64(0xBF58_476D_1CE4_E5B9)
    places ^= places >> np.uint64(27)
    sums: Any = rows.astype(np.int64) @ places.view(np.int64)
    found: NDArray[np.int64] = (sums.view(np.uint64) >> np.uint64(33)).astype(np.int64)
    found[found == 0] = NO_VECTOR
    return found


def _some_dots(matrix: Any, query: NDArray[np.int8], numbers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Dot products of some rows. Many of them are sooner found among all than taken out."""
    if len(numbers) * _FEW > len(matrix):
        return _dots(matrix, query)[numbers]
    return _dots(matrix[numbers], query)


def _dots(matrix: Any, query: NDArray[np.int8]) -> NDArray[np.float64]:
    """Dot products of each row with the query, exact: whole numbers, as floats, since all of them need not be converted.

    `simsimd.dot` reads a matrix at nearly the speed of memory, as `numkong.dot` does in 46 MB more (19 ms of processor time
    for a million rows; numpy's best took 86, 2026-11-29).
    """
    import numpy as np

    try:
        import simsimd
    except ImportError:
        asked = query.astype(np.float32)
        parts = [matrix[at : at + _SLICE].astype(np.float32) @ asked for at in range(0, len(matrix), _SLICE)]
        return np.rint(np.concatenate(parts), dtype=np.float64) if parts else np.zeros(0)
    if not len(matrix):
        return np.zeros(0)
    return np.asarray(simsimd.dot(np.ascontiguousarray(matrix), query)).ravel()
