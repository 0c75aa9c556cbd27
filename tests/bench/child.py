"""Runs a module of the benchmarks in a process of its own: one Dear PyGui context in a process, settings of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST_S = 300


def measured(module: str, *arguments: str, **environment: str) -> dict[str, float]:
    """Last line that the module printed: figures as JSON. Raises CalledProcessError: it failed.

    The person's settings are not read: keepalive, for one, has a window look each second for what it would hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "MANUAL_SLOP_CONFIG": str(Path(folder) / "config.toml"), **environment}
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=environ,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=LONGEST_S,
        )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def loop_ms() -> float:
    """Processor time of a fixed loop of the interpreter, ms: figures of one run are told as multiples of it, since bars in
    milliseconds do not survive another machine.
    """
    return min(_one_loop_ms() for _ in range(7))


def _one_loop_ms() -> float:
    start, text = time.thread_time(), ""
    for number in range(50_000):
        text = text[-20:] + str(number)
    return 1000 * (time.thread_time() - start)


@contextmanager
def compatible_settings(address: str) -> Iterator[None]:
    """Let this process find settings that name one compatible server with the model `m`, and nothing of the person's."""
    with tempfile.TemporaryDirectory() as folder:
        places = {
            "MANUAL_SLOP_CONFIG": "config.toml",
            "XDG_CACHE_HOME": "cache",
            "XDG_CONFIG_HOME": "c",
        }
        os.environ.update({variable: str(Path(folder) / place) for variable, place in places.items()})
        Path(os.environ["MANUAL_SLOP_CONFIG"]).write_text(
            f'[providers.local]\nkind = "compatible"\nbase_url = "{address}"\n'
            '[ai_settings]\nprovider = "local"\nmodel = "m"\n'
        )
        yield
