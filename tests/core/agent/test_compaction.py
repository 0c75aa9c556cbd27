"""Compaction in the step: who waits for it, what is written, paid and said, and what a running turn keeps."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import (
    CompactDiscussion,
    PlanView,
    StopSummary,
    SummariseView,
    ViewPlanned,
    ViewSummarised,
)
from core.app.app_messages import Effect
from core.kernel.errors import FailureKind
from core.kernel.ids import Stamp
from core.kernel.values.discussion import CallPhase
from core.kernel.values.messages import Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Failure, ProviderKind
from core.kernel.values.records import MarkRecord, MessageRecord, Record, UsageRecord, ViewRecord
from core.kernel.values.state import CommandOutcome
from core.kernel.values.usage import SpentElsewhere, Usage, UsageKind
from core.kernel.values.window import CompactionPhase, CutPlan, CutReason, ShrunkResult, ViewCut
from core.services.settings.settings_messages import ChangeSetting, SettingsSettled
from core.services.spending.limits import upkeep_key
from core.talk.caching.caching_messages import StopPings
from core.talk.context.token_scale import context_window
from core.talk.discussion.discussion_messages import AppendRecords, RecordsAppended, UpkeepToken, WriteFailed
from core.talk.discussion.log_content import fold
from core.talk.turn.sending import save_then_call
from core.talk.turn.turn_messages import CallFailed, CallProvider, CancelReply, RetrySend, SendPrompt
from tests.core.app.playbook import Playbook, of, settings_loaded
from tests.core.records import NOW

TOO_LONG = Failure(FailureKind.CONTEXT_TOO_LONG, "The request is longer than the window.", "Shorten it.")


@pytest.fixture
def book() -> Playbook:
    found = Playbook().ready()
    loaded = settings_loaded()
    found.play(replace(loaded, prompts={**loaded.prompts, "compress-discussion.md": "Summarise."}))
    return found


def give_tools(book: Playbook, chosen: str) -> None:
    """Give a discussion tools, and a model that takes them."""
    row, config = book.state.discussions.summaries[chosen], book.state.config
    rows = {
        **book.state.discussions.summaries,
        chosen: replace(row, meta=replace(row.meta, has_tools=True)),
    }
    taking = replace(config.providers["embedded"], kind=ProviderKind.COMPATIBLE)
    book.state = replace(
        book.state,
        discussions=replace(book.state.discussions, summaries=rows),
        config=replace(config, providers={**config.providers, "embedded": taking}),
    )


LINE = "A line of the program, not of the person"
CUT = ViewCut("", NOW, "", left_messages=2, left_tokens_est=99, why=CutReason.FULL)


def talked(book: Playbook, tokens: int = 7_500, turns: int = 2) -> str:
    """A discussion of the built-in model, whose window has 8,192 tokens, the last request with so many."""
    chosen = book.discussion()
    for number in range(turns):
        call = book.later(60).ask(chosen, f"question {number}")
        used = tokens if number == turns - 1 else 10
        book.answer(call, f"answer {number}", Usage(input_tokens=used, output_tokens=10))
    book.later(60)
    return chosen


def sent(book: Playbook, chosen: str, text: str = "next") -> tuple[Effect, ...]:
    (write,) = of(book.play(SendPrompt(chosen, text)), AppendRecords)
    return book.append(write)


def planned(
    book: Playbook, plan: PlanView, *, summary: bool = False, journal: str = ""
) -> tuple[Effect, ...]:
    """The worker's plan: everything before the last turn leaves."""
    begins = next(one.id for one in reversed(plan.messages) if one.role is Role.USER)
    cut = ViewCut("", plan.at, begins, journal=journal, left_messages=2, left_tokens_est=99, why=plan.why)
    told = ("question 0",) if summary else ()
    return book.play(ViewPlanned(plan.discussion_id, plan.job, CutPlan(cut, to_summarise=told), 0.5))


def summarised(asked: SummariseView, text: str, problem: str, paid: Usage) -> ViewSummarised:
    """The worker's answer."""
    return ViewSummarised(asked.discussion_id, asked.job, asked.record_id, text, problem, paid)


