"""Autonomy in the window: started and stopped beside the day's cap, told in the status bar, its notes and its words."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.agent.agent_messages import StartAutonomy, StopAutonomy
from core.kernel.values.agent import Attention, AttentionState
from core.kernel.values.state import AppState, CommandOutcome
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.agent.agent_room import AgentView
from panels.discussion.view import DiscussionView, FindView
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields


def open_at(state: AppState) -> Screen:
    return Screen(state, view_of(AgentView(tab="autonomy"), panel="agent"))


def bar(screen: Screen) -> list[str]:
    (line,) = [n for n in screen.ui.nodes("surface") if n.path[-1] == "status"]
    return [n.label for n in screen.ui.nodes("button") if n.path[: len(line.path)] == line.path]


def test_it_is_started_beside_the_days_cap_and_a_refusal_is_said_there() -> None:
    screen = open_at(ags.rested())
    assert screen.ui.shows("You set no daily limit: only the number of turns stops autonomy.")
    screen.ui.type("Limit per day ($)", "2")
    screen.ui.click("Start autonomy")
    change, start = screen.asked
    assert change == ChangeSetting("ai_settings.caching.day_limit_usd", 2.0)
    assert isinstance(start, StartAutonomy)
    assert start.discussion_id == "d1"

    problem = "Autonomy stops: the price of 'm' is unknown, so no limit would hold."
    outcomes = (CommandOutcome(screen.view.of(AgentView).started, problem=problem),)
    screen.show(with_fields(ags.rested(), outcomes=outcomes))
    assert screen.ui.shows(problem)


def test_a_home_of_another_program_is_named_and_nothing_is_started_in_this_one() -> None:
    screen = open_at(with_fields(ags.rested(), holder="process 7"))
    text = "Another program uses this data folder (process 7). Autonomy runs there; it runs here once that program ends"
    assert screen.ui.shows(text)
    assert screen.ui.shows("data folder in use by another program")
    (start,) = [n for n in screen.ui.nodes("button") if n.label == "Start autonomy"]

    assert not start.is_enabled


def test_state_countdown_spend_and_what_woke_it_are_told_and_it_is_stopped_there() -> None:
    screen = open_at(ags.alone())
    for words in (
        "Foraging · next turn in 0:21",
        "3 of 20 turns without you · $0.12 spent",
        "Woken by a new file in the inbox: 'tides.txt'",
        "The turn ended with a reply: foraging.",
        "The tides are in the table now.",
    ):
        assert screen.ui.shows(words), words
    assert not screen.ui.shows("The file is new.")
    screen.ui.click("Show reasoning")
    assert screen.ui.shows("The file is new.")
    screen.ui.click("Stop")
    assert screen.asked == [StopAutonomy()]


def test_the_status_bar_counts_down_wherever_the_person_is_and_leads_there() -> None:
    elsewhere = with_fields(ags.alone(), selected_id="d2")
    screen = Screen(elsewhere)
    assert "Foraging · next turn in 0:21" in bar(screen)
    later = replace(elsewhere, now=states.NOW + timedelta(seconds=20))
    screen.show(later)
    assert "Foraging · next turn in 0:01" in bar(screen)
    screen.ui.click("Foraging · next turn in 0:01")
    assert screen.asked == [SelectDiscussion("d1")]
    assert (screen.view.panel, screen.view.of(AgentView).tab) == ("agent", "autonomy")


def test_why_it_rests_for_good_and_other_states_are_told() -> None:
    screen = open_at(ags.alone_stopped())
    assert screen.ui.shows(
        "20 turns ran without a message from you. The discussion now does nothing until you write."
    )
    assert "Waits for your message" in bar(screen)
    stored = replace(ags.LOOP, state=Attention.STORED, next_at=None)
    screen.show(ags.alone(stored))
    assert "Stored" in bar(screen)
    runs = replace(ags.LOOP, next_at=None, message_id="a1")
    screen.show(ags.alone(runs))
    assert "Foraging · a turn runs" in bar(screen)


def test_from_another_discussion_it_leads_to_the_one_that_goes_on_alone() -> None:
    screen = open_at(with_fields(ags.alone(), selected_id="d2"))
    assert screen.ui.shows("is already autonomous; only one discussion can be")
    screen.ui.click("Open")
    assert screen.asked == [SelectDiscussion("d1")]


def test_a_turn_of_its_own_stands_in_the_talk_as_the_programs_and_is_not_edited() -> None:
    screen = Screen(ags.alone())
    assert screen.ui.shows("The program")


def test_its_notes_stay_when_it_has_ended() -> None:
    state = ags.alone()
    over = replace(
        ags.LOOP, notes=(*ags.LOOP.notes, replace(ags.LOOP.notes[0], text="You stopped autonomy."))
    )
    screen = open_at(replace(state, attention=AttentionState(None, over)))
    assert screen.ui.shows("You stopped autonomy.")
    assert screen.ui.shows("The tides are in the table now.")


def test_words_that_begin_a_turn_stand_folded_in_the_talk_to_what_woke_it() -> None:
    screen = Screen(ags.alone())
    assert screen.ui.shows("The program")
    assert screen.ui.shows("Woken by a new file in the inbox: 'tides.txt'")
    assert not screen.ui.shows("You are at rest.")

    screen.ui.click("Show all 10 lines")
    assert screen.ui.shows("You are at rest.")
    assert screen.ui.shows("High water moved.")
    screen.ui.click("Show less")
    assert not screen.ui.shows("You are at rest.")


def test_a_search_that_stands_on_such_words_shows_them() -> None:
    find = FindView(is_open=True, query="high water moved")
    screen = Screen(ags.alone(), view_of(DiscussionView(find=find)))

    assert screen.ui.shows("High water moved.")
