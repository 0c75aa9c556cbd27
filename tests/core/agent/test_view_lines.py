"""The model's view in and between turns with tools: what was sent keeps its bytes, what is ephemeral leaves a cold view."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.agent.agent_messages import JudgeCall, RunCall
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.messages import AttachmentPart, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import StopKind
from core.kernel.values.spec import CallToBuild
from core.kernel.values.state import AppState
from core.talk.context.assembly_desk import begun_turn, turn_inputs
from core.talk.context.stack import build_stack
from core.talk.turn.turn_messages import CallProvider
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import of

DONE = (TextPart("Done."),)


def _asked(book: ToolPlaybook, chosen: str, call: tuple[str, str]) -> JudgeCall:
    (judge,) = of(book.reply(book.ask(chosen, "go"), asks(call)), JudgeCall)
    return judge


def test_a_nudge_behind_results_changes_no_byte_that_was_sent_and_leaves_the_line_about_the_journal() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    judge = _asked(book, chosen, ("a", "look"))
    ended = book.judge(judge)
    book.state = _full(book.state)
    (second,) = of(book.finish(of(ended, RunCall)[0], "text"), CallProvider)
    before = second.spec.inputs
    assert "Write down now" in str(before.turns[-1].parts[-1])

    (third,) = of(book.reply(second, (), StopKind.COMPLETED), CallProvider)
    after = third.spec.inputs
    assert after.turns[:-1] == before.turns
    assert (after.turns[-1].role, after.turns[-1].text) == (Role.USER, "Say something.")
    assert after.metadata == before.metadata, "it is no turn of the person's"
    stacks = [build_stack(one) for one in (before, after)]
    sent, then = (stack.request().messages for stack in stacks)
    assert then[: len(sent)] == sent


def test_a_nudge_behind_the_persons_words_changes_nothing_that_was_sent_with_them() -> None:
    """Files and recall stand behind the words: a changed word would have them read anew, and paid anew."""
    book = ToolPlaybook()
    chosen = book.with_tools()
    first = book.ask(chosen, "go")
    (second,) = of(book.reply(first, (), StopKind.COMPLETED), CallProvider)

    file = AttachmentPart("a" * 64, "application/pdf", "tides.pdf", 9)
    before = replace(first.spec.inputs, retrieved="A note.", attachments=(file,))
    words, nudge = second.spec.inputs.turns
    words = replace(words, parts=(*words.parts, file))
    began = begun_turn(_to_build(first), before)
    after = turn_inputs(_to_build(second), began)
    assert after is not None
    stacks = [build_stack(before), build_stack(replace(after, turns=(words, nudge)))]
    sent, then = (stack.request().messages for stack in stacks)
    assert then[:-1] == sent[:-1]
    assert [_bytes(part) for part in then[-1].parts] == [
        *(_bytes(part) for part in sent[-1].parts),
        "Say something.",
    ]
    assert any("A note." in str(part) for part in sent[-1].parts)
    assert file in sent[-1].parts


def _to_build(call: CallProvider) -> CallToBuild:
    return CallToBuild(call.call_id, call.request_id, call.user_message_id, call.spec)


def _bytes(part: object) -> object:
    return getattr(part, "text", part)


def test_calls_of_the_journal_leave_a_view_that_is_cold_and_stay_in_one_that_may_be_warm() -> None:
    for is_cold in (False, True):
        book = ToolPlaybook()
        chosen = book.with_tools()
        asked = asks(("a", "journal"), ("b", "look"))
        (judge,) = of(book.reply(book.ask(chosen, "go"), asked), JudgeCall)
        run, second = [e for e in book.judge(judge) if isinstance(e, JudgeCall | RunCall)]
        assert isinstance(second, JudgeCall)
        runs = (run, *of(book.judge(second), RunCall))
        (again,) = [
            call for one in runs if isinstance(one, RunCall) for call in of(book.finish(one), CallProvider)
        ]
        book.reply(again, DONE, StopKind.COMPLETED)
        now = book.at
        cache = DiscussionCacheState(chosen, "embedded", now, now + timedelta(seconds=0 if is_cold else 300))
        book.state = replace(book.state, caching=replace(book.state.caching, caches={chosen: cache}))

        turns = book.later(1).ask(chosen, "next").spec.inputs.turns
        names = [part.name for one in turns for part in one.parts if isinstance(part, ToolCallPart)]
        told = [part.call_id for one in turns for part in one.parts if isinstance(part, ToolResultPart)]
        assert (names, told) == ((["look"], ["b"]) if is_cold else (["journal", "look"], ["a", "b"]))
        kept = {p.call_id for m in book.said(chosen) for p in m.parts if isinstance(p, ToolResultPart)}
        assert kept == {"a", "b"}, "the log keeps both"


def _full(state: AppState) -> AppState:
    """The same with models whose window the last request has filled by four fifths."""
    models = {
        name: tuple(replace(model, context_tokens=12) for model in found)
        for name, found in state.config.models.items()
    }
    return replace(state, config=replace(state.config, models=models))
