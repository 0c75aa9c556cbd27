"""Measures the frame's share of a formula: asking for one that nobody has drawn, and asking for it again."""

from __future__ import annotations

import statistics
import time

from gui.drawings import Drawings
from gui.metrics import Drawing
from tests.bench.__main__ import Row, row
from tests.patience import PATIENCE_S

FORMULAS = 30
AGAIN = 1_000
AGAIN_BAR_MS = 0.2


def rows() -> list[Row]:
    """Measure with the real process that draws. Times are those of the asking thread's processor."""
    drawings = Drawings(lambda: True)
    asked = [
        Drawing(kind="formula_block", text=rf"\sum_{{k=1}}^{{{n}}} \frac{{1}}{{k^2}}", size=16.0)
        for n in range(FORMULAS)
    ]
    drawings.size_of(Drawing(kind="formula", text="x", size=16.0))  # starts the process
    first = [_asking_ms(drawings, one) for one in asked]
    drawings.wait(PATIENCE_S)
    drawings.size_of(asked[-1])
    again = [sum(_asking_ms(drawings, one) for one in asked) / len(asked) for _ in range(AGAIN // FORMULAS)]
    assert all((size := drawings.size_of(one)) is not None and not size.problem for one in asked)
    drawings.close()
    return [
        row(
            "a formula first, on the frame's thread",
            statistics.median(first),
            "ms",
            AGAIN_BAR_MS,
            runs=FORMULAS,
        ),
        row("a formula again", statistics.median(again), "ms", AGAIN_BAR_MS, runs=AGAIN // FORMULAS),
    ]


def _asking_ms(drawings: Drawings, one: Drawing) -> float:
    start = time.thread_time()
    drawings.size_of(one)
    return 1_000 * (time.thread_time() - start)
