"""Name and version of the program, said before anything else loads."""

from __future__ import annotations

import sys

from core import __version__

PROGRAM = "manual-slop"


def version_text() -> str:
    """Name and version of the program and of Python."""
    return f"{PROGRAM} {__version__} (Python {sys.version.split()[0]})"
