"""Counts what a function does, in place of its time: lines of Python and calls into C, the same on every machine.

What C does inside one call (a regular expression, a copy) is not seen: how that grows is a row of `tests.bench.sound_growth`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

TIMES = 4
"""The larger input over the smaller one."""

LINEAR = TIMES * 1.25
"""Most that `growth` gives for work that is done once for each part of its input, or is sorted; a square gives 16."""

FLAT = 1.25
"""Most that `growth` gives for work that does not hang on the size."""


def operations(act: Callable[[], object]) -> int:
    """Lines of Python that run in this thread while `act` runs, and its calls of functions of C. Tracing slows it thirtyfold."""
    count = 0

    def traced(_frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        nonlocal count
        count += event == "line"
        return traced

    def profiled(_frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "c_call"

    tracer, profiler, collects = sys.gettrace(), sys.getprofile(), gc.isenabled()
    gc.disable()  # what it would finalize is others' work
    sys.setprofile(profiled)
    sys.settrace(traced)
    try:
        act()
    finally:
        sys.settrace(tracer)
        sys.setprofile(profiler)
        if collects:
            gc.enable()
    return count


def growth(act: Callable[[int], object], size: int) -> float:
    """How many times as many operations `act` takes for an input `TIMES` as large.

    Args:
        act: does the work on an input of a size; making the input counts as well.
        size: of the smaller input, large enough that what is done once is of no account.
    """
    for first in (size, size * TIMES):  # what is loaded, compiled or kept at the first use is none of it
        act(first)
    small = operations(lambda: act(size))
    return operations(lambda: act(size * TIMES)) / small
