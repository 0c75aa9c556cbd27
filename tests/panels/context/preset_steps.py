"""Steps that the tests of the preset's panel and of its structure view take."""

from __future__ import annotations

from core.kernel.values.curation import FileItem
from core.talk.context.context_messages import ChangePreset
from tests.panels import states
from tests.panels.screen import Screen

ITEMS = states.presets()["coding-strict"].items


def changed_items(screen: Screen) -> tuple[FileItem, ...]:
    """Items of the one change of the preset that was sent."""
    command = screen.only(ChangePreset)
    assert command.name == "coding-strict"
    return command.items


def open_item(screen: Screen, name: str) -> None:
    """Open the details of an item."""
    screen.ui.click("Show mode, lines and notes", within=name)
