"""Turns with tools: what is on disk before what, who is asked, and where a turn ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import (
    ApproveCall,
    CallDone,
    CallJudged,
    JudgeCall,
    LookForSandbox,
    RefuseCall,
    RunCall,
    SandboxFound,
    SetTools,
    StopCalls,
)
from core.agent.tool import ToolAnswer
from core.agent.tool_policy import EDIT_GRANT
from core.app.app_messages import Effect, HomeOpened
from core.kernel.errors import FailureKind
from core.kernel.language import tr
from core.kernel.values.agent import ActKind, Approval, CallState, Mode, Sandbox
from core.kernel.values.messages import CallEnd, Mark, Part, ReasoningPart, Role, TextPart, ToolResultPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.records import StartRecord
from core.kernel.values.settings import CachingSettings, Project, Settings, ToolSettings
from core.kernel.values.state import AppState, TrashItem
from core.kernel.values.updates import Tick, outcome_of
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    AppendRecords,
    DiscussionTrashed,
    QueueWritten,
    ResultToken,
    StartToken,
    WriteFailed,
)
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelReply,
    RetrySend,
    SendPrompt,
)
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import of, settings_loaded

DONE = (TextPart("Done."),)


def of_tools(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    return tuple(e for e in effects if isinstance(e, JudgeCall | RunCall | StopCalls | CallProvider))


def results(book: ToolPlaybook, chosen: str) -> dict[str, str]:
    return {p.call_id: p.text for m in book.said(chosen) for p in m.parts if isinstance(p, ToolResultPart)}


def asking(book: ToolPlaybook, chosen: str, *calls: tuple[str, str]) -> JudgeCall:
    """A discussion whose model asks for tools; the first call to be judged."""
    (judge,) = of(book.reply(book.ask(chosen, "go"), asks(*calls)), JudgeCall)
    return judge


def yes(book: ToolPlaybook, chosen: str, call_id: str, *, for_discussion: bool = False) -> tuple[Effect, ...]:
    """The person's yes to what is asked."""
    (call,) = (one for one in book.turn(chosen).calls if one.id == call_id)
    assert call.approval is not None
    asked = ApproveCall(chosen, call_id, call.approval.id, for_discussion=for_discussion)
    return book.keep(book.play(asked))


def test_a_call_begins_when_its_reply_is_on_disk_and_runs_when_its_start_is() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    call = book.ask(chosen, "What is in a?")
    ended = CallEnded(call.call_id, Stopped(StopKind.TOOL_CALLS), asks(("a", "look")), Usage(input_tokens=1))
    effects = book.play(ended)
    (write,) = of(effects, AppendRecords)
    assert not of(effects, JudgeCall)
    (judge,) = of(book.append(write), JudgeCall)

    effects = book.play(CallJudged(chosen, judge.call_id, Approval(ActKind.READ, "look at a", id="id")))
    (start,) = of(effects, AppendRecords)
    assert start.token == StartToken("a")
    assert isinstance(start.records[0], StartRecord)
    assert not of(effects, RunCall)
    (run,) = of(book.append(start), RunCall)
    assert run.approval_id == "id"
    assert not run.has_yes, "a policy let it"

    effects = book.play(CallDone(chosen, "a", ToolAnswer("text of a")))
    (result,) = of(effects, AppendRecords)
    assert result.token == ResultToken("a")
    assert not of(effects, CallProvider)
    (again,) = of(book.keep(effects), CallProvider)
    sent = again.spec.inputs
    assert [message.role for message in sent.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert sent.user_text == ""
    assert again.user_message_id == call.user_message_id
    assert sent.turns[0].text == call.spec.inputs.user_text

    book.reply(again, DONE, StopKind.COMPLETED)
    assert not book.state.agent.turns
    assert not book.state.turns.calls
    roles = [message.role for message in book.said(chosen)]
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]


def test_calls_that_look_run_beside_each_other_and_one_that_writes_waits_for_them() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(Mode.ACCEPT_EDITS)
    first = asking(book, chosen, ("a", "look"), ("b", "look"), ("c", "write"), ("d", "look"))

    (run_a, second) = of_tools(book.judge(first))
    assert isinstance(run_a, RunCall)
    assert isinstance(second, JudgeCall)
    (run_b, third) = of_tools(book.judge(second))
    assert isinstance(run_b, RunCall)
    assert isinstance(third, JudgeCall)
    assert not of_tools(book.judge(third, grant=EDIT_GRANT))
    assert not of_tools(book.finish(run_b))
    (run_c,) = of_tools(book.finish(run_a))
    assert isinstance(run_c, RunCall)
    (fourth,) = of_tools(book.finish(run_c))
    assert isinstance(fourth, JudgeCall), "what it looks at may be what was written"
    (run_d,) = of_tools(book.judge(fourth))
    assert isinstance(run_d, RunCall)
    (again,) = of(book.finish(run_d), CallProvider)
    assert list(results(book, chosen)) == ["b", "a", "c", "d"]
    sent = [p.call_id for m in again.spec.inputs.turns for p in m.parts if isinstance(p, ToolResultPart)]
    assert sent == ["a", "b", "c", "d"]


