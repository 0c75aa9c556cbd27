"""What was settled for a discussion ends where grants end, and a change of policies is judged at once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import RunCall, SetTools
from core.agent.agent_pages import mode_of
from core.agent.tool_policy import EDIT_GRANT
from core.app.app_messages import HomeOpened
from core.kernel.values.agent import CallState, Mode
from core.kernel.values.settings import Policies, PolicyAnswer, Project
from core.services.settings.settings_messages import SettingsLoaded
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    CreateOnDisk,
    DiscussionCreated,
    DiscussionLoaded,
    WriteMeta,
)
from core.talk.turn.turn_messages import CallProvider
from tests.core.agent.test_rounds import asking
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of, settings_loaded

TRUSTED = Project(root="/project", name="project", is_trusted=True)


def loaded(project: Project) -> SettingsLoaded:
    return replace(settings_loaded(project), settings_paths=("/config/settings.toml",))


def notices(book: ToolPlaybook) -> list[str]:
    return [one.text for one in book.state.program.notices if "asks before edits again" in one.text]


@pytest.mark.parametrize("is_headless", [False, True])
def test_accepting_edits_ends_with_the_program_and_plan_does_not(is_headless: bool) -> None:
    for mode in (Mode.ACCEPT_EDITS, Mode.PLAN):
        book = ToolPlaybook()
        chosen = book.with_tools(mode)
        assert mode_of(book.state, chosen) is mode
        book.play(DiscussionLoaded(book.state.discussions.open[chosen]))
        assert mode_of(book.state, chosen) is mode, "read again by the program that it was chosen in"

        book.play(HomeOpened("/home/person/.manual_slop", is_headless=is_headless))
        book.state = replace(book.state, agent=replace(book.state.agent, pages={}))
        effects = book.play(DiscussionLoaded(book.state.discussions.open[chosen]))
        is_over = mode is Mode.ACCEPT_EDITS
        assert mode_of(book.state, chosen) is (Mode.ASK if is_over else mode)
        assert [one.meta.mode for one in of(effects, WriteMeta)] == [Mode.ASK] * (is_over and not is_headless)
        assert len(notices(book)) == (is_over and not is_headless)
        book.judge(asking(book, chosen, ("a", "write")), grant=EDIT_GRANT)
        assert book.states(chosen)["a"] is (CallState.ASKING if is_over else CallState.REFUSED)


@pytest.mark.parametrize(
    ("project", "is_over"),
    [
        (Project(root="/other", name="other", is_trusted=True), True),
        (Project(root="/project", name="project"), True),
        (replace(TRUSTED, name="another name"), False),
    ],
)
def test_accepting_edits_ends_with_the_project_and_its_trust(project: Project, is_over: bool) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(Mode.ACCEPT_EDITS)
    effects = book.play(loaded(project))
    assert (mode_of(book.state, chosen) is Mode.ASK) is is_over
    assert bool(of(effects, WriteMeta)) is is_over
    assert len(notices(book)) == is_over


def test_a_branch_asks_where_its_parent_accepts_edits() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(Mode.ACCEPT_EDITS)
    book.answer(book.ask(chosen, "go"), "Done.")
    (effect,) = of(book.play(BranchDiscussion(chosen, book.said(chosen)[-1].id)), CreateOnDisk)
    assert effect.meta.mode is Mode.ASK
    opened = replace(book.state.discussions.open[chosen], id=effect.meta.id)
    book.play(DiscussionCreated(replace(book.state.discussions.summaries[chosen], meta=effect.meta), opened))
    assert (mode_of(book.state, effect.meta.id), mode_of(book.state, chosen)) == (Mode.ASK, Mode.ACCEPT_EDITS)
    assert len(notices(book)) == 1


def test_policies_that_change_answer_the_question_that_stands() -> None:
    for answer, state in ((PolicyAnswer.ALLOW, CallState.RUNNING), (PolicyAnswer.REFUSE, CallState.REFUSED)):
        book = ToolPlaybook()
        chosen = book.with_tools()
        book.judge(asking(book, chosen, ("a", "write")), grant=EDIT_GRANT)
        assert book.states(chosen)["a"] is CallState.ASKING
        effects = book.keep(book.play(loaded(replace(TRUSTED, policies=Policies(edits=answer)))))
        assert book.states(chosen)["a"] is state
        assert of(effects, RunCall if answer is PolicyAnswer.ALLOW else CallProvider)


def test_a_choice_of_the_person_counts_at_once_and_again_after_a_restart() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(Mode.ACCEPT_EDITS)
    book.state = replace(book.state, agent=replace(book.state.agent, pages={}))
    book.play(DiscussionLoaded(book.state.discussions.open[chosen]))
    book.play(SetTools(chosen, has_tools=True, mode=Mode.ACCEPT_EDITS))
    assert mode_of(book.state, chosen) is Mode.ACCEPT_EDITS
