"""Child side of a worker process: reads jobs one after the other, answers each, and ends with its parent."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from core.app.crunch_wire import read_frame, write_frame

Job = tuple[dict[str, object], bytes]
Done = Callable[[dict[str, object], bytes], object]
"""Carries out a job by its header and payload. What it raises is the job's answer, and ends nothing."""


def serve(done: Done) -> None:
    """Serve the parent over standard input and output.

    The end of the input ends the process at once, even in the middle of a job: the parent is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(sys.stdin.buffer, jobs), name="jobs-read", daemon=True).start()
    while True:
        header, payload = jobs.get()
        answer = _answered(done, header, payload)
        if isinstance(answer["value"], bytes):
            write_frame(replies, {"id": answer["id"], "is_bytes": True}, answer["value"])
        else:
            write_frame(replies, answer)


def _read_jobs(source: BinaryIO, jobs: queue.SimpleQueue[Job]) -> None:
    try:
        while True:
            jobs.put(read_frame(source))
    finally:
        os._exit(0)


def _answered(done: Done, header: dict[str, object], payload: bytes) -> dict[str, object]:
    """The answer to a job. A fault in one job is reported and does not end the worker."""
    try:
        return {"id": header["id"], "value": done(header, payload)}
    except Exception as fault:  # noqa: BLE001 (the edge of a worker)
        return {"id": header["id"], "value": None, "error": f"{type(fault).__name__}: {fault}"}
