"""User settings are written key by key; a person's comments in them stay."""

from __future__ import annotations

import stat
import threading
import tomllib
from pathlib import Path

import pytest

from core.kernel.errors import ConfigError
from core.services.settings.settings_checks import check_settings
from core.services.settings.settings_writer import remove_server, save_server, write_setting

TEXT = """\
# my settings
trash_days = 7 # a week

[appearance]
theme = "dark" # for the night

[providers.box]
base_url = "http://old/v1"
timeout_s = 9 # slow box
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(TEXT)
    return path


def test_a_setting_is_changed_in_its_place(file: Path) -> None:
    write_setting(file, "appearance.theme", "light")

    assert file.read_text() == TEXT.replace('"dark"', '"light"')


def test_a_setting_is_removed_with_its_line(file: Path) -> None:
    write_setting(file, "trash_days", None)
    assert file.read_text() == TEXT.replace("trash_days = 7 # a week\n", "")
    write_setting(file, "trash_days", None)
    assert file.read_text() == TEXT.replace("trash_days = 7 # a week\n", "")


def test_a_table_that_is_empty_now_goes_too(file: Path) -> None:
    write_setting(file, "appearance.theme", None)

    assert tomllib.loads(file.read_text()).keys() == {"trash_days", "providers"}


def test_every_kind_of_value_is_written_as_itself(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    for key, value in (
        ("appearance.ui_scale", 1.25),
        ("trash_days", 3),
        ("ai_settings.knowledge.digest_enabled", False),
        ("ai_settings.system_prompt", 'a "quote"\nand a line'),
        ("providers.openai.base_url", "http://127.0.0.1:1/v1"),
        ("ai_settings.knowledge.harvest_sources", ('/a "b"', "~/c")),
    ):
        write_setting(path, key, value)
    values, flaws = check_settings(tomllib.loads(path.read_text()), is_project=False)

    assert flaws == []
    assert values["ai_settings.system_prompt"] == 'a "quote"\nand a line'
    assert values["appearance.ui_scale"] == 1.25
    assert values["ai_settings.knowledge.harvest_sources"] == ('/a "b"', "~/c")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("appearance.theme", "blue", "must be one of dark, light"),
        ("apearance.theme", "dark", "did you mean appearance.theme"),
        ("project.name", "x", "not a user setting"),
        ("providers.box.api_key", "sk-1", "not a user setting"),
        ("providers.Box.label", "x", "not a user setting"),
        ("trash_days", True, "must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    file: Path, key: str, value: str | bool, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        write_setting(file, key, value)
    assert file.read_text() == TEXT


def test_removing_from_no_file_makes_none(tmp_path: Path) -> None:
    write_setting(tmp_path / "config.toml", "trash_days", None)
    remove_server(tmp_path / "config.toml", "box")

    assert not (tmp_path / "config.toml").exists()


def test_a_server_is_changed_and_its_other_keys_stay(file: Path) -> None:
    save_server(file, "box", "My box", "http://new/v1")

    assert tomllib.loads(file.read_text())["providers"]["box"] == {
        "base_url": "http://new/v1",
        "timeout_s": 9,
        "label": "My box",
    }
    assert "# slow box" in file.read_text()


def test_a_server_comes_and_goes_and_leaves_no_trace(file: Path) -> None:
    save_server(file, "other", "Other", "http://o/v1")
    assert tomllib.loads(file.read_text())["providers"]["other"]["base_url"] == "http://o/v1"
    remove_server(file, "other")

    assert file.read_text().rstrip() == TEXT.rstrip()


def test_the_last_server_takes_the_empty_table_along(file: Path) -> None:
    remove_server(file, "box")

    assert "providers" not in tomllib.loads(file.read_text())


@pytest.mark.parametrize(
    ("server_id", "address", "reason"),
    [
        ("openai", "http://x", "is already the name of a provider"),
        ("My Box", "http://x", "is not a valid id"),
        ("../x", "http://x", "is not a valid id"),
        ("box", "", "needs an address"),
        ("box", "file:///x", "must be an address"),
        ("box", "http://key@x", "must not hold a user"),
    ],
)
def test_a_server_that_cannot_be_is_refused(file: Path, server_id: str, address: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        save_server(file, server_id, "label", address)
    assert file.read_text() == TEXT


def test_a_broken_file_is_named_with_its_line_and_left_alone(file: Path) -> None:
    file.write_text("a = 1\nb = \n")
    with pytest.raises(ConfigError) as caught:
        write_setting(file, "trash_days", 3)

    assert caught.value.line == 2
    assert file.read_text() == "a = 1\nb = \n"


def test_an_inline_table_is_left_alone(file: Path) -> None:
    file.write_text('appearance = { theme = "dark" }\n')
    with pytest.raises(ConfigError, match="cannot change the file safely"):
        write_setting(file, "appearance.theme", "light")

    assert file.read_text() == 'appearance = { theme = "dark" }\n'


def test_a_key_under_something_that_is_no_table_is_refused(file: Path) -> None:
    file.write_text("appearance = 3\n")
    with pytest.raises(ConfigError, match="must be a table"):
        write_setting(file, "appearance.theme", "light")


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    threads = [
        threading.Thread(target=save_server, args=(path, f"box{n}", "", f"http://b{n}/v1")) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(tomllib.loads(path.read_text())["providers"]) == {f"box{n}" for n in range(8)}
