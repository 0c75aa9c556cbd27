"""Turns with tools: what is on disk before what, who is asked, and where a turn ends."""

from __future__ import annotations

from core.agent.messages import (
    ApproveCall,
    CallDone,
    CallJudged,
    JudgeCall,
    RefuseCall,
    RunCall,
    SetTools,
    StopCalls,
)
from core.discussion.messages import AppendRecords, ResultToken, StartToken
from core.turn.messages import CallProvider, CancelReply, SendPrompt
from core.values.agent import CallState, Mode
from core.values.messages import Role, TextPart, ToolResultPart
from core.values.provider import StopKind
from core.values.records import MessageRecord, StartRecord
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import of


def results(book: ToolPlaybook, chosen: str) -> list[tuple[str, str]]:
    said = book.said(chosen)
    return [(p.call_id, p.text) for m in said for p in m.parts if isinstance(p, ToolResultPart)]


def test_a_call_begins_when_its_reply_is_on_disk_and_runs_when_its_start_is() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    call = book.ask(chosen, "What is in a?")

    (judge,) = of(book.reply(call, asks(("a", "look"))), JudgeCall)
    assert [message.role for message in book.said(chosen)] == [Role.USER, Role.ASSISTANT]
    from core.values.agent import ActKind, Approval

    approval = Approval("id", ActKind.READ, "look at a")
    effects = book.play(CallJudged(chosen, judge.call_id, approval))
    (start,) = of(effects, AppendRecords)
    assert start.token == StartToken("a")
    assert isinstance(start.records[0], StartRecord)
    assert not of(effects, RunCall)
    (run,) = of(book.append(start), RunCall)
    assert run.approval_id == "id"

    effects = book.play(CallDone(chosen, "a", "text of a"))
    (result,) = of(effects, AppendRecords)
    assert result.token == ResultToken("a")
    assert not of(effects, CallProvider)
    (again,) = of(book.append(result), CallProvider)
    sent = again.spec.inputs
    assert [message.role for message in sent.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert sent.user_text == ""
    assert again.user_message_id == call.user_message_id

    book.reply(again, (TextPart("It holds text."),), StopKind.COMPLETED)
    assert not book.state.agent.turns
    assert not book.state.turns.calls
    assert [message.role for message in book.said(chosen)] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]


def test_calls_that_look_run_beside_each_other_and_one_that_writes_waits_for_them() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(Mode.ACCEPT_EDITS)
    call = book.ask(chosen, "go")
    (first,) = of(book.reply(call, asks(("a", "look"), ("b", "look"), ("c", "write"))), JudgeCall)

    effects = book.judge(first)
    (run_a,) = of(effects, RunCall)
    (second,) = of(effects, JudgeCall)
    effects = book.judge(second)
    (run_b,) = of(effects, RunCall)
    (third,) = of(effects, JudgeCall)
    from core.agent.policy import EDIT_GRANT

    assert not of(book.judge(third, grant=EDIT_GRANT), RunCall)
    assert not book.finish(run_b)
    (run_c,) = of(book.finish(run_a), RunCall)
    (again,) = of(book.finish(run_c), CallProvider)
    assert [one for one, _ in results(book, chosen)] == ["b", "a", "c"]
    sent = [p.call_id for m in again.spec.inputs.turns for p in m.parts if isinstance(p, ToolResultPart)]
    assert sent == ["a", "b", "c"]
