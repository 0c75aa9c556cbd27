"""`--headless`: the controller without a window, until it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.base import paths
from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.session import FrontEnd, session
from core.hooks.launch import start_hooks

FOREVER_S = 1e9


def run_headless(options: Options, front: FrontEnd, console: Console) -> int:
    """Run until Ctrl+C or a signal, with the Hook API where it is asked for. Returns 0.

    Raises:
        SlopError: the home cannot be used, or the Hook API cannot start.
    """
    with session(front, console) as state, _until_stopped(console):
        home, root = state.program.home, state.config.project.root
        console.line(f"Running without a window on {home}, project {root}. Ctrl+C stops.")
        with _hooks(options, front, console) as url:
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
def _hooks(options: Options, front: FrontEnd, console: Console) -> Iterator[str]:
    """The Hook API while the program runs; gives its address, empty where it is off."""
    server = start_hooks(front, is_asked=options.hooks)
    if server is None:
        yield ""
        return
    try:
        console.line(f"Hook API on {server.address.url}, token in {paths.HOOK_TOKEN_FILE} of the home.")
        yield server.address.url
    finally:
        server.stop()
