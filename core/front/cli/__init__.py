"""The command line: every command that needs no window, over the same controller as the window."""

from __future__ import annotations

import sys

from core.front.cli.version import say_at_once

TYPE_CHECKING = False  # `typing` itself takes longer to load than `--version` may
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line that needs no window. Returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if say_at_once(arguments):
        return 0
    from core.kernel.surroundings import leave_folder, own_what_is_made

    leave_folder()
    own_what_is_made()
    from core.front.cli.version import speak_as_set

    speak_as_set(arguments)
    from core.front.cli.grammar import read

    given = read(arguments)  # ends here for help and wrong usage, before the program's values load
    from core.front.cli.arguments import options_of
    from core.front.cli.run import run

    return run(options_of(given))
