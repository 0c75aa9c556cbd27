"""Beside a turn: commands behind their calls, the sandbox before the first, the policies of the folder, what it cost."""

from __future__ import annotations

import itertools

import pytest

from core.agent.agent_messages import (
    CallDone,
    CallTail,
    CommandEnded,
    LookForSandbox,
    RunCall,
    SandboxFound,
    SetTools,
)
from core.agent.calls import end_state, end_words
from core.agent.tool import ToolAnswer
from core.app.app_messages import HomeOpened
from core.kernel.values.agent import CallState, Sandbox, ToolCall
from core.kernel.values.messages import Role
from core.kernel.values.provider import StopKind
from core.kernel.values.settings import Policies, PolicyAnswer, Project
from core.talk.discussion.discussion_messages import AppendRecords, DeleteMessage, EditMessage
from core.talk.discussion.durability import PARTED
from core.talk.turn.turn_messages import CallProvider
from tests.core.agent.test_rounds import DONE, asking, results, yes
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of, settings_loaded


def serving(book: ToolPlaybook) -> tuple[str, RunCall]:
    """A turn whose command runs."""
    chosen = book.with_tools()
    book.judge(asking(book, chosen, ("a", "bash")))
    (run,) = of(yes(book, chosen, "a"), RunCall)
    return chosen, run


def shown(book: ToolPlaybook, chosen: str) -> tuple[ToolCall, tuple[ToolCall, ...]]:
    page = book.state.agent.pages[chosen]
    return page.activity[-1], page.commands


def test_a_command_behind_its_call_is_followed_to_its_end_after_the_turn_too() -> None:
    book = ToolPlaybook()
    chosen, run = serving(book)
    book.play(CallTail(chosen, "a", "starting"))
    answer = CallDone(chosen, run.call_id, ToolAnswer("It runs as '1'.", is_background=True))
    (again,) = of(book.keep(book.play(answer)), CallProvider)
    call, behind = shown(book, chosen)
    assert (call.state, call.tail, call.ended_at, call.is_kept) == (CallState.DONE, "starting", None, True)
    assert [one.id for one in behind] == ["a"]

    book.play(CallTail(chosen, "a", "listening"))
    assert book.turn(chosen).calls[0].tail == "listening"
    book.reply(again, DONE, StopKind.COMPLETED)
    assert chosen not in book.state.agent.turns
    book.play(CallTail(chosen, "a", "served 1"))
    assert [one.tail for one in (shown(book, chosen)[0], *shown(book, chosen)[1])] == ["served 1"] * 2

    book.play(CommandEnded(chosen, "a", 3, "served 2\n"))
    call, behind = shown(book, chosen)
    assert behind == ()
    assert (call.state, call.tail, call.ended_at) == (CallState.FAILED, "", book.state.now)
    assert call.result == "It runs as '1'.\nserved 2\nIt ended with exit code 3."


@pytest.mark.parametrize(
    ("ended", "state", "words"),
    [
        (CommandEnded("d", "a", 0), CallState.DONE, "It ended with exit code 0."),
        (
            CommandEnded("d", "a", -9, "", "It was ended: it wrote more than 100 MB."),
            CallState.FAILED,
            "It ended with exit code -9. It was ended: it wrote more than 100 MB.",
        ),
        (
            CommandEnded("d", "a", -15, "", "It was ended: the person stopped it.", is_wanted=True),
            CallState.INTERRUPTED,
            "It was ended: the person stopped it.",
        ),
        (CommandEnded("d", "a", None), CallState.INTERRUPTED, "It was ended."),
    ],
)
def test_how_a_command_ended_is_said_and_stands(ended: CommandEnded, state: CallState, words: str) -> None:
    assert (end_state(ended), end_words(ended)) == (state, words)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_whatever_comes_first_an_ended_command_is_not_listed(order: tuple[int, ...]) -> None:
    book = ToolPlaybook()
    chosen, run = serving(book)
    events = (
        CallDone(chosen, run.call_id, ToolAnswer("It runs.", is_background=True)),
        CommandEnded(chosen, "a", 0),
        CallTail(chosen, "a", "x"),
    )
    for number in order:
        book.keep(book.play(events[number]))

    call, behind = shown(book, chosen)
    assert behind == ()
    assert call.ended_at is not None
    assert results(book, chosen) == {"a": "It runs."}


def test_the_sandbox_is_looked_for_when_tools_are_given_and_only_once() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    given = SetTools(chosen, has_tools=True)
    assert of(book.play(given), LookForSandbox) == (LookForSandbox(),)
    assert of(book.play(SetTools(chosen, has_tools=False)), LookForSandbox) == ()

    book.play(SandboxFound(Sandbox(problem="bubblewrap is not installed")))
    assert of(book.play(given), LookForSandbox) == ()


def test_a_command_that_only_reads_does_not_look_for_the_sandbox() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.play(HomeOpened("/home/person/.manual_slop", False, "", "", is_headless=True))
    assert of(book.play(SetTools(chosen, has_tools=True)), LookForSandbox) == ()


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (PolicyAnswer.REFUSE, CallState.REFUSED),
        (PolicyAnswer.ASK, CallState.ASKING),
        (PolicyAnswer.ALLOW, CallState.RUNNING),
    ],
)
def test_the_policies_of_the_folder_decide(answer: PolicyAnswer, state: CallState) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    project = Project("/project", "project", is_trusted=True, policies=Policies(edits=answer))
    book.play(settings_loaded(project))
    book.judge(asking(book, chosen, ("a", "write")))

    assert book.states(chosen) == {"a": state}


def test_a_task_costs_what_its_rounds_cost_and_the_next_begins_at_nothing() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    effects = book.judge(asking(book, chosen, ("a", "nothing")), problem="There is no such tool.")
    assert book.state.agent.pages[chosen].usd == pytest.approx(0.01)
    (again,) = of(effects, CallProvider)
    book.reply(again, DONE, StopKind.COMPLETED)
    assert book.state.agent.pages[chosen].usd == pytest.approx(0.02)

    book.reply(book.ask(chosen, "and now?"), DONE, StopKind.COMPLETED)
    assert book.state.agent.pages[chosen].usd == pytest.approx(0.01)


def test_a_message_of_tools_is_neither_edited_nor_deleted() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    effects = book.judge(asking(book, chosen, ("a", "nothing")), problem="There is no such tool.")
    (again,) = of(effects, CallProvider)
    book.reply(again, DONE, StopKind.COMPLETED)
    said = book.said(chosen)
    assert [one.role for one in said] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]

    for message, is_of_tools in zip(said, (False, True, True, False), strict=True):
        for command in (EditMessage(chosen, message.id, "other"), DeleteMessage(chosen, message.id)):
            effects = book.play(command)
            assert bool(of(effects, AppendRecords)) is not is_of_tools
            if is_of_tools:
                assert book.state.program.notices[-1].id == PARTED
