"""Every setting has a key, a sentence and a place in the page; every field of `Settings` can be set."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

from core.kernel.values.curation import FileItem, FileMode
from core.kernel.values.mcp import McpServerSettings
from core.kernel.values.settings import (
    AgentSettings,
    AiSettings,
    Appearance,
    CachingSettings,
    ChannelSettings,
    FileLimits,
    HookSettings,
    ImportSettings,
    KnowledgeSettings,
    NotificationSettings,
    RetrievalSettings,
    ServerSettings,
    Settings,
    ToolSettings,
)
from core.services.settings.settings_checks import setting_for, value_flaw
from core.services.settings.settings_page import settings_page
from core.services.settings.settings_schema import BY_KEY, FILE_MODES, SETTINGS, Kind, SettingScope

ROOT = Path(__file__).parents[4]
GROUPS = {
    "ai": AiSettings,
    "knowledge": KnowledgeSettings,
    "caching": CachingSettings,
    "retrieval": RetrievalSettings,
    "servers": ServerSettings,
    "appearance": Appearance,
    "files": FileLimits,
    "hooks": HookSettings,
    "tools": ToolSettings,
    "notifications": NotificationSettings,
    "channels": ChannelSettings,
    "agent": AgentSettings,
    "imports": ImportSettings,
    "mcp": McpServerSettings,
}
NO_KEY = {
    ("servers", "id"),
    ("tools", "folders"),
    ("mcp", "name"),
    ("mcp", "origin"),
    ("mcp", "command"),
    ("channels", "name"),
}
"""Fields that are a table's name, where it stands, or made of several keys."""
PARTS_OF_COMMAND = {"mcp.program", "mcp.arguments"}


def test_the_page_of_settings_is_that_of_the_schema() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_page(), (
        "run: python -P -m core.services.settings.settings_page > docs/settings.md"
    )


def test_the_command_in_the_page_writes_the_page() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "core.services.settings.settings_page"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    assert run.stdout == settings_page()


def test_every_key_is_in_the_page_with_a_sentence() -> None:
    page = settings_page()
    for setting in SETTINGS:
        assert f"| `{setting.key.rpartition('.')[2]}` |" in page, setting.key
        assert setting.doc.endswith("."), setting.key
        assert len(setting.doc) > 15, setting.key


def test_every_environment_variable_is_in_the_page() -> None:
    page = settings_page()
    for setting in SETTINGS:
        for _, variable in setting.env:
            assert f"`{variable}`" in page


OF_LOADING = {"sources", "own_ai", "project_servers", "unread"}
"""Fields of settings that say where they come from, and are set by nobody."""


def test_every_field_of_settings_has_a_key() -> None:
    wanted = {
        f"{group}.{name}"
        for group, kind in GROUPS.items()
        for name in inspect.signature(kind).parameters
        if (group, name) not in NO_KEY
    }
    wanted |= {name for name in inspect.signature(Settings).parameters if name not in {*GROUPS, *OF_LOADING}}

    assert {setting.field for setting in SETTINGS if setting.field} == wanted | PARTS_OF_COMMAND


def test_every_default_is_that_of_the_value() -> None:
    for setting in SETTINGS:
        group, _, name = setting.field.rpartition(".")
        if group in {"", "servers"} or setting.field in PARTS_OF_COMMAND:
            continue
        if group == "channels":
            channel = ChannelSettings("ops", "", "")
            assert (setting.default or getattr(channel, name)) == getattr(channel, name), setting.key
            continue
        value = McpServerSettings("a") if group == "mcp" else GROUPS[group]()
        assert setting.default == getattr(value, name), setting.key
    assert BY_KEY["trash_days"].default == Settings().trash_days


def test_every_default_is_a_value_that_its_own_key_takes() -> None:
    for setting in SETTINGS:
        if setting.default is not None:
            assert value_flaw(setting, setting.default) == "", setting.key


def test_numbers_have_a_range() -> None:
    for setting in SETTINGS:
        if setting.kind in {Kind.WHOLE, Kind.NUMBER}:
            assert setting.minimum is not None, setting.key
            assert setting.maximum is not None, setting.key


def test_every_field_of_a_file_item_is_documented() -> None:
    names = list(inspect.signature(FileItem).parameters)
    assert names[:2] == ["path", "mode"]
    for name in names:
        assert f"presets.<name>.items.{name}" in BY_KEY
    assert set(FILE_MODES) == set(FileMode)


def test_keys_are_unique() -> None:
    assert len(BY_KEY) == len(SETTINGS)


def test_a_project_can_never_set_the_window_the_limits_or_the_trash() -> None:
    for setting in SETTINGS:
        if setting.key.startswith(("appearance.", "files.")) or setting.key == "trash_days":
            assert setting.scope is SettingScope.USER


def test_a_channels_key_is_found_by_its_own_name_and_no_project_sets_one() -> None:
    assert setting_for("channels.ops.host") is BY_KEY["channels.<name>.host"]
    assert setting_for("channels.My Ops.host") is None
    own = [one for one in SETTINGS if one.key.startswith(("channels.", "notifications."))]
    assert {one.scope for one in own} == {SettingScope.USER}


def test_a_servers_key_is_found_by_its_own_name() -> None:
    assert setting_for("providers.my-box.base_url") is BY_KEY["providers.<id>.base_url"]
    assert setting_for("providers.My Box.base_url") is None
    assert setting_for("providers.<id>.base_url") is not None
    assert setting_for("providers.my-box") is None


def test_a_followed_place_may_have_a_long_path() -> None:
    followed = setting_for("imports.follow")
    assert followed is not None
    assert value_flaw(followed, ["/" + "session/" * 60]) == ""
