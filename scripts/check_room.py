"""Checks one room: lint, contracts on imports, types and tests. The whole is checked by `make test lint types`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def folders_of(room: str, root: Path = ROOT) -> list[Path]:
    """Folders of code with that name, or at that path, relative to `root`."""
    if room and (root / room).is_dir():
        return [Path(room)]
    tops = ("core", "panels", "gui")
    found = (path for top in tops for path in (root / top, *(root / top).rglob("*")))
    return sorted(path.relative_to(root) for path in found if path.is_dir() and path.name == room)


def main(arguments: list[str]) -> int:
    """Run the checks in turn, and stop at the first that fails."""
    room = "".join(arguments)
    folders = folders_of(room)
    if not folders:
        print(f"There is no room {room!r}. Name a folder of core, panels or gui: make check ROOM=harvest")
        return 2
    code = [str(folder) for folder in folders]
    tests = [f"tests/{folder}" for folder in code if (ROOT / "tests" / folder).is_dir()]
    checks = [["ruff", "check", *code, *tests], ["lint-imports"], ["mypy", *code, *tests]]
    checks += [["pytest", "-n", "3", "-q", *tests]] if tests else []
    for tool, *rest in checks:
        if ended := subprocess.run(
            [Path(sys.executable).parent / tool, *rest], cwd=ROOT, check=False
        ).returncode:
            return ended
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
