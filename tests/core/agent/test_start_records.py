"""What the log says of a call that begins."""

from __future__ import annotations

import pytest

from core.agent.agent_messages import ApproveCall, CallJudged, SandboxFound
from core.kernel.values.agent import ActKind, Approval, Sandbox
from core.kernel.values.records import StartRecord
from core.talk.discussion.discussion_messages import AppendRecords
from core.talk.discussion.log_codec import decode, encode
from tests.core.agent.test_rounds import asking
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of


@pytest.mark.parametrize(
    ("kind", "sandbox", "noted"),
    [
        (ActKind.COMMAND, Sandbox("bubblewrap"), "bubblewrap"),
        (ActKind.COMMAND, Sandbox("", "not installed"), "none"),
        (ActKind.READ, Sandbox("bubblewrap"), ""),
    ],
)
def test_the_log_says_who_let_a_call_run_and_how_a_command_was_confined(
    kind: ActKind, sandbox: Sandbox, noted: str
) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.play(SandboxFound(sandbox))
    judge = asking(book, chosen, ("a", "bash"))
    effects = book.play(CallJudged(chosen, judge.call_id, Approval(kind, "run it", id="id")))
    if kind is ActKind.COMMAND:
        effects = book.play(ApproveCall(chosen, "a", "id"))

    (start,) = of(effects, AppendRecords)

    (record,) = start.records
    assert isinstance(record, StartRecord)
    assert (record.approval_id, record.sandbox) == ("id", noted)
    assert record.let_by == ("person" if kind is ActKind.COMMAND else "policy")
    assert decode(encode(record), 1) == record


def test_a_start_of_an_old_log_stays_readable() -> None:
    line = (
        b'{"v":1,"at":"2026-11-20T07:30:00Z","call_id":"c","id":"s","let_by":"policy","type":"tool_start"}\n'
    )

    record = decode(line, 1)

    assert isinstance(record, StartRecord)
    assert (record.call_id, record.let_by, record.sandbox) == ("c", "policy", "")
