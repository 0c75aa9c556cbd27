"""The check of the lock: what it compares, and that no registry is never taken for a lock that holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scripts.check_lock import LOCK, is_unreached, pins
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_pins_of_the_lock_and_of_a_resolution_are_named_alike() -> None:
    locked = pins((ROOT / LOCK).read_text("utf-8"))

    assert pins("openai==3.57.1\nmsgspec==0.22.0\n    # via x\n") == {"openai==3.57.1", "msgspec==0.22.0"}
    assert len(locked) > 100
    assert all(one.count("==") == 1 and one == one.strip() for one in locked)


def test_a_missing_wheel_is_no_missing_registry() -> None:
    assert not is_unreached(
        "error: No solution found when resolving: x==1 has no wheels; request failed once"
    )
    assert is_unreached(
        "error: Failed to fetch: `https://registry.invalid/simple/x/`\n  Caused by: dns error"
    )
    assert not is_unreached("")


def test_where_no_registry_answers_the_check_fails_and_says_so(tmp_path: Path) -> None:
    """A stand-in for uv that says what uv says offline."""
    uv = tmp_path / "uv"
    uv.write_text(
        "#!/bin/sh\necho 'error: Failed to fetch: https://x/ Caused by: dns error' >&2\nexit 2\n", "utf-8"
    )
    uv.chmod(0o755)
    code = (
        "import pathlib, sys\nimport scripts.check_lock as check\n"
        f"check.KEPT = pathlib.Path({str(tmp_path / 'none')!r})\nsys.exit(check.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )

    assert done.returncode == 2
    assert "NOT CHECKED" in done.stderr
