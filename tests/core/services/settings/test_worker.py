"""The settings worker: what it reads while an editor is still writing, and what it tells of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.app.app_messages import Event
from core.kernel.values.curation import TextTable
from core.services.providers.clients import Clients
from core.services.providers.keys import KeyStore
from core.services.settings import settings_worker
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, load
from core.services.settings.settings_messages import (
    LoadSettings,
    NamedTextStored,
    PromptReset,
    ResetPrompt,
    SavePrompt,
    SettingsLoaded,
    WriteNamedText,
)
from core.services.settings.settings_worker import SetupHandler

LIGHT = '[appearance]\ntheme = "light"\n'


class Desk:
    """A settings worker on a folder of its own; `pauses` run one at each wait for an editor."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.config = base / "config.toml"
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(self.config))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(base / "xdg"))
        self.project = base / "project"
        self.project.mkdir()
        self.told: list[Event] = []
        self.pauses: list[Callable[[], object]] = []
        home = base / "home"
        keys = KeyStore(home, {}, open_keyring=lambda: None)
        clients = Clients(base / "cache")
        self.handler = SetupHandler(
            home, self.project, {}, clients, keys, self.told.append, pause=lambda _s: self._paused()
        )

    def _paused(self) -> None:
        if self.pauses:
            self.pauses.pop(0)()

    def read(self) -> SettingsLoaded:
        self.handler.handle(LoadSettings())
        loaded = self.told[-1]
        assert isinstance(loaded, SettingsLoaded)
        return loaded


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def test_a_file_that_an_editor_has_just_emptied_is_waited_for(desk: Desk) -> None:
    desk.config.write_text(LIGHT, encoding="utf-8")
    desk.read()
    desk.config.write_text("", encoding="utf-8")
    desk.pauses.append(lambda: desk.config.write_text(LIGHT + "# saved\n", encoding="utf-8"))

    assert desk.read().settings.appearance.theme == "light"


def test_a_file_emptied_for_good_counts_as_empty_after_a_moment(desk: Desk) -> None:
    desk.config.write_text(LIGHT, encoding="utf-8")
    desk.read()
    desk.config.write_text("", encoding="utf-8")

    assert desk.read().settings.appearance.theme == "dark"


def test_a_file_emptied_under_the_reading_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.config.write_text(LIGHT, encoding="utf-8")
    desk.read()
    readings: list[ConfigRequest] = []

    def emptied_first(request: ConfigRequest, last: LoadedSettings | None = None) -> LoadedSettings:
        if not readings:
            desk.config.write_text("", encoding="utf-8")
        readings.append(request)
        return load(request, last)

    monkeypatch.setattr(settings_worker, "load", emptied_first)
    desk.pauses.append(lambda: desk.config.write_text(LIGHT, encoding="utf-8"))

    assert desk.read().settings.appearance.theme == "light"


def test_everything_that_settings_depend_on_is_watched_and_told(desk: Desk) -> None:
    loaded = desk.read()

    watched = {Path(path).name for path in loaded.settings_paths}
    assert {"config.toml", "manual_slop.toml", "models.toml", "role.md"} <= watched
    assert any(profile.id == "*" for profile in loaded.profiles)
    assert "Python" in loaded.versions


def test_a_built_in_model_that_is_not_installed_is_not_offered_as_ready(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert desk.read().providers["embedded"].is_ready

    monkeypatch.setattr("core.services.providers.embedded.server.WEIGHT_PACKAGES", ("no_such_weights",))
    told = desk.read().providers["embedded"]

    assert not told.is_ready
    assert "manual-slop[embedded]" in told.advice


def test_personas_and_prompts_are_written_told_and_read_again(desk: Desk) -> None:
    desk.read()

    desk.handler.handle(WriteNamedText(str(desk.project), TextTable.PERSONAS, "terse", "Be short."))
    desk.handler.handle(SavePrompt("role.md", "Mine."))
    loaded = desk.read()

    assert loaded.project.personas["terse"].text == "Be short."
    assert loaded.prompts["role.md"] == "Mine."
    assert loaded.prompt_sources["role.md"].endswith("role.md")

    desk.handler.handle(
        WriteNamedText(str(desk.project), TextTable.PERSONAS, "terse", None, base="Be short.")
    )
    desk.handler.handle(ResetPrompt("role.md"))

    told = [event for event in desk.told if isinstance(event, NamedTextStored | PromptReset)]
    assert told[-2:] == [
        NamedTextStored(TextTable.PERSONAS, "terse", None, old_text="Be short."), PromptReset("role.md", "Mine.")
    ]  # fmt: skip
    assert desk.read().project.personas == {}
