"""Measures how long others wait for the Hook API while 1,000 connections have sent half a request."""

from __future__ import annotations

import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.__main__ import Row, row

HALF_OPEN = 1_000
FILES = 1_024
"""Files that a process may have open, as most systems have it: fewer than the connections and all else."""

ASKED = 20
BAR_S = 1.0
WAIT_S = 60.0
_HALF = b"POST /api/discussions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


def rows() -> list[Row]:
    """Measure a headless program of its own; what it says on standard error counts too."""
    with tempfile.TemporaryDirectory() as folder, _program(Path(folder)) as (program, port, token):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (4 * HALF_OPEN, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        )
        with ExitStack() as links:
            took = []
            for number in range(HALF_OPEN):
                link = links.enter_context(socket.create_connection(("127.0.0.1", port), timeout=WAIT_S))
                link.sendall(_HALF)
                if number % (HALF_OPEN // ASKED) == 0:
                    took.append(_asked(port, token))
            took += [_asked(port, token) for _ in range(ASKED)]
        program.terminate()
        noise = len(program.communicate(timeout=WAIT_S)[1].splitlines())
    name = f"an answer beside {HALF_OPEN:,} half-sent requests"
    return [
        row(f"{name}, at worst", max(took), "s", BAR_S, runs=len(took)),
        row(f"{name}, median", statistics.median(took), "s", runs=len(took)),
        row("lines on standard error meanwhile", noise, "lines", 2),
    ]


@contextmanager
def _program(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))

    places = {
        "MANUAL_SLOP_HOME": "home",
        "XDG_CONFIG_HOME": "config",
        "XDG_CACHE_HOME": "cache",
        "XDG_STATE_HOME": "state",
    }
    program = subprocess.Popen(
        [sys.executable, "-P", "-m", "core.front.cli", "--headless", "--hooks"],
        cwd=folder,  # in a project that is not trusted it would say so
        env={**os.environ, **{name: str(folder / place) for name, place in places.items()}},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=few_files,  # noqa: PLW1509 - no thread of this process runs beside it
    )
    try:
        address = _found(folder / "home" / "hook.json")
        token = (folder / "home" / "hook_token").read_text(encoding="ascii")
        yield program, int(address["url"].rsplit(":", 1)[1]), token
    finally:
        program.kill()
        program.wait()


def _found(file: Path) -> dict[str, str]:
    end = time.monotonic() + WAIT_S
    while not file.exists():
        assert time.monotonic() < end, "the program did not start"
        time.sleep(0.05)
    address: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return address


def _asked(port: int, token: str) -> float:
    """Seconds from the connection to the whole answer of one request."""
    began = time.monotonic()
    request = f"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as link:
        link.sendall(request.encode())
        received = b""
        while chunk := link.recv(65_536):
            received += chunk
    assert received.startswith(b"HTTP/1.1 200 "), received[:100]
    return time.monotonic() - began