def kept(book: Playbook, effects: tuple[Effect, ...]) -> tuple[tuple[Record, ...], tuple[Effect, ...]]:
    """The cut on disk, and what followed from it."""
    write = next(e for e in of(effects, AppendRecords) if any(isinstance(r, ViewRecord) for r in e.records))
    return write.records, book.append(write)


def test_a_send_into_a_full_window_waits_for_a_cut_that_is_on_disk(book: Playbook) -> None:
    chosen = talked(book)

    (plan,) = of(sent(book, chosen), PlanView)

    call = book.state.turns.calls[chosen]
    assert (call.phase, call.awaits_view, plan.why) == (CallPhase.COMPACTING, True, CutReason.FULL)
    assert [one.text for one in plan.messages] == ["question 0", "answer 0", "question 1", "answer 1"]
    effects = planned(book, plan, journal="What was done.")
    assert not of(effects, CallProvider)
    records, effects = kept(book, effects)
    (built,) = of(effects, CallProvider)
    assert of(effects, StopPings)
    said = [one.text for one in built.spec.inputs.turns]
    assert "What was done." in said[0]
    assert said[1:] == ["question 1", "answer 1"]
    assert built.spec.inputs.user_text == "next"
    assert built.spec.inputs.metadata.turn_count == 2
    assert not book.state.agent.compactions
    opened = book.state.discussions.open[chosen]
    assert [one.text for one in opened.messages][:2] == ["question 0", "answer 0"]  # the log keeps them
    (mark,) = [one for one in records if isinstance(one, MarkRecord)]
    assert "The model no longer reads 2 messages, about 99 tokens" in mark.text
    window = context_window(book.state, chosen)
    assert window is not None
    assert (window.begins_at, window.left_messages, window.limit_tokens) == (opened.messages[2].id, 2, 8192)
    assert not of(sent(book, book.discussion()), PlanView)  # another one is not held up


def test_below_nine_tenths_nothing_waits(book: Playbook) -> None:
    assert of(sent(book, talked(book, 7_000)), CallProvider)


def test_a_window_that_nobody_knows_is_assumed_and_said(book: Playbook) -> None:
    book.state = replace(book.state, config=replace(book.state.config, models={}, profiles=()))
    chosen = talked(book, 30_000)

    (plan,) = of(sent(book, chosen), PlanView)
    window = context_window(book.state, chosen)
    assert window is not None
    assert (window.limit_tokens, window.is_assumed, window.is_reported) == (32_768, True, True)
    told = next(one for one in book.state.program.notices if one.id == f"window/{chosen}")
    assert "The program assumes 32,768 tokens, and 92 % of them" in told.text
    assert "a summary for an unknown price. The log" in told.detail
    records, _ = kept(book, planned(book, plan))
    assert "the program assumed 32,768 tokens" in next(
        one.text for one in records if isinstance(one, MarkRecord)
    )


def test_a_summary_is_paid_for_within_the_limits_and_booked(book: Playbook) -> None:
    chosen = talked(book)
    (plan,) = of(sent(book, chosen), PlanView)

    (asked,) = of(planned(book, plan, summary=True), SummariseView)

    assert [key.partition("/")[0] for key in book.state.spending.reserved] == ["compaction"]
    assert asked.template == "Summarise."
    paid = Usage(input_tokens=100, output_tokens=50, cost_usd=0.4)
    effects = book.play(summarised(asked, "They asked once.", "", paid))
    assert not book.state.spending.reserved
    booked, _ = of(effects, AppendRecords)
    (used,) = booked.records
    assert isinstance(used, UsageRecord)
    assert (used.kind, used.usage, used.id) == ("compaction", paid, asked.record_id)
    assert booked.token == UpkeepToken(upkeep_key(UsageKind.COMPACTION, asked.record_id))
    book.append(booked)
    _, effects = kept(book, effects)
    (built,) = of(effects, CallProvider)
    assert "They asked once." in built.spec.inputs.turns[0].text
    summary = book.state.discussions.summaries[chosen]
    assert summary.usage.cost_usd is not None
    assert summary.usage.cost_usd >= 0.4


