"""`--headless`: the controller without a window, until it is stopped."""

from __future__ import annotations

from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.session import FrontEnd, session

FOREVER_S = 1e9


def run_headless(_options: Options, front: FrontEnd, console: Console) -> int:
    """Run until Ctrl+C or a signal. Returns 0."""
    with session(front, console) as state:
        console.line(f"Running without a window on {state.home}, project {state.project.root}. Ctrl+C stops.")
        try:
            front.wait_for(lambda s: s.is_closing, FOREVER_S)
        except KeyboardInterrupt:
            console.note("Stopping.")
    return 0
