"""Floats: they take no space, the mouse only where they stand, and no click of a pointer that rested there before."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from gui.elements.lists import VirtualList
from gui.elements.popups import FloatLayer
from panels.base.ui import Ui
from tests.gui.conftest import SIZE, Screen
from tests.gui.gallery_pages import conversation

pytestmark = pytest.mark.gui


@dataclass
class View:
    """What the window shows, and what was pressed."""

    notes: list[str] = field(default_factory=list)
    pressed: list[str] = field(default_factory=list)

    def draw(self, ui: Ui) -> None:
        with ui.surface("page", "base", height=0):
            with ui.surface("top", "clear", height=-60, padding=(0, 0)):
                if ui.button("away", "Away", width=300):
                    self.pressed.append("away")
            if ui.button("below", "Below", width=300):
                self.pressed.append("below")
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
    assert SIZE[1] - 150 < top < bottom < SIZE[1]
    assert 0 < left < right < 320
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


def test_it_gives_way_to_a_dialog_that_it_would_cover(screen: Screen) -> None:
    view, is_open = View(), False

    def draw(ui: Ui) -> None:
        nonlocal is_open
        view.draw(ui)
        if is_open:
            with ui.dialog("dialog", "A dialog", width=1200, height=740):
                with ui.surface("room", "inset", height=-40):
                    ui.text("words", "words")
                if ui.button("yes", "Yes", width=600):
                    view.pressed.append("yes")
                    is_open = False

    person = screen.show(draw)
    is_open = True
    screen.settle()
    view.notes = ["one", "two", "three", "four"]
    screen.settle()
    floats = [layer for layer in screen.ui.tree.top.order if isinstance(layer, FloatLayer)]
    assert [layer.is_hidden for layer in floats] == [True]
    left, top, right, bottom = person.rect(person.find("Yes"))
    notes = [person.rect(person.find(f"Close {name}")) for name in view.notes]
    assert any(n[0] < right and left < n[2] and n[1] < bottom and top < n[3] for n in notes), (
        "it would cover it"
    )
    person.read()
    person.click_at(round(left + 60), round((top + bottom) / 2))
    person.until(lambda: not is_open)
    screen.settle()
    assert [layer.is_hidden for layer in floats] == [False]
    person.hover("Away")
    person.click("Close one")
    assert view.pressed == ["yes", "one"]


def test_the_way_to_the_end_comes_over_the_foot_of_a_list_and_nothing_moves_for_it(screen: Screen) -> None:
    rows, pressed = conversation(60), []

    def draw(ui: Ui) -> None:
        with ui.surface("page", "base", height=0, padding=(200, 0)):
            with ui.surface("messages", "clear", height=-80, padding=(0, 0)):
                view = ui.virtual_list("list", rows, follows_end=True)
                if not view.is_at_end:
                    with ui.floating("jump", at_foot=True):
                        if ui.button("jump", "Jump to end"):
                            pressed.append("jump")
            if ui.button("below", "Below"):
                pressed.append("below")

    person = screen.show(draw)
    box = next(element for element in person.visible() if isinstance(element, VirtualList))
    before = person.rect(box), person.rect(person.find("Below"))
    assert not person.has("Jump to end")
    person.wheel(box, -6)
    person.until(lambda: person.has("Jump to end"))
    person.step(3)
    assert (person.rect(box), person.rect(person.find("Below"))) == before
    left, top, right, bottom = person.rect(person.find("Jump to end"))
    (list_left, _, list_right, list_bottom), _ = before
    assert list_bottom - 60 < top < bottom < list_bottom
    assert (left + right) / 2 == pytest.approx((list_left + list_right) / 2, abs=2)
    screen.check()
    person.click("Jump to end")
    person.click("Below")
    assert pressed == ["jump", "below"]
