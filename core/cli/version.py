"""Name and version of the program, said before anything else loads."""

from __future__ import annotations

import sys

from core import __version__

PROGRAM = "manual-slop"


def version_text() -> str:
    """Name and version of the program and of Python."""
    return f"{PROGRAM} {__version__} (Python {sys.version.split()[0]})"


def say_version(arguments: list[str]) -> bool:
    """Print the version where nothing else is asked for, before argparse loads: scripts ask for it again and again."""
    if arguments != ["--version"]:
        return False
    print(version_text())
    return True