def test_a_summary_that_fails_is_said_and_the_oldest_turns_leave_untold(book: Playbook) -> None:
    chosen = talked(book)
    (plan,) = of(sent(book, chosen), PlanView)
    (asked,) = of(planned(book, plan, summary=True), SummariseView)

    effects = book.play(summarised(asked, "", "No network.", Usage(cost_usd=0.1)))

    assert any(isinstance(one, UsageRecord) for write in of(effects, AppendRecords) for one in write.records)
    _, effects = kept(book, effects)
    (built,) = of(effects, CallProvider)
    assert [one.text for one in built.spec.inputs.turns] == ["question 1", "answer 1"]
    notice = book.state.program.notices[-1]
    assert "The model no longer reads the oldest turns, and there is no summary" in notice.text
    assert notice.detail == "No network."


def test_at_a_limit_no_summary_is_bought_and_a_person_s_wish_changes_nothing(book: Playbook) -> None:
    chosen = talked(book, 100)
    book.play(ChangeSetting("ai_settings.caching.day_limit_usd", 0.3))
    limited = replace(
        book.state.config.settings, caching=replace(book.state.config.settings.caching, day_limit_usd=0.3)
    )
    book.play(replace(settings_loaded(settings=limited), prompts=book.state.config.prompts))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.0))
    (plan,) = of(book.play(CompactDiscussion(chosen, "c1")), PlanView)

    effects = planned(book, plan, summary=True)

    assert not of(effects, SummariseView)
    assert not of(effects, AppendRecords)
    (outcome,) = [one for one in book.state.program.outcomes if one.command_id == "c1"]
    assert "The program did not compact the discussion" in outcome.problem
    assert not book.state.agent.compactions


def test_another_program_that_spends_meanwhile_stops_the_summary(book: Playbook) -> None:
    chosen = talked(book)
    caching = replace(book.state.config.settings.caching, day_limit_usd=0.9)
    limited = replace(book.state.config.settings, caching=caching)
    book.play(replace(settings_loaded(settings=limited), prompts=book.state.config.prompts))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.0))
    (plan,) = of(sent(book, chosen), PlanView)
    book.elsewhere = SpentElsewhere(reserved_usd=0.8)

    effects = planned(book, plan, summary=True)

    assert not of(effects, SummariseView)
    assert not book.state.spending.reserved
    kept(book, effects)


def test_a_request_that_is_too_long_is_cut_and_sent_again_twice_at_most(book: Playbook) -> None:
    chosen = talked(book, 100)
    (first,) = of(sent(book, chosen), CallProvider)
    call = first
    for attempt in (1, 2):
        effects = book.play(CallFailed(call.call_id, TOO_LONG, (), Usage()))
        (plan,) = of(effects, PlanView)
        assert (plan.why, plan.attempt) == (CutReason.OVERFLOW, attempt)
        assert chosen in book.state.turns.calls  # who waits for the end of the turn goes on waiting
        _, effects = kept(book, planned(book, plan))
        (again,) = of(effects, CallProvider)
        assert again.call_id != call.call_id
        assert again.spec.inputs.user_text == "next"
        call = again

    (write,) = of(book.play(CallFailed(call.call_id, TOO_LONG, (), Usage())), AppendRecords)
    book.append(write)

    assert book.state.discussions.open[chosen].failure == TOO_LONG
    assert chosen not in book.state.turns.calls


def test_where_nothing_can_leave_the_call_fails_as_it_did(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "x" * 100)
    (plan,) = of(book.play(CallFailed(call.call_id, TOO_LONG, (), Usage())), PlanView)

    effects = book.play(
        ViewPlanned(chosen, plan.job, CutPlan(problem="The program cannot compact any further."))
    )

    for write in of(effects, AppendRecords):
        book.append(write)
    failure = book.state.discussions.open[chosen].failure
    assert failure is not None
    assert failure.remedy == "Shorten it. The program cannot compact any further."
    assert not book.state.agent.compactions


