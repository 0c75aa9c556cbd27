"""The command line: every command that needs no window, over the same controller as the window."""

from __future__ import annotations

from core.cli.run import main, run

__all__ = ["main", "run"]
