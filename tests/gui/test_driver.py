"""A wait of the driver ends once nothing on the screen changes, and says what it saw; a screen that changes is waited for."""

from __future__ import annotations

import re

import pytest

import gui.driver
from gui.driver import LOOK_FRAMES, MOST_FRAMES
from panels.base.ui import Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui
STILL = 3 * LOOK_FRAMES


@pytest.fixture(autouse=True)
def soon_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gui.driver, "STILL_FRAMES", STILL)
    monkeypatch.setattr(gui.driver, "STILL_REST_S", 0.0)


def test_a_wait_for_words_that_never_come_ends_and_names_the_screen(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.text("a", "Nothing is written yet."))
    begun = screen.loop.frames
    with pytest.raises(TimeoutError, match=r"still not: the dream; there is 'Nothing is written yet\.'"):
        person.until(lambda: person.has("It dreams"), "the dream")
    assert screen.loop.frames - begun <= MOST_FRAMES + STILL


def test_a_condition_without_words_is_named_by_its_line(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.text("a", "still"))
    with pytest.raises(TimeoutError, match=rf"still not: {re.escape(__file__)}:\d+; there is"):
        person.until(lambda: False)


def test_a_screen_that_changes_is_waited_for(screen: Screen) -> None:
    """Each change comes later than most frames of a wait, and sooner than the frames of a still screen."""
    begun = screen.loop.frames

    def steps() -> int:
        return (screen.loop.frames - begun) // (STILL - 10)

    def draw(ui: Ui) -> None:
        ui.text("a", f"Step {steps()}")

    person = screen.show(draw)
    screen.loop._revision, revision = steps, screen.loop._revision
    try:
        person.until(lambda: person.has("Step 9"), "the last step")
    finally:
        screen.loop._revision = revision
    assert screen.loop.frames - begun > MOST_FRAMES + STILL