def test_settings_that_settle_while_a_failure_is_written_send_nothing_again(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "x" * 100)
    (plan,) = of(book.play(CallFailed(call.call_id, TOO_LONG, (), Usage())), PlanView)
    effects = book.play(
        ViewPlanned(chosen, plan.job, CutPlan(problem="The program cannot compact any further."))
    )

    assert not of(book.play(SettingsSettled(book.state.config.asked)), CallProvider)

    assert book.state.turns.calls[chosen].phase is CallPhase.STORING
    for write in of(effects, AppendRecords):
        book.append(write)
    assert book.state.discussions.open[chosen].failure is not None
    assert chosen not in book.state.turns.calls


def test_a_stopped_send_stops_its_compaction_and_what_it_cost_is_booked(book: Playbook) -> None:
    chosen = talked(book)
    (plan,) = of(sent(book, chosen), PlanView)
    (asked,) = of(planned(book, plan, summary=True), SummariseView)

    effects = book.play(CancelReply(chosen))

    assert of(effects, StopSummary) == (StopSummary(chosen, asked.job),)
    assert chosen not in book.state.turns.calls
    assert book.state.discussions.open[chosen].failed_message_id
    (late,) = of(book.play(summarised(asked, "late", "", Usage(cost_usd=0.2))), AppendRecords)
    assert [type(one) for one in late.records] == [UsageRecord]
    book.append(late)
    assert book.state.discussions.open[chosen].cut is None


def test_a_wish_waits_for_the_end_of_the_reply_and_a_send_for_the_wish(book: Playbook) -> None:
    chosen = talked(book, 100)
    (call,) = of(sent(book, chosen), CallProvider)
    assert not of(book.play(CompactDiscussion(chosen, "c1")), PlanView)
    assert book.state.agent.compactions[chosen].phase is CompactionPhase.WAITING

    book.answer(call, "whole")

    assert book.state.agent.compactions[chosen].phase is CompactionPhase.PLANNING
    job = book.state.agent.compactions[chosen].job
    assert not of(sent(book, chosen), CallProvider)
    begins = book.state.discussions.open[chosen].messages[-2].id
    cut = ViewCut("", book.at, begins)
    _, effects = kept(book, book.play(ViewPlanned(chosen, job, CutPlan(cut))))
    assert of(effects, CallProvider)
    assert any(one.command_id == "c1" and not one.problem for one in book.state.program.outcomes)


def test_a_cut_that_cannot_be_written_is_none(book: Playbook) -> None:
    chosen = talked(book)
    (plan,) = of(sent(book, chosen), PlanView)
    (write,) = of(planned(book, plan), AppendRecords)

    effects = book.play(WriteFailed(chosen, None, "The disk is full", "", write.records))

    (built,) = of(effects, CallProvider)
    assert len(built.spec.inputs.turns) == 4
    assert book.state.discussions.open[chosen].cut is None


def test_what_is_not_open_is_not_compacted(book: Playbook) -> None:
    assert not book.play(CompactDiscussion("nowhere", "c1"))
    assert book.state.program.outcomes[-1] == CommandOutcome("c1", problem="The discussion is not open.")


def test_the_model_is_told_again_after_a_cut_that_left_the_words_with_the_line_in_its_view(
    book: Playbook,
) -> None:
    chosen = talked(book, 6_700)
    give_tools(book, chosen)
    (call,) = of(sent(book, chosen, "told"), CallProvider)
    assert LINE in call.spec.inputs.user_text
    book.answer(call, "noted", Usage(input_tokens=7_500, output_tokens=1))
    (plan,) = of(sent(book.later(60), chosen, "cut now"), PlanView)
    effects = book.play(
        ViewPlanned(
            chosen,
            plan.job,
            CutPlan(replace(CUT, begins_at=plan.messages[2].id, through=plan.messages[-1].id)),
        )
    )
    (call,) = of(kept(book, effects)[1], CallProvider)
    assert LINE in str(call.spec.inputs.turns)
    assert LINE not in call.spec.inputs.user_text
    book.later(60).answer(call, "small again", Usage(input_tokens=3_000, output_tokens=1))
    (call,) = of(sent(book.later(60), chosen, "not yet"), CallProvider)
    assert LINE not in call.spec.inputs.user_text
    book.answer(call, "large again", Usage(input_tokens=6_700, output_tokens=1))

    (call,) = of(sent(book.later(60), chosen, "now"), CallProvider)

    assert LINE in call.spec.inputs.user_text


