"""Answers of a person: their words reach the model, and a call that cannot be done is shown by its arguments."""

from __future__ import annotations

import pytest

from core.agent.agent_messages import ApproveCall, JudgeCall, RunCall
from core.talk.turn.turn_messages import CallProvider
from tests.core.agent.test_rounds import asking, results
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import of


@pytest.mark.parametrize(
    ("taken", "heard"),
    [
        ((1,), "done Keep the mean."),
        (None, "done"),
        ((), "The person said no. None of the changes was taken. Keep the mean."),
    ],
)
def test_the_model_hears_the_persons_words_with_every_answer_that_leaves_something_out(
    taken: tuple[int, ...] | None, heard: str
) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.judge(asking(book, chosen, ("a", "write")))
    (call,) = book.turn(chosen).calls
    assert call.approval is not None

    effects = book.keep(
        book.play(ApproveCall(chosen, "a", call.approval.id, taken, words=" Keep the mean.\n"))
    )
    for run in of(effects, RunCall):
        book.finish(run)
    assert results(book, chosen) == {"a": heard}


def test_a_call_that_cannot_be_done_is_shown_by_its_arguments() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    (again,) = of(
        book.judge(asking(book, chosen, ("a", "write")), problem="The arguments do not fit."), CallProvider
    )
    assert [one.summary for one in book.state.agent.pages[chosen].activity] == [""]

    (judge,) = of(book.reply(again, asks(("b", "write"))), JudgeCall)
    book.judge(judge)
    assert [one.summary for one in book.turn(chosen).calls] == ["write b"]
