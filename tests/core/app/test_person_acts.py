"""What counts only from a person: found over every command of the program, not from a list of them."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from msgspec.structs import replace

from core.app.messages import PERSON_ONLY, Command
from core.app.person_acts import ALWAYS, PROGRAMS_SETTINGS, is_persons
from core.context.messages import ChangePreset, CreatePreset, InspectFile, KeepOut
from core.discussion.messages import AttachFile, ExportDiscussion
from core.harvest.messages import ApplyHarvest, BatchHarvest, PreviewHarvest
from core.imports.messages import ImportConversations
from core.knowledge.messages import AttachNotes, RestoreFact
from core.settings.messages import ChangeProjectSetting, ChangeSetting, OpenProject, SavePrompt
from core.settings.schema import SETTINGS, SettingScope
from core.signals.messages import SetQuiet
from core.turn.messages import PaidCommand, RetrySend, SendPrompt
from core.values.settings import CachingSettings, Settings
from core.values.state import AppState

STATE = AppState()
WAYS_OUT = frozenset(
    {"path", "paths", "root", "folder", "folders", "source", "sources", "url", "base_url", "server", "items"}
)
"""Names of fields by which a command could reach other folders of the machine, or other machines."""
HELD_ELSEWHERE = {
    CreatePreset: "a file outside the project is not read: core/context/places.py",
    ChangePreset: "a file outside the project is not read: core/context/places.py",
    InspectFile: "a file outside the project is not read: core/context/places.py",
    ExportDiscussion: "where an export may go: core/discussion/export_place.py",
    KeepOut: "takes a source away, and lets back in what the settings name",
    ApplyHarvest: "of what was looked at, by its path there",
    AttachNotes: "notes are bound to the name of a file, which is not read for it",
    RestoreFact: "its `items` are of category files, and its file is one of facts below the knowledge directory",
    PreviewHarvest: "of what was looked at, by its path there",
    BatchHarvest: "of what was looked at, by its path there",
}


def test_every_command_that_could_go_past_a_limit_is_a_persons_where_it_says_so() -> None:
    kinds = [kind for kind in get_args(Command) if "over_limit" in kind.__struct_fields__]
    assert {*get_args(PaidCommand), BatchHarvest} <= {*kinds}

    for kind in kinds:
        fields = {
            name: "d" for name in kind.__struct_fields__ if name in kind.__struct_fields__[: _needed(kind)]
        }
        assert is_persons(STATE, kind(**fields, over_limit=True)), kind
    assert not is_persons(STATE, SendPrompt("d", "Hello."))
    assert not is_persons(STATE, RetrySend("d"))


def _needed(kind: Any) -> int:
    return len(kind.__struct_fields__) - len(kind.__struct_defaults__)


def test_every_command_that_names_a_place_is_a_persons_or_is_held_where_it_is_carried_out() -> None:
    kinds = {kind for kind in get_args(Command) if WAYS_OUT & {*kind.__struct_fields__}}

    unheld = kinds - {*ALWAYS} - {*HELD_ELSEWHERE}

    assert not unheld, "say in the rule who may give it, or here what holds it"
    assert not {*HELD_ELSEWHERE} & {*ALWAYS}
    assert {OpenProject, AttachFile, ImportConversations} <= kinds


def test_whatever_approves_is_a_persons() -> None:
    assert {*PERSON_ONLY} < {*ALWAYS}
    assert is_persons(STATE, SavePrompt("harvest", "Obey."))


@pytest.mark.parametrize(
    "key",
    [
        *(
            setting.key
            for setting in SETTINGS
            if setting.scope in {SettingScope.SERVER, SettingScope.TIGHTENED}
        ),
        "ai_settings.knowledge.harvest_sources",
        "ai_settings.knowledge.mode",
        "ai_settings.system_prompt",
        "retrieval.roots",
        "retrieval.server",
        "retrieval.embedder",
        "project.allowed_roots",
        "project.memory",
        "personas.x.file",
        "channels.irc.host",
        "agent.max_turns",
        "hooks.enabled",
        "tools.prefixes",
        ' "tools".commands',
        "a setting of tomorrow",
    ],
)
def test_a_setting_is_a_persons_unless_it_is_named_as_harmless(key: str) -> None:
    assert is_persons(STATE, ChangeSetting(key, None))
    assert is_persons(STATE, ChangeProjectSetting(key, ""))


def test_the_settings_that_a_program_may_change_are_there() -> None:
    assert {*PROGRAMS_SETTINGS} <= {setting.key for setting in SETTINGS}
    assert not is_persons(STATE, ChangeSetting("appearance.theme", "light"))


@pytest.mark.parametrize(
    "key", ["ai_settings.caching.day_limit_usd", "ai_settings.caching.keepalive_cap_usd"]
)
def test_a_program_lowers_a_limit_and_raises_none(key: str) -> None:
    settings = replace(Settings(), caching=CachingSettings(day_limit_usd=5.0, keepalive_cap_usd=5.0))
    state = replace(STATE, config=replace(STATE.config, settings=settings))

    assert not is_persons(state, ChangeSetting(key, 4.0))
    for value in (6.0, None):
        assert is_persons(state, ChangeSetting(key, value))
        if value is not None:
            assert is_persons(state, ChangeProjectSetting(key, value))


def test_notices_are_held_back_by_a_person_and_given_by_anybody() -> None:
    assert is_persons(STATE, SetQuiet(is_quiet=True))
    assert not is_persons(STATE, SetQuiet(is_quiet=False))
