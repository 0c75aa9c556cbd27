"""Starts the window: a mark that finds a failed graphics driver, the first frame, then the controller on a thread behind it."""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.app import peek
from core.app.crash_report import CrashWatch
from core.app.options import OutsideOptions
from core.front.cli.version import INTERRUPTED, PROGRAM, complain, remark
from core.kernel import paths
from core.kernel.errors import LockedError, SlopError
from core.kernel.language import tr
from core.kernel.last_words import told_if_ended
from core.kernel.opener import open_descriptor, read_start
from gui.app import HookedWindow, WindowApp, look_of
from gui.window import check_display

SOFTWARE = "LIBGL_ALWAYS_SOFTWARE"
"""Has Mesa draw with the processor. Source: Mesa 3D, "Environment Variables"."""
DRAWS_BY_SOFTWARE = tr(
    "At the last start, the graphics driver failed. This time the processor draws the window instead of the graphics card."
)
ENDED = tr("The program ended while its window opened: most likely the graphics driver failed")
DRAW_BY_SOFTWARE = tr("Let the processor draw the window: `{variable}=1 manual-slop`", variable=SOFTWARE)
REPAIR = tr("Repair the graphics driver, or use `manual-slop send`")
_MOST_BYTES = 100
_ENDING = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
"""Signals by which another program ends this one. What they leave is written at once, in the midst of the driver's work."""


def mark_of(environ: Mapping[str, str]) -> Path | None:
    """Path of the file that says that a window is being opened; a start that finds it knows that the last one crashed.

    It lies where the next login clears it, else with the caches or in HOME: a plain root shell and a container have no
    folder of a login. None on other systems, and where there is no such folder.
    """
    home = environ.get("HOME", "")
    caches = environ.get("XDG_CACHE_HOME", "") or (f"{home}/.cache" if home else "")
    places = [place for place in (environ.get("XDG_RUNTIME_DIR", ""), caches, home) if os.path.isdir(place)]
    return Path(places[0], ".manual-slop-opening") if sys.platform == "linux" and places else None


@contextmanager
def opening(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Open the window inside this block. Where the last start ended in it, the processor draws.

    Args:
        environ: of this process: says where the mark stands, and takes what has Mesa draw by software.

    If the driver ends the process, the person reads so at once; without a place for the mark, that is all. Where drawing by
    software ended the last start, too, this one begins anew: the driver may be repaired by now.
    """
    with _marked(environ):
        remedy = DRAW_BY_SOFTWARE if sys.platform == "linux" and not environ.get(SOFTWARE) else REPAIR
        mark = mark_of(environ)
        with told_if_ended(
            f"{PROGRAM}: {SlopError(ENDED, remedy=remedy)}", unless="" if mark is None else str(mark)
        ):
            yield


@contextmanager
def _marked(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Leave the mark while the block runs. Where someone else ends the process by a signal, a line is added to it."""
    mark = mark_of(environ)
    if mark is None:
        yield
        return
    is_by_software = _failed(mark) == "driver"
    if is_by_software:
        remark(DRAWS_BY_SOFTWARE)
        environ[SOFTWARE] = "1"
    descriptor = _write(mark, SOFTWARE if is_by_software else "driver")
    for number in _ENDING if descriptor >= 0 else ():
        faulthandler.register(number, descriptor, all_threads=False, chain=True)
    try:
        yield
    finally:
        for number in _ENDING if descriptor >= 0 else ():
            faulthandler.unregister(number)
        if descriptor >= 0:
            os.close(descriptor)
        _remove(mark)


def _failed(mark: Path) -> str:
    """Way in which the start drew that ended by itself while it opened its window; empty where none did."""
    try:
        pid, _, how = read_start(mark, _MOST_BYTES).decode("ascii", "replace").partition(" ")
    except OSError:
        return ""
    is_alive = pid.isdigit() and Path("/proc", pid).exists()
    return "" if is_alive or "\n" in how else how


def _write(mark: Path, how: str) -> int:
    """Write the mark. Returns its descriptor, to write on; -1 where it cannot be written."""
    try:
        descriptor = open_descriptor(mark, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, follows_links=False)
        os.write(descriptor, f"{os.getpid()} {how}".encode())
    except OSError:
        return -1
    return descriptor


def _remove(mark: Path) -> None:
    with suppress(OSError):
        mark.unlink()


# Starts the window: it is drawn first, and the controller, whose parts take longer to load, on a thread
# behind it.

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
        self.on_rooms_loaded: Callable[[], None] = lambda: None
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
        from core.kernel.diagnostics import start_log

        start_log()
        try:
            self._load()
        except SlopError as error:
            self.failure = error
        except (
            Exception
        ) as error:  # the edge of the thread: nobody else would end the window that waits for it
            import logging

            logging.getLogger(__name__).exception("the start failed")
            self.failure = SlopError(
                tr("The program could not start: {name}: {error}", name=type(error).__name__, error=error),
                remedy=tr("Your work is safe. See the log file."),
            )

    def _load(self) -> None:
        import panels.shell.window  # noqa: F401

        self.on_rooms_loaded()
        from core.app.controller import AppController, make_clock
        from core.app.outside import LocalOutside
        from core.front.hooks.launch import HooksBeside
        from core.kernel.values.updates import OperationFailed

        _load_put_off()
        clock = make_clock(is_test=self._options.test_clock)
        controller = AppController(LocalOutside(self._options, clock=clock), clock=clock)
        controller.start()
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
    starting.window, starting.on_rooms_loaded = HookedWindow(app), app.take_rooms
    is_interrupted = False
    try:
        with opening(os.environ):
            app.open()
            app.loop.frame()
        starting.begin()
        app.run()
    except SlopError as error:
        starting.failure = error
    except KeyboardInterrupt:  # Ctrl+C in the terminal: closed as by its button
        is_interrupted = True
    finally:
        starting.wait()
        if starting.controller is not None:
            for command in app.early:
                starting.controller.send(command)
        starting.stop()
    code = _end(starting)
    return INTERRUPTED if is_interrupted and code == 0 else code


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
