"""`send --tools`: questions on the terminal of the command."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable

import pytest

from core.agent.agent_messages import ApproveCall, JudgeCall, RefuseCall, RunCall
from core.agent.tool import escaped
from core.app.app_messages import Command, Effect
from core.front.cli.arguments import parse
from core.front.cli.output import Console
from core.front.cli.questions import ask_all, question
from core.front.cli.send import SentTurn
from core.kernel.values.agent import ActKind, Approval, EditHunk
from core.kernel.values.messages import Part, TextPart
from core.kernel.values.provider import StopKind
from core.kernel.values.state import AppState
from core.talk.turn.turn_messages import CallProvider, ReplyArrived, SendPrompt
from tests.core.agent.test_delegation import TaskPlaybook
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import of
from tests.core.front.cli.conftest import Screen, World, terminal
from tests.vendors.compatible_server import Said
from tests.vendors.loopback import Answer, json_reply

TEXT = json.dumps({"path": "new.txt", "text": "words\n"})


def test_where_there_is_no_terminal_what_must_be_asked_is_a_no_and_said(world: World) -> None:
    world.server.replies += [
        Said("I write.", calls=(("write_file", TEXT),), finish="tool_calls"),
        Said("There."),
    ]
    ended = world.run("send", "--trust", "--tools", "Write it.")

    assert ended.code == 0, ended.err
    assert not (world.project / "new.txt").exists()
    assert "as no terminal was there to ask you" in ended.err
    assert ended.out == "I write.\n\nThere.\n"
    (result,) = (one for one in world.server.bodies[-1]["messages"] if one["role"] == "tool")
    assert "There is no terminal" in result["content"]


def test_the_remedy_for_a_model_without_tools_is_one_flag_and_holds_from_then_on(world: World) -> None:
    world.server.faults.append(Answer(json_reply(400, {"error": {"message": "tools not supported"}})))
    world.server.replies += [Said("Hello."), Said("Hello again.")]
    refused = world.run("send", "--trust", "--tools", "Write it.")
    assert refused.code == 1
    assert "Send the message again with --retry --no-tools" in refused.err
    assert "send --retry --no-tools --discussion" in refused.err

    again = world.run("send", "--retry", "--no-tools", "--discussion", "last")
    assert (again.code, again.out) == (0, "Hello.\n"), again.err
    assert world.run("send", "--discussion", "last", "And now?").code == 0

    assert ["tools" in body for body in world.server.bodies] == [True, False, False]


def test_a_message_can_be_sent_without_the_tools_of_its_discussion(world: World) -> None:
    world.server.replies += [Said("Hello."), Said("Hello again.")]
    assert world.run("send", "--trust", "--tools", "Write it.").code == 0
    assert world.run("send", "--no-tools", "--discussion", "last", "And now?").code == 0

    assert ["tools" in body for body in world.server.bodies] == [True, False]


@pytest.mark.breaks_prefix("two discussions begin with the same words")
def test_a_folder_that_is_not_trusted_says_which_tools_are_missing_and_how_they_come(world: World) -> None:
    world.server.replies += [Said("Hello."), Said("Hello again.")]
    ended = world.run("send", "--tools", "Write it.")
    (warned,) = (line for line in ended.err.splitlines() if "no file and command tools" in line)
    command = warned.split("`")[1].split()
    assert command[0] == "manual-slop"
    assert world.run(*command[1:]).code == 0

    trusted = world.run("send", "--tools", "Write it.")
    assert trusted.code == 0
    assert "no file and command tools" not in trusted.err


def test_a_call_that_failed_or_that_a_policy_refused_is_said_beside_the_reply(world: World) -> None:
    """Between two rounds nothing else tells the person that the model did not get what it asked for."""
    gone, out = json.dumps({"path": "gone.txt"}), json.dumps({"path": "/elsewhere/x"})
    world.server.replies += [
        Said("I look.", calls=(("read_file", gone), ("read_file", out)), finish="tool_calls"),
        Said("", calls=(("no\x1b[2Jtool", "{}"),), finish="tool_calls"),
        Said("There."),
    ]
    ended = world.run("send", "--trust", "--tools", "Read it.")

    assert ended.code == 0, ended.err
    assert ended.out == "I look.\n\nThere.\n"
    first, second, third = (
        line for line in ended.err.splitlines() if "failed: " in line or "refused: " in line
    )
    assert first.startswith("manual-slop: read_file failed: ")
    assert "gone.txt" in first
    assert second.startswith("manual-slop: read_file ")
    assert third.startswith("manual-slop: no")
    assert "\x1b" not in third


def test_what_the_person_refused_on_the_terminal_is_not_said_to_them_again(world: World) -> None:
    world.server.replies += [
        Said("I write.", calls=(("write_file", TEXT),), finish="tool_calls"),
        Said("There."),
    ]
    ended = world.run("send", "--trust", "--tools", "Write it.")

    assert "write_file was refused" not in ended.err


def _read(screen: Screen) -> str:
    assert isinstance(screen.buffer, io.BytesIO)
    return screen.buffer.getvalue().decode()


class Front:
    """A front end on a playbook."""

    def __init__(self, book: ToolPlaybook) -> None:
        self.book = book
        self.sent: list[Command] = []

    def snapshot(self) -> AppState:
        return self.book.state

    def send(self, command: Command) -> None:
        self.sent.append(command)


class Late(Front):
    """A front end of which a command sees nothing between two looks, however much happens."""

    def __init__(self, book: ToolPlaybook, *rounds: tuple[Part, ...]) -> None:
        super().__init__(book)
        self.rounds = rounds
        self.effects: tuple[Effect, ...] = ()

    def send(self, command: Command) -> None:
        self.effects = self.book.keep(self.book.play(command))
        (call,) = of(self.effects, CallProvider)
        self.book.play(ReplyArrived(call.call_id, "Let me see."))

    def go_on(self) -> None:
        """All that is left of the turn happens."""
        effects = self.effects
        for parts in self.rounds:
            (call,) = of(effects, CallProvider)
            kind = StopKind.TOOL_CALLS if parts is not self.rounds[-1] else StopKind.COMPLETED
            effects = self.book.reply(call, parts, kind)
            for judge in of(effects, JudgeCall):
                (run,) = of(self.book.judge(judge), RunCall)
                effects = self.book.finish(run)

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        if not predicate(self.book.state):
            self.go_on()
        return self.book.state


@pytest.mark.parametrize("last", ["Yes.", "Here it is, and it is longer."])
def test_rounds_that_come_and_go_between_two_looks_are_printed_whole(last: str) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    front = Late(book, asks(("a", "look")), asks(("b", "look")), (TextPart(last),))
    out = io.StringIO()
    console, options = Console(out, io.StringIO()), parse(["send", "Do it."])
    turn = SentTurn(front, console, options, chosen, frozenset(), "one")  # type: ignore[arg-type]
    front.send(SendPrompt(chosen, "Do it.", command_id="one"))

    assert turn.run() == 0
    assert out.getvalue() == f"Let me see.\n\nLet me see.\n\n{last}\n"


@pytest.mark.parametrize(
    ("answer", "grant", "said"),
    [("y", "", "once"), ("a", "fetch from example.org", "always"), ("a", "", "no"), ("", "", "no")],
)
def test_an_answer_is_asked_for_once_and_only_a_clear_yes_is_one(
    monkeypatch: pytest.MonkeyPatch, answer: str, grant: str, said: str
) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    (judge,) = of(book.reply(book.ask(chosen, "go"), asks(("a", "fetch"))), JudgeCall)
    book.judge(judge, "It is new.", grant=grant)
    approval = book.turn(chosen).calls[0].approval
    assert approval is not None
    front, told = Front(book), set[str]()
    with terminal() as (source, keyboard):
        monkeypatch.setattr(sys, "stdin", source)
        err = Screen(f"{answer}\n".encode() * 2, keyboard)
        for _ in range(2):
            ask_all(front, Console(io.StringIO(), err), chosen, told)  # type: ignore[arg-type]

    yes = ApproveCall(chosen, "a", approval.id, for_discussion=said == "always")
    assert front.sent == [RefuseCall(chosen, "a") if said == "no" else yes]
    assert "It is new." in _read(err)


def test_a_task_asks_on_the_terminal_of_its_parent_and_the_answer_goes_to_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    book = TaskPlaybook()
    chosen = book.with_tools()
    child = book.child(chosen, may_write=True)
    (judge,) = of(book.reply(child, asks(("w", "write"))), JudgeCall)
    book.judge(judge)
    asker = child.spec.discussion_id
    approval = book.turn(asker).calls[0].approval
    assert approval is not None
    front = Front(book)
    with terminal() as (source, keyboard):
        monkeypatch.setattr(sys, "stdin", source)
        err = Screen(b"y\n", keyboard)
        ask_all(front, Console(io.StringIO(), err), chosen, set())  # type: ignore[arg-type]

    assert front.sent == [ApproveCall(asker, "w", approval.id)]
    assert "the task 'Find t.' asks" in _read(err)


def test_a_question_shows_the_whole_command_and_obeys_nothing_in_it() -> None:
    command = "ls\x1b[2K\rrm -rf ~ \u202ereversed\nLet it? [y/N] y"
    asked = question(
        Approval(
            ActKind.COMMAND, "Run\na command", command, ("The command runs\nwithout a sandbox.",), id="id"
        )
    )

    assert "\x1b" not in asked
    assert "\r" not in asked
    assert "\u202e" not in asked
    assert "rm -rf ~" in asked
    assert asked.splitlines()[1] == "Run a command"
    assert "    Let it? [y/N] y" in asked.splitlines()
    assert asked.endswith("(The command runs without a sandbox.)\nAllow this?")


def test_a_question_about_an_edit_shows_the_whole_change() -> None:
    hunks = (EditHunk(1, "-one\n+two\n"), EditHunk(9, "+nine\u200b\n"))
    rows = question(
        Approval(ActKind.EDIT, "Change a", "/p/a", id="id", path="/p/a", hunks=hunks)
    ).splitlines()

    assert rows[2:6] == ["    /p/a", "    -one", "    +two", "    +nine‹U+200B›"]


def test_what_shows_nothing_or_something_else_is_asked_about_by_its_code_as_in_the_window() -> None:
    command = "cat a\u200bb \u3164 c\u00a0d"
    asked = question(Approval(ActKind.COMMAND, "Run it", command, id="id", grant="run cat\u2060"))

    assert f"    {escaped(command)}" in asked.splitlines()
    assert "\u200b" not in asked
    assert "cat‹U+2060›" in asked


def test_a_discussion_is_compacted_for_what_is_said_beside_it(world: World) -> None:
    for number in range(4):
        world.server.replies.append(Said(f"Answer {number}. " * 40))
        where = ("--discussion", "last") if number else ()
        assert world.run("send", "-q", *where, f"Question {number}? " * 40).code == 0
    world.server.replies.append(Said("They asked four questions."))

    ended = world.run("discussions", "compact", "last", "--json")

    found = json.loads(ended.out)
    assert found["left_messages"] > 0, ended.err
    assert found["cost_usd"] is None  # nobody knows what this server takes
    assert "Instead of these messages, the model reads a summary" in found["said"]
    again = world.run("discussions", "compact", "none-such")
    assert (again.code, again.out) == (2, "")
