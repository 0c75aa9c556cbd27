"""A guarded button takes no click that was on its way when it came, or when it moved under the pointer."""

from __future__ import annotations

import pytest

from panels.base.ui import Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui


class Question:
    """A yes that stands below some lines."""

    def __init__(self) -> None:
        self.lines, self.answers, self.now_s = 1, 0, 100.0

    def __call__(self, ui: Ui) -> None:
        for number in range(self.lines):
            ui.text(("line", number), "A line above")
        self.answers += ui.button("yes", "Yes", guard_s=0.5)


def test_a_click_counts_once_it_has_stood_for_its_time_and_again_after_it_moved(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Question()
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    person = screen.show(asked)

    person.click("Yes")
    asked.now_s += 0.49
    person.click("Yes")
    assert asked.answers == 0
    asked.now_s += 0.51  # from the early click on
    person.step()
    person.click("Yes")
    assert asked.answers == 1

    asked.lines = 3
    screen.settle()
    person.click("Yes")
    assert asked.answers == 1
    asked.now_s += 0.6
    person.step()
    person.click("Yes")
    assert asked.answers == 2


def test_a_press_before_its_time_gives_nothing_when_it_is_let_go_after_it(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Question()
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    person = screen.show(asked)

    person.hover("Yes")
    person.press()
    asked.now_s += 1.0
    person.step()
    person.release()
    person.step()
    assert asked.answers == 0


def test_the_window_wakes_for_it_and_the_tab_key_comes_by_once_it_works(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Question()
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    person = screen.show(asked)

    assert 0 < screen.ui.rest_s <= 0.5
    assert person.find("Yes").stop_item() == 0
    asked.now_s += 0.6
    person.step()
    assert person.find("Yes").stop_item() != 0
    assert screen.ui.rest_s == float("inf")


def test_a_driver_can_wait_until_each_answer_looks_as_it_works(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Question()
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: asked.now_s)
    person = screen.show(asked)

    assert not person.is_answerable()
    asked.now_s += 0.6
    person.until(person.is_answerable)
    person.click("Yes")
    assert asked.answers == 1
