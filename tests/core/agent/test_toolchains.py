"""Words on places that a command missed: in the person's own folder, and in folders of toolchains, which it only reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agent.toolchains import missed_note

INSTALL = "[ERROR] Failed to install artifact x:x:pom:1: {home}/.m2/repository/x/x/1/x-1.pom (No such file or directory)"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".m2/repository").mkdir(parents=True)
    return tmp_path


def test_what_cannot_be_made_in_a_folder_of_a_toolchain_is_said_with_the_way_round(home: Path) -> None:
    output = INSTALL.format(home=home)

    note = missed_note(output, 1, None, str(home / "project"))

    assert f"No command can make {home}/.m2/repository/x/x/1/x-1.pom" in note
    assert "a folder in the project" in note


@pytest.mark.parametrize("made", ["x/x/1/x-1.pom", ""])
def test_nothing_is_said_of_what_is_there_or_where_the_command_succeeded(home: Path, made: str) -> None:
    if made:
        (home / ".m2/repository" / made).parent.mkdir(parents=True)
        (home / ".m2/repository" / made).touch()
    assert missed_note(INSTALL.format(home=home), int(bool(made)), None, str(home / "project")) == ""
