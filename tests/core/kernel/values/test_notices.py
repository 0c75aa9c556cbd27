"""Notices: a standing one that was read does not come back for the same cause."""

from __future__ import annotations

from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import dismiss, notify, read_notice


def told(state: AppState) -> list[str]:
    """Texts of the notices."""
    return [notice.text for notice in state.program.notices]


def standing(state: AppState, text: str, detail: str = "") -> AppState:
    """The state after a condition was met again."""
    return notify(state, "watch", Level.ERROR, text, detail, is_standing=True)


def test_a_standing_notice_that_was_read_stays_away() -> None:
    state = read_notice(standing(AppState(), "Too many files"), "watch")
    assert told(standing(state, "Too many files")) == []


def test_it_comes_back_for_another_cause() -> None:
    state = read_notice(standing(AppState(), "Too many files"), "watch")
    assert told(standing(state, "Too many files", "another detail")) == ["Too many files"]
    assert told(standing(state, "The folder is gone")) == ["The folder is gone"]


def test_it_comes_back_after_its_cause_was_gone() -> None:
    state = dismiss(read_notice(standing(AppState(), "Too many files"), "watch"), "watch")
    assert told(standing(state, "Too many files")) == ["Too many files"]


def test_an_answer_to_what_the_person_does_always_comes() -> None:
    state = notify(AppState(), "preset", Level.WARNING, "No such file")
    state = read_notice(state, "preset")
    assert told(notify(state, "preset", Level.WARNING, "No such file")) == ["No such file"]


def test_a_notice_is_replaced_in_its_place() -> None:
    state = notify(AppState(), "a", Level.INFO, "one")
    state = notify(state, "b", Level.INFO, "two")
    assert told(notify(state, "a", Level.INFO, "three")) == ["three", "two"]
