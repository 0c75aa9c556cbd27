"""Settings of the harvest in its panel: who reads, which numbers it keeps, where it looks, who may write."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.settings import KnowledgeSettings, MemoryMode, Settings
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from panels.harvest.harvest_room import HarvestView
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at
from tests.panels.screen import Screen
from tests.state_fields import with_fields

TABLE = "ai_settings.knowledge"


def _settings(state: AppState | None = None) -> Screen:
    screen = open_at("conversations", state or hs.looked())
    screen.ui.click("Settings", within="checked 14:03")
    return screen


def test_another_model_can_read() -> None:
    screen = _settings()

    screen.ui.choose("Model that reads the conversations", "Gemini 4 Pro")

    assert screen.asked == [
        ChangeSetting(f"{TABLE}.harvest_provider", "gemini"),
        ChangeSetting(f"{TABLE}.harvest_model", "gemini-4-pro"),
    ]


def test_it_is_said_who_reads_and_what_leaves_the_machine() -> None:
    screen = _settings()
    assert screen.ui.shows("Default model (Claude Opus 4.8)")
    assert screen.ui.shows("The conversations go to Anthropic, without the secrets in them.")

    own = replace(screen.state.config.settings, knowledge=KnowledgeSettings(harvest_provider="embedded"))
    screen.show(replace(screen.state, config=replace(screen.state.config, settings=own)))
    assert screen.ui.shows("The conversations stay on this machine.")


def test_a_provider_that_is_not_ready_is_named_with_the_way_to_set_it_up() -> None:
    knowledge = KnowledgeSettings(harvest_provider="openai", harvest_model="gpt-5.6")
    state = hs.looked()
    screen = _settings(
        replace(
            state, config=replace(state.config, settings=replace(state.config.settings, knowledge=knowledge))
        )
    )

    assert screen.ui.shows("No key for OpenAI")
    screen.ui.click("Set up providers")
    assert screen.ui.shows("Providers and keys")


@pytest.mark.parametrize(
    ("label", "text", "key", "value"),
    [("Skip if changed within (days)", "2.5", "live_days", 2.5), ("Skip if changed within (days)", "0", "live_days", 0.0),
     ("Largest size (KiB)", "2,048", "max_source_bytes", 2_097_152)],
)  # fmt: skip
def test_a_number_that_is_typed_is_kept(label: str, text: str, key: str, value: float) -> None:
    screen = _settings()

    screen.ui.type(label, text)

    assert screen.asked == [ChangeSetting(f"{TABLE}.{key}", value)]


@pytest.mark.parametrize(
    ("label", "text", "why"),
    [("Skip if changed within (days)", "soon", "'soon' is not a number"), ("Skip if changed within (days)", "99999", "0 to 3,650"),
     ("Largest size (KiB)", "0", "1 to 1,048,576"), ("Largest size (KiB)", "-3", "'-3' is not a number")],
)  # fmt: skip
def test_a_number_that_cannot_be_is_said_and_not_kept(label: str, text: str, why: str) -> None:
    screen = _settings()

    screen.ui.type(label, text)

    assert screen.asked == []
    assert screen.ui.shows(why)


def test_conversations_of_other_programs_are_added_and_removed() -> None:
    screen = _settings()
    screen.ui.click("Add a folder…")
    screen.ui.pick("Look for conversations in a folder", "/home/person/chats")
    screen.ui.click("Add files…")
    screen.ui.pick("Add conversations from files", "/home/person/a.md", "/home/person/.claude/projects")
    screen.ui.click("Stop looking in /home/person/.claude/projects")

    before = "/home/person/.claude/projects"
    assert screen.asked == [
        ChangeSetting(f"{TABLE}.harvest_sources", (before, "/home/person/chats")),
        ChangeSetting(f"{TABLE}.harvest_sources", (before, "/home/person/a.md")),
        ChangeSetting(f"{TABLE}.harvest_sources", ()),
    ]


def test_a_chooser_that_is_closed_changes_nothing() -> None:
    screen = _settings()
    screen.ui.click("Add a folder…")
    screen.ui.pick("Look for conversations in a folder")

    assert screen.asked == []
    assert screen.view.dialog is None


def test_an_automatic_mode_with_no_box_ticked_says_that_it_does_nothing() -> None:
    known = KnowledgeSettings(mode=MemoryMode.AUTOMATIC.value)
    screen = open_at("conversations", with_fields(hs.looked(), settings=Settings(knowledge=known)))
    screen.view.of(HarvestView).are_settings_open = True
    screen.show(screen.state)
    assert screen.ui.shows("No category is ticked: the program writes nothing without asking you.")


def test_the_mode_is_chosen_and_categories_are_ticked_where_it_is_automatic() -> None:
    known = KnowledgeSettings(mode=MemoryMode.AUTOMATIC.value, automatic_categories=("facts", "files"))
    screen = open_at("conversations", with_fields(hs.looked(), settings=Settings(knowledge=known)))
    screen.view.of(HarvestView).are_settings_open = True
    screen.show(screen.state)

    assert screen.ui.find("Facts", kind="checkbox").value is True
    screen.ui.click("Decisions")
    screen.ui.click("File notes")
    screen.ui.choose("Choose whether a harvest may write to knowledge without asking you", "Recall only")
    assert screen.asked == [
        ChangeSetting("ai_settings.knowledge.automatic_categories", ("facts", "decisions", "files")),
        ChangeSetting("ai_settings.knowledge.automatic_categories", ("facts",)),
        ChangeSetting("ai_settings.knowledge.mode", "recall"),
    ]