def test_a_yes_counts_for_exactly_what_is_asked_and_once() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    assert not of_tools(book.judge(asking(book, chosen, ("a", "write")), grant=EDIT_GRANT))
    assert book.states(chosen) == {"a": CallState.ASKING}

    assert not of_tools(book.play(ApproveCall(chosen, "a", "another", command_id="no")))
    told = outcome_of(book.state, "no")
    assert told is not None
    assert told.problem
    (run,) = of(yes(book, chosen, "a"), RunCall)
    (record,) = (m for m in book.turn(chosen).calls)
    assert record.let_by == "person"
    assert not of_tools(book.play(ApproveCall(chosen, "a", run.approval_id)))
    (again,) = of(book.finish(run), CallProvider)
    (judge,) = of(book.reply(again, asks(("b", "write"))), JudgeCall)
    book.judge(judge, grant=EDIT_GRANT)
    assert book.states(chosen)["b"] is CallState.ASKING


def test_a_yes_for_the_discussion_covers_what_comes_after_it() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.judge(asking(book, chosen, ("a", "write"), ("b", "write")), grant=EDIT_GRANT)
    (run,) = of(yes(book, chosen, "a", for_discussion=True), RunCall)
    (judge,) = of(book.finish(run), JudgeCall)

    assert of(book.judge(judge, grant=EDIT_GRANT), RunCall)
    assert book.state.agent.pages[chosen].grants == (EDIT_GRANT,)


def test_a_no_is_the_result_and_the_model_hears_the_persons_words() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.judge(asking(book, chosen, ("a", "write")))

    (again,) = of(book.keep(book.play(RefuseCall(chosen, "a", "Not that file."))), CallProvider)
    assert again.spec.inputs.turns[-1].parts == (
        ToolResultPart("a", "The person said no. Not that file.", is_error=True, ended=CallEnd.REFUSED),
    )
    assert book.states(chosen) == {"a": CallState.REFUSED}


def test_a_switch_to_accept_edits_answers_what_is_asked_and_plan_mode_refuses_it() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.judge(asking(book, chosen, ("a", "write")), grant=EDIT_GRANT)
    effects = book.keep(book.play(SetTools(chosen, has_tools=True, mode=Mode.ACCEPT_EDITS)))
    (run,) = of(effects, RunCall)
    (again,) = of(book.finish(run), CallProvider)

    (judge,) = of(book.reply(again, asks(("b", "bash"))), JudgeCall)
    book.judge(judge)
    assert book.states(chosen)["b"] is CallState.ASKING
    effects = book.keep(book.play(SetTools(chosen, has_tools=True, mode=Mode.PLAN)))
    assert book.states(chosen)["b"] is CallState.REFUSED
    assert of(effects, CallProvider)


def test_what_was_let_go_and_still_waits_is_judged_by_what_holds_when_it_begins() -> None:
    for mode, state in ((Mode.PLAN, CallState.REFUSED), (Mode.ASK, CallState.ASKING)):
        book = ToolPlaybook()
        chosen = book.with_tools(Mode.ACCEPT_EDITS)
        fetch, judge = of_tools(book.judge(asking(book, chosen, ("a", "look"), ("b", "write"))))
        assert isinstance(fetch, RunCall)
        assert isinstance(judge, JudgeCall)
        assert not of_tools(book.judge(judge, grant=EDIT_GRANT))
        book.play(SetTools(chosen, has_tools=True, mode=mode))

        assert not of(book.finish(fetch), RunCall)
        assert book.states(chosen)["b"] is state


