"""How long a test waits for what always comes: on a machine under any load, and never for nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 180.0
"""Longest wait in seconds for another thread or process. Idle, what is waited for takes milliseconds; the embedded
model took over 60 s at a load of 25 on two cores."""

_STEP_S = 0.005


def until(is_so: Callable[[], object], what: str = "what was waited for") -> None:
    """Look until something is so.

    Raises:
        AssertionError: it never was.
    """
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come")
        threading.Event().wait(_STEP_S)


def ends(act: Callable[[], T]) -> T:
    """Return or raise what a call does that may not hang. It has a thread of its own, which a hang leaves behind.

    Raises:
        AssertionError: it did not end.
    """
    given: SimpleQueue[tuple[bool, T | BaseException]] = SimpleQueue()

    def work() -> None:
        try:
            given.put((True, act()))
        except BaseException as error:  # noqa: BLE001 (raised again by the one who waits)
            given.put((False, error))

    threading.Thread(target=work, name="a call that ends", daemon=True).start()
    try:
        is_done, value = given.get(timeout=PATIENCE_S)
    except Empty:
        raise AssertionError("the call did not end") from None
    if not is_done:
        raise value  # type: ignore[misc]
    return value  # type: ignore[return-value]
