"""`--headless`: the controller without a window, until it is stopped."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from core.front.cli.arguments import Options
from core.front.cli.output import Console
from core.front.cli.session import FrontEnd, UsageError, session
from core.front.hooks.launch import start_hooks
from core.kernel import paths
from core.kernel.errors import SlopError

FOREVER_S = 1e9
FIRST_FREE_FD = 3


def run_headless(options: Options, front: FrontEnd, console: Console) -> int:
    """Run until Ctrl+C or a signal, with the Hook API where it is asked for. Returns 0.

    Raises:
        SlopError: the home cannot be used, or the Hook API cannot start.
    """
    handover = claimed_descriptor(options.approvals_fd, is_asked=options.hooks)
    with session(front, console) as state, _until_stopped(console):
        home, root = state.program.home, state.config.project.root
        console.line(f"Running without a window on {home}, project {root}. Ctrl+C stops.")
        with _hooks(options, front, console, handover) as url:
            if console.is_json:
                console.json({"home": home, "project": root, "hook_api": url})
            front.wait_for(lambda s: s.program.is_closing, FOREVER_S)
    return 0


@contextmanager
def _until_stopped(console: Console) -> Iterator[None]:
    """Take a signal for a wish to end well, from before the line that says that the program is up."""
    try:
        yield
    except KeyboardInterrupt:
        console.note("Stopping.")


@contextmanager
def _hooks(options: Options, front: FrontEnd, console: Console, handover: int | None) -> Iterator[str]:
    """The Hook API while the program runs; gives its address, empty where it is off."""
    token = "" if handover is None else secrets.token_urlsafe(32)
    server = start_hooks(front, is_asked=options.hooks, approvals_token=token)
    if server is None:
        yield ""
        return
    try:
        if handover is not None:
            _hand_over(token, handover)
        console.line(f"Hook API on {server.address.url}, token in {paths.HOOK_TOKEN_FILE} of the home.")
        yield server.address.url
    finally:
        server.stop()


def claimed_descriptor(descriptor: int | None, *, is_asked: bool) -> int | None:
    """The descriptor that takes the token of approvals, closed to every process that is started from now on.

    Raises:
        UsageError: it is none, or a file, where the token would stand on disk; or the Hook API is not asked for.
    """
    if descriptor is None:
        return None
    remedy = "Give the write end of a pipe, or a socket"
    try:
        mode = os.fstat(descriptor).st_mode if descriptor >= FIRST_FREE_FD else 0
    except (OSError, OverflowError):
        mode = 0
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise UsageError(f"--approvals-fd: {descriptor} is no pipe of its own", remedy=remedy)
    os.set_inheritable(descriptor, False)
    if not is_asked:
        raise UsageError("--approvals-fd needs the Hook API", remedy="Add --hooks")
    return descriptor


def _hand_over(token: str, descriptor: int) -> None:
    """Write the token and close the descriptor: whoever holds the other end is the only one that has it."""
    try:
        os.write(descriptor, f"{token}\n".encode())
    except OSError as error:
        raise SlopError(f"The token of approvals could not be handed over: {error.strerror}") from error
    finally:
        with suppress(OSError):
            os.close(descriptor)
