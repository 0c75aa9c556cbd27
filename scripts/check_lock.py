"""Checks that what the program needs has wheels, in the versions of requirements.lock, for every system that it names: `make lock-check`."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK, PROJECT = "requirements.lock", "pyproject.toml"
KEPT = ROOT / "build" / "lock-checked.txt"
"""Hash of the files that were checked last: nothing is asked again until one of them changes."""

SYSTEMS = {
    "Linux x86-64, glibc 2.28": "x86_64-manylinux_2_28",
    "Linux arm64, glibc 2.28": "aarch64-manylinux_2_28",
    "Windows x64": "x86_64-pc-windows-msvc",
    "macOS 14 on Apple silicon": "aarch64-apple-darwin",
}
"""Systems that the program names, as uv names them."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OLDEST_MACOS = "14.0"
_LONGEST_S = 180
_UNREACHED = (
    "error sending request",
    "failed to fetch",
    "dns error",
    "connection refused",
    "timed out",
    "request failed",
)


def pins(text: str) -> set[str]:
    """Names with versions of a resolution, or of the lock."""
    return {
        line.split()[0].rstrip("\\")
        for line in text.splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    }


def is_unreached(said: str) -> bool:
    """True if uv failed because no registry answered, and not for want of a wheel."""
    lowered = said.lower()
    return "no solution found" not in lowered and any(words in lowered for words in _UNREACHED)


def resolve(platform: str, python: str) -> tuple[str, str]:
    """Have uv resolve the program for a system from wheels alone. Returns the resolution, and what went wrong."""
    command = (
        *(
            "uv",
            "pip",
            "compile",
            "--quiet",
            PROJECT,
            "--python-platform",
            platform,
            "--python-version",
            python,
        ),
        *("--only-binary", ":all:", "--no-header", "--no-annotate", "--constraints", LOCK),
    )
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout, "" if done.returncode == 0 else done.stderr.strip() or "uv said nothing"


def marks() -> str:
    """Hash of all that the check reads."""
    found = hashlib.sha256()
    for name in (LOCK, PROJECT, "scripts/check_lock.py"):
        found.update((ROOT / name).read_bytes())
    return found.hexdigest()


def main() -> int:
    """Check each system. Returns 0 where all resolve, 1 where one does not, 2 where no registry answered: nothing is known then."""
    now = marks()
    if KEPT.exists() and KEPT.read_text("utf-8").strip() == now:
        print("check_lock: nothing changed since the lock was found to hold for every system")
        return 0
    locked, failures = pins((ROOT / LOCK).read_text("utf-8")), 0
    for name, platform in SYSTEMS.items():
        for python in PYTHONS:
            text, problem = resolve(platform, python)
            if is_unreached(problem):
                print(
                    f"check_lock: NOT CHECKED, no registry answers: {problem.splitlines()[-1]}",
                    file=sys.stderr,
                )
                return 2
            strange = sorted(pins(text) - locked)
            problem = problem or (f"not in {LOCK}: {', '.join(strange)}" if strange else "")
            print(
                f"check_lock: {name}, Python {python}: {problem or f'{len(pins(text))} packages'}", flush=True
            )
            failures += bool(problem)
    if not failures:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(now + "\n", "utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
