"""A surface takes the border of its look also where another look came first."""

from __future__ import annotations

from typing import Literal

import dearpygui.dearpygui as dpg
import pytest

from gui.elements.surfaces import Clickable
from panels.base.ui import Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui


def test_a_row_that_is_chosen_later_gets_its_border_and_loses_it_again(screen: Screen) -> None:
    look: list[Literal["clear", "card_selected"]] = ["clear"]

    def draw(ui: Ui) -> None:
        with ui.clickable("row", look[0], height=30):
            ui.text("name", "No preset")

    screen.show(draw)
    found = []
    for look[0] in ("card_selected", "clear"):
        screen.settle()
        (row,) = (one for one in screen.driver.visible() if isinstance(one, Clickable))
        assert row.inner is not None
        found.append(dpg.get_item_configuration(row.inner.item)["border"])
    assert found == [True, False]
