"""A person's yes on a terminal; where there is none, only the command line can have said it."""

from __future__ import annotations

import sys

from core.cli.output import Console
from core.cli.session import UsageError


def confirm(console: Console, question: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what was printed before.

    Args:
        question: one line; is_yes: whether `--yes` was given.

    Raises:
        UsageError: nobody can be asked: standard input is no terminal.
    """
    if is_yes:
        return True
    check_terminal("This needs your yes")
    console.aside(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def check_terminal(why: str, remedy: str = "Add --yes to say it beforehand") -> None:
    """Raise UsageError where nobody can be asked, before work is done that would be in vain."""
    if not sys.stdin.isatty():
        raise UsageError(f"{why}, and there is no terminal to ask on", remedy=remedy)