def test_grants_end_with_the_folder_that_they_were_given_in_and_with_its_trust() -> None:
    for project in (
        Project(root="/other", name="other", is_trusted=True),
        Project(root="/project", name="project"),
    ):
        book = ToolPlaybook()
        chosen = book.with_tools()
        book.judge(asking(book, chosen, ("a", "write")), grant=EDIT_GRANT)
        yes(book, chosen, "a", for_discussion=True)
        here = settings_loaded(Project(root="/project", name="project", is_trusted=True))
        loaded = replace(here, settings_paths=book.state.config.settings_paths)
        book.play(loaded)
        assert book.state.agent.pages[chosen].grants == (EDIT_GRANT,)
        book.play(replace(loaded, project=project))
        assert book.state.agent.pages[chosen].grants == ()


def test_what_may_not_be_done_tells_nothing_of_what_is_there() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    judge = asking(book, chosen, ("a", "look"))
    here = settings_loaded(Project(root="/project", name="project"))
    book.play(replace(here, settings_paths=book.state.config.settings_paths))

    effects = book.judge(judge, problem="secret.txt has 12 bytes.")
    assert book.states(chosen)["a"] is CallState.REFUSED
    assert "12 bytes" not in repr(effects) + repr(book.state.agent.turns[chosen])


def test_commands_of_a_discussion_end_when_it_goes_to_the_trash() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    (run,) = of(book.judge(asking(book, chosen, ("a", "look"))), RunCall)
    (again,) = of(book.finish(run), CallProvider)
    book.reply(again, DONE, StopKind.COMPLETED)
    item = TrashItem(chosen, "it", datetime(2026, 11, 23, tzinfo=UTC), "deleted", "/trash/it")

    assert StopCalls(chosen, kills=True) in book.play(DiscussionTrashed(item))
    assert chosen not in book.state.agent.pages


def test_who_gives_tools_is_told_whether_commands_are_confined_once_and_before_the_first() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    assert of(book.play(SetTools(chosen, has_tools=True)), LookForSandbox)
    book.play(SandboxFound(Sandbox("bubblewrap")))
    assert not of(book.play(SetTools(chosen, has_tools=True, mode=Mode.PLAN)), LookForSandbox)


def test_a_call_that_cannot_be_judged_is_its_own_result_and_nobody_is_asked() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    effects = book.judge(asking(book, chosen, ("a", "nothing")), problem="There is no tool 'nothing'.")

    (again,) = of(effects, CallProvider)
    assert results(book, chosen) == {"a": "There is no tool 'nothing'."}
    assert again.spec.inputs.turns[-1].role is Role.TOOL


def test_calls_of_one_id_and_more_calls_than_a_reply_may_have_each_get_a_result() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    call = book.ask(chosen, "go")
    effects = book.reply(call, asks(*[("a", "nothing")] * 1000))
    while judges := of(effects, JudgeCall):
        effects = book.judge(judges[0], problem="no such tool")

    (again,) = of(effects, CallProvider)
    given = [p.call_id for m in again.spec.inputs.turns for p in m.parts if isinstance(p, ToolResultPart)]
    assert len(given) == len(set(given)) == 1000
    assert sum("64 calls" in text for text in results(book, chosen).values()) == 936


def test_escape_stops_what_runs_and_what_is_asked_and_the_log_stays_whole() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    run, judge = of_tools(book.judge(asking(book, chosen, ("a", "look"), ("b", "write"), ("c", "look"))))
    assert isinstance(run, RunCall)
    assert isinstance(judge, JudgeCall)
    book.judge(judge)
    assert book.states(chosen)["b"] is CallState.ASKING

    effects = book.keep(book.play(CancelReply(chosen)))
    assert of(effects, StopCalls)
    assert book.states(chosen) == {
        "a": CallState.RUNNING,
        "b": CallState.INTERRUPTED,
        "c": CallState.INTERRUPTED,
    }
    stopped = CallDone(chosen, "a", ToolAnswer("half of it", is_error=True), is_interrupted=True)
    assert not of_tools(book.keep(book.play(stopped)))
    assert set(results(book, chosen)) == {"a", "b", "c"}
    assert not book.state.agent.turns
    assert any(
        isinstance(e, Mark) and e.text == "Stopped." for e in book.state.discussions.open[chosen].entries
    )


def test_a_reply_that_was_stopped_or_cut_off_runs_none_of_its_calls() -> None:
    for kind in (StopKind.CANCELLED, StopKind.TRUNCATED):
        book = ToolPlaybook()
        chosen = book.with_tools()
        effects = book.reply(book.ask(chosen, "go"), asks(("a", "look")), kind)
        assert not of_tools(effects)
        assert results(book, chosen)["a"].startswith("Not run")
        assert not book.state.agent.turns


