"""How long the trash keeps is what the person's settings say, and nothing goes before they are known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.controller import AppController
from core.app.lifecycle import trash_effects
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel import paths
from core.kernel.values.settings import Settings, SettingsFault
from core.kernel.values.state import AppState
from core.talk.discussion import discussion_store, trash
from core.talk.discussion.discussion_messages import EmptyTrash
from tests.core.app.programs import until
from tests.core.talk.discussion.test_list_worker import NOW, meta

LONG = timedelta(days=40)


def later() -> datetime:
    return NOW + LONG


def kept(home: Path) -> int:
    return sum(one.is_dir() for one in paths.trash_dir(home).iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("trash_days = 365\n", 1),
        ("trash_days = 10\n", 0),
        ("", 0),
        ('trash_days = "long"\n', 1),
        ("trash_days = 365\n[appearance\n", 1),
    ],
)
def test_a_start_empties_the_trash_by_the_persons_own_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, left: int
) -> None:
    """An item lay there for forty days. With a wrong number, or a broken file, nobody knows how long it is kept."""
    home, config = tmp_path / "home", tmp_path / "config.toml"
    config.write_text(text, encoding="utf-8")
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
    discussion_store.create(home, meta(1))
    trash.delete(home, meta(1).id, NOW, "deleted")
    for days in range(41):
        trash.expire(home, NOW + timedelta(days=days), 3_650)
    assert kept(home) == 1

    controller = AppController(
        LocalOutside(OutsideOptions(home=home, start=tmp_path), clock=later), clock=later
    )
    controller.start()
    until(controller, lambda s: bool(s.config.settings_paths) and not s.program.is_loading)
    controller.stop()

    assert kept(home) == left


def test_the_trash_is_emptied_once_the_settings_are_known_and_with_each_new_day() -> None:
    start = AppState()
    settings = replace(Settings(), trash_days=7)
    known = replace(start, config=replace(start.config, settings=settings, settings_paths=("config.toml",)))
    day = replace(known, spending=replace(known.spending, day_start=NOW))
    next_day = replace(known, spending=replace(known.spending, day_start=NOW + timedelta(days=1)))

    def unknown(change: Callable[[Settings], Settings], *faults: SettingsFault) -> AppState:
        return replace(
            next_day, config=replace(next_day.config, settings=change(settings), settings_faults=faults)
        )

    assert trash_effects(start, start) == ()
    assert trash_effects(start, known) == (EmptyTrash(7),)
    assert trash_effects(known, day) == ()
    assert trash_effects(day, next_day) == (EmptyTrash(7),)
    assert trash_effects(day, unknown(lambda s: replace(s, unread="The file cannot be read."))) == ()
    fault = SettingsFault(path="config.toml", line=1, reason="trash_days is no number")
    assert trash_effects(day, unknown(lambda s: s, fault)) == ()
    told = unknown(lambda s: replace(s, sources={"trash_days": "config.toml"}), fault)
    assert trash_effects(day, told) == (EmptyTrash(7),)
