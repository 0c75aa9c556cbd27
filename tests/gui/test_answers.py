"""A question's answers by the keyboard: Enter presses the one that is chosen, which is where the keyboard is."""

from __future__ import annotations

import pytest

from panels.base.desk import answers
from panels.base.ui import Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui


@pytest.mark.parametrize(
    ("is_danger", "keys", "said"),
    [
        (False, ("Enter",), "yes"),
        (True, ("Enter",), "no"),
        (False, ("Shift+Tab", "Enter"), "no"),
        (False, ("Escape",), "closed"),
    ],
)
def test_enter_presses_the_chosen_answer(
    screen: Screen, is_danger: bool, keys: tuple[str, ...], said: str
) -> None:
    told: list[str] = []

    def ask(ui: Ui) -> None:
        if told:
            return
        with ui.dialog("question", "Leave it?", width=320) as closed:
            ui.text("what", "It is warm.")
            answer = answers(ui, "Keep", "Change it", is_danger=is_danger)
        if answer or closed.clicked:
            told.append(answer or "closed")
            screen.revision += 1

    driver = screen.show(ask)
    driver.step(4)
    for key in keys:
        driver.key(key)
        driver.step(2)
    driver.until(lambda: told, "an answer")

    assert told == [said]
