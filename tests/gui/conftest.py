"""One window for all tests of a process: the toolkit cannot open a second one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest
from Xlib.display import Display
from Xlib.ext import shape

from gui.binding import DpgUi
from gui.clipboard import Clipboard
from gui.driver import Driver
from gui.elements.controls import Field
from gui.loop import Loop, find_unseen_frames
from gui.metrics import ASSETS, Measure, load_theme
from panels.base.ui import Ui
from tests.gui.layout_check import faults
from tests.gui.other_program import text_held
from tests.patience import PATIENCE_S

SIZE = (1280, 800)


class Screen:
    """A window that shows what a test describes, and a person in front of it."""

    def __init__(self, ui: DpgUi) -> None:
        self.ui = ui
        self.failures: list[BaseException] = []
        self.closed: list[bool] = []
        self.revision = 0
        self.describe: Callable[[Ui], object] = lambda _: None
        self.loop = Loop(
            ui,
            self._draw,
            lambda: self.revision,
            on_close=lambda: self.closed.append(True),
            on_failure=self.failures.append,
        )
        self.driver = Driver(ui.tree, self.loop.frame, PATIENCE_S)

    def _draw(self, ui: Ui) -> None:
        self.describe(ui)

    def show(self, describe: Callable[[Ui], object]) -> Driver:
        """Show a description and let it settle; what it returns is not used."""
        self.describe = describe
        self.settle()
        return self.driver

    def settle(self, frames: int = 4) -> None:
        """Describe and render anew."""
        self.revision += 1
        self.driver.step(frames)
        if self.failures:
            raise self.failures[0]

    def check(self) -> None:
        """Nothing is clipped and nothing overlaps."""
        found = faults(self.ui.tree)
        assert not found, "\n".join(found)


def show_nothing(display: str) -> None:
    """Have the screen take no pixels of our window, which it would copy anew for each frame: longer than the frame takes.

    The window keeps its place, its size, and its mouse and keyboard.
    """
    person = Display(display)
    for window in person.screen().root.query_tree().children:
        if window.get_wm_name() == "Manual Slop":
            window.shape_rectangles(shape.SO.Set, shape.SK.Clip, 0, 0, 0, [])
    person.sync()
    person.close()


_clipboards: list[Clipboard] = []


def copied() -> str:
    """Text on the system's clipboard once what was copied is there, as another program reads it; empty for none."""
    for clipboard in _clipboards:
        clipboard.ask().held(30)
    return text_held()


def field_named(person: Driver, label: str) -> Field:
    """The text field on the screen with that label."""
    found = person.find(label, kind=Field)
    assert isinstance(found, Field)
    return found


@pytest.fixture(scope="session")
def _screen(display: str) -> Iterator[Screen]:
    import dearpygui.dearpygui as dpg

    from gui.window import Placement, open_viewport

    dpg.create_context()
    dpg.configure_app(manual_callback_management=True)
    open_viewport(Placement(0, 0, *SIZE))
    ui = DpgUi(load_theme())
    screen = Screen(ui)
    _clipboards.append(ui.tree.clipboard)
    is_drawn = "SEEN" in os.environ  # pictures are tested in processes of their own
    if display and not is_drawn:
        show_nothing(display)
    with nullcontext() if is_drawn else find_unseen_frames().undrawn():
        screen.driver.step(3)
        yield screen
    ui.close()
    screen.driver.close()


@pytest.fixture
def screen(_screen: Screen) -> Iterator[Screen]:
    """The window, empty, in dark and at scale 1."""
    _screen.failures.clear()
    _screen.loop._hover.said_until_s = 0.0  # of a test with a clock of its own
    _screen.driver.move(SIZE[0] - 3, SIZE[1] - 3)
    yield _screen
    _screen.describe = lambda ui: _screen.ui.set_looks("dark", 1.0)
    _screen.revision += 1
    _screen.driver.step(4)
    _screen.describe = lambda _: None
    _screen.revision += 1
    _screen.driver.step(3)
    assert not _screen.ui.tree.top.order


@pytest.fixture(scope="session")
def measure() -> Measure:
    """Text widths at scale 1."""
    return Measure(load_theme().fonts, ASSETS / "fonts")
