"""A comparison over the whole program and a vendor that caches: with and without memory, and on as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.discussion import ComparedModel
from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.messages import Status
from core.kernel.values.state import AppState
from core.kernel.values.updates import calls_in, is_busy
from core.knowledge.knowledge_reader import regenerate_digest
from core.knowledge.memory_log import read_logs
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.talk.turn.turn_messages import CancelReply, CompareReplies, SendPrompt
from tests.core.app.programs import Programs, until
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.loopback import Gate, HoldAfter

MODEL = ComparedModel(provider="anthropic", model="claude-opus-5-5")


@pytest.mark.slow
def test_after_a_comparison_without_memory_the_discussion_goes_on_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = Programs(tmp_path)
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        knowledge = programs.home / "knowledge"
        knowledge.mkdir(parents=True)
        (knowledge / "facts.md").write_text("- The tide turns every six hours\n", encoding="utf-8")
        regenerate_digest(programs.home)
        program = programs.start()
        program.send(CreateDiscussion("Sea", "anthropic", MODEL.model))
        chosen = until(
            program, lambda s: s.discussions.selected_id in s.discussions.open
        ).discussions.selected_id
        words = "Tell me of the tide. " * 400

        def said(count: int) -> None:
            until(
                program,
                lambda s: chosen not in s.turns.calls and len(s.discussions.open[chosen].messages) == count,
            )

        program.send(SendPrompt(discussion_id=chosen, text=words))
        said(2)
        bare = ComparedModel(provider=MODEL.provider, model=MODEL.model, has_memory=False)
        program.send(CompareReplies(discussion_id=chosen, models=(MODEL, bare), text="And the moon?"))
        until(
            program,
            lambda s: (found := s.discussions.open[chosen].comparison) is not None and found.is_over,
        )
        said(4)
        comparison = program.snapshot().discussions.open[chosen].comparison
        assert comparison is not None
        assert [one.problem for one in comparison.replies] == ["", ""]
        asked = [str(body) for body in server.bodies if "And the moon?" in str(body.get("messages"))]
        assert sorted("six hours" in body for body in asked) == [False, True]
        program.send(SendPrompt(discussion_id=chosen, text="And the sun?"))
        said(6)
        opened = program.snapshot().discussions.open[chosen]
        assert opened.failure is None
        assert not [notice for notice in program.snapshot().program.notices if "held" in notice.text]
    programs.stop()


@pytest.mark.parametrize("is_bare_first", [True, False])
def test_of_a_comparison_only_the_run_with_memory_counts_as_its_use(
    is_bare_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = Programs(tmp_path)
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        knowledge = programs.home / "knowledge"
        knowledge.mkdir(parents=True)
        (knowledge / "facts.md").write_text("- The tide turns every six hours\n", encoding="utf-8")
        regenerate_digest(programs.home)
        program = programs.start()
        program.send(CreateDiscussion("Sea", "anthropic", MODEL.model))
        chosen = until(
            program, lambda s: s.discussions.selected_id in s.discussions.open
        ).discussions.selected_id
        bare = ComparedModel(provider=MODEL.provider, model=MODEL.model, has_memory=False)
        models = (bare, MODEL) if is_bare_first else (MODEL, bare)
        program.send(CompareReplies(discussion_id=chosen, models=models, text="And the moon?"))
        state = until(
            program,
            lambda s: (
                (found := s.discussions.open[chosen].comparison) is not None
                and found.is_over
                and not is_busy(s, chosen)
            ),
        )
        comparison = state.discussions.open[chosen].comparison
        assert comparison is not None
        with_memory = next(one.reply_id for one in comparison.replies if one.asked.has_memory)
        until(program, lambda _: bool(_events(programs.home, ItemEventKind.USED)))
    programs.stop()
    used = _events(programs.home, ItemEventKind.USED)
    assert [(one.message, bool(one.tokens)) for one in used] == [(with_memory, True)]
    assert [len(one.items) for one in _events(programs.home, ItemEventKind.INJECTED)] == [1]


def _events(home: Path, kind: ItemEventKind) -> list[ItemEvent]:
    return [one for one in read_logs(home).events if one.kind is kind]


def test_one_that_goes_on_no_more_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first never goes on after some words: the other answers all the same."""
    programs, gate = Programs(tmp_path), Gate()
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        program = programs.start()
        program.send(CreateDiscussion("Sea", "anthropic", MODEL.model))
        chosen = until(
            program, lambda s: s.discussions.selected_id in s.discussions.open
        ).discussions.selected_id
        server.faults.append(HoldAfter(6, gate))
        other = ComparedModel(provider=MODEL.provider, model="claude-sonnet-5-5")
        program.send(CompareReplies(discussion_id=chosen, models=(MODEL, other), text="why?"))

        state = until(program, lambda s: _came(s, chosen) == 1 and len(calls_in(s, chosen)) == 1)
        assert is_busy(state, chosen)
        (held,) = calls_in(state, chosen)
        until(program, lambda s: bool(calls_in(s, chosen)[0].text))
        program.send(CancelReply(discussion_id=chosen, call_id=held.id))
        state = until(
            program,
            lambda s: (
                not is_busy(s, chosen) and s.discussions.open[chosen].messages[-1].status is Status.COMPLETE
            ),
        )
        gate.open()
        comparison = state.discussions.open[chosen].comparison
        assert comparison is not None
        assert sorted(one.problem for one in comparison.replies) == ["", "You stopped this reply."]
        assert len(state.discussions.open[chosen].messages) == 2
        (versions,) = state.discussions.open[chosen].versions.values()
        assert len(versions.ids) == 2
    programs.stop()


def _came(state: AppState, chosen: str) -> int:
    comparison = state.discussions.open[chosen].comparison
    return 0 if comparison is None else sum(bool(one.reply_id) for one in comparison.replies)