def test_a_stop_while_a_call_is_judged_or_its_start_is_written_runs_nothing() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    judge = asking(book, chosen, ("a", "look"))
    book.keep(book.play(CancelReply(chosen)))
    assert not of(book.judge(judge), RunCall)
    assert results(book, chosen)["a"].startswith("Not run")

    judge = asking(book, chosen, ("b", "look"))
    effects = book.play(CallJudged(chosen, "b", Approval(ActKind.READ, "look", id="id")))
    (start,) = of(effects, AppendRecords)
    book.keep(book.play(CancelReply(chosen)))
    run, stop = of_tools(book.append(start))
    assert isinstance(run, RunCall)
    assert stop == StopCalls(chosen, ("b",)), "it is told to stop in the same breath"


def test_the_queue_waits_until_the_turn_is_over() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    run, *_ = of(book.judge(asking(book, chosen, ("a", "look"))), RunCall)
    assert not book.state.turns.calls

    (add,) = of(book.play(SendPrompt(chosen, "and then?", may_queue=True)), AddToQueue)
    assert not of_tools(book.play(QueueWritten(chosen, (add.prompt,), add.prompt)))
    (again,) = of(book.finish(run), CallProvider)
    assert not again.spec.inputs.user_text
    (then,) = of(book.reply(again, DONE, StopKind.COMPLETED), CallProvider)
    assert then.spec.inputs.user_text == "and then?"


def test_a_second_send_is_refused_while_tools_are_at_work() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.judge(asking(book, chosen, ("a", "look")))

    assert not of(book.play(SendPrompt(chosen, "now!", command_id="no")), AppendRecords)
    told = outcome_of(book.state, "no")
    assert told is not None
    assert "under way" in told.problem


def test_a_retry_while_tools_are_at_work_asks_nothing() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    run, judge = of_tools(book.judge(asking(book, chosen, ("a", "look"), ("b", "write"))))
    assert isinstance(run, RunCall)
    assert isinstance(judge, JudgeCall)
    book.judge(judge)
    book.finish(run)
    assert not of(book.keep(book.play(RetrySend(chosen, command_id="no"))), CallProvider)
    told = outcome_of(book.state, "no")
    assert told is not None
    assert "under way" in told.problem


def test_the_guard_ends_a_turn_and_a_retry_goes_on_with_all_its_results() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(settings=Settings(tools=ToolSettings(max_rounds=2)))
    effects = book.judge(asking(book, chosen, ("a", "look")))
    (again,) = of(book.finish(of(effects, RunCall)[0]), CallProvider)
    (judge,) = of(book.reply(again, asks(("b", "look"))), JudgeCall)
    (run,) = of(book.judge(judge), RunCall)

    assert not of(book.finish(run), CallProvider)
    assert not book.state.agent.turns
    marks = [e.text for e in book.state.discussions.open[chosen].entries if isinstance(e, Mark)]
    assert any("2 times" in text for text in marks)
    (more,) = of(book.keep(book.play(RetrySend(chosen))), CallProvider)
    assert [m.role for m in more.spec.inputs.turns] == [
        Role.USER,
        *(Role.ASSISTANT, Role.TOOL),
        *(Role.ASSISTANT, Role.TOOL),
    ]
    assert more.version_of == ""


def test_a_round_that_fails_keeps_the_results_and_a_retry_goes_on_from_them() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    effects = book.judge(asking(book, chosen, ("a", "look")))
    (again,) = of(book.finish(of(effects, RunCall)[0]), CallProvider)
    failure = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped", "Retry.")
    book.keep(book.play(CallFailed(again.call_id, failure, (TextPart("I s"),), Usage(input_tokens=3))))
    assert not book.state.agent.turns
    assert book.state.discussions.open[chosen].failed_message_id == again.user_message_id

    (more,) = of(book.keep(book.play(RetrySend(chosen))), CallProvider)
    assert [m.role for m in more.spec.inputs.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert more.version_of
    (judge,) = of(book.reply(more, asks(("b", "look"))), JudgeCall)
    assert judge.call_id == "b"
    assert [m.role for m in book.said(chosen)] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]


def test_an_empty_reply_is_nudged_once_by_a_line_that_is_not_the_persons() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    call = book.ask(chosen, "go")
    (again,) = of(book.reply(call, (), StopKind.COMPLETED), CallProvider)
    assert [turn.text for turn in again.spec.inputs.turns[-2:]] == ["go", "Say something."]
    assert [m.text for m in book.said(chosen)] == ["go"]
    assert book.state.discussions.summaries[chosen].usage.input_tokens == 10

    book.reply(again, (), StopKind.COMPLETED)
    assert not book.state.turns.calls
    failure = book.state.discussions.open[chosen].failure
    assert failure is not None
    assert "empty" in failure.what


