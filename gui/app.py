"""The window as a front end of the controller: snapshot in, commands out, frames in between."""

from __future__ import annotations

import tomllib
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import dearpygui.dearpygui as dpg

from core.controller import AppController
from core.values.commands import Command, CreateDiscussion, SaveWindow
from core.values.events import OperationFailed
from core.values.state import AppState
from gui.binding import DpgUi
from gui.loop import Loop
from gui.theme import ASSETS, load_theme
from gui.window import Placement, bring_to_front, check_display, open_viewport, placement_now
from panels.ui import Ui
from panels.view import WindowView
from panels.window import window

PLACEMENT_TABLE = "viewport"


@dataclass(slots=True)
class WindowApp:
    """One window on one controller. All methods on the thread that made it.

    Args:
        controller: started, or about to be; the window shows what it has.
        placement: where the window was last time.
    """

    controller: AppController
    placement: Placement = field(default_factory=Placement)
    view: WindowView = field(default_factory=WindowView)
    raised: int = 0
    is_greeted: bool = False
    ui: DpgUi = field(init=False)
    loop: Loop = field(init=False)

    def open(self) -> None:
        """Create the context, the viewport and the loop.

        Raises:
            NoDisplayError: there is no screen to open a window on.
        """
        check_display()
        dpg.create_context()
        dpg.configure_app(manual_callback_management=True)
        open_viewport(self.placement, icon=str(ASSETS / "icon.png"))
        appearance = self.controller.snapshot().settings.appearance
        self.ui = DpgUi(load_theme(), appearance.theme, appearance.ui_scale)
        self.loop = Loop(
            self.ui, self._describe, self._revision, on_close=self.close, on_failure=self._report_failure
        )

    def run(self) -> None:
        """Run frames until the window is closed, then keep its place."""
        self.loop.run()
        self._send(SaveWindow(self.view.to_toml()))

    def close(self) -> None:
        """Leave `run` after the current frame."""
        self.loop.stop()

    def _revision(self) -> Hashable:
        return self.controller.revision

    def _describe(self, ui: Ui) -> None:
        state = self.controller.snapshot()
        appearance = state.settings.appearance
        self.ui.set_looks(appearance.theme, appearance.ui_scale)
        if state.raise_count != self.raised:
            self.raised = state.raise_count
            bring_to_front()
        if state.is_closing:
            self.close()
        self._greet(state)
        window(state, self.view, ui, self._send)

    def _greet(self, state: AppState) -> None:
        """A person who starts for the first time finds a discussion to write into."""
        if self.is_greeted or state.is_loading or not state.providers:
            return
        self.is_greeted = True
        if not state.summaries and not state.is_home_read_only:
            self.controller.send(CreateDiscussion())

    def _send(self, command: Command) -> None:
        if isinstance(command, SaveWindow):
            command = SaveWindow(with_placement(command.data_toml, placement_now()))
        self.controller.send(command)

    def _report_failure(self, error: BaseException) -> None:
        what = f"The window failed to draw something: {type(error).__name__}: {error}"
        self.controller.emit(OperationFailed("window", what, "Your work is safe. See the log file."))


def with_placement(window_toml: str, placement: Placement) -> str:
    """The window's tables with where it stands."""
    rows = "\n".join(f"{name} = {getattr(placement, name)}" for name in ("x", "y", "width", "height"))
    return f"{window_toml}\n[{PLACEMENT_TABLE}]\n{rows}\n"


def placement_of(state_toml: str) -> Placement:
    """Where the window was, from `state.toml`; a foreign or broken one gives the default place."""
    try:
        table = tomllib.loads(state_toml).get(PLACEMENT_TABLE, {})
    except tomllib.TOMLDecodeError:
        return Placement()
    if not isinstance(table, dict):
        return Placement()
    known = {
        k: v
        for k, v in table.items()
        if k in ("x", "y", "width", "height") and type(v) is int and 0 <= v < 20_000
    }
    placed = replace(Placement(), **known)
    return replace(placed, width=max(720, placed.width), height=max(480, placed.height))
