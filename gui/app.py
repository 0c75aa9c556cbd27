"""The window as a front end of the controller: snapshot in, commands out, requests of the Hook API between two frames."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import dearpygui.dearpygui as dpg
import msgspec
from msgspec.structs import replace

from core.kernel.language import tr
from gui.binding import DpgUi
from gui.input_watch import DesktopIdle
from gui.keys import GATE
from gui.loop import Loop
from gui.metrics import ASSETS, load_theme
from gui.window import Placement, bring_to_front, check_display, open_viewport, placement_now
from panels.base.ui import Ui
from panels.base.window_fields import Panes
from panels.shell.layout import WINDOW, opening

# The window as a front end of the controller: snapshot in, commands out, frames in between.

if TYPE_CHECKING:
    from core.app.app_messages import Command
    from core.app.controller import AppController
    from core.kernel.values.state import AppState
    from panels.base.desk import Action
    from panels.base.view import WindowView

PLACEMENT_TABLE = "viewport"
YOUNG_OBJECTS = 700
"""New objects after which garbage is looked for while frames are drawn: a look is short."""

LARGEST_PX = 20_000
ACTIVITY_S, CALM_ACTIVITY_S = 1.0, 5.0
"""Least seconds between two words that the person is here: while a discussion is autonomous, and else."""
DESKTOP_S = 5.0
"""Seconds between two questions to the desktop."""


class LastLook(msgspec.Struct, frozen=True):
    """Look of the window last time: the first frame is drawn before settings are read."""

    placement: Placement = msgspec.field(default_factory=Placement)
    theme: str = "dark"
    ui_scale: float = 1.0
    panes: Panes = msgspec.field(default_factory=Panes)


@cache
def early() -> AppState:
    """State that the window shows until the controller is there."""
    from core.kernel.values.state import AppState

    return AppState()


class WindowApp:
    """One window on one controller. All methods on the thread that made it.

    Args:
        look: how the window looked last time.
        find_controller: asked each frame until it gives the started controller; a window that opens before its
            controller does shows that it loads, and keeps what it is asked for until then.
    """

    def __init__(
        self,
        look: LastLook,
        find_controller: Callable[[], AppController | None],
        controller: AppController | None = None,
    ) -> None:
        self.look = look
        self.find_controller = find_controller
        self.controller = controller
        self.early: list[Command] = []
        self.raised = 0
        self.are_rooms_loaded = False
        self.is_greeted = False
        self.active_s = self.asked_s = float("-inf")
        self.desktop = DesktopIdle()
        self._view: WindowView | None = None
        self.ui: DpgUi
        self.loop: Loop

    @property
    def view(self) -> WindowView:
        """The window's own state, made when it is first asked for: the first frame draws without it."""
        if self._view is None:
            from panels.base.view import WindowView

            self._view = WindowView()
        return self._view

    def open(self) -> None:
        """Create the context, the viewport and the loop.

        Raises:
            NoDisplayError: there is no screen to open a window on.
        """
        display = check_display()
        dpg.create_context()
        dpg.configure_app(manual_callback_management=True)
        open_viewport(self.look.placement, icon=str(ASSETS / "icon.png"))
        del display
        self.ui = DpgUi(load_theme(), self.look.theme, self.look.ui_scale)
        self.loop = Loop(
            self.ui,
            self._describe,
            self._revision,
            on_close=self.ask_to_close,
            on_failure=self._report_failure,
            on_input=self._note_activity,
        )

    def run(self) -> None:
        """Run frames until the window is closed or interrupted, then keep its place. To be called once."""
        try:
            self.loop.run()
        finally:
            self._keep()
            self.ui.close()

    def _keep(self) -> None:
        """Save place and panes, but not over those of last time before they were read."""
        if self.controller is None or self.view.restored is None:
            return
        from core.app.app_messages import SaveWindow
        from panels.shell.rooms import to_toml

        self.send(SaveWindow(to_toml(self.view)))

    def ask_to_close(self) -> None:
        """The person wants to leave: the controller may have something to say first."""
        if self.controller is None:
            self.close()
            return
        from core.app.app_messages import Quit

        self.send(Quit())

    def close(self) -> None:
        """Leave `run` after the current frame."""
        self.loop.stop()

    def state(self) -> AppState:
        """The snapshot to draw."""
        return self.controller.snapshot() if self.controller is not None else early()

    def take_rooms(self) -> None:
        """The rooms are loaded, on another thread: draw them from now on."""
        self.are_rooms_loaded = True
        self.loop.post(self.loop.wake)

    def _revision(self) -> Hashable:
        if self.controller is None:
            self.controller = self.find_controller()
            if self.controller is not None:
                self.controller.listen(self.loop.nudge)
                for command in self.early:
                    self.controller.send(command)
                self.early.clear()
        if self.controller is None:
            return None
        self._note_desktop()
        return id(self.controller), self.controller.revision

    def _describe(self, ui: Ui) -> None:
        GATE.is_early = self.controller is None and not self.are_rooms_loaded
        if GATE.is_early:
            opening(ui, self.look.panes)
            return
        from panels.shell.window import window

        state = self.state()
        if state.config.providers:
            appearance = state.config.settings.appearance
            self.ui.set_looks(appearance.theme, appearance.ui_scale)
        if state.program.raise_count != self.raised:
            self.raised = state.program.raise_count
            bring_to_front()
        if state.program.is_closing:
            self.close()
        if not (self.is_greeted or state.program.is_loading) and state.config.providers:
            self.is_greeted = True
            self._greet(state)
        window(state, self.view, ui, self.send)

    def _greet(self, state: AppState) -> None:
        """All is loaded: a person who starts for the first time finds a discussion to write into.

        Modules and what else came with the start stay to the end: no collection of garbage walks them from now on, which
        would hold up every thread, frames among them, for a twentieth of a second.
        """
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)
        if not state.discussions.summaries and not state.program.is_home_read_only:
            from core.talk.discussion.discussion_messages import CreateDiscussion

            self.send(CreateDiscussion())

    def send(self, command: Command) -> None:
        """Ask the controller for a change, or keep it until there is one."""
        from core.app.app_messages import SaveWindow

        if isinstance(command, SaveWindow):
            look = LastLook(
                placement=placement_now(), theme=self.ui.canvas.palette.name, ui_scale=self.ui.tree.m.scale
            )
            command = SaveWindow(with_look(command.data_toml, look))
        if self.controller is None:
            self.early.append(command)
        else:
            self.controller.send(command)

    def _note_activity(self) -> None:
        """Tell that the person is here: autonomy goes by it, and notices of the desktop do."""
        if self.controller is None:
            return
        now = time.monotonic()
        least_s = CALM_ACTIVITY_S if self.state().attention.autonomy is None else ACTIVITY_S
        if now < self.active_s + least_s:
            return
        self.active_s = now
        from core.agent.agent_messages import NoteActivity

        self.send(NoteActivity())

    def _note_desktop(self) -> None:
        """Tell an autonomous discussion that the person is at the desktop, where they want that."""
        state, now = self.state(), time.monotonic()
        if state.attention.autonomy is None or not state.config.settings.agent.desktop_idle:
            return
        if now < self.asked_s + DESKTOP_S:
            return
        self.asked_s = now
        idle_s = self.desktop.idle_s()
        if idle_s is not None and idle_s < DESKTOP_S:
            from core.agent.agent_messages import NoteActivity

            self.send(NoteActivity(is_elsewhere=True))

    def _report_failure(self, error: BaseException) -> None:
        if self.controller is None:
            return
        from core.kernel.values.updates import OperationFailed

        what = tr(
            "The window could not draw something: {name}: {error}", name=type(error).__name__, error=error
        )
        self.controller.emit(
            OperationFailed(subject="window", text=what, detail=tr("Your work is safe. See the log file."))
        )


