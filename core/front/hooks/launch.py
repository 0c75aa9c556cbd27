"""Start and end of the Hook API beside a controller, if it is on. Nothing of it is loaded while it is off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core.app.controller import OffsetClock, wall_clock
from core.kernel.errors import SlopError
from core.kernel.values.state import AppState

if TYPE_CHECKING:
    from core.front.hooks.operation import Front, Window
    from core.front.hooks.server import HookServer

READY_S = 120.0


def start_hooks(
    front: Front, *, is_asked: bool, window: Window | None = None, approvals_token: str = ""
) -> HookServer | None:
    """Start the Hook API when the command line or user settings ask for it. Waits until settings are read.

    Args:
        approvals_token: what a person approves with over HTTP; empty: nobody does.

    Returns:
        The server that listens, or None where nobody asked, or settings never came.

    Raises:
        SlopError: it cannot listen, or the data folder cannot be written.
    """
    state = front.wait_for(_has_settings, READY_S)
    if state is None or state.program.is_closing:
        return None
    hooks = state.config.settings.hooks
    if not is_asked and not hooks.enabled:
        return None
    from core.front.hooks.operation import HookDesk, Watch
    from core.front.hooks.server import HookServer

    now = getattr(front, "clock", wall_clock)
    clock = now if isinstance(now, OffsetClock) else None
    desk = HookDesk(front=front, watch=Watch(front), version=_version(), window=window, clock=clock, now=now)
    home = Path(state.program.home)
    server = HookServer(desk, home, port=hooks.port, approvals_token=approvals_token)
    server.start()
    return server


class HooksBeside:
    """The Hook API beside a window, started off the thread that draws.

    Args:
        on_failure: told why it could not start, on another thread.
    """

    def __init__(
        self, front: Front, *, is_asked: bool, window: Window | None, on_failure: Callable[[SlopError], None]
    ) -> None:
        self._front = front
        self._is_asked = is_asked
        self._window = window
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._is_stopped = False
        self._server: HookServer | None = None

    def begin(self) -> None:
        """Start when settings are read, if they or the command line ask for it. Returns at once."""
        threading.Thread(target=self._start, name="hooks-start", daemon=True).start()

    def stop(self) -> None:
        """End it. Idempotent; what is still starting ends by itself."""
        with self._lock:
            self._is_stopped = True
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _start(self) -> None:
        try:
            server = start_hooks(self._front, is_asked=self._is_asked, window=self._window)
        except SlopError as error:
            self._on_failure(error)
            return
        with self._lock:
            is_late = self._is_stopped
            self._server = None if is_late else server
        if is_late and server is not None:
            server.stop()


def _has_settings(state: AppState) -> bool:
    return bool(state.config.project.root) or state.program.is_closing


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("manual-slop")
    except metadata.PackageNotFoundError:
        return ""