def test_a_message_whose_view_is_cut_before_it_goes_holds_no_line_about_a_full_window(book: Playbook) -> None:
    chosen = talked(book, 7_500)
    give_tools(book, chosen)
    (plan,) = of(sent(book, chosen), PlanView)

    _, effects = kept(book, planned(book, plan, journal="What was done."))

    (call,) = of(effects, CallProvider)
    assert call.spec.inputs.user_text == "next"
    book.later(60).answer(call, "large again", Usage(input_tokens=6_700, output_tokens=1))
    (call,) = of(sent(book.later(60), chosen, "now"), CallProvider)
    assert LINE in call.spec.inputs.user_text


def test_the_model_is_told_once_to_write_its_journal(book: Playbook) -> None:
    chosen = talked(book, 6_700)
    give_tools(book, chosen)

    (write,) = of(book.play(SendPrompt(chosen, "next")), AppendRecords)
    (call,) = of(book.append(write), CallProvider)

    assert call.spec.inputs.user_text.startswith("next\n\n(A line of the program, not of the person")
    opened = book.state.discussions.open[chosen]
    assert opened.messages[-1].text == "next"  # the person reads their own words
    book.answer(call, "noted", Usage(input_tokens=6_700, output_tokens=1))
    (call,) = of(sent(book, chosen, "and then"), CallProvider)
    assert call.spec.inputs.user_text == "and then"
    assert call.spec.inputs.turns[-2].text.startswith("next\n\n(A line of the program")
    log = [one for one in write.records if isinstance(one, ViewRecord)]
    assert fold(chosen, log).lines == opened.lines


def test_in_a_running_turn_the_line_stands_behind_results_that_were_not_sent_yet(book: Playbook) -> None:
    chosen = talked(book, 100)
    give_tools(book, chosen)
    asks = MessageRecord("a", book.at, Role.ASSISTANT, (ToolCallPart("c", "grep", "{}"),))
    result = MessageRecord("t", book.at, Role.TOOL, (ToolResultPart("c", "r" * 27_000),))
    book.play(RecordsAppended(chosen, (asks, UsageRecord("u", book.at, "a", Usage(input_tokens=10)), result)))
    turn_id = book.state.discussions.open[chosen].messages[-4].id

    again = RetrySend(chosen)
    book.state, effects = save_then_call(book.state, Stamp(book.at, "s"), again, turn_id, (), is_round=True)

    (call,) = of(book.append(of(effects, AppendRecords)[0]), CallProvider)
    last = call.spec.inputs.turns[-1].parts[-1]
    assert isinstance(last, ToolResultPart)
    assert last.text.startswith("r" * 27_000 + "\n\n(A line of the program")
    assert not call.spec.inputs.user_text


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (replace(CUT, left_messages=1, left_tokens_est=1), "The model no longer reads 1 message, about 1 token. The model gets nothing in place of these messages."),
        (replace(CUT, left_messages=0, shrunk=(ShrunkResult("c", 9),)), "The model sees only the beginning and the end of 1 long result."),
        (replace(CUT, left_messages=0), "The model still reads every message"),
    ],
)  # fmt: skip
def test_the_mark_of_a_cut_says_what_left_and_never_that_nothing_did(
    book: Playbook, cut: ViewCut, said: str
) -> None:
    chosen = talked(book)
    (plan,) = of(sent(book, chosen), PlanView)

    (write,) = of(book.play(ViewPlanned(chosen, plan.job, CutPlan(cut))), AppendRecords)

    (mark,) = (one for one in write.records if isinstance(one, MarkRecord))
    assert said in mark.text
    assert "0 messages" not in mark.text


@pytest.mark.parametrize("kind", ProviderKind)
def test_only_where_a_vendor_takes_seals_alone_a_plan_leaves_them(book: Playbook, kind: ProviderKind) -> None:
    chosen = talked(book)
    config = book.state.config
    status = replace(config.providers["embedded"], kind=kind)
    book.state = replace(
        book.state, config=replace(config, providers={**config.providers, "embedded": status})
    )

    (plan,) = of(book.play(CompactDiscussion(chosen)), PlanView)

    assert plan.keeps_seals is (kind is ProviderKind.GEMINI)
