"""A dialog takes no click and no key that was begun before it stood there, and what takes something away waits longer."""

from __future__ import annotations

import pytest

from gui.driver import Driver
from gui.elements.surfaces import MOST_HELD_S, STAND_S
from gui.keys import GATE
from gui.ui_input import DANGER_GUARD_S
from panels.base.desk import answers
from panels.base.ui import Ui
from tests.gui.conftest import Screen, field_named


class Question:
    """A dialog that comes by itself, and what was answered."""

    def __init__(self, screen: Screen, *, is_danger: bool = False) -> None:
        self.screen = screen
        self.is_danger = is_danger
        self.is_open = False
        self.ticks = 0
        self.answers: list[str] = []
        self.now_s = 100.0

    def __call__(self, ui: Ui) -> None:
        if not self.is_open:
            return
        with ui.dialog("ask", "Send it?", width=400) as closed:
            ui.text_input("name", "", label="Name")
            self.ticks += ui.checkbox("tick", "And all others", False) is not None
            answer = answers(ui, "Keep", "Continue", is_danger=self.is_danger)
        if closed.clicked:
            answer, self.is_open = "closed", False
        if answer:
            self.answers.append(answer)

    def opens(self) -> None:
        self.is_open = True
        self.screen.settle()

    def passes(self, seconds: float) -> None:
        self.now_s += seconds
        self.screen.driver.step(2)


@pytest.fixture
def clocked(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Question:
    asked = Question(screen)
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    screen.show(asked)
    return asked


def press_on(person: Driver, label: str) -> None:
    """Click at once, without looking at the dialog first."""
    person.hover(label)
    person.press()
    person.release()
    person.step()


def test_a_click_or_enter_begun_before_it_stood_there_answers_nothing(clocked: Question) -> None:
    person = clocked.screen.driver
    clocked.opens()
    for label in ("Continue", "Keep", "And all others"):
        press_on(person, label)
    for chord in ("Enter", "Space"):
        person.strike(chord)
        person.step(4)
    assert (clocked.answers, clocked.ticks) == ([], 0)

    clocked.passes(STAND_S + 0.01)
    press_on(person, "And all others")
    press_on(person, "Continue")
    assert (clocked.answers, clocked.ticks) == (["yes"], 1)


def test_escape_closes_it_and_words_are_taken_at_any_time(clocked: Question) -> None:
    person = clocked.screen.driver
    clocked.opens()
    press_on(person, "Name")
    clocked.passes(STAND_S + 0.01)
    press_on(person, "Name")
    person.type("tide")
    assert field_named(person, "Name").text == "tide"
    clocked.is_open = False
    clocked.screen.settle()
    clocked.opens()
    person.key("Escape")
    person.step(3)
    assert clocked.answers == ["closed"]


@pytest.mark.parametrize("holds", ["Enter", "mouse"])
def test_what_is_held_while_it_comes_is_waited_for_but_not_for_ever(clocked: Question, holds: str) -> None:
    person = clocked.screen.driver
    person.hold(holds) if holds == "Enter" else person.press()
    clocked.opens()
    clocked.passes(STAND_S * 2)
    person.let_go(holds) if holds == "Enter" else person.release()
    person.step(3)
    press_on(person, "Continue")
    assert clocked.answers == []
    clocked.passes(MOST_HELD_S + STAND_S)
    press_on(person, "Continue")
    assert clocked.answers == ["yes"]


def test_what_takes_something_away_works_later_than_the_rest_of_its_dialog(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Question(screen, is_danger=True)
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    person = screen.show(asked)
    asked.opens()
    asked.passes(STAND_S + 0.01)
    press_on(person, "Continue")
    assert asked.answers == []
    asked.passes(DANGER_GUARD_S + 0.01)
    press_on(person, "Continue")
    assert asked.answers == ["yes"]


def test_a_person_who_looks_first_presses_no_sooner_than_the_screen_shows_that_it_works(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Question(screen, is_danger=True)
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    person = screen.show(asked)
    asked.opens()
    asked.passes(STAND_S + 0.01)
    person.hover("Continue")
    asked.now_s += DANGER_GUARD_S + 0.01  # its time is over, and no frame has shown so yet
    person.read(person.find("Continue"))
    person.press()
    person.release()
    person.step()
    assert asked.answers == ["yes"]


def test_a_button_that_went_down_before_it_stood_answers_nothing_however_long_it_is_held(
    clocked: Question,
) -> None:
    person = clocked.screen.driver
    clocked.opens()
    person.hover("Continue")
    person.press()
    clocked.passes(MOST_HELD_S)
    clocked.passes(STAND_S + 0.01)
    person.release()
    person.step()
    assert clocked.answers == []
    press_on(person, "Continue")
    assert clocked.answers == ["yes"]


@pytest.mark.parametrize("comes", ["before the window's rooms", "behind a chord"])
def test_a_key_that_waited_answers_no_dialog_that_came_meanwhile(
    clocked: Question, monkeypatch: pytest.MonkeyPatch, comes: str
) -> None:
    """Each chord before it takes frames, and the dialog has stood for long when its turn comes."""
    person, others = clocked.screen.driver, ["F8", "F9"] * 6
    if comes == "behind a chord":
        clocked.opens()
        person.strike(*others, "Enter")
    else:
        monkeypatch.setattr(GATE, "is_early", True)
        person.strike(*others, "Enter")
        person.step(2)
        clocked.opens()
        GATE.is_early = False
    person.step(1)
    clocked.now_s += STAND_S + 0.01
    person.step(60)
    assert not GATE.is_shut
    assert (clocked.answers, clocked.ticks) == ([], 0)

    person.strike(*others, "Enter")
    person.step(60)
    assert (clocked.answers, clocked.ticks) == (["yes"], 0)
