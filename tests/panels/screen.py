"""The window on a recording Ui: a state, the view, and the commands that a person's acts have sent."""

from __future__ import annotations

from typing import TypeVar

from core.app.app_messages import Command, SaveWindow, awaited
from core.kernel.values.state import AppState
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.shell.window import window
from tests.recording_ui import RecordingUi

C = TypeVar("C")


class Screen:
    """A window that a test looks at and acts on. The state changes only when the test says so."""

    def __init__(self, state: AppState, view: WindowView | None = None, *, width_px: float = 1600.0) -> None:
        self.state = state
        self.view = view or WindowView()
        self.sent: list[Command] = []
        self.ui = RecordingUi(self._draw, width_px=width_px)
        self.ui.settle()
        self.sent.clear()

    def _draw(self, ui: Ui) -> None:
        window(self.state, self.view, ui, self._send)

    def _send(self, command: Command) -> None:
        self.sent.append(command)

    def show(self, state: AppState) -> None:
        """The controller published another state."""
        self.state = state
        self.ui.settle()

    @property
    def asked(self) -> list[Command]:
        """The commands sent so far, without the window's own upkeep and the ids by which it waits."""
        return [plain(command) for command in self.sent if not isinstance(command, SaveWindow)]

    def only(self, kind: type[C]) -> C:
        """The one command of a kind."""
        (found,) = [command for command in self.sent if isinstance(command, kind)]
        return found


def plain(command: Command) -> Command:
    """The command without the id by which the window waits for its outcome."""
    return awaited(command, "") if hasattr(command, "command_id") else command
