"""Waiting for a controller: errors end the wait, old ones do not, and names are found or refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command
from core.app.execution import act
from core.front.cli.arguments import UsageError
from core.front.cli.output import Console
from core.front.cli.session import check_name, find_discussion, session, settle
from core.kernel.errors import LockedError, SlopError
from core.kernel.values.curation import Preset
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.settings import AskedValue, Project, SettingsFault
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.state import AppState, CommandOutcome, ConfigState, Level, Notice, ProgramState
from core.kernel.values.updates import command_id_of
from core.talk.discussion.discussion_messages import SelectDiscussion

AT = datetime(2026, 11, 20, tzinfo=UTC)
READY = AppState(config=ConfigState(project=Project(root="/project")), program=ProgramState(is_loading=False))


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
        assert state.config.project.root == "/project"
        assert not front.is_stopped
    assert front.is_stopped


def test_a_command_that_needs_no_list_does_not_wait_for_it() -> None:
    front = FakeFront(AppState(), replace(READY, program=ProgramState(is_loading=True)))
    with session(front, _console(), lists=False) as state:
        assert state.program.is_loading
    with pytest.raises(SlopError), session(front, _console()):
        pass


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
        front.states = [replace(READY, program=replace(READY.program, notices=(_error(),)))]


PROVIDERS = (_error("call/1"), _error("models/ollama"), _error("settings/x"), _error("cache"))


def test_what_a_provider_or_a_background_worker_could_not_do_is_no_failure_of_the_command() -> None:
    front = FakeFront(replace(READY, program=replace(READY.program, notices=PROVIDERS)))
    with session(front, _console()) as state:
        assert state.program.notices
        front.states = [replace(READY, program=replace(READY.program, notices=(*PROVIDERS, _error("watch"))))]


def test_a_home_that_can_only_be_read_is_enough_unless_the_command_writes() -> None:
    read_only = replace(
        READY, program=replace(READY.program, notices=(_error("home", "The data folder is read-only."),))
    )
    with session(FakeFront(read_only), _console()):
        pass
    with pytest.raises(SlopError, match="read-only"), session(FakeFront(read_only), _console(), writes=True):
        pass


@pytest.mark.parametrize("subject", ["settings", "list", "disk"])
def test_a_new_error_of_the_beginning_ends_the_wait_and_an_old_one_does_not(subject: str) -> None:
    old = replace(READY, program=replace(READY.program, notices=(_error(subject, "Old"),)))
    new = replace(
        READY, program=replace(READY.program, notices=(_error(subject, "Old"), _error(subject, "New")))
    )
    with pytest.raises(SlopError, match="New"):
        settle(FakeFront(old, new), lambda s: s.program.is_closing)
    assert settle(
        FakeFront(old, replace(old, program=replace(old.program, is_closing=True))),
        lambda s: s.program.is_closing,
    ).program.is_closing


class Answering(FakeFront):
    """Ends each command as it is told to, after a notice of a provider."""

    def __init__(self, problem: str = "") -> None:
        super().__init__(READY)
        self.problem = problem

    def send(self, command: Command) -> None:
        super().send(command)
        told = replace(READY, program=replace(READY.program, notices=PROVIDERS))
        other = CommandOutcome("another", problem="Not ours")
        own = CommandOutcome(command_id_of(command), problem=self.problem, remedy="Free some space")
        later = [
            replace(told, program=replace(told.program, outcomes=outcomes))
            for outcomes in ((other,), (other, own))
        ]
        self.states = [READY, told, *later]


def test_a_command_waits_for_its_own_outcome_and_for_nothing_else() -> None:
    front = Answering()

    assert len(act(front, SelectDiscussion("d1")).program.outcomes) == 2
    assert front.sent == [SelectDiscussion("d1", front.states[0].program.outcomes[-1].command_id)]
    with pytest.raises(SlopError, match=r"^The disk is full\. Free some space$"):
        act(Answering("The disk is full."), SelectDiscussion("d1"))


def test_a_command_that_nobody_answers_is_given_up_in_a_sentence() -> None:
    with pytest.raises(SlopError, match="The program did not answer within 3 seconds"):
        act(FakeFront(READY), SelectDiscussion("d1"), 3)


def test_a_wait_without_end_is_given_up_in_a_sentence() -> None:
    with pytest.raises(SlopError, match="The program did not answer within 3 seconds"):
        settle(FakeFront(READY), lambda s: s.program.is_closing, 3)


def test_faults_of_settings_are_warnings_with_their_place() -> None:
    console = _console()
    faults = (SettingsFault("/c.toml", 3, "is wrong"), SettingsFault("VARIABLE", None, "is odd"))
    project = Project(root="/p", has_file=True, asked=(AskedValue(("personas", "p"), "sha256:0", "p", "x"),))
    with session(
        FakeFront(replace(READY, config=replace(READY.config, settings_faults=faults, project=project))),
        console,
    ):
        pass
    said = console.err.getvalue()  # type: ignore[attr-defined]

    assert "manual-slop: warning: /c.toml:3: is wrong\n" in said
    assert "manual-slop: warning: VARIABLE: is odd\n" in said
    assert (
        "/p is not trusted, so the program ignores its requests. To see the requests and agree, run `manual-slop trust /p`"
        in said
    )
    assert "  Persona: p (1 character).\n" in said


def _with(*ids: str) -> AppState:
    rows = {
        one: DiscussionSummary(
            DiscussionMeta(one, f"name of {one}", AT, "p", "m"), AT + timedelta(seconds=index)
        )
        for index, one in enumerate(ids)
    }
    return replace(READY, discussions=replace(READY.discussions, summaries=rows))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("abc", "abc"), ("ab", "abc"), ("last", "xyz"), ("name of xyz", "xyz"), ("xyz", "xyz")],
)
def test_a_discussion_is_found(wanted: str, found: str) -> None:
    assert find_discussion(_with("abc", "xyz"), wanted) == found


@pytest.mark.parametrize(
    ("ids", "wanted", "said"),
    [
        (("abc", "abd"), "ab", "matches 2 discussions"),
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
        UsageError,
        match="There is no preset 'cor'; did you mean core\\? \\(known: core\\)",
    ):
        check_name("preset", "cor", ("core",))
    with pytest.raises(UsageError, match=r"\(none known\)"):
        check_name("preset", "core", ())
