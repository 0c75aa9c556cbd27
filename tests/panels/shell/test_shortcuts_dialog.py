"""The list of shortcuts: one is changed, a taken one is said, and the window obeys."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.app.app_messages import Quit
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from panels.base.view import Dialog, WindowView
from tests.panels import states
from tests.panels.screen import Screen


def with_own(*shortcuts: str) -> AppState:
    state = states.working()
    settings = state.config.settings
    settings = replace(settings, appearance=replace(settings.appearance, shortcuts=shortcuts))
    return replace(state, config=replace(state.config, settings=settings))


def editing(action: str, typed: str, state: AppState | None = None) -> Screen:
    view = WindowView(dialog=Dialog(kind="shortcuts", subject=action, text=typed))
    return Screen(state or states.working(), view)


def test_a_free_chord_is_set() -> None:
    screen = editing("quit", "ctrl+w")
    screen.ui.click("Set")

    assert screen.asked == [ChangeSetting("appearance.shortcuts", ("quit=Ctrl+W",))]


def test_a_chord_that_is_pressed_stands_in_the_field_and_does_nothing_else() -> None:
    screen = editing("quit", "Ctrl+Q")
    screen.ui.press("Ctrl+N")
    assert screen.ui.shows("Ctrl+N belongs to New discussion")
    screen.ui.press("Ctrl+W")
    assert screen.asked == []
    screen.ui.click("Set")

    assert screen.asked == [ChangeSetting("appearance.shortcuts", ("quit=Ctrl+W",))]


def test_a_taken_chord_is_said_with_its_owner_and_not_set() -> None:
    screen = editing("quit", "Ctrl+N")

    assert screen.ui.shows("Ctrl+N belongs to New discussion. Change that shortcut first.")
    assert not screen.ui.find("Set", kind="button").is_enabled


def test_the_window_obeys_the_own_chord_alone() -> None:
    screen = Screen(with_own("quit=Ctrl+W"))
    with pytest.raises(AssertionError, match="Nothing answers"):
        screen.ui.press("Ctrl+Q")
    screen.ui.press("Ctrl+W")
    assert screen.asked == [Quit()]
