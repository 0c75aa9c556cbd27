"""The worker process: real ones, killed, outlived and interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Iterator

import psutil
import pytest

from core.app.crunch import Crunch, CrunchClosedError, CrunchError, CrunchLateError
from core.kernel.o200k import count_tokens
from core.kernel.values.curation import LineRange, Symbol
from core.kernel.values.imports import TranscriptKind
from core.knowledge.harvest.transcript_sources import unread_messages
from tests.patience import PATIENCE_S, until

WAIT_S = PATIENCE_S
pytestmark = pytest.mark.usefixtures("own_worker_process")


@pytest.fixture
def crunch() -> Iterator[Crunch]:
    worker = Crunch()
    yield worker
    worker.close()


def test_no_process_and_no_thread_until_the_first_job() -> None:
    before = psutil.Process().num_threads()
    worker = Crunch()

    assert worker.pid is None
    assert psutil.Process().num_threads() == before
    worker.close()


@pytest.mark.slow
def test_tokens_are_counted_by_name_as_in_this_process(crunch: Crunch) -> None:
    texts = {"a": "hello world", "empty": "", "wide": "漢字 é\n", "lone": "\ud800"}

    assert crunch.count(texts).result(WAIT_S) == {name: count_tokens(text) for name, text in texts.items()}
    assert crunch.count({}).result(WAIT_S) == {}


def test_an_outline_comes_back_whole(crunch: Crunch) -> None:
    made = crunch.outline("a.py", "class A:\n    def f(self): ...\n").result(WAIT_S)

    assert made == (
        Symbol("A", "class", LineRange(1, 2), "class A:"),
        Symbol("A.f", "method", LineRange(2, 2), "def f(self):", 1),
    )


def test_a_job_that_is_done_leaves_nothing_in_memory(crunch: Crunch) -> None:
    """A reply of 50 MB stood there as bytes until the next job came."""
    text = "words of a long reply\n" * 200_000
    crunch.count({"a": "warm"}).result(WAIT_S)
    tracemalloc.start()
    try:
        crunch.count({"a": text}).result(WAIT_S)

        until(lambda: tracemalloc.get_traced_memory()[0] <= len(text) // 4)
    finally:
        tracemalloc.stop()


AIDER = "# aider chat started at 2025-10-20 21:49:17\n\n#### My key is ghp_{}\n\nNoted.\n".format(
    "Z9" * 20
).encode()


def test_a_conversation_comes_back_as_a_harvest_may_read_it(crunch: Crunch) -> None:
    read = crunch.messages(TranscriptKind.AIDER, AIDER, len(AIDER)).result(WAIT_S)

    assert read == unread_messages(TranscriptKind.AIDER, AIDER, len(AIDER))
    assert [(one.role, one.text) for one in read] == [("user", "My key is [secret]"), ("assistant", "Noted.")]


def test_only_what_was_not_harvested_comes_back(crunch: Crunch) -> None:
    more = AIDER + b"\n#### And now?\n"

    read = crunch.messages(TranscriptKind.AIDER, more, len(more) - len(AIDER)).result(WAIT_S)

    assert [one.text for one in read] == ["And now?"]


@pytest.mark.slow
def test_a_conversation_that_cannot_be_read_is_told_as_here(crunch: Crunch) -> None:
    with pytest.raises(ValueError, match="this is not a conversation that the program can read"):
        crunch.messages(TranscriptKind.UNKNOWN, b"x", 1).result(WAIT_S)
    assert crunch.count({"a": "x"}).result(WAIT_S) == {"a": 1}


@pytest.mark.slow
def test_the_parent_loads_no_tokenizer_and_no_grammar() -> None:
    program = (
        "import sys; from core.app.crunch import Crunch\n"
        "c = Crunch(); c.count({'a': 'x'}).result(30); c.outline('a.py', 'def f(): ...').result(30); c.close()\n"
        "assert not {'tiktoken', 'tree_sitter', 'dearpygui'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE_S)


@pytest.mark.slow
def test_the_next_job_after_a_crash_is_done_by_a_new_process(crunch: Crunch) -> None:
    crunch.count({"a": "x"}).result(WAIT_S)
    first = crunch.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)

    assert crunch.count({"a": "hello world"}).result(WAIT_S) == {"a": 2}
    assert crunch.pid not in {None, first}


@pytest.mark.slow
def test_a_process_that_is_killed_in_the_middle_of_a_job_is_replaced(crunch: Crunch) -> None:
    crunch.count({"a": "x"}).result(WAIT_S)
    process = psutil.Process(crunch.pid)
    process.suspend()
    job = crunch.count({"a": "hello world"})
    process.kill()

    assert job.result(WAIT_S) == {"a": 2}


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_given_up_and_the_next_one_is_done() -> None:
    worker = Crunch(timeout_s=WAIT_S)
    worker.count({"a": "x"}).result(WAIT_S)
    psutil.Process(worker.pid).suspend()

    worker._timeout_s = 0.2  # for a process that is up; a new one takes longer than that to start
    with pytest.raises(CrunchLateError, match=r"needed more than 0\.2 s"):
        worker.count({"a": "y"}).result(WAIT_S)
    worker._timeout_s = WAIT_S
    assert worker.count({"a": "hello world"}).result(WAIT_S) == {"a": 2}
    worker.close()


@pytest.mark.slow
def test_a_later_job_of_a_lane_replaces_those_that_wait(crunch: Crunch) -> None:
    crunch.count({"a": "x"}).result(WAIT_S)
    process = psutil.Process(crunch.pid)
    process.suspend()
    running = crunch.count({"a": "one"}, lane="other")
    waiting = [crunch.count({"a": "two"}, lane="same") for _ in range(3)]
    apart = crunch.count({"a": "three"})
    process.resume()

    assert waiting[2].result(WAIT_S) == {"a": 1}
    assert [job.cancelled() for job in waiting[:2]] == [True, True]
    assert running.result(WAIT_S) == apart.result(WAIT_S) == {"a": 1}


@pytest.mark.slow
def test_a_fault_in_a_job_is_reported_and_the_worker_goes_on(crunch: Crunch) -> None:
    with pytest.raises(CrunchError, match="Unknown job 'dance'"):
        crunch.submit({"job": "dance"}, b"", "").result(WAIT_S)
    pid = crunch.pid

    assert crunch.count({"a": "x"}).result(WAIT_S) == {"a": 1}
    assert crunch.pid == pid


def test_an_interrupt_from_the_terminal_does_not_reach_it(crunch: Crunch) -> None:
    crunch.count({"a": "x"}).result(WAIT_S)
    pid = crunch.pid
    assert pid is not None
    os.kill(pid, signal.SIGINT)

    assert crunch.count({"a": "y"}).result(WAIT_S) == {"a": 1}
    assert crunch.pid == pid
    assert os.getsid(pid) != os.getsid(0)


def test_closing_ends_the_process_and_refuses_jobs(crunch: Crunch) -> None:
    crunch.count({"a": "x"}).result(WAIT_S)
    process = psutil.Process(crunch.pid)
    process.suspend()
    waiting = [crunch.count({"a": "y"}) for _ in range(3)]
    crunch.close()

    assert not process.is_running()
    for job in waiting:
        with pytest.raises(CrunchClosedError):
            job.result(WAIT_S)
    with pytest.raises(CrunchClosedError):
        crunch.count({"a": "z"})


@pytest.mark.slow
@pytest.mark.parametrize("is_busy", [False, True])
def test_it_ends_when_its_parent_is_killed(is_busy: bool) -> None:
    """Even in the middle of a job that takes long."""
    text = "'漢字 x = 1\\n' * 6_000_000" if is_busy else "'x'"
    program = textwrap.dedent(f"""
        import os, sys
        from core.app.crunch import Crunch
        c = Crunch()
        c.count({{"a": "x"}}).result(30)
        job = c.count({{"a": {text}}})
        print(c.pid, flush=True)
        sys.stdin.read()
    """)
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()

    psutil.wait_procs([child], timeout=WAIT_S)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
