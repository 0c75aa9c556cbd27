"""Runs a module of the benchmarks in a process of its own: one Dear PyGui context in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

LONGEST_S = 300


def measured(module: str, *arguments: str, **environment: str) -> dict[str, float]:
    """Last line that the module printed: figures as JSON. Raises CalledProcessError: it failed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=LONGEST_S,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
