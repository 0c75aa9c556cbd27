"""Starts the window: opens it at once, and the home, settings and workers behind it."""

from __future__ import annotations

import sys
from pathlib import Path

from core import paths
from core.controller import AppController
from core.controller.outside import LocalOutside, OutsideOptions
from core.errors import LockedError, SlopError
from core.store.home import read_state
from core.workers.diagnostics import start_log
from gui.app import WindowApp, placement_of
from gui.window import check_display


def run_window(options: OutsideOptions) -> int:
    """Open the window and run until it is closed. Returns the exit code."""
    sys.setswitchinterval(0.001)
    start_log()
    home = options.home or paths.home_dir()
    controller = AppController(LocalOutside(options))
    app = WindowApp(controller, placement_of(_last_state(home)))
    try:
        check_display()
        controller.start()
        app.open()
    except LockedError as error:
        print(error.what, file=sys.stderr)
        return 0
    except SlopError as error:
        print(f"manual-slop: {error}", file=sys.stderr)
        controller.stop()
        return 1
    try:
        app.run()
    finally:
        controller.stop()
    return 0


def run_tour(options: OutsideOptions) -> int:
    """Take the guided tour; the person's own home and settings stay untouched. Returns the exit code."""
    del options
    from gui.tour import run

    return run()


def _last_state(home: Path) -> str:
    try:
        return read_state(home)
    except SlopError:
        return ""
