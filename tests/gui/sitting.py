"""A test's window over a running program: the person sits at it, and the program is real."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.app.app_messages import Command
from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.app import LastLook, WindowApp
from gui.driver import Driver
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.base.window_fields import Side
from panels.shell.window import window
from tests.core.app.programs import until
from tests.gui.conftest import Screen
from tests.gui.layout_check import faults

SIZES = ((1280, 800), (1024, 700), (760, 520))


@contextmanager
def over(app: WindowApp, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Show a program's window on the test's screen, which redraws for the program's sake as it does outside of tests."""
    app.ui, app.loop = screen.ui, screen.loop
    with monkeypatch.context() as patched:
        patched.setattr(screen.loop, "_revision", app._revision)
        patched.setattr(screen.loop, "_on_input", app._note_activity)
        screen.show(app._describe)
        yield


def sees(driver: Driver, text: str) -> None:
    """Wait for a text on the screen."""
    driver.until(lambda: driver.has(text), text)


@contextmanager
def watching(folder: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowApp]:
    """A window over a program that watches its files, with one discussion, below `folder`."""
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(folder / "config.toml"))
    (folder / "project").mkdir()
    controller = AppController(
        LocalOutside(OutsideOptions(home=folder / "home", start=folder / "project", watches=True))
    )
    controller.start()
    until(controller, lambda s: bool(s.config.providers) and not s.program.is_loading)
    controller.send(CreateDiscussion("Sky"))
    until(controller, lambda s: bool(s.discussions.selected_id))
    app = WindowApp(LastLook(), lambda: controller)
    with over(app, screen, monkeypatch):
        yield app
    controller.stop()
    assert not screen.failures


def misfits_of(
    screen: Screen,
    state: AppState,
    view: WindowView,
    sizes: Sequence[tuple[tuple[int, int], float]],
    sides: Sequence[Side] = (),
) -> list[str]:
    """Faults of the layout of the whole window in a state.

    Args:
        sizes: of the window (pixels), each with its scale; sides: looked at where there is room for one; empty: as it is.
    """
    load()
    sent, scale = list[Command](), 1.0

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(state, view, ui, sent.append)

    screen.show(draw)
    found = []
    for size, scale in sizes:
        for side in sides or (view.side,):
            view.side = side
            found += [f"{size} {scale}: {fault}" for fault in _faults_at_rest(screen, draw, size)]
    screen.loop.wake()
    return found


def misfits(screen: Screen, app: WindowApp) -> list[str]:
    """Faults of the layout at three sizes of the window."""
    found = []
    for size in SIZES:
        found += [f"{size}: {fault}" for fault in _faults_at_rest(screen, app._describe, size)]
    screen.loop.wake()
    return found


def _faults_at_rest(screen: Screen, draw: Callable[[Ui], None], size: tuple[int, int]) -> list[str]:
    """Faults of the layout once a description neither resizes nor paints anything, in three frames at most."""
    for _ in range(3):
        if screen.ui.frame(draw, *size) == 1 and not screen.ui.has_painted:
            break
    return faults(screen.ui.tree)
