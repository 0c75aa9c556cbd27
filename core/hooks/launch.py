"""Whether the Hook API runs, and its start and end beside a controller. Nothing of it is loaded while it is off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import SlopError
from core.hooks.clock import OffsetClock
from core.values.state import AppState

if TYPE_CHECKING:
    from core.hooks.asked import Window
    from core.hooks.server import HookServer
    from core.hooks.watch import Front

READY_S = 120.0


def start_hooks(
    front: Front,
    *,
    is_asked: bool,
    window: Window | None = None,
    clock: OffsetClock | None = None,
) -> HookServer | None:
    """Start the Hook API when the command line or user settings ask for it. Waits until settings are read.

    Returns:
        The server that listens, or None where nobody asked, or settings never came.

    Raises:
        SlopError: it cannot listen, or the home cannot be written.
    """
    state = front.wait_for(_has_settings, READY_S)
    if state is None or state.is_closing:
        return None
    hooks = state.settings.hooks
    if not is_asked and not hooks.enabled:
        return None
    from core.hooks.asked import Desk
    from core.hooks.server import HookServer
    from core.hooks.watch import Watch

    desk = Desk(front, Watch(front), _version(), window, clock)
    server = HookServer(desk, Path(state.home), port=hooks.port)
    server.start()
    return server


@contextmanager
def hooks_beside(
    front: Front,
    *,
    is_asked: bool,
    window: Window | None,
    clock: OffsetClock | None,
    on_failure: Callable[[SlopError], None],
) -> Iterator[None]:
    """Run the Hook API beside the window, off the thread that draws.

    Args:
        on_failure: told why it could not start, on another thread.
    """
    servers: list[HookServer] = []

    def run() -> None:
        try:
            server = start_hooks(front, is_asked=is_asked, window=window, clock=clock)
        except SlopError as error:
            on_failure(error)
        else:
            servers.extend([server] if server is not None else [])

    thread = threading.Thread(target=run, name="hooks-start", daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(1.0)
        for server in servers:
            server.stop()


def _has_settings(state: AppState) -> bool:
    return bool(state.project.root) or state.is_closing


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("manual-slop")
    except metadata.PackageNotFoundError:
        return ""
