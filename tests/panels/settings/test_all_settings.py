"""Every setting in one list: found by its words, changed in its own kind, taken back; sizes in their unit."""

from __future__ import annotations

import pytest

from core.kernel.values.settings import Settings
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from core.services.settings.settings_schema import Kind
from panels.base.view import WindowView
from panels.settings.all_settings import (
    LISTED,
    found_settings,
    parse_size,
    parsed_value,
    shown_value,
    value_of,
)
from tests.panels import states
from tests.panels.screen import Screen

BY_KEY = {one.key: one for one in LISTED}


def page(query: str) -> Screen:
    view = WindowView()
    view.show_settings("all")
    screen = Screen(states.working(), view)
    screen.ui.type("Search settings", query)
    return screen


def test_settings_are_searched_from_whatever_section_is_shown() -> None:
    view = WindowView()
    view.show_settings("providers")
    screen = Screen(states.working(), view)
    screen.ui.type("Search settings", "trash_days")
    assert view.settings_section == "all"
    assert screen.ui.shows("trash_days")
    assert not screen.ui.shows("Anthropic API key")


def test_every_listed_setting_has_a_value_and_is_shown_as_it_is_typed() -> None:
    settings = Settings()
    for one in LISTED:
        value = value_of(settings, one)
        if one.kind is Kind.SWITCH:
            assert isinstance(value, bool), one.key
        elif value not in (None, ""):
            assert parsed_value(one, shown_value(one, value)) == (value, ""), one.key


@pytest.mark.parametrize("query", ["trash", "spend limit", "keepalive", "embedder", "max_rounds", "ui scale"])
def test_a_setting_is_found_by_its_words(query: str) -> None:
    assert 0 < len(found_settings(query)) < len(LISTED)


def test_a_switch_a_choice_and_a_number_are_changed() -> None:
    screen = page("digest_enabled")
    screen.ui.click("On", within="ai_settings.knowledge.digest_enabled")
    assert screen.only(ChangeSetting) == ChangeSetting("ai_settings.knowledge.digest_enabled", False)
    screen = page("trash_days")
    screen.ui.type("trash_days", "12")
    assert screen.only(ChangeSetting) == ChangeSetting("trash_days", 12)


def test_what_is_out_of_its_range_or_no_number_is_said_and_not_sent() -> None:
    low = parsed_value(BY_KEY["appearance.ui_scale"], "9")
    assert low == (None, "The value must be from 0.5 to 3.")
    assert parsed_value(BY_KEY["appearance.ui_scale"], "nan")[0] is None
    assert parsed_value(BY_KEY["ai_settings.knowledge.harvest_model"], "x" * 201)[0] is None
    screen = page("max_attachment_bytes")
    screen.ui.type("files.max_attachment_bytes", "many")
    assert screen.ui.shows("'many' is not a size, for example 25 MB.")
    assert not [one for one in screen.sent if isinstance(one, ChangeSetting)]


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("25 MB", 25_000_000),
        ("2.5mb", 2_500_000),
        ("800 KB", 800_000),
        ("4,096", 4096),
        ("1 g", 10**9),
        ("x", None),
        ("-1", None),
        ("", None),
    ],
)
def test_sizes_are_read_in_their_unit(typed: str, size: int | None) -> None:
    assert parse_size(typed) == size


@pytest.mark.parametrize(
    ("query", "section"),
    [("dark", "Appearance"), ("font size", "Appearance"), ("API key", "Providers and keys"), ("ollama", "Compatible servers")],
)  # fmt: skip
def test_what_stands_on_another_page_is_found_and_leads_there(query: str, section: str) -> None:
    screen = page(query)
    assert not screen.ui.shows("No setting matches")
    screen.ui.click(section, within="On other pages")
    assert (screen.view.page, screen.ui.shows("No setting matches")) == ("settings", False)
    assert screen.view.settings_section != "all"


@pytest.mark.parametrize(
    ("query", "action"), [("hotkeys", "Keyboard shortcuts"), ("temperature", "Model…"), ("budget", "Usage")]
)
def test_what_is_set_elsewhere_in_the_window_is_found_and_leads_there(query: str, action: str) -> None:
    screen = page(query)
    screen.ui.click(action, within="On other pages")
    assert screen.view.dialog is not None or screen.view.panel == "usage"
    assert screen.view.page == "chat"


def test_a_command_of_the_settings_is_done_without_leaving_them() -> None:
    """Zoom in left the page, so that it could not be pressed again."""
    screen = page("bigger text")
    for _ in range(2):
        screen.ui.click("Zoom in", within="On other pages")
    assert screen.view.page == "settings"
    assert len([one for one in screen.sent if isinstance(one, ChangeSetting)]) == 2


def test_a_command_that_cannot_be_done_now_and_the_page_itself_are_no_hits() -> None:
    view = WindowView()
    view.show_settings("all")
    screen = Screen(AppState(), view)
    for query in ("all settings", "trash bin", "fork"):
        screen.ui.type("Search settings", query)
        assert not screen.ui.shows("On other pages"), query
    assert screen.ui.shows("No setting matches")
