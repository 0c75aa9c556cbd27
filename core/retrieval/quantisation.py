"""Vectors as int8 with one scale for all components."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 384
"""Of the model that comes with the program."""

REACH, STEPS = 0.25, 127
"""A component of `REACH` is `STEPS`; what lies beyond is clipped."""


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Unit vectors as int8, row by row. Not a number becomes zero."""
    import numpy as np

    scaled = np.nan_to_num(vectors, copy=True) * (STEPS / REACH)
    steps: NDArray[np.int8] = np.clip(np.rint(scaled), -STEPS, STEPS).astype(np.int8)
    return steps


def cosine(dot: float) -> float:
    """The cosine that a dot product of two quantised vectors stands for."""
    return dot * (REACH / STEPS) ** 2
