"""The one place where a command asks a person on the terminal: what was pressed before the question stood there is no answer."""

from __future__ import annotations

import getpass
import sys

from core.cli.output import Console
from core.cli.session import UsageError


def can_ask(console: Console) -> bool:
    """True if a person reads standard error, where questions stand, and types into standard input."""
    return sys.stdin is not None and sys.stdin.isatty() and console.err.isatty()


def check_terminal(console: Console, why: str, remedy: str = "Add --yes to say it beforehand") -> None:
    """Raise UsageError where nobody can be asked, before work is done that would be in vain."""
    if not can_ask(console):
        raise UsageError(f"{why}, and there is no terminal to ask on", remedy=remedy)


def confirm(console: Console, question: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what was shown before (`Console.shown`).

    Args:
        question: one line; is_yes: whether `--yes` was given.

    Raises:
        UsageError: nobody can be asked.
    """
    if is_yes:
        return True
    check_terminal(console, "This needs your yes")
    return ask(console, question, "[y/N]").lower() in {"y", "yes"}


def confirm_final(console: Console, question: str, word: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what cannot be undone: the person types a word, for which no single key stands. Else as `confirm`."""
    if is_yes:
        return True
    check_terminal(console, "This needs your yes")
    return ask(console, question, f"Type `{word}` to do it:").lower() == word


def ask(console: Console, question: str, mark: str) -> str:
    """Ask on the terminal, which must be one (`can_ask`).

    Args:
        question: what is asked, whole; mark: what stands behind it once an answer counts.

    Returns:
        The line that was typed since then, stripped; empty where none can be had: no answer is a no.
    """
    try:
        with console.resting():
            console.aside(f"{question} ")
            _drop_typed()
            console.aside(f"{mark} ")
            return sys.stdin.readline().strip()
    except (
        OSError,
        UnicodeDecodeError,
    ):  # the terminal has gone, or is another program's; or no text was typed
        return ""


def secret_line(console: Console, question: str, most_chars: int) -> str:
    """A secret that is typed without echo, or the first line of a pipe; empty where none can be had.

    Args:
        question: asked on a terminal alone; most_chars: of a line that is read from a pipe.
    """
    try:
        if sys.stdin is None or not sys.stdin.isatty():
            return "" if sys.stdin is None else sys.stdin.readline(most_chars)
        with console.resting():
            console.aside(question)
            _drop_typed()
            return getpass.getpass(": ")
    except (OSError, UnicodeDecodeError, EOFError):
        return ""


def _drop_typed() -> None:
    """Forget what was typed before the question stood there. Raises OSError: that cannot be forgotten."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except termios.error as error:
        raise OSError(*error.args) from error
