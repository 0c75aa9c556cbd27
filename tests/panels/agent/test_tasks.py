"""Tasks that a discussion gave away: seen, opened and answered from their parent."""

from __future__ import annotations

from msgspec.structs import replace

from core.agent.agent_messages import ApproveCall, KillCommands
from core.kernel.structures import with_entry
from core.kernel.values.agent import AgentPage, AgentTurn, CallState, Delegation
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.view import Memo, WindowView
from panels.discussion.message_rows import branches_of
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.screen import Screen, plain
from tests.state_fields import with_fields

GIVEN = ags.call(
    "t9", "delegate", '{"task": "Count the slots"}', CallState.RUNNING, summary="Give away: Count the slots"
)


def waiting() -> AppState:
    """A parent whose task asks for an edit."""
    state = ags.asking_edit()
    asked = state.agent.turns["d1"]
    row = states.summary(
        "kid", "Count the slots", parent_id="d1", delegated_by="t9", has_tools=True, cost_usd=0.25
    )
    turns = {
        "d1": AgentTurn("d1", asked.turn_id, calls=(GIVEN,)),
        "kid": AgentTurn("kid", "m1", calls=asked.calls),
    }
    delegations = {"kid": Delegation("kid", "d1", "t9", "Count.", has_begun=True)}
    discussions = replace(state.discussions, summaries=with_entry(state.discussions.summaries, "kid", row))
    agent = replace(state.agent, turns=turns, delegations=delegations)
    return replace(state, discussions=discussions, agent=agent)


def test_a_task_stands_below_its_parent_says_what_it_does_and_asks_there() -> None:
    screen = Screen(waiting(), WindowView(is_hub_shown=False))
    assert screen.ui.shows("waits for you · $0.25")
    assert screen.ui.shows("A task asks: Count the slots")
    screen.ui.click("Open task")
    assert plain(screen.sent[-1]) == SelectDiscussion("kid")

    screen.ui.wait(0.6)
    screen.ui.click("Allow once")
    (yes,) = (one for one in screen.asked if isinstance(one, ApproveCall))
    assert (yes.discussion_id, yes.approval_id) == ("kid", ags.EDIT.id)


def test_the_commands_of_a_task_are_killed_from_its_parent_also_when_the_task_is_over() -> None:
    state = waiting()
    left = ags.call("t2", "bash", "{}", CallState.DONE, is_background=True)
    pages = with_entry(state.agent.pages, "kid", AgentPage(commands=(left,)))
    over = Screen(
        replace(state, agent=replace(state.agent, turns={}, delegations={}, pages=pages)),
        WindowView(panel="agent"),
    )
    over.ui.click("End commands")
    assert over.asked == [KillCommands("d1")]


def test_the_agent_panel_asks_for_the_tasks_of_the_discussion_too() -> None:
    screen = Screen(waiting(), WindowView(panel="agent"))
    assert screen.ui.shows("A task asks: Count the slots")
    assert not screen.ui.shows("“Count the slots” waits for your answer"), "it is asked here, not elsewhere"


def test_a_task_that_is_open_leads_to_its_parent_and_is_no_branch() -> None:
    state = ags.spoken()
    row = replace(state.discussions.summaries["d1"], meta=replace(
        state.discussions.summaries["d1"].meta, parent_id="d2", delegated_by="t9"))  # fmt: skip
    summaries = with_entry(state.discussions.summaries, "d1", row)
    screen = Screen(replace(state, discussions=replace(state.discussions, summaries=summaries)))
    assert screen.ui.shows("Task of")
    assert not screen.ui.shows("Branched here from")

    kid = states.summary("kid", "Kid", parent_id="d1", delegated_by="t1")
    with_kid = with_fields(state, summaries={**state.discussions.summaries, "kid": kid})
    assert branches_of(with_kid, Memo(), "d1") == branches_of(state, Memo(), "d1")


def test_the_way_to_a_task_stands_beside_its_call_in_the_activity() -> None:
    state = waiting()
    page = AgentPage(activity=(replace(GIVEN, state=CallState.DONE),))
    agent = replace(state.agent, turns={}, delegations={}, pages={"d1": page})
    screen = Screen(replace(state, agent=agent), WindowView(panel="agent"))

    screen.ui.click("Open task")

    assert plain(screen.sent[-1]) == SelectDiscussion("kid")
