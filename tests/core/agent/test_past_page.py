"""The page of a discussion after a restart: as the log and what turns noted on disk tell it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.agent.agent_messages import (
    CallDone,
    ChangesFound,
    FilesRestored,
    FindChanges,
    JudgeCall,
    RefuseCall,
    RestoreFiles,
    RunCall,
    UndoTurn,
)
from core.agent.agent_step import ENDED_WITH_PROGRAM, KINDS, with_past
from core.agent.tool import ToolAnswer
from core.app.tool_table import TOOLS
from core.kernel.values.agent import ActKind, AgentPage, CallState, FileChange, TodoItem, TodoState
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.usage import Usage
from core.signals.signals_messages import InboxFile, InboxRead
from core.talk.discussion.discussion_messages import DiscussionCreated, DiscussionLoaded
from core.talk.turn.turn_messages import CallEnded, CallProvider
from tests.core.agent.test_rounds import asking, yes
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of

AT = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
DONE, REFUSED = CallState.DONE, CallState.REFUSED
LIST = {"items": [{"text": "read", "state": "done"}, {"text": "write"}]}


def worked() -> tuple[ToolPlaybook, str]:
    """A turn that read, was refused a write, set its list, left a command behind, and ended."""
    book = ToolPlaybook()
    chosen = book.with_tools()
    effects = book.judge(asking(book, chosen, ("a", "look"), ("b", "write")))
    book.judge(of(effects, JudgeCall)[0])
    book.later(3)
    book.finish(of(effects, RunCall)[0], "found " * 1_000)
    (call,) = of(book.keep(book.play(RefuseCall(chosen, "b"))), CallProvider)
    parts = ToolCallPart("c", "todo", json.dumps(LIST)), ToolCallPart("d", "bash", '{"background": true}')
    (judge,) = of(book.reply(call, parts), JudgeCall)
    effects = book.judge(judge)
    book.judge(of(effects, JudgeCall)[0])
    items = TodoItem("read", TodoState.DONE), TodoItem("write")
    book.keep(book.play(CallDone(chosen, "c", ToolAnswer("The list has 2 entries.", todo=items))))
    (run,) = of(yes(book, chosen, "d"), RunCall)
    done = CallDone(chosen, run.call_id, ToolAnswer("It runs as 'd'.", is_background=True))
    (call,) = of(book.keep(book.play(done)), CallProvider)
    used = Usage(input_tokens=10, cost_usd=0.02)
    book.keep(book.play(CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Done."),), used)))
    return book, chosen


def restarted(book: ToolPlaybook, chosen: str) -> None:
    """Another program reads the log."""
    opened = book.state.discussions.open[chosen]
    discussions = replace(book.state.discussions, open={})
    book.state = replace(
        book.state, agent=replace(book.state.agent, pages={}, turns={}), discussions=discussions
    )
    assert of(book.play(DiscussionLoaded(opened)), FindChanges) == (FindChanges(chosen),)


def test_after_a_restart_the_page_is_as_it_was_and_a_command_of_before_is_told_as_ended() -> None:
    book, chosen = worked()
    before = book.state.agent.pages[chosen]
    assert [call.id for call in before.commands] == ["d"]
    restarted(book, chosen)
    page = book.state.agent.pages[chosen]

    assert (page.todo, page.commands, page.grants) == (before.todo, (), ())
    assert page.usd == pytest.approx(before.usd)
    assert [(one.id, one.state, one.started_at) for one in page.activity] == [
        (one.id, one.state, one.started_at) for one in before.activity
    ]
    assert book.states(chosen) == dict(zip("abcd", (DONE, REFUSED, DONE, DONE), strict=True))
    assert page.activity[0].result == before.activity[0].result
    ended = page.activity[-1]
    assert ended.result.endswith(ENDED_WITH_PROGRAM)
    assert ended.ended_at is not None


def test_a_log_that_is_read_again_while_the_program_runs_takes_nothing_from_the_page() -> None:
    book, chosen = worked()
    before = book.state.agent.pages[chosen]
    book.play(DiscussionLoaded(book.state.discussions.open[chosen]))

    assert book.state.agent.pages[chosen] == replace(before, usd=book.state.agent.pages[chosen].usd)


def test_what_the_disk_tells_is_listed_by_turn_and_undone_and_gives_way_to_what_the_program_knows() -> None:
    book, chosen = worked()
    turn_id = next(one.id for one in book.said(chosen) if one.role is Role.USER)
    restarted(book, chosen)
    old, other = FileChange("/project/a", turn_id, "1", "2"), FileChange("/project/b", "gone", "1", "2")
    book.play(ChangesFound(chosen, (other, old)))
    assert book.state.agent.pages[chosen].changes == (old, other)
    (undo,) = of(book.play(UndoTurn(chosen, turn_id)), RestoreFiles)
    assert undo.changes == (old,)
    book.play(FilesRestored(chosen, turn_id, ("/project/a",)))
    book.play(ChangesFound(chosen, (other, old)))
    assert book.state.agent.pages[chosen].changes == (replace(old, is_undone=True), other)


def test_a_branch_shows_what_was_done_up_to_it() -> None:
    book, chosen = worked()
    opened = replace(book.state.discussions.open[chosen], id="d9")
    summary = book.state.discussions.summaries[chosen]
    summary = replace(summary, meta=replace(summary.meta, id="d9"))
    book.play(DiscussionCreated(summary, opened))

    assert [call.id for call in book.state.agent.pages["d9"].activity] == ["a", "b", "c", "d"]


@given(st.text(max_size=40))
def test_arguments_of_a_log_may_be_anything(arguments: str) -> None:
    said = (
        Message(
            "r",
            AT,
            Role.ASSISTANT,
            (ToolCallPart("a", "bash", arguments), ToolCallPart("b", "todo", arguments)),
        ),
        Message("t", AT, Role.TOOL, (ToolResultPart("a", "x"), ToolResultPart("b", "x"))),
    )
    page = with_past(AgentPage(), OpenDiscussion("d", said), is_at_work=False)
    assert [call.arguments_json for call in page.activity] == [arguments, arguments]


def test_the_kind_of_a_past_call_is_that_of_its_tool() -> None:
    book, chosen = worked()
    restarted(book, chosen)
    assert [call.kind for call in book.state.agent.pages[chosen].activity if call.name == "bash"] == [
        ActKind.COMMAND
    ]

    looked_after = {"bash_output", "bash_kill"}  # judged as our own, offered where commands are
    assert {name: KINDS.get(name, ActKind.OWN) for name in TOOLS if name not in looked_after} == {
        name: tool.kind for name, tool in TOOLS.items() if name not in looked_after
    }


@pytest.mark.parametrize("is_read_first", [True, False])
def test_a_file_that_a_call_of_another_run_may_have_dropped_wakes_nobody(*, is_read_first: bool) -> None:
    """After a restart nobody knew what past calls had been, and what they had dropped woke the loop that wrote it."""
    book, chosen = worked()
    call = next(one for one in book.state.agent.pages[chosen].activity if one.name == "bash")
    assert call.started_at is not None
    assert call.ended_at is None
    own = InboxFile("own.txt", "Go on.", "own", call.started_at)
    other = InboxFile("other.txt", "Go on.", "other", AT.replace(year=2020))
    book.later(600)

    if is_read_first:
        opened = book.state.discussions.open
        book.state = replace(
            book.state,
            agent=replace(book.state.agent, pages={}, turns={}),
            discussions=replace(book.state.discussions, open={}),
        )
        book.play(InboxRead((own, other)))
        assert all(one.wakes for one in book.state.signals.waiting)
        book.play(DiscussionLoaded(opened[chosen]))
    else:
        restarted(book, chosen)
        book.play(InboxRead((own, other)))

    assert {one.sender: one.wakes for one in book.state.signals.waiting} == {
        "own.txt": False,
        "other.txt": True,
    }
