"""Keys that are held while the keyboard goes from one element to another."""

from __future__ import annotations

from time import monotonic

import pytest

from panels.base.ui import Ui
from tests.gui.conftest import Screen
from tests.gui.test_ui_input import View, draw_editor

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("submits", [False, True])
def test_a_key_that_leaves_a_field_is_not_typed_into_the_editor_that_has_the_keyboard_then(
    screen: Screen, *, submits: bool
) -> None:
    """Enter in a search wrote a line into the message below where it was held for a third of a second, or a frame was slow."""
    view = View(value="")

    def draw(ui: Ui) -> None:
        view.value = ui.text_input("name", view.value, hint="Name", submits=True) or view.value
        draw_editor(ui, view, is_home=True, submits_on_enter=submits)

    person = screen.show(draw)
    person.click("Name")
    person.type("ab")
    person.hold("Enter")
    person.until(lambda: view.value == "ab")
    again = monotonic() + 0.5
    person.until(lambda: monotonic() > again, "the repeats of a held key")
    person.let_go("Enter")
    person.type("c")
    person.until(lambda: view.text)
    assert view.text == "c"
    assert not any(edit.is_submitted for edit in view.edits)
