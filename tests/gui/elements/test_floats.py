"""Floats: they take no space, the mouse only where they stand, and no click of a pointer that rested there before."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from panels.base.ui import Ui
from tests.gui.conftest import SIZE, Screen

pytestmark = pytest.mark.gui


@dataclass
class View:
    """What the window shows, and what was pressed."""

    notes: list[str] = field(default_factory=list)
    pressed: list[str] = field(default_factory=list)

    def draw(self, ui: Ui) -> None:
        with ui.surface("page", "base", height=0):
            ui.gap(18)
            with ui.row("head"):
                ui.push()
                if ui.button("below", "Below", width=300):
                    self.pressed.append("below")
            if ui.button("away", "Away", width=300):
                self.pressed.append("away")
        if self.notes:
            with ui.floating("notes", width=300):
                for note in self.notes:
                    with ui.surface(note, "popup"):
                        if ui.button("close", f"Close {note}", width=0):
                            self.pressed.append(note)


def test_nothing_moves_for_it_and_the_page_beside_it_can_be_pressed(screen: Screen) -> None:
    view = View()
    person = screen.show(view.draw)
    before = {label: person.rect(person.find(label)) for label in ("Below", "Away")}
    view.notes = ["one", "two"]
    screen.settle()
    assert {label: person.rect(person.find(label)) for label in ("Below", "Away")} == before
    person.click("Away")
    person.click("Close two")
    assert view.pressed == ["away", "two"]
    left, top, right, bottom = person.rect(person.find("Close one"))
    assert 0 < top < bottom < SIZE[1]
    assert SIZE[0] - 320 < left < right < SIZE[0]
    screen.check()


def test_a_click_of_a_pointer_that_rested_where_it_came_is_not_for_it(screen: Screen) -> None:
    view = View()
    person = screen.show(view.draw)
    person.hover("Below")
    view.notes = ["one"]
    screen.settle()
    person.press()
    person.release()
    person.step()
    assert view.pressed == []
    person.hover("Away")
    person.click("Close one")
    assert view.pressed == ["one"]
