"""Window of the Hook API: its requests are carried out on the window's thread between two frames."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from core.app.app_messages import Command
from core.app.execution import is_persons
from gui.app import WindowApp
from panels.base.desk import Desk
from panels.shell.shell_actions import BY_ID

T = TypeVar("T")
FRAME_S = 15.0
"""Longest wait for the window to take a job."""


class HookedWindow:
    """Implements `core.front.hooks.request.Window`. Its methods may be called from any thread but the window's.

    Args:
        app: a window that is open, or about to be.
    """

    def __init__(self, app: WindowApp) -> None:
        self._app = app

    def screenshot(self) -> bytes:
        """The window as it is, PNG. Raises TimeoutError when it does not draw."""
        return self._on_window(self._shoot)

    def act(self, action: str) -> bool | None:
        """Do what an entry of the menus does; False: it is disabled; None: there is none.

        Raises:
            TimeoutError: it does not draw. PermissionError: the entry gives a command that counts only from a person.
        """
        return self._on_window(lambda: self._act(action)) if action in BY_ID else None

    def _shoot(self) -> bytes:
        from gui.screen import screenshot

        with tempfile.TemporaryDirectory(prefix="manual-slop-") as folder:
            file = Path(folder) / "window.png"
            screenshot(file, self._app.loop.frame)
            return file.read_bytes()

    def _act(self, action: str) -> bool:
        app = self._app
        desk = Desk(state=app.state(), view=app.view, ui=app.ui.tree.ui, send=self._send, actions=BY_ID)
        chosen = BY_ID[action]
        if not chosen.is_enabled(desk):
            return False
        chosen.run(desk)
        app.loop.wake()
        return True

    def _send(self, command: Command) -> None:
        if is_persons(self._app.state(), command):
            raise PermissionError(f"{type(command).__name__} counts only from a person")
        self._app.send(command)

    def _on_window(self, job: Callable[[], T]) -> T:
        from concurrent.futures import Future  # with `logging`: asked for long after the first frame

        done: Future[T] = Future()

        def run() -> None:
            if not done.set_running_or_notify_cancel():
                return
            try:
                done.set_result(job())
            except (TimeoutError, OSError) as error:
                done.set_exception(error)

        self._app.loop.post(run)
        try:
            return done.result(FRAME_S)
        finally:
            done.cancel()
