"""The page of a discussion after a restart: as the log and what turns noted on disk tell it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.agent.messages import (
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
from core.agent.past_page import ENDED_WITH_PROGRAM, with_past
from core.discussion.messages import DiscussionCreated, DiscussionLoaded
from core.turn.messages import CallEnded, CallProvider
from core.values.agent import AgentPage, CallState, FileChange, TodoItem, TodoState
from core.values.discussion import OpenDiscussion
from core.values.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from core.values.provider import StopKind, Stopped
from core.values.usage import Usage
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
    book.keep(book.play(CallDone(chosen, "c", "The list has 2 entries.", todo=items)))
    (run,) = of(yes(book, chosen, "d"), RunCall)
    done = CallDone(chosen, run.call_id, "It runs as 'd'.", is_background=True)
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
