"""Waiting for a controller: errors end the wait, old ones do not, and names are found or refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.cli.output import Console
from core.cli.session import UsageError, check_name, find_discussion, session, settle
from core.errors import LockedError, SlopError
from core.values.commands import Command
from core.values.curation import Preset
from core.values.discussion import DiscussionMeta, DiscussionSummary
from core.values.effects import StackSpec
from core.values.settings import Project, SettingsFault
from core.values.stack import StackInputs
from core.values.state import AppState, Level, Notice

AT = datetime(2026, 11, 20, tzinfo=UTC)
READY = AppState(project=Project(root="/project"), is_loading=False)


class FakeFront:
    """Plays the states it is given, one at each look, the last for ever."""

    def __init__(self, *states: AppState, fails: SlopError | None = None) -> None:
        self.states = list(states)
        self.fails = fails
        self.sent: list[Command] = []
        self.is_stopped = False

    def start(self) -> None:
        if self.fails is not None:
            raise self.fails

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def snapshot(self) -> AppState:
        return self.states[0]

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        while not predicate(self.states[0]):
            if len(self.states) == 1:
                return None
            self.states.pop(0)
        return self.states[0]

    def stack_spec(self, discussion_id: str = "") -> StackSpec:
        return StackSpec(discussion_id, StackInputs(), Preset(""), "")

    def stop(self) -> None:
        self.is_stopped = True


def _console() -> Console:
    return Console(io.StringIO(), io.StringIO())


def _error(notice_id: str = "disk", text: str = "The disk is full.") -> Notice:
    return Notice(notice_id, Level.ERROR, text, "Free some space")


def test_a_command_runs_between_start_and_stop() -> None:
    front = FakeFront(AppState(), READY)
    with session(front, _console()) as state:
        assert state.project.root == "/project"
        assert not front.is_stopped
    assert front.is_stopped


def test_a_command_that_breaks_still_stops_the_controller() -> None:
    front = FakeFront(READY)
    with pytest.raises(KeyboardInterrupt), session(front, _console()):
        raise KeyboardInterrupt
    assert front.is_stopped


def test_a_controller_that_does_not_start_is_not_waited_for() -> None:
    front = FakeFront(READY, fails=LockedError("open elsewhere"))
    with pytest.raises(LockedError), session(front, _console()):
        pass


def test_what_could_not_be_written_by_the_end_is_an_error() -> None:
    front = FakeFront(READY)
    with pytest.raises(SlopError, match=r"The disk is full\. Free some space"), session(front, _console()):
        front.states = [replace(READY, notices=(_error(),))]


def test_errors_that_the_command_tells_itself_do_not_count() -> None:
    front = FakeFront(replace(READY, notices=(_error("call/1"), _error("settings/x"))))
    with session(front, _console(), said=("call/",)) as state:
        assert state.notices


def test_a_new_error_ends_a_wait_and_an_old_one_does_not() -> None:
    old = replace(READY, notices=(_error("a", "Old"),))
    new = replace(READY, notices=(_error("a", "Old"), _error("b", "New")))
    with pytest.raises(SlopError, match="New"):
        settle(FakeFront(old, new), lambda s: s.is_closing)
    assert settle(FakeFront(old, replace(old, is_closing=True)), lambda s: s.is_closing).is_closing


def test_a_wait_without_end_is_given_up_in_a_sentence() -> None:
    with pytest.raises(SlopError, match="Nothing happened for 3 seconds"):
        settle(FakeFront(READY), lambda s: s.is_closing, 3)


def test_faults_of_settings_are_warnings_with_their_place() -> None:
    console = _console()
    faults = (SettingsFault("/c.toml", 3, "is wrong"), SettingsFault("VARIABLE", None, "is odd"))
    project = Project(root="/p", has_file=True, held_back=("presets",))
    with session(FakeFront(replace(READY, settings_faults=faults, project=project)), console):
        pass
    said = console.err.getvalue()  # type: ignore[attr-defined]

    assert "manual-slop: warning: /c.toml:3: is wrong\n" in said
    assert "manual-slop: warning: VARIABLE: is odd\n" in said
    assert "/p is not trusted" in said


def _with(*ids: str) -> AppState:
    rows = {
        one: DiscussionSummary(
            DiscussionMeta(one, f"name of {one}", AT, "p", "m"), AT + timedelta(seconds=index)
        )
        for index, one in enumerate(ids)
    }
    return replace(READY, summaries=rows)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("abc", "abc"), ("ab", "abc"), ("last", "xyz"), ("name of xyz", "xyz"), ("xyz", "xyz")],
)
def test_a_discussion_is_found(wanted: str, found: str) -> None:
    assert find_discussion(_with("abc", "xyz"), wanted) == found


@pytest.mark.parametrize(
    ("ids", "wanted", "said"),
    [
        (("abc", "abd"), "ab", "names 2 discussions"),
        (("abc",), "q", "There is no discussion 'q'"),
        (("abc",), "", "There is no discussion ''"),
        ((), "last", "There is no discussion yet"),
    ],
)
def test_a_discussion_that_is_none_or_several_is_refused(
    ids: tuple[str, ...], wanted: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        find_discussion(_with(*ids), wanted)


def test_a_name_that_is_none_is_refused_with_the_nearest() -> None:
    check_name("preset", "", ())
    check_name("preset", "core", ("core",))
    with pytest.raises(
        UsageError, match=r"There is no preset 'cor'; did you mean core\? \(there are: core\)"
    ):
        check_name("preset", "cor", ("core",))
    with pytest.raises(UsageError, match=r"\(there is none\)"):
        check_name("preset", "core", ())