@pytest.mark.parametrize(
    "parts", [(ReasoningPart("Hm."),), (TextPart("\n\n"),), (ReasoningPart("Hm."), TextPart(" "))]
)
def test_a_reply_of_thoughts_or_blanks_is_asked_again_too(parts: tuple[Part, ...]) -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()

    (again,) = of(book.reply(book.ask(chosen, "go"), parts, StopKind.COMPLETED), CallProvider)

    assert again.spec.inputs.turns[-1].text == "Say something."


def limited(usd: float) -> Settings:
    return Settings(caching=CachingSettings(day_limit_usd=usd))


def test_each_round_asks_the_limits_and_a_yes_past_one_goes_on_with_the_results() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools(settings=limited(0.015))
    book.state = _spent(book.state, 0.0)
    effects = book.judge(asking(book, chosen, ("a", "look")))
    (again,) = of(book.finish(of(effects, RunCall)[0]), CallProvider)
    (judge,) = of(book.reply(again, asks(("b", "look"))), JudgeCall)
    (run,) = of(book.judge(judge), RunCall)

    assert not of(book.finish(run), CallProvider)
    refusal = book.state.discussions.open[chosen].refusal
    assert refusal is not None
    assert not book.state.agent.turns
    assert isinstance(refusal.confirmed, RetrySend)
    (more,) = of(book.keep(book.play(refusal.confirmed)), CallProvider)
    assert more.spec.inputs.turns[-1].role is Role.TOOL


def _spent(state: AppState, usd: float) -> AppState:
    return replace(state, spending=replace(state.spending, spent_today_usd=usd, day_start=state.now))


def test_where_there_is_no_window_a_question_waits_300_seconds_and_is_a_no_then() -> None:
    for is_headless in (True, False):
        book = ToolPlaybook()
        chosen = book.with_tools()
        book.play(HomeOpened("/home/person/.manual_slop", is_headless=is_headless))
        book.judge(asking(book, chosen, ("a", "write")))
        book.later(299).play(Tick())
        assert book.states(chosen) == {"a": CallState.ASKING}
        book.keep(book.later(2).play(Tick()))
        assert book.states(chosen) == {"a": CallState.REFUSED if is_headless else CallState.ASKING}


def test_a_start_that_cannot_be_written_is_a_call_that_is_not_run() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    asking(book, chosen, ("a", "look"))
    effects = book.play(CallJudged(chosen, "a", Approval(ActKind.READ, "look", id="id")))
    (start,) = of(effects, AppendRecords)
    effects = book.play(WriteFailed(chosen, start.token, "The disk is full", "", start.records))
    assert not of(effects, RunCall)
    book.keep(effects)
    assert "The disk is full" in results(book, chosen)["a"]


@pytest.mark.usefixtures("german")
def test_the_model_hears_in_english_why_a_call_is_not_run() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    asking(book, chosen, ("a", "look"))
    effects = book.play(CallJudged(chosen, "a", Approval(ActKind.READ, "look", id="id")))
    (start,) = of(effects, AppendRecords)
    book.keep(book.play(WriteFailed(chosen, start.token, tr("the disk is full"), "", start.records)))
    assert results(book, chosen)["a"].endswith("noted on disk that it begins. the disk is full")


def test_a_result_that_the_disk_refuses_is_written_again_and_nothing_goes_on_before() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    (run,) = of(book.judge(asking(book, chosen, ("a", "look"))), RunCall)
    (write,) = of(book.play(CallDone(chosen, run.call_id, ToolAnswer("text"))), AppendRecords)
    assert not of_tools(book.play(WriteFailed(chosen, write.token, "The disk is full", "", write.records)))
    (again,) = of(book.later(6).play(Tick()), AppendRecords)
    assert again.records == write.records
    assert of(book.append(again), CallProvider)
    assert not book.state.discussions.pending


def test_usage_of_every_round_is_the_cost_of_the_task() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    effects = book.judge(asking(book, chosen, ("a", "look")))
    (again,) = of(book.finish(of(effects, RunCall)[0]), CallProvider)
    book.reply(again, DONE, StopKind.COMPLETED)
    assert book.state.agent.pages[chosen].usd == 0.02
    book.reply(book.ask(chosen, "next"), DONE, StopKind.COMPLETED)
    assert book.state.agent.pages[chosen].usd == 0.01
