"""A task under a limit whose model has no known price: the person is asked before each of its requests, by its parent's call."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import ApproveCall, RefuseCall, RunCall, SetTools
from core.agent.agent_step import ANSWER_WITHIN
from core.agent.delegation import STOPPED, questions_of
from core.kernel.values.agent import CallState, Mode
from core.kernel.values.updates import Tick, with_summary
from core.services.spending.limits import reached_limits
from core.talk.discussion.discussion_messages import CreateOnDisk
from core.talk.turn.turn_messages import CallProvider, CancelReply, RetrySend
from tests.core.agent.test_delegation import DONE, TaskPlaybook, child_of, tasks
from tests.core.agent.tool_playbook import asks
from tests.core.app.playbook import of

MODEL = ("openai", "nobody-knows")


@pytest.fixture
def book() -> TaskPlaybook:
    return TaskPlaybook()


def limited(book: TaskPlaybook) -> str:
    """A turn whose model gave a task away, and whose next request has a limit and no known price; its discussion."""
    chosen = book.with_tools()
    asked = book.ask(chosen, "go")
    row = book.state.discussions.summaries[chosen]
    meta = replace(row.meta, provider=MODEL[0], model=MODEL[1], spend_limit_usd=1.0)
    prices = {**book.state.config.prices, MODEL: None}
    book.state = replace(book.state, config=replace(book.state.config, prices=prices))
    book.state = with_summary(book.state, replace(row, meta=meta))
    (making,) = of(book.judge_all(book.reply(asked, tasks("t"))), CreateOnDisk)
    assert not of(book.make(making), CallProvider), "nothing is sent unasked"
    return chosen


def yes(book: TaskPlaybook, chosen: str) -> CallProvider:
    """The person's yes to what is asked; the request that it lets go."""
    ((where, call),) = questions_of(book.state, chosen)
    assert call.approval is not None
    (sent,) = of(book.keep(book.play(ApproveCall(where, call.id, call.approval.id))), CallProvider)
    return sent


def test_each_request_of_a_task_asks_by_the_parents_call_and_a_yes_is_for_that_one(
    book: TaskPlaybook,
) -> None:
    chosen = limited(book)
    ((where, call),) = questions_of(book.state, chosen)
    assert where == chosen, "where the person sits, in the window as on a terminal"
    assert call.approval is not None
    assert f"The price of '{MODEL[1]}' is unknown" in call.approval.reasons[0]
    book.play(SetTools(chosen, has_tools=True, mode=Mode.ACCEPT_EDITS))
    assert book.states(chosen)["t"] is CallState.ASKING, "no mode answers it"

    first = yes(book, chosen)
    child = child_of(first)
    assert child != chosen
    assert book.states(chosen)["t"] is CallState.RUNNING
    (run,) = of(book.judge_all(book.reply(first, asks(("l", "look")))), RunCall)
    assert not of(book.finish(run), CallProvider)
    ((where, again),) = questions_of(book.state, chosen)
    assert (where, again.id) == (chosen, "t")
    assert again.question_id != call.question_id, "another request is another question"
    assert book.play(ApproveCall(chosen, "t", call.approval.id)) == (), "an old yes is none"
    assert book.state.discussions.open[child].refusal is None, "it is asked in one place"

    second = yes(book, chosen)
    assert second.spec.discussion_id == child
    book.reply(second, DONE)
    (told,) = book.results(chosen)
    assert "Done." in told
    assert not book.state.agent.delegations


def test_a_no_or_no_answer_ends_the_task_and_its_words_are_the_result(book: TaskPlaybook) -> None:
    chosen = limited(book)
    first = yes(book, chosen)
    (run,) = of(book.judge_all(book.reply(first, asks(("l", "look")))), RunCall)
    book.finish(run)

    assert not of(book.keep(book.play(RefuseCall(chosen, "t", "Too dear."))), CallProvider)
    (told,) = book.results(chosen)
    assert told.startswith("The person said no. Too dear.\nIt was not let go on: The price of")
    assert "Let me see." in told, "what it had said"
    assert not book.state.agent.delegations

    other = TaskPlaybook()
    chosen = limited(other)
    other.state = replace(other.state, agent=replace(other.state.agent, is_headless=True))
    other.at += ANSWER_WITHIN
    other.keep(other.play(Tick()))
    (told,) = other.results(chosen)
    assert told.startswith("Refused: nobody answered within 300 seconds.")
    assert not other.state.agent.delegations


def test_a_stop_ends_the_question_and_a_reached_limit_is_no_part_of_a_yes(book: TaskPlaybook) -> None:
    chosen = limited(book)
    book.keep(book.play(CancelReply(chosen)))
    assert not questions_of(book.state, chosen)
    assert not book.state.agent.delegations
    assert len(book.results(chosen)) == 1

    other = TaskPlaybook()
    chosen = limited(other)
    row = other.state.discussions.summaries[chosen]
    spent = replace(row, usage=replace(row.usage, cost_usd=2.0))
    other.state = with_summary(other.state, spent)
    ((_, call),) = questions_of(other.state, chosen)
    assert call.approval is not None
    assert not of(other.keep(other.play(ApproveCall(chosen, "t", call.approval.id))), CallProvider)
    (told,) = other.results(chosen)
    assert "You have reached the limit of $1.00" in told


def test_a_stop_at_a_later_question_of_a_task_tells_what_it_had_said(book: TaskPlaybook) -> None:
    """The model was told that a task had not run that had, with edits perhaps."""
    chosen = limited(book)
    (run,) = of(book.judge_all(book.reply(yes(book, chosen), asks(("l", "look")))), RunCall)
    book.finish(run)
    book.keep(book.play(CancelReply(chosen)))

    assert book.states(chosen)["t"] is CallState.INTERRUPTED
    (told,) = book.results(chosen)
    assert told.startswith(STOPPED)
    assert "Let me see." in told
    assert not book.state.agent.delegations
    assert not book.state.agent.turns


def test_the_parent_goes_on_with_its_own_yes(book: TaskPlaybook) -> None:
    chosen = limited(book)
    book.reply(yes(book, chosen), DONE)
    refusal = book.state.discussions.open[chosen].refusal
    assert refusal is not None
    assert refusal.is_unpriced
    assert isinstance(refusal.confirmed, RetrySend)

    (sent,) = of(book.keep(book.play(refusal.confirmed)), CallProvider)
    assert sent.spec.discussion_id == chosen
    assert reached_limits(book.state, chosen), "the next one asks again"
