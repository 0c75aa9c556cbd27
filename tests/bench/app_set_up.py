"""Measures set-up where nothing is to be done: what every `make` pays before it begins."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.__main__ import Row

ROOT = Path(__file__).parents[2]
SCRIPT = "scripts/bootstrap.py"
RUNS = 5
BAR_S = 1.0


def rows() -> list[Row]:
    """Measure in a checkout of its own that says of itself that it is set up. The value is a median."""
    with tempfile.TemporaryDirectory() as folder:
        make_checkout(Path(folder))
        taken_s = statistics.median(_check_s(Path(folder)) for _ in range(RUNS))
    return [
        {
            "name": "set-up, nothing to do",
            "value": taken_s,
            "unit": "s",
            "bar": f"at most {BAR_S:g}",
            "holds": taken_s <= BAR_S,
            "runs": RUNS,
        }
    ]


def make_checkout(folder: Path) -> None:
    """Make a checkout of what set-up depends on, as it is here, and the stamp that it leaves at its end."""
    (folder / "scripts").mkdir()
    for name in (SCRIPT, "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").touch()
    stamp = "import bootstrap; bootstrap.STAMP.write_text(bootstrap.fingerprint())"
    subprocess.run([sys.executable, "-c", stamp], cwd=folder / "scripts", check=True)


def _check_s(folder: Path) -> float:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, folder / SCRIPT, "check"], check=True, capture_output=True)
    assert not done.stdout, "set-up found something to do"
    return time.perf_counter() - started
