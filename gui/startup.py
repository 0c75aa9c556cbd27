"""Starts the window: it is drawn first, and the controller, whose parts take longer to load, on a thread behind it."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from core.app import peek
from core.app.crash_report import CrashWatch
from core.app.execution import OutsideOptions
from core.front.cli.version import complain, remark
from core.kernel import paths
from core.kernel.errors import LockedError, SlopError
from core.kernel.language import tr
from gui.app import HookedWindow, WindowApp, look_of
from gui.start_mark import opening
from gui.window import check_display

if TYPE_CHECKING:
    from core.app.controller import AppController
    from core.front.cli.output import Console
    from core.front.hooks.launch import HooksBeside
    from core.front.hooks.operation import Window

NO_TOUR = tr("The tour needs python-xlib, which comes with the extra `tour`")
INSTALL_TOUR = tr(
    "Install it: `pip install 'manual-slop[tour]'`. In a checkout: `uv run --extra tour manual-slop tour`, `pip install '.[tour]'` or `make run`"
)


class Starting:
    """A controller that starts on a thread of its own."""

    def __init__(self, options: OutsideOptions) -> None:
        self._options = options
        self._hooks: HooksBeside | None = None
        self.crash_watch = CrashWatch(options.home or paths.home_dir())
        self.window: Window | None = None
        self._thread = threading.Thread(target=self._start, name="start", daemon=True)
        self.controller: AppController | None = None
        self.failure: SlopError | None = None

    def begin(self) -> None:
        """Start it, once."""
        if not self._thread.ident:
            self._thread.start()

    def wait(self) -> None:
        """Wait until it is there or has failed."""
        if self._thread.ident:
            self._thread.join()

    def _start(self) -> None:
        from core.app.controller import AppController
        from core.app.outside import LocalOutside
        from core.front.hooks.clock import make_clock
        from core.front.hooks.launch import HooksBeside
        from core.kernel.cores import start_log
        from core.kernel.reports import OperationFailed

        start_log()
        _load_put_off()
        clock = make_clock(is_test=self._options.test_clock)
        controller = AppController(LocalOutside(self._options, clock=clock), clock=clock)
        try:
            controller.start()
        except SlopError as error:
            self.failure = error
            return
        self._hooks = HooksBeside(
            controller,
            is_asked=self._options.hooks,
            window=self.window,
            on_failure=lambda error: controller.emit(
                OperationFailed(subject="hooks", text=error.what, detail=error.remedy)
            ),
        )
        self._hooks.begin()
        self.controller = controller
        self.crash_watch.begin()

    def stop(self) -> None:
        """End what has started."""
        if self._hooks is not None:
            self._hooks.stop()
        if self.controller is not None:
            self.controller.stop()


def _load_put_off() -> None:
    """Load what the first frame does not need and a click or a key does: behind that frame, so that neither waits."""
    import core.app.warm_loss  # noqa: F401
    import panels.context.structure_panel  # noqa: F401
    from core.kernel.secrets import known

    known()


def run_window(options: OutsideOptions) -> int:
    """Open the window and run until it is closed. Returns the exit code."""
    sys.setswitchinterval(0.001)
    home = options.home or paths.home_dir()
    try:
        check_display()
    except SlopError as error:
        complain(str(error))
        return 1
    starting = Starting(options)
    if peek.is_owned(home):
        starting.begin()
        starting.wait()
        return _end(starting)
    return _run(home, starting)


def _run(home: Path, starting: Starting) -> int:
    app = WindowApp(look=look_of(peek.last_state(home)), find_controller=lambda: _found(starting, app))
    starting.window = HookedWindow(app)
    try:
        with opening(os.environ):
            app.open()
            app.loop.frame()
        starting.begin()
        app.run()
    except SlopError as error:
        starting.failure = error
    finally:
        starting.wait()
        if starting.controller is not None:
            for command in app.early:
                starting.controller.send(command)
        starting.stop()
    return _end(starting)


def _end(starting: Starting) -> int:
    """Say what went wrong. A home that another window owns is no fault: that window came forward."""
    starting.crash_watch.end()
    failure = starting.failure
    if failure is None:
        starting.stop()
        return 0
    if isinstance(failure, LockedError):
        remark(failure.what)
        return 0
    complain(str(failure))
    return 1


def _found(starting: Starting, app: WindowApp) -> AppController | None:
    """The controller once it is there; a home that cannot be used closes the window."""
    if starting.failure is not None:
        app.close()
    return starting.controller


def run_tour(out: Path, console: Console, until: str = "") -> int:
    """Take the guided tour; the person's own home and settings stay untouched. Returns the exit code.

    Args:
        out: where its screenshots go; until: its last chapter, of `TOUR_CHAPTERS`; empty for all.

    Raises:
        SlopError: it cannot be taken here, or did not come to its end.
    """
    if sys.platform == "linux" and importlib.util.find_spec("Xlib") is None:
        raise SlopError(NO_TOUR, remedy=INSTALL_TOUR)
    from gui.tour import run

    pictures = run(out, console.line, until)
    if console.is_json:
        console.json({"pictures": [str(file) for file in pictures]})
    return 0