def with_look(window_toml: str, look: LastLook) -> str:
    """The window's settings with its place and its look."""
    rows = [f"{name} = {getattr(look.placement, name)}" for name in ("x", "y", "width", "height")]
    rows += [f'theme = "{look.theme}"', f"ui_scale = {look.ui_scale}"]
    return f"{window_toml}\n[{PLACEMENT_TABLE}]\n" + "\n".join(rows) + "\n"


def look_of(state_toml: str) -> LastLook:
    """Look of the window, from `state.toml`; a foreign or broken one gives the default."""
    if not state_toml:
        return LastLook()
    from core.kernel.codecs import TomlError, read_toml

    try:
        found = read_toml(state_toml)
    except TomlError:
        return LastLook()
    table = found.get(PLACEMENT_TABLE, {})
    if not isinstance(table, dict):
        table = {}
    panes = Panes()
    for field in WINDOW:
        field.take(panes, found)
    return LastLook(
        placement=_placement(table),
        theme=_theme(table.get("theme")),
        ui_scale=_scale(table.get("ui_scale")),
        panes=panes,
    )


def _placement(table: dict[str, Any]) -> Placement:
    names = ("x", "y", "width", "height")
    known = {k: v for k, v in table.items() if k in names and type(v) is int and 0 <= v < LARGEST_PX}
    placed = replace(Placement(), **known)
    return replace(placed, width=max(720, placed.width), height=max(480, placed.height))


def _theme(value: object) -> str:
    return value if value in ("dark", "light") else "dark"


def _scale(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0.5 <= value <= 3 else 1.0


# Window of the Hook API: its requests are carried out on the window's thread between two frames.

T = TypeVar("T")
FRAME_S = 15.0
"""Longest wait for the window to take a job."""


class HookedWindow:
    """Implements `core.front.hooks.operation.Window`. Its methods may be called from any thread but the window's.

    Args:
        app: a window that is open, or about to be.
    """

    def __init__(self, app: WindowApp) -> None:
        self._app = app

    def screenshot(self) -> bytes:
        """The window as it is, PNG. Raises TimeoutError when it does not draw."""
        return self._on_window(self._shoot)

    def act(self, action: str) -> bool | None:
        """Run a menu entry. False: the entry is disabled. None: there is no such entry.

        Raises:
            TimeoutError: it does not draw. PermissionError: the entry gives a command that counts only from a person.
        """
        from panels.shell.rooms import BY_ID

        return self._on_window(lambda: self._act(BY_ID[action])) if action in BY_ID else None

    def _shoot(self) -> bytes:
        import tempfile

        from gui.screen import screenshot

        with tempfile.TemporaryDirectory(prefix="manual-slop-") as folder:
            file = Path(folder) / "window.png"
            screenshot(file, self._app.loop.frame)
            return file.read_bytes()

    def _act(self, chosen: Action) -> bool:
        from panels.base.desk import Desk
        from panels.shell.rooms import BY_ID

        app = self._app
        desk = Desk(state=app.state(), view=app.view, ui=app.ui.tree.ui, send=self._send, actions=BY_ID)
        if not chosen.is_enabled(desk):
            return False
        chosen.run(desk)
        app.loop.wake()
        return True

    def _send(self, command: Command) -> None:
        from core.app.execution import is_persons

        if is_persons(self._app.state(), command):
            raise PermissionError(f"Only a person may send {type(command).__name__}")
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
