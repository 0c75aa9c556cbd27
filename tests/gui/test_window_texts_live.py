"""Personas, prompts and the model's picker on the real window, over the whole program: real input, real files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gui.app import WindowApp
from gui.elements.editor import Editor
from panels.settings.settings_room import SettingsView
from tests.gui.conftest import Screen, field_named
from tests.gui.sitting import misfits, sees, watching

pytestmark = pytest.mark.gui


@pytest.fixture
def app(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowApp]:
    with watching(tmp_path, screen, monkeypatch) as app:
        yield app


def test_a_persona_is_made_edited_outside_and_settled_and_a_temperature_is_set(
    app: WindowApp, screen: Screen, tmp_path: Path
) -> None:
    person = screen.driver
    sees(person, "Sky")
    person.key("Ctrl+comma")
    sees(person, "Personas and prompts")
    person.click("Personas and prompts")
    sees(person, "New persona")
    person.click("New persona")
    person.click(field_named(person, "Name of the persona"))
    person.type("terse")
    person.click(person.find("Text for the model", kind=Editor))
    person.type("be short")
    assert misfits(screen, app) == []
    person.key("Ctrl+Enter")
    person.until(lambda: app.view.of(SettingsView).text_form is None, "the form to close")
    file = tmp_path / "project" / "manual_slop.toml"
    assert tomllib.loads(file.read_text())["personas"] == {"terse": {"text": "be short"}}
    sees(person, "be short")
    assert misfits(screen, app) == []

    person.click("Change terse")
    person.until(lambda: app.view.of(SettingsView).text_form is not None, "the form")
    person.type(" please")
    file.write_text(file.read_text().replace("be short", "from an editor"))
    sees(person, "The project “project” asks for something new. Review it before it applies.")
    person.click("Review all")
    sees(person, "from an editor")
    person.click("Trust these requests")
    sees(person, "The text in the file has changed meanwhile.")
    assert misfits(screen, app) == []
    person.click("Keep my version")
    person.click("Save persona")
    person.until(lambda: app.view.of(SettingsView).text_form is None, "the form to close")
    assert "please" in tomllib.loads(file.read_text())["personas"]["terse"]["text"]

    person.key("Ctrl+comma")
    sees(person, "What do you want to work on?")
    person.click("Model…")
    sees(person, "A small model that runs inside this program.")
    assert misfits(screen, app) == []
    person.click("Set a value")
    folder = next((tmp_path / "home" / "discussions").iterdir())
    person.until(lambda: "temperature = 1.0" in (folder / "meta.toml").read_text(), "the temperature on disk")
    person.click("Done")
    screen.check()
