"""Calls that a program which ended has left: asked about where they would act now, and paid for by nobody unasked."""

from __future__ import annotations

from msgspec.structs import replace

from core.agent.agent_messages import JudgeCall, RunCall
from core.app.app_messages import HomeOpened
from core.kernel.values.agent import CallState
from core.kernel.values.messages import Role
from core.kernel.values.settings import Project
from core.kernel.values.updates import PathsChanged, Tick, Watched
from core.services.settings.settings_messages import SettingsSettled
from core.talk.discussion.discussion_messages import DiscussionLoaded
from core.talk.turn.turn_messages import CallProvider, RetrySend, SendPrompt
from tests.core.agent.test_rounds import asking, of_tools, results, yes
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of, settings_loaded


def test_what_was_not_begun_when_a_program_ended_is_asked_and_a_new_message_lets_go_of_it() -> None:
    for goes_on in (True, False):
        book = ToolPlaybook()
        chosen = book.with_tools()
        asking(book, chosen, ("a", "look"), ("b", "look"))
        opened = book.state.discussions.open[chosen]
        book.state = replace(book.state, agent=replace(book.state.agent, turns={}))
        (judge,) = of(book.play(DiscussionLoaded(replace(opened, left_calls=("a", "b")))), JudgeCall)
        assert not of(book.judge(judge), RunCall), "also what a policy lets run"
        assert book.states(chosen)["a"] is CallState.ASKING
        if goes_on:
            assert of(yes(book, chosen, "a"), RunCall)
            continue
        effects = book.keep(book.play(SendPrompt(chosen, "leave that")))
        (call,) = of(effects, CallProvider)
        assert call.spec.inputs.user_text == "leave that"
        assert {text[:8] for text in results(book, chosen).values()} == {"Not run:"}
        assert not book.state.agent.turns


def test_what_was_left_waits_for_the_settings_and_asks_no_model_before_the_person_said_something() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    asking(book, chosen, ("a", "look"))
    left = DiscussionLoaded(replace(book.state.discussions.open[chosen], left_calls=("a",)))
    settled = book.state.config
    unread = replace(settled, settings_paths=(), project=Project())
    book.state = replace(book.state, agent=replace(book.state.agent, turns={}), config=unread)
    assert not of(book.play(left), JudgeCall), "nobody knows yet in which folder it would act"

    project = Project(root="/project", name="project", is_trusted=True)
    (judge,) = of(book.play(replace(settings_loaded(project), settings_paths=("/c",))), JudgeCall)
    assert judge.places.root == "/project"
    assert not of_tools(book.judge(judge, problem="It cannot be done."))
    assert not book.state.agent.turns
    assert book.state.discussions.open[chosen].queue_hold
    assert results(book, chosen) == {"a": "It cannot be done."}
    (again,) = of(book.keep(book.play(RetrySend(chosen))), CallProvider)
    assert again.spec.inputs.turns[-1].role is Role.TOOL


def test_a_question_that_was_left_and_that_nobody_answers_ends_without_a_call() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    asking(book, chosen, ("a", "write"))
    book.play(HomeOpened("/home/person/.manual_slop", is_headless=True))
    left = DiscussionLoaded(replace(book.state.discussions.open[chosen], left_calls=("a",)))
    book.state = replace(book.state, agent=replace(book.state.agent, turns={}))
    (judge,) = of(book.play(left), JudgeCall)
    book.judge(judge)
    assert not of_tools(book.keep(book.later(301).play(Tick())))
    assert results(book, chosen)["a"].startswith("Refused: nobody answered")
    assert not book.state.agent.turns


def test_what_a_killed_program_left_is_judged_when_the_project_is_known() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    asking(book, chosen, ("a", "look"))
    opened = book.state.discussions.open[chosen]
    book.state = replace(book.state, agent=replace(book.state.agent, turns={}))
    project = book.state.config.project
    book.state = replace(book.state, config=replace(book.state.config, project=Project()))
    book.settles = False
    book.play(PathsChanged(Watched.SETTINGS, ()))
    assert not of(book.play(DiscussionLoaded(replace(opened, left_calls=("a",)))), JudgeCall)
    book.play(settings_loaded(project))
    (judge,) = of(book.play(SettingsSettled(book.state.config.asked)), JudgeCall)
    assert (judge.call_id, judge.places.root, judge.places.is_trusted) == ("a", "/project", True)
    book.judge(judge)
    assert book.states(chosen)["a"] is CallState.ASKING
