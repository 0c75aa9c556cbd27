"""Values on the command line: numbers with the bounds that each has, and categories."""

from __future__ import annotations

import argparse
from contextlib import suppress

CATEGORIES = ("facts", "decisions", "tasks_done", "tasks_open", "questions", "playbooks", "files")
"""Of knowledge; `files` are notes, which a harvest places."""


def days(text: str) -> float:
    """Days from 0 to 36500. Raises argparse.ArgumentTypeError."""
    with suppress(ValueError):
        if 0 <= (number := float(text)) <= 36_500:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is no number of days from 0 to 36500")


def size_bytes(text: str) -> int:
    """Bytes from 1 to 1 GiB. Raises argparse.ArgumentTypeError."""
    with suppress(ValueError):
        if 0 < (size := int(text)) <= 1 << 30:
            return size
    raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes from 1 to {1 << 30}")
