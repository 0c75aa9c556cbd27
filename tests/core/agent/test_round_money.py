"""Money of a turn's rounds: when other programs on the home hear of it."""

from __future__ import annotations

import pytest

from core.agent.agent_messages import CallDone, CallJudged, JudgeCall
from core.agent.tool import ToolAnswer
from core.app.app_messages import Effect, Quit
from core.kernel.values.agent import ActKind, Approval
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.records import RequestRecord, UsageRecord
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Payment, Reservation, Usage
from core.services.spending.limits import call_key
from core.services.spending.spending_messages import ClaimReserve, SettleReserve, SpendingEffect
from core.talk.discussion.discussion_messages import AppendRecords
from core.talk.turn.turn_messages import CallEnded, CallProvider, RequestBuilt, SendRequest
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import of


def sent(book: ToolPlaybook, call: CallProvider, usd: float) -> tuple[Effect, ...]:
    """The request of a call is assembled and expected to cost so much."""
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)
    return book.play(RequestBuilt(call.call_id, record, usd=usd))


@pytest.mark.parametrize("ends", ["next call", "tick", "quit"])
def test_other_programs_are_told_once_what_a_round_cost(ends: str) -> None:
    """With the next call of the turn, in the same write; at the latest a second later, or when the program ends."""
    book = ToolPlaybook()
    chosen = book.with_tools()
    call = book.ask(chosen, "go")
    assert of(sent(book, call, 0.25), SendRequest)
    key, held = call_key(call.call_id), Reservation(0.25, chosen)
    assert book.shared == [ClaimReserve(key, held)]
    usage = Usage(input_tokens=10, cost_usd=0.01)
    (write,) = of(
        book.play(CallEnded(call.call_id, Stopped(StopKind.TOOL_CALLS), asks(("a", "look")), usage)),
        AppendRecords,
    )
    (judge,) = of(book.append(write), JudgeCall)
    (record,) = (one for one in write.records if isinstance(one, UsageRecord))
    paid = {key: {record.id: Payment(0.01)}}
    assert book.shared[1:] == [], "between two requests of a turn nobody waits for that"

    if ends == "next call":
        book.keep(book.play(CallJudged(chosen, judge.call_id, Approval(ActKind.READ, "look at a", id="id"))))
        (again,) = of(book.keep(book.play(CallDone(chosen, "a", ToolAnswer("text of a")))), CallProvider)
        sent(book, again, 0.5)
        told: SpendingEffect = ClaimReserve(call_key(again.call_id), Reservation(0.5, chosen), paid)
    else:
        book.play(Tick() if ends == "tick" else Quit())
        told = SettleReserve(key, paid[key])
    book.play(Tick())

    assert book.shared[1:] == [told]
