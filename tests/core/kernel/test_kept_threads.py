"""Threads that are kept: each work has one to itself at once, and the next one finds it free."""

from __future__ import annotations

import threading

import pytest

from core.kernel import queue
from core.kernel.queue import KeptThreads
from tests.patience import PATIENCE_S


def test_works_that_run_at_once_have_threads_of_their_own_with_their_names() -> None:
    threads = KeptThreads()
    both = threading.Barrier(2, timeout=PATIENCE_S)
    names: set[str] = set()

    def work() -> None:
        both.wait()
        names.add(threading.current_thread().name)

    overs = [threads.run(name, work) for name in ("call-a", "call-b")]

    assert all(over.wait(PATIENCE_S) for over in overs)
    assert names == {"call-a", "call-b"}


def test_a_thread_that_is_free_is_taken_again() -> None:
    threads = KeptThreads()
    used: list[threading.Thread] = []
    for number in range(50):
        assert threads.run(f"call-{number}", lambda: used.append(threading.current_thread())).wait(PATIENCE_S)

    assert len(used) == 50
    assert len(set(used)) < 50


def test_a_thread_that_nobody_needs_ends_and_the_next_work_is_run_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "KEPT_S", 0.0)
    threads = KeptThreads()
    used: list[threading.Thread] = []
    for _ in range(20):
        assert threads.run("call", lambda: used.append(threading.current_thread())).wait(PATIENCE_S)
    for thread in used:
        thread.join(PATIENCE_S)

    assert len(used) == 20
    assert not any(thread.is_alive() for thread in used)


def test_a_work_that_fails_is_over_and_takes_nothing_else_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = KeptThreads()
    told: list[object] = []
    used: list[threading.Thread] = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: told.append(failed.exc_type))

    def fail() -> None:
        used.append(threading.current_thread())
        raise ValueError("on purpose")

    assert threads.run("call", fail).wait(PATIENCE_S)
    used[0].join(PATIENCE_S)
    assert threads.run("call", lambda: used.append(threading.current_thread())).wait(PATIENCE_S)

    assert told == [ValueError]
    assert used[1] is not used[0]
