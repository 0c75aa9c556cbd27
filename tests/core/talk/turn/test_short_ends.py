"""Half a reply is no reply: kept as half, said with the provider's word, and sent again with one key."""

from __future__ import annotations

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.messages import Part, ReasoningPart, Status, TextPart
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.records import MarkRecord, MessageRecord
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import AppendRecords
from core.talk.turn.turn_messages import CallEnded, CallProvider, RetrySend
from tests.core.app.playbook import Playbook, of


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


@pytest.mark.parametrize(
    ("stopped", "failure"),
    [
        (Stopped(StopKind.TRUNCATED, "model_length"), FailureKind.CUT_OFF),
        (Stopped(StopKind.REFUSED, "SAFETY"), FailureKind.DECLINED),
        (Stopped(StopKind.BROKEN, "insufficient_system_resource"), FailureKind.BAD_REPLY),
        (Stopped(StopKind.UNKNOWN, "a_word_of_tomorrow"), FailureKind.UNKNOWN_END),
    ],
)
def test_half_a_reply_is_kept_as_half_and_said_with_the_vendors_word(
    book: Playbook, stopped: Stopped, failure: FailureKind
) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    (write,) = of(book.play(CallEnded(call.call_id, stopped, (TextPart("Good"),), Usage())), AppendRecords)
    book.append(write)
    opened = book.state.discussions.open[chosen]
    reply = next(one for one in write.records if isinstance(one, MessageRecord))
    mark = next(one for one in write.records if isinstance(one, MarkRecord))

    assert (reply.status, mark.kind) == (Status.PARTIAL, stopped.kind.value)
    assert f"({stopped.detail})" in mark.text
    assert opened.failure is not None
    assert (opened.failure.kind, bool(opened.failure.remedy)) == (failure, True)
    assert f"({stopped.detail})" in opened.failure.what
    assert any(f"({stopped.detail})" in notice.text for notice in book.state.program.notices)
    assert of(book.play(RetrySend(chosen)), CallProvider)


@pytest.mark.parametrize(
    ("stopped", "parts"),
    [
        (Stopped(StopKind.TOOL_CALLS, "function_call"), ()),
        (Stopped(StopKind.TOOL_CALLS, "tool_calls"), (TextPart("I will look."),)),
        (Stopped(StopKind.COMPLETED, "stop"), (ReasoningPart("Hm."),)),
        (Stopped(StopKind.COMPLETED, "stop"), (TextPart(" \n"),)),
    ],
)
def test_a_whole_end_of_a_reply_that_lacks_what_it_tells_of_is_said(
    book: Playbook, stopped: Stopped, parts: tuple[Part, ...]
) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    (write,) = of(book.play(CallEnded(call.call_id, stopped, parts, Usage())), AppendRecords)
    book.append(write)
    failure = book.state.discussions.open[chosen].failure

    assert failure is not None
    assert failure.kind is FailureKind.BAD_REPLY
    assert all(one.status is Status.PARTIAL for one in write.records if isinstance(one, MessageRecord))
    assert of(book.play(RetrySend(chosen)), CallProvider)
