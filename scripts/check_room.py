"""Checks one room while you work on it: lint, contracts on imports, types and quick tests. `make test lint types` checks all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUICK = "not slow and not gui and not model"
"""Tests that `make check` runs: a few of those that start a program each take most of a room's time."""
NO_TESTS = 5
"""Exit code of pytest where all tests of a room are left out."""


def folders_of(room: str, root: Path = ROOT) -> list[Path]:
    """Folders of code with that name, or at that path, relative to `root`."""
    if room and (root / room).is_dir():
        return [Path(room)]
    tops = ("core", "panels", "gui")
    found = (path for top in tops for path in (root / top, *(root / top).rglob("*")))
    return sorted(path.relative_to(root) for path in found if path.is_dir() and path.name == room)


def checks_of(folders: list[Path], root: Path = ROOT) -> list[list[str]]:
    """Commands that check these folders, in the order in which they are run."""
    code = [str(folder) for folder in folders]
    tests = [f"tests/{folder}" for folder in code if (root / "tests" / folder).is_dir()]
    checks = [["ruff", "check", *code, *tests], ["lint-imports"], ["mypy", *code, *tests]]
    return [*checks, ["pytest", "-n", "3", "-q", "-m", QUICK, *tests]] if tests else checks


def main(arguments: list[str]) -> int:
    """Run the checks in turn, and stop at the first that fails."""
    room = "".join(arguments)
    folders = folders_of(room)
    if not folders:
        print(f"There is no room {room!r}. Name a folder of core, panels or gui: make check ROOM=harvest")
        return 2
    for tool, *rest in checks_of(folders):
        ended = subprocess.run([Path(sys.executable).parent / tool, *rest], cwd=ROOT, check=False).returncode
        if ended and (tool, ended) != ("pytest", NO_TESTS):
            return ended
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
