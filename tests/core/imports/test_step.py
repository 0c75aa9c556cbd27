"""Imports in the state: one at a time, an outcome for who waits, the list read again where something was written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, Effect, Event, Input
from core.app.dispatch import step
from core.imports.imports_messages import (
    CancelImport,
    DismissImport,
    ImportConversations,
    ImportEnded,
    ImportProgressed,
    RunImport,
)
from core.kernel.language import english
from core.kernel.values.imports import ImportReport, ImportState
from core.kernel.values.state import AppState
from core.kernel.values.updates import outcome_of
from core.talk.discussion.discussion_messages import LoadSummaries

AT = datetime(2026, 11, 23, tzinfo=UTC)
ASKED = ImportConversations(("/x/export.zip",), command_id="c1")
DONE = ImportReport(is_dry=False, count=2, new_count=1, files=1, made=1, new_messages=4)


def after(state: AppState, *bodies: Command | Event) -> tuple[AppState, tuple[Effect, ...]]:
    effects: tuple[Effect, ...] = ()
    for body in bodies:
        state, effects = step(state, Input(AT, "seed", body))
    return state, effects


def test_a_run_is_begun_told_of_and_ended_for_who_waits() -> None:
    state, effects = after(AppState(), ASKED)
    assert [one for one in effects if isinstance(one, RunImport)] == [
        RunImport(("/x/export.zip",), is_dry=True, provider="embedded", model="")
    ]
    assert state.imports.is_running
    assert outcome_of(state, "c1") is None

    state, _ = after(state, ImportProgressed(7, "Tides"))
    assert (state.imports.count, state.imports.doing) == (7, "Tides")
    state, effects = after(state, ImportEnded(report=replace(DONE, is_dry=True)))
    outcome = outcome_of(state, "c1")
    assert outcome is not None
    assert outcome.is_done
    assert not state.imports.is_running
    assert not any(isinstance(one, LoadSummaries) for one in effects)
    assert after(state, DismissImport())[0].imports == ImportState()


def test_what_was_written_is_listed_and_said() -> None:
    state, effects = after(AppState(), ASKED, ImportEnded(report=DONE, written=("20260101-000000-abcdef",)))

    assert any(isinstance(one, LoadSummaries) for one in effects)
    assert "1 new discussion, 4 messages" in state.program.notices[-1].text


@pytest.mark.usefixtures("german")
def test_what_was_written_is_said_in_the_person_s_language_and_known_in_english() -> None:
    state, _ = after(AppState(), ASKED, ImportEnded(report=DONE, written=("20260101-000000-abcdef",)))
    said = state.program.notices[-1].text
    assert str(said).startswith("Importiert: ")
    assert english(said) == "Imported: 1 conversation of 2 in 1 file: 1 new discussion, 4 messages."


def test_a_second_run_waits_for_nobody_and_is_declined() -> None:
    state, effects = after(AppState(), ASKED, replace(ASKED, command_id="c2"))

    outcome = outcome_of(state, "c2")
    assert outcome is not None
    assert "is running" in outcome.problem
    assert not any(isinstance(one, RunImport) for one in effects)
    assert after(state, CancelImport())[1] == (CancelImport(),)
    assert after(AppState(), CancelImport())[1] == ()


def test_a_home_that_cannot_be_written_is_looked_at_and_not_written() -> None:
    state = replace(AppState(), program=replace(AppState().program, is_home_read_only=True))

    assert after(state, ASKED)[0].imports.is_running
    assert not after(state, replace(ASKED, is_dry=False))[0].imports.is_running


def test_a_run_that_fails_says_why_and_ends() -> None:
    state, _ = after(AppState(), ASKED, ImportEnded(problem="The disk is full", remedy="Free some space"))

    outcome = outcome_of(state, "c1")
    assert outcome is not None
    assert (outcome.problem, outcome.remedy) == ("The disk is full", "Free some space")
    assert not state.imports.is_running
