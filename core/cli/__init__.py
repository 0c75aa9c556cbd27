"""The command line: every command that needs no window, over the same controller as the window."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself takes longer to load than `--version` may
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line that needs no window. Returns the exit code."""
    from core.cli.run import main as run_command

    return run_command(argv)
