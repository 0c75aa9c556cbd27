"""Measures a window that rests: processor time of the whole process while nothing moves, and while a countdown does."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.__main__ import Row, row
from tests.bench.child import measured

SETTLED_S, MOST_SETTLING_S = 15.0, 90.0
BUSY_WAKES = 100
"""Wake-ups in five seconds while something is still under way, as a model that reads."""
MEASURED_S = 60.0
STILL_BAR, WAKES_BAR = 0.1, 4.0
COUNTDOWN_BAR = 4.0
BLIND_BAR = 4.0


def rows() -> list[Row]:
    """Measure with software drawing, each in a process and a home of its own."""
    with ThreadPoolExecutor() as pool:  # at once: they sleep nearly all the time
        still, countdown, blind = pool.map(_child, ("still", "countdown", "blind"))
    return [
        row("idle window, nothing moves", still["cpu"], "% of a core", STILL_BAR),
        row(
            "idle window, nothing moves, all threads and children",
            still["wakes"],
            "wake-ups a second",
            WAKES_BAR,
        ),
        row("idle window, nothing moves", still["frames"], "frames a second", None),
        row("idle window, a countdown", countdown["cpu"], "% of a core", COUNTDOWN_BAR),
        row("idle window, a countdown", countdown["frames"], "frames a second", None),
        row("idle window, input cannot be waited for", blind["frames"], "frames a second", BLIND_BAR),
        row("idle window, input cannot be waited for", blind["cpu"], "% of a core", None),
    ]


def _child(mode: str) -> dict[str, float]:
    with TemporaryDirectory() as home:
        return measured("tests.bench.app_idle", mode, MANUAL_SLOP_HOME=str(Path(home) / "home"))


def program(*, is_blind: bool) -> dict[str, float]:
    """The program as `manual-slop` opens it, on its first start."""
    from core.app.options import OutsideOptions
    from gui.app import LastLook, WindowApp
    from gui.input_watch import BlindWatch
    from gui.startup import Starting

    starting = Starting(OutsideOptions(home=Path(os.environ["MANUAL_SLOP_HOME"])))
    app = WindowApp(LastLook(), lambda: starting.controller)
    app.open()
    if is_blind:
        app.loop.watch_with(BlindWatch())
    app.loop.frame()
    starting.begin()
    found = _measured_beside(app.loop)
    starting.wait()
    if starting.controller is not None:
        starting.controller.stop()
    return found


def countdown() -> dict[str, float]:
    """A window whose Caching panel counts the seconds of a warm prefix down."""
    import dearpygui.dearpygui as dpg
    from msgspec.structs import replace

    from gui.binding import DpgUi
    from gui.loop import Loop
    from gui.metrics import load_theme
    from gui.window import Placement, open_viewport
    from panels.base.ui import Ui
    from panels.base.view import WindowView
    from panels.shell.window import window
    from tests.panels.caching import cache_states

    dpg.create_context()
    dpg.configure_app(manual_callback_management=True)
    open_viewport(Placement(0, 0, 1440, 900))
    view, start, began = WindowView(panel="caching"), cache_states.caching(), time.monotonic()
    assert start.now is not None
    noon = start.now

    def seconds() -> int:
        return int(time.monotonic() - began)

    def describe(ui: Ui) -> None:
        window(replace(start, now=noon + timedelta(seconds=seconds())), view, ui, lambda _: None)

    def fail(error: BaseException) -> None:
        raise error

    loop = Loop(DpgUi(load_theme()), describe, seconds, on_close=lambda: None, on_failure=fail)

    def tick() -> None:
        while True:
            time.sleep(1.0)
            loop.nudge()

    threading.Thread(target=tick, daemon=True).start()
    return _measured_beside(loop)


def _measured_beside(loop: object) -> dict[str, float]:
    """Run a loop until it was measured for a minute."""
    from gui.loop import Loop

    assert isinstance(loop, Loop)
    found: dict[str, float] = {}

    def measure() -> None:
        _settle()
        frames, cpu, start, wakes = loop.frames, time.process_time(), time.monotonic(), _wakes()
        time.sleep(MEASURED_S)
        took = time.monotonic() - start
        found["wakes"] = (_wakes() - wakes) / took
        found["cpu"] = 100 * (time.process_time() - cpu) / took
        found["frames"] = (loop.frames - frames) / took
        loop.stop()

    threading.Thread(target=measure, daemon=True).start()
    loop.run()
    return found


def _settle() -> None:
    """Wait until what the start began has ended, its children too."""
    end = time.monotonic() + MOST_SETTLING_S
    time.sleep(SETTLED_S)
    while time.monotonic() < end:
        before = _wakes()
        time.sleep(5.0)
        if _wakes() - before < BUSY_WAKES:
            return


def _wakes() -> int:
    """Count how often the kernel woke a thread of this process or of its children, as `/proc` counts them."""
    pids, total = [os.getpid()], 0
    for pid in pids:
        for status in Path("/proc", str(pid), "task").glob("*/status"):
            try:
                lines = status.read_text().splitlines()
                pids += [int(child) for child in status.with_name("children").read_text().split()]
            except OSError:  # it has ended
                continue
            total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return total


if __name__ == "__main__":
    from gui.screen import any_screen

    mode = sys.argv[1]
    with any_screen():  # one for each: a window that lies over another has it drawn
        figures = countdown() if mode == "countdown" else program(is_blind=mode == "blind")
        sys.stdout.write(json.dumps(figures) + "\n")
        sys.stdout.flush()
        os._exit(0)
