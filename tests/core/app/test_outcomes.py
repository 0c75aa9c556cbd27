"""How commands end that a front end waits for: told by their id, once, by whoever carried them out."""

from __future__ import annotations

import pytest

from core.app.app_messages import Command, awaited
from core.app.execution import is_over
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import OperationDone, OperationFailed, command_id_of, conclude, outcome_of
from core.knowledge.knowledge_messages import ChangeKnowledge, RegenerateDigest
from core.services.settings.settings_messages import RefreshModels
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    CreateDiscussion,
    DeleteDiscussion,
    SearchDiscussions,
    SelectDiscussion,
    TrashOnDisk,
    WriteMeta,
)
from tests.core.app.playbook import Playbook, of


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


@pytest.mark.parametrize(
    "command",
    [
        RegenerateDigest(),
        RefreshModels("embedded"),
        CreateDiscussion("x"),
        SearchDiscussions("tides"),
    ],
)
def test_the_effect_carries_the_commands_id_and_its_end_is_the_commands(
    book: Playbook, command: Command
) -> None:
    effects = book.play(awaited(command, "w1"))

    assert [command_id_of(effect) for effect in effects] == ["w1"]
    assert outcome_of(book.state, "w1") is None
    book.play(OperationDone(command_id="w1"))
    assert outcome_of(book.state, "w1") == CommandOutcome("w1")


def test_a_failed_effect_is_told_to_who_waits_and_to_the_person(book: Playbook) -> None:
    (effect,) = of(book.play(RegenerateDigest("w1")), ChangeKnowledge)

    book.play(OperationFailed("knowledge", "The disk is full", "Free some space", effect.command_id))
    book.play(OperationDone(command_id=effect.command_id))

    assert outcome_of(book.state, "w1") == CommandOutcome("w1", "", "The disk is full", "Free some space")
    assert book.state.program.notices[-1].level is Level.ERROR


def test_a_failure_of_something_else_ends_no_command(book: Playbook) -> None:
    book.play(RegenerateDigest("w1"))

    book.play(OperationFailed("models/ollama", "No answer"))
    book.play(OperationFailed("knowledge", "The disk is full", "", "w2"))

    assert outcome_of(book.state, "w1") is None


def test_without_an_id_nothing_is_kept(book: Playbook) -> None:
    (effect,) = of(book.play(RegenerateDigest()), ChangeKnowledge)
    book.play(OperationFailed("knowledge", "The disk is full"))

    assert effect.command_id == ""
    assert book.state.program.outcomes == ()


def test_what_needs_no_worker_has_ended_at_once(book: Playbook) -> None:
    chosen = book.discussion()

    book.play(SelectDiscussion(chosen, "w1"))
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"pinned": False}, command_id="w2"))

    assert book.state.program.outcomes == (CommandOutcome("w1"), CommandOutcome("w2"))


def test_of_several_effects_the_one_that_stands_for_the_command_is_waited_for(book: Playbook) -> None:
    chosen = book.discussion()
    (meta,) = of(
        book.play(ChangeDiscussion(discussion_id=chosen, changes={"pinned": True}, command_id="w1")),
        WriteMeta,
    )
    assert meta.command_id == "w1"

    (trash,) = of(book.play(DeleteDiscussion(chosen, "w2")), TrashOnDisk)
    assert trash.command_id == "w2"


def test_what_the_step_declines_is_told_with_its_reason(book: Playbook) -> None:
    chosen = book.discussion()
    book.ask(chosen, "hello")
    book.play(CreatePreset("core"))

    assert book.play(DeleteDiscussion(chosen, "w1")) == ()
    book.play(CreatePreset("core", command_id="w2"))

    deleted, preset = book.state.program.outcomes
    assert (deleted.command_id, "still receiving a reply" in deleted.problem) == ("w1", True)
    assert (preset.command_id, "core" in preset.problem) == ("w2", True)


def test_a_wait_is_over_with_a_problem_at_once_and_with_success_once_the_state_shows_it() -> None:
    state = AppState()
    done, failed = (
        conclude(state, CommandOutcome("one", problem=problem)) for problem in ("", "The disk is full")
    )

    assert not is_over(state, "one")
    assert is_over(done, "one")
    assert not is_over(done, "two")
    assert not is_over(done, "one", lambda now: now is not done)
    assert is_over(failed, "one", lambda _: False)
