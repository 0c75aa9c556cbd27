"""Sessions of another program on the real window: its folder is chosen, its switch asks, and its sessions become discussions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gui.app import WindowApp
from tests.core.imports.test_memory import session
from tests.gui.conftest import Screen
from tests.gui.sitting import misfits, sees, watching

pytestmark = pytest.mark.gui
SWITCH = "Let the program import new sessions of Claude Code by itself"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    made = tmp_path / "claude" / "projects" / "-srv-tides"
    made.mkdir(parents=True)
    (made / "a.jsonl").write_text(session("When does the tide turn?", "At six.", key="a"))
    return made


@pytest.fixture
def app(folder: Path, screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowApp]:
    with watching(tmp_path, screen, monkeypatch) as app:
        yield app


def test_a_programs_folder_is_followed_from_the_import_dialog(
    app: WindowApp, screen: Screen, folder: Path
) -> None:
    person = screen.driver
    sees(person, "Sky")
    person.click("File")
    sees(person, "Import a folder of conversations…")
    person.click("Import a folder of conversations…")
    sees(person, "Cancel")
    person.type(f"{folder.parent.parent}/")
    sees(person, "projects")
    person.click("projects")
    person.click("Choose")
    sees(person, SWITCH)
    assert misfits(screen, app) == []

    person.click(SWITCH)
    sees(person, str(folder.parent))
    assert misfits(screen, app) == []
    program = app.controller
    assert program is not None
    person.click("Not now")
    sees(person, SWITCH)
    assert program.snapshot().config.settings.imports.follow == ()
    person.click(SWITCH)
    sees(person, str(folder.parent))
    person.click("Import sessions")
    person.until(lambda: len(program.snapshot().discussions.summaries) == 2, "the session as a discussion")
    sees(person, SWITCH)
    person.click("Close")
    sees(person, "When does the tide turn?")
    assert program.snapshot().config.settings.imports.follow == (str(folder.parent),)
