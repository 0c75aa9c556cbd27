"""Waits of the window: real input ends them, also what arrived while a frame was drawn; so does a nudge."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import dearpygui.dearpygui as dpg
import pytest
from Xlib import X, display
from Xlib.ext import xtest

from gui.input_watch import BlindWatch, InputWatch, XWatch, find_watch
from tests.gui.conftest import Screen
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.gui
SHORT_S = 0.02


class Person:
    """A person on a connection of their own."""

    def __init__(self) -> None:
        self.display = display.Display()

    def moves(self, x: int) -> None:
        """Move the mouse; returns when the server has taken it."""
        xtest.fake_input(self.display, X.MotionNotify, x=x, y=200)
        self.display.sync()

    def presses(self) -> None:
        """Press and release Shift."""
        code = self.display.keysym_to_keycode(0xFFE1)
        xtest.fake_input(self.display, X.KeyPress, code)
        xtest.fake_input(self.display, X.KeyRelease, code)
        self.display.sync()


@pytest.fixture
def person(screen: Screen) -> Iterator[Person]:
    del screen
    found = Person()
    yield found
    found.display.close()


@pytest.fixture(params=[BlindWatch, find_watch])
def watch(request: pytest.FixtureRequest, screen: Screen) -> Iterator[InputWatch]:
    del screen
    found: InputWatch = request.param()
    yield found
    found.close()


@pytest.fixture
def hearing(screen: Screen) -> Iterator[InputWatch]:
    """The watch of this system, nothing waiting in it."""
    found = find_watch()
    assert isinstance(found, XWatch)
    while found.wait(SHORT_S):
        screen.driver.step(1)
    yield found
    found.close()


def test_a_window_on_x_hears_input(hearing: InputWatch, person: Person) -> None:
    assert hearing.hears_input
    assert not hearing.wait(SHORT_S)
    person.moves(300)
    assert hearing.wait(PATIENCE_S)
    dpg.render_dearpygui_frame()
    while hearing.wait(SHORT_S):
        dpg.render_dearpygui_frame()
    person.presses()
    assert hearing.wait(PATIENCE_S)


def test_what_arrived_while_a_frame_was_drawn_is_heard(hearing: InputWatch, person: Person) -> None:
    """Xlib has read it from the socket by then: waiting on the socket alone would miss it."""
    missed = 0
    for turn in range(20):
        xtest.fake_input(person.display, X.MotionNotify, x=400 + turn % 2, y=200 + turn)
        person.display.flush()
        dpg.render_dearpygui_frame()
        person.display.sync()
        missed += not hearing.wait(SHORT_S) and dpg.get_mouse_pos(local=False) != [400 + turn % 2, 200 + turn]
    assert not missed


def test_a_nudge_ends_the_wait_and_is_taken_once(watch: InputWatch) -> None:
    threading.Thread(target=watch.nudge).start()
    assert not watch.wait(PATIENCE_S)
    for _ in range(100_000):
        watch.nudge()
    assert not watch.wait(PATIENCE_S)


def test_a_nudge_after_the_end_harms_nothing(screen: Screen) -> None:
    del screen
    watch = BlindWatch()
    watch.close()
    watch.nudge()
