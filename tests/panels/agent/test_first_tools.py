"""First use of tools: where they are, the folder that must be trusted, the question that waits, where the view begins."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import CompactDiscussion, SetTools
from core.kernel.values.agent import AgentTurn, Mode
from core.kernel.values.settings import Project
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.window import Compaction, CompactionPhase, CutReason, ShrunkResult, ViewCut
from core.services.settings.settings_messages import TrustProject
from core.talk.discussion.discussion_messages import SelectDiscussion
from core.talk.turn.turn_messages import CancelReply
from panels.base.view import WindowView
from panels.discussion.tool_mode import call_summary, tool_icon, tool_label
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields

PLAIN = Project(root="/home/person/x", name="x")
"""A folder with no file of ours: it asks for nothing."""


def menu_of(screen: Screen, label: str) -> None:
    (menu,) = [node for node in screen.ui.nodes("menu") if node.label == label]
    screen.ui.open_menu(menu)


def test_tools_are_given_beside_the_composer_in_the_mode_that_is_chosen() -> None:
    screen = Screen(ags.off())
    menu_of(screen, "No tools")
    screen.ui.click("Plan: the model only reads")

    assert screen.asked == [SetTools("d1", has_tools=True, mode=Mode.PLAN)]


def test_an_empty_discussion_says_what_tools_are_and_gives_them() -> None:
    screen = Screen(states.with_opened(ags.off(), entries=()))
    assert screen.ui.shows("asks you before it writes a file or runs a command")
    screen.ui.click("Turn tools on")

    assert screen.asked == [SetTools("d1", has_tools=True)]
    assert screen.view.panel == "agent"


@pytest.mark.parametrize("has_tools", [False, True])
def test_a_plain_folder_can_be_trusted_where_tools_are_missed(has_tools: bool) -> None:
    state = ags.with_tools(with_fields(ags.off(), project=PLAIN), has_tools=has_tools)
    panel = Screen(state, WindowView(panel="agent"))
    assert panel.ui.shows("The model gets no file and command tools until you trust this project.")
    panel.ui.click("Trust this project…")
    assert panel.ui.shows(
        "A model that you give tools may then read this folder. It asks you before it changes a file or runs a command."
    )
    assert panel.ui.shows("The folder itself sets nothing.")
    assert not [node for node in panel.ui.nodes("surface") if node.path[-1] == "asked"]  # no empty list
    panel.ui.click("Trust this folder")
    assert panel.asked == [TrustProject(is_trusted=True)]

    composer = Screen(state)
    menu_of(composer, "Ask first" if has_tools else "No tools")
    composer.ui.click("Trust this folder, so that the tools work…")
    assert composer.ui.shows("Trust this folder")

    page = Screen(state, WindowView(page="settings", settings_section="project"))
    page.ui.click("Trust folder…")
    assert page.ui.shows("Trust this folder")


def test_without_a_project_the_panel_leads_to_opening_one() -> None:
    screen = Screen(with_fields(ags.off(), project=Project()), WindowView(panel="agent"))
    screen.ui.click("Open project folder…", within="No project is open")

    assert screen.view.dialog is not None
    assert screen.view.dialog.kind == "open_project"


def test_the_foot_says_that_calls_wait_wherever_they_are_and_leads_there() -> None:
    rested = ags.rested()
    assert not Screen(rested).ui.shows("your approval")
    turn = AgentTurn("d2", "m1", 1, (ags.ASKS_COMMAND,))
    screen = Screen(
        replace(rested, agent=replace(rested.agent, turns={"d2": turn})), WindowView(page="settings")
    )
    screen.view.of(DiscussionView).scroll = {"d2": 3}
    screen.ui.click("One tool call needs your approval")

    assert screen.asked == [SelectDiscussion("d2")]
    assert screen.view.page == "chat"
    assert "d2" not in screen.view.of(DiscussionView).scroll, "it opens at its end, where the question stands"


def test_a_turn_whose_tools_run_is_a_reply_under_way_and_offers_no_other() -> None:
    screen = Screen(ags.running())
    assert screen.ui.shows("1 reply in progress")
    again = [node for node in screen.ui.nodes("button") if "Regenerate" in (node.label or "") + node.tip]
    assert again
    assert not any(node.is_enabled for node in again)


def test_where_only_a_person_is_waited_for_nothing_is_said_to_be_under_way() -> None:
    waiting = Screen(ags.asking_command())
    assert waiting.ui.shows("One tool call needs your approval")
    assert not waiting.ui.shows("in progress")
    assert Screen(ags.with_agent(ags.RUNS, ags.ASKS_COMMAND)).ui.shows("1 reply in progress")


def test_escape_ends_a_turn_that_a_restart_has_left() -> None:
    turn = AgentTurn("d1", "m6", 1, (ags.ASKS_COMMAND,), is_left=True)
    state = ags.rested()
    screen = Screen(replace(state, agent=replace(state.agent, turns={"d1": turn})))
    screen.ui.press("Escape")

    assert screen.asked == [CancelReply("d1")]


def compacting(state: AppState, phase: CompactionPhase) -> AppState:
    one = Compaction("d1", "j1", CutReason.ASKED, phase)
    return replace(state, agent=replace(state.agent, compactions={"d1": one}))


def test_a_compaction_says_what_it_does_and_why_there_was_none() -> None:
    state = states.with_opened(ags.rested(), draft=states.working().discussions.open["d1"].draft)
    screen = Screen(state)
    screen.ui.type("Write a message", "/compact")
    screen.ui.click("Run")
    assert screen.only(CompactDiscussion).discussion_id == "d1"
    command_id = screen.only(CompactDiscussion).command_id

    screen.show(compacting(state, CompactionPhase.SUMMARISING))
    assert screen.ui.shows("asking the model to summarize old messages")

    outcome = CommandOutcome(command_id, problem="The program cannot compact any further.")
    screen.show(replace(state, program=replace(state.program, outcomes=(outcome,))))
    assert screen.ui.shows("The program cannot compact any further.")
    screen.ui.type("Write a message", "then")
    assert not screen.ui.shows("The program cannot compact any further.")


def test_where_the_view_begins_is_marked_and_what_is_told_of_the_rest_can_be_read() -> None:
    entries = states.working().discussions.open["d1"].entries
    begin = next(one for one in entries[2:] if one.id.startswith("m"))
    cut = ViewCut("v1", states.NOW - timedelta(minutes=1), begin.id, summary="They spoke of **forks**.", left_messages=2,
                  left_tokens_est=3_400)  # fmt: skip
    screen = Screen(states.with_opened(states.working(), cut=cut))
    assert screen.ui.shows("The model reads from here on")
    assert screen.ui.shows("The model no longer reads 2 messages above (≈3.4k tokens); the log keeps them.")
    assert not screen.ui.shows("They spoke of **forks**.")

    screen.ui.click("Show the text that the model reads instead")
    assert screen.ui.shows("They spoke of **forks**.")


def test_a_view_that_lost_no_message_is_not_said_to_begin_later() -> None:
    """After an overflow of a first turn its long results alone are shorter."""
    entries = states.working().discussions.open["d1"].entries
    begin = next(one for one in entries[2:] if one.id.startswith("m"))
    cut = ViewCut("v1", states.NOW - timedelta(minutes=1), begin.id, shrunk=(ShrunkResult("c0", 8_000),))
    for panel in ("agent", "context"):
        ui = Screen(states.with_opened(states.working(), cut=cut), view_of(panel=panel)).ui
        assert ui.shows("The program shortened what the model reads")
        assert ui.shows("1 long result shortened to beginning and end.")
        assert not ui.shows("0 messages")


def test_what_the_model_lists_is_said_in_words() -> None:
    given = '{"items": [{"text": "Read it", "state": "done"}, {"text": "Say it"}]}'

    assert call_summary("todo", "Set the todo list", given) == "Read it · Say it"
    assert call_summary("grep", "", '{"paths": ["a.py", "b.py"], "deep": 1}') == "a.py · b.py"
    assert call_summary("odd", "", '{"n": [[1], null]}') == '{"n": [[1], null]}'


def test_a_server_s_tool_is_named_by_both() -> None:
    assert (tool_label("almanac__moon"), tool_icon("almanac__moon")) == ("almanac: moon", "plug")
    assert call_summary("almanac__moon", "almanac: moon", '{"day": "2026-11-23"}') == "2026-11-23"
    assert (tool_label("__moon"), tool_label("bash")) == ("__moon", "Run")
