"""Places that are followed: looked at slowly, taken once, and never brought back against the person's wish."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, Effect, Event, Input
from core.app.dispatch import step
from core.app.execution import is_persons
from core.front.cli.grammar_memory import FOLLOWED
from core.imports import import_sources
from core.imports.import_plan import KEY, with_place, without_place
from core.imports.import_run import ImportHandler, imported_ids, reached
from core.imports.import_sources import (
    known_places,
    mark_of,
    walked,
)
from core.imports.imports_messages import (
    DismissImport,
    ImportConversations,
    ImportEnded,
    ImportEvent,
    LookForSessions,
)
from core.kernel import paths
from core.kernel.values.imports import ImportFault, ImportReport
from core.kernel.values.settings import ImportSettings
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.services.settings.settings_messages import ChangeSetting
from tests.core.imports.test_memory import session

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)


def following(*places: str) -> AppState:
    state = AppState()
    settings = replace(state.config.settings, imports=ImportSettings(follow=places))
    config = replace(state.config, settings=settings)
    return replace(state, config=config, program=replace(state.program, is_loading=False))


def after(
    state: AppState, *bodies: Command | Event, at: datetime = NOW
) -> tuple[AppState, list[LookForSessions]]:
    looks: list[Effect] = []
    for body in bodies:
        state, effects = step(state, Input(at, "seed", body))
        looks += effects
    return state, [one for one in looks if isinstance(one, LookForSessions)]


def test_nothing_is_looked_at_without_a_persons_yes() -> None:
    assert after(following(), Tick())[1] == []
    assert is_persons(AppState(), ChangeSetting(KEY, ("/s",)))


def test_one_look_at_a_time_and_the_next_is_due_half_a_minute_later() -> None:
    state, looks = after(following("/s"), Tick(), Tick())
    assert [one.places for one in looks] == [("/s",)]

    state, looks = after(state, ImportEnded(is_followed=True), Tick(), at=NOW + timedelta(seconds=29))
    assert looks == []
    state, looks = after(state, Tick(), at=NOW + timedelta(seconds=30))
    assert len(looks) == 1


def test_a_place_that_is_added_is_looked_at_at_once_and_one_that_went_no_more() -> None:
    state, _ = after(following("/s"), Tick(), ImportEnded(is_followed=True))
    more = replace(state, config=following("/s", "/t").config)
    assert [one.places for one in after(more, Tick())[1]] == [("/s", "/t")]
    late = NOW + timedelta(minutes=5)
    assert after(replace(state, config=following().config), Tick(), at=late)[1] == []


def test_no_look_while_a_person_imports_nor_in_a_home_that_is_only_read() -> None:
    busy, _ = after(following("/s"), ImportConversations(("/x",)))
    assert after(busy, Tick())[1] == []
    state = following("/s")
    state = replace(state, program=replace(state.program, is_home_read_only=True))
    assert after(state, Tick())[1] == []


def test_the_dialog_that_is_closed_takes_nothing_from_what_is_followed() -> None:
    state, _ = after(following("/s"), Tick(), DismissImport())
    assert state.following.is_looking


def test_what_was_taken_is_said_and_what_is_wrong_is_said_once() -> None:
    report = ImportReport(is_dry=False, grown=1, new_messages=2)
    state, _ = after(following("/s"), Tick(), ImportEnded(report=report, written=("d",), is_followed=True))
    assert "1 continued, 2 messages" in state.program.notices[-1].text

    broken = replace(report, faults=(ImportFault(place="a", why="cut", is_cut=True),))
    state, _ = after(following("/s"), Tick(), ImportEnded(report=broken, is_followed=True))
    assert state.program.notices == ()  # the program writes on

    broken = replace(report, faults=(ImportFault(place="a.jsonl", why="it may not be read"),))
    state, _ = after(following("/s"), Tick(), ImportEnded(report=broken, is_followed=True))
    assert "a.jsonl: it may not be read" in state.program.notices[-1].text
    state = replace(state, program=replace(state.program, notices=()))
    assert after(state, ImportEnded(report=broken, is_followed=True))[0].program.notices == ()


class Looks:
    """A home, a folder of sessions, and looks at it."""

    def __init__(self, base: Path) -> None:
        self.home, self.folder = base / "home", base / "sessions"
        self.home.mkdir()
        self.folder.mkdir()
        self.told: list[ImportEvent] = []
        self.handler = ImportHandler(self.home, lambda: NOW, self.told.append)

    def look(self) -> ImportEnded:
        self.handler.handle(LookForSessions(places=(str(self.folder),), provider="anthropic", model="m"))
        taken = self.told[-1]
        assert isinstance(taken, ImportEnded)
        assert taken.is_followed
        return taken


@pytest.fixture
def looks(tmp_path: Path) -> Looks:
    return Looks(tmp_path)


def test_a_look_takes_what_is_new_then_nothing_then_what_grew(looks: Looks) -> None:
    (looks.folder / "a.jsonl").write_text(session("One?", "Yes.", key="a"))
    first = looks.look()
    assert first.report is not None
    assert (first.report.made, len(first.written)) == (1, 1)
    assert looks.look() == ImportEnded(is_followed=True)

    (looks.folder / "a.jsonl").write_text(session("One?", "Yes.", "Why?", "So.", key="a"))
    (looks.folder / "b.jsonl").write_text(session("Two?", "No.", key="b"))
    again = looks.look()
    assert again.report is not None
    assert (again.report.made, again.report.grown, again.report.new_messages) == (1, 1, 4)


def test_what_the_person_deleted_for_good_does_not_come_back_by_itself(looks: Looks) -> None:
    """Its file is still there and even grows; an import that the person asks for makes it anew."""
    (looks.folder / "a.jsonl").write_text(session("One?", "Yes.", key="a"))
    (made,) = looks.look().written
    shutil.rmtree(paths.discussion_dir(looks.home, made))
    (looks.folder / "a.jsonl").write_text(session("One?", "Yes.", "Why?", "So.", key="a"))

    assert looks.look().written == ()
    assert imported_ids(looks.home) == {made}
    another = ImportHandler(looks.home, lambda: NOW, looks.told.append)
    looks.handler = another
    assert looks.look().written == ()


def test_a_place_that_is_not_there_yet_is_waited_for(looks: Looks) -> None:
    looks.folder.rmdir()
    taken = looks.look()
    assert taken.problem == ""
    looks.folder.mkdir()
    (looks.folder / "a.jsonl").write_text(session("One?", "Yes.", key="a"))
    assert len(looks.look().written) == 1


def test_the_mark_of_a_place_changes_with_each_file_of_it(tmp_path: Path) -> None:
    marks = [mark_of([str(tmp_path)])]
    (tmp_path / "a").write_text("1")
    marks.append(mark_of([str(tmp_path)]))
    (tmp_path / "a").write_text("12")
    marks.append(mark_of([str(tmp_path)]))
    assert len({*marks}) == len(marks)


def test_a_file_that_goes_while_a_place_is_looked_at_fails_no_look(
    looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishing(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
        for number, found in enumerate(walked(folder)):
            if not number:
                (looks.folder / "a.jsonl").unlink(missing_ok=True)
            yield found

    for name in "ab":
        (looks.folder / f"{name}.jsonl").write_text(session("One?", "Yes.", key=name))
    monkeypatch.setattr(import_sources, "walked", vanishing)
    taken = looks.look()
    assert (taken.problem, len(taken.written)) == ("", 1)


def test_places_of_programs_are_where_their_variables_say(tmp_path: Path) -> None:
    found = {one.name: one.path for one in known_places({}, tmp_path)}
    assert tuple(found) == FOLLOWED
    assert found["claude-code"] == str(tmp_path / ".claude" / "projects")
    moved = known_places({"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "LLM_USER_PATH": "/l"}, tmp_path)
    assert (moved[0].path, moved[-1].path) == (str(tmp_path / "c" / "projects"), "/l/logs.db")


def test_a_place_stands_in_the_list_once_however_it_is_written() -> None:
    home = str(Path.home() / "s")
    assert with_place(("~/s", "/t"), home) == ("/t", home)
    assert without_place(("~/s", "/t"), home) == ("/t",)


def test_a_report_names_the_places_that_were_read_and_no_other(tmp_path: Path) -> None:
    known = known_places({}, tmp_path)
    projects = tmp_path / ".claude" / "projects"
    for read in (projects, projects / "-srv" / "a.jsonl", tmp_path / ".claude"):
        assert [one.name for one in reached(known, [str(read)])] == ["claude-code"], read
    assert reached(known, [str(tmp_path / "claude"), str(tmp_path / ".claude" / "projects-old")]) == ()
