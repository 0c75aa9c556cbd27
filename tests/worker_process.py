"""Worker processes for every program that a test runs: to start one and load its tokenizer takes a second of the processor."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.app.crunch import Crunch, CrunchClosedError, _Job

_OWN_JOBS = frozenset(["document", "page"])
"""Jobs whose process bounds its memory and ends with them; it loads no tokenizer."""
_ask = Crunch._asked


@contextmanager
def one_worker_process() -> Iterator[None]:
    """Have a real worker process, started by the first who asks, do the jobs of all, and one with a bound of memory read
    documents. Both end with the context.

    Threads, lanes and the close of each program's `Crunch` stay its own; its process alone is shared.
    """
    shared, bounded, lock = Crunch(), Crunch(), threading.Lock()

    def asked(crunch: Crunch, job: _Job) -> dict[str, object] | None:
        if job.header["job"] in _OWN_JOBS:
            return _ask(crunch, job)
        with lock:
            answer = _ask(bounded if job.header.get("is_bounded") else shared, job)
        if crunch._is_closed:
            raise CrunchClosedError("The worker process was closed")
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Crunch, "_asked", asked)
        try:
            yield
        finally:
            shared.close()
            bounded.close()


@contextmanager
def own_worker_processes() -> Iterator[None]:
    """Have each `Crunch` start its own process, as outside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Crunch, "_asked", _ask)
        yield
