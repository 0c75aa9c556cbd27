"""Cuts of the view: what leaves, what stays whole, and that a log gives the same view again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from core.agent.cut_plan import (
    SUMMARY_TOKENS,
    CutRequest,
    bridged,
    build_context_window,
    message_tokens,
    plan_cut,
    restore_from_log,
    trimmed,
    with_summary,
)
from core.agent.journal_text import JournalEntry, new_entry, written
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import DeleteRecord, MessageRecord, Record, ViewRecord
from core.kernel.values.window import CutReason
from core.talk.context.token_scale import budget_of, is_full, is_told
from core.talk.discussion.cuts import cut_record, head_message, sent_view
from core.talk.discussion.log_codec import decode, encode
from core.talk.discussion.log_content import apply, fold
from tests.core.records import ID, NOW

_WORDS = st.sampled_from([10, 400, 4_000, 30_000])


def said(number: int, role: Role, *parts: Part) -> MessageRecord:
    return MessageRecord(f"m{number}", NOW + timedelta(seconds=number), role, parts)


def turn(number: int, chars: int, *, tool: str = "read_file", result: int = 0) -> list[MessageRecord]:
    """A turn of a question, a call with its result where there is one, and an answer."""
    rows = [said(number, Role.USER, TextPart(f"question {number} " + "q" * chars))]
    if result:
        call = ToolCallPart(f"c{number}", tool, '{"path": "a.py"}')
        rows.append(said(number + 1, Role.ASSISTANT, ReasoningPart("why", "{}"), TextPart("I look."), call))
        rows.append(said(number + 2, Role.TOOL, ToolResultPart(f"c{number}", "r" * result)))
    rows.append(said(number + 3, Role.ASSISTANT, TextPart(f"answer {number} " + "a" * chars)))
    return rows


def messages(records: Sequence[Record]) -> tuple[Message, ...]:
    return fold(ID, records).messages


def calls_and_results(view: Sequence[Message]) -> tuple[list[str], list[str]]:
    parts = [part for message in view for part in message.parts]
    calls = [part.call_id for part in parts if isinstance(part, ToolCallPart)]
    return calls, [part.call_id for part in parts if isinstance(part, ToolResultPart)]


def test_the_shares_of_the_window() -> None:
    known, unknown = budget_of(200_000, 10_000), budget_of(None, 0)

    assert (known.sendable, known.room, known.is_assumed) == (90_000, 80_000, False)
    assert (unknown.window, unknown.is_assumed) == (32_768, True)
    assert budget_of(1_000, 2_000).room == 0
    assert [is_told(used, 1000) for used in (799, 800)] == [False, True]
    assert [is_full(used, 1000) for used in (899, 900)] == [False, True]


def test_the_bridge_walks_back_to_the_persons_message_and_trimming_walks_forward() -> None:
    log = [*turn(0, 10, result=10), *turn(10, 10, result=10), *turn(20, 10)]
    found = messages(log)

    assert bridged(found, None) == 0
    assert bridged(found, NOW + timedelta(seconds=11)) == 4  # between call and result: from the question on
    assert bridged(found, NOW + timedelta(days=1)) == 8
    sizes = {message.id: 10 for message in found}
    assert trimmed(found, sizes, 0, 100) == 0
    assert trimmed(found, sizes, 0, 99) == 4
    assert trimmed(found, sizes, 0, 0) == 8


def test_what_the_journal_covers_leaves_and_needs_no_summary() -> None:
    log = [*turn(0, 4_000), *turn(10, 40), *turn(20, 40)]
    entry = written(new_entry(NOW + timedelta(seconds=9), "So far", "The first question is answered.", ID))

    plan = build_context_window(
        messages(log), entry, discussion_id=ID, now=NOW + timedelta(minutes=1), window_tokens=4_000
    )

    assert plan.cut is not None
    assert plan.cut.begins_at == "m10"
    assert not plan.to_summarise
    assert "The first question is answered." in plan.cut.journal
    assert plan.cut.left_messages == 2


@pytest.mark.parametrize("size", [3_000, 9_000])
@pytest.mark.parametrize(
    ("why", "is_running"), [(CutReason.FULL, False), (CutReason.OVERFLOW, True), (CutReason.ASKED, False)]
)
def test_the_journal_is_told_though_what_stays_takes_all_the_room(
    size: int, why: CutReason, is_running: bool
) -> None:
    """The model wrote it down because it was told to: no large last turn may leave it out with all that it covers."""
    entry = new_entry(NOW + timedelta(seconds=15), "So far", "The first two are answered.", ID)
    found = messages([*turn(0, 4_000), *turn(10, 4_000), *turn(20, size)])
    sizes = {one.id: message_tokens(one) for one in found}
    budget = budget_of(10_000, 4_500 - sizes["m20"] - sizes["m23"] if size < 9_000 else 500)
    asked = CutRequest(
        found, sizes, budget, (entry,), ID, NOW + timedelta(minutes=1), why=why, is_running=is_running
    )

    plan = plan_cut(asked)

    assert plan.cut is not None
    assert plan.cut.begins_at == "m20"
    assert "The first two are answered." in plan.cut.journal
    assert not plan.to_summarise
    again = plan_cut(replace(asked, previous=replace(plan.cut, id="cut"), attempt=2, why=CutReason.OVERFLOW))
    assert again.cut is None or "The first two are answered." in again.cut.journal


def test_without_a_journal_the_oldest_turns_are_summarised() -> None:
    log = [row for number in range(0, 60, 10) for row in turn(number, 2_000)]

    plan = build_context_window(messages(log), "", discussion_id=ID, now=NOW, window_tokens=10_000)

    assert plan.cut is not None
    assert plan.cut.begins_at == "m30"
    assert "question 0 " in plan.to_summarise[0]
    assert "question 30 " not in "".join(plan.to_summarise)
    assert plan.kept_tokens + plan.head_tokens <= 4_500
    head = head_message(with_summary(plan, "They asked twice."))
    assert head is not None
    assert "They asked twice." in head.text


@pytest.mark.parametrize("why", CutReason)
def test_nothing_leaves_where_what_must_stay_is_too_long_by_itself(why: CutReason) -> None:
    found = messages([*turn(0, 4_000), *turn(10, 4_000)])
    sizes = {one.id: message_tokens(one) for one in found}
    asked = CutRequest(found, sizes, budget_of(8_000, 8_000), (), ID, NOW, why=why)

    plan = plan_cut(asked)

    if why is CutReason.ASKED:
        assert plan.cut is not None, "a person who asks has it"
        return
    assert (plan.cut, plan.to_summarise) == (None, ())
    assert "Instructions, files and your message take 8,000 tokens" in plan.problem
    assert plan_cut(replace(asked, budget=budget_of(8_000, 7_900))).cut is not None


def test_a_summary_reads_of_every_file_that_leaves_with_its_message() -> None:
    paper = AttachmentPart("a" * 64, "text/plain", "tides of 1912.txt", 90_000)
    drawing = AttachmentPart("b" * 64, "image/png", "harbour.png", 12)
    call = ToolCallPart("c1", "view_image", '{"path":"harbour.png"}')
    log = [
        said(0, Role.USER, paper),
        said(1, Role.ASSISTANT, call),
        said(2, Role.TOOL, ToolResultPart("c1", "4 × 4 pixels.", attachments=(drawing,))),
        said(3, Role.ASSISTANT, TextPart("Seen.")),
        *turn(10, 40),
    ]

    plan = build_context_window(
        messages(log), "", discussion_id=ID, now=NOW, window_tokens=4_000, why=CutReason.ASKED
    )

    assert "tides of 1912.txt" in plan.to_summarise[0]
    assert "harbour.png, 12 B" in plan.to_summarise[0]


def test_entries_of_others_fill_the_journal_and_cover_nothing() -> None:
    log = [*turn(0, 4_000), *turn(10, 4_000), *turn(20, 40)]
    late = NOW + timedelta(hours=1)
    entries = (
        new_entry(NOW + timedelta(seconds=15), "", "of a neighbour", "neighbour"),
        new_entry(NOW + timedelta(seconds=15), "", "of a stranger", "stranger"),
        new_entry(NOW + timedelta(seconds=15), "", "by hand", ""),
        new_entry(NOW + timedelta(days=1), "", "from the future", ID),
    )
    found = messages(log)
    asked = CutRequest(
        found,
        {one.id: message_tokens(one) for one in found},
        budget_of(8_000, 0),
        entries,
        ID,
        late,
        sources={"neighbour": "The other talk"},
        why=CutReason.FULL,
    )

    plan = plan_cut(asked)

    assert plan.cut is not None
    assert plan.cut.begins_at == "m10"
    assert plan.to_summarise
    assert "of a neighbour" in plan.cut.journal
    assert "The other talk" in plan.cut.journal
    assert "by hand" in plan.cut.journal
    assert "stranger" not in plan.cut.journal
    assert "future" not in plan.cut.journal
    assert plan.cut.sources == ("neighbour",)


def test_a_journal_call_leaves_with_its_result_and_the_other_parts_stay() -> None:
    log = [*turn(0, 40), *turn(10, 40, tool="journal", result=20), *turn(20, 40, tool="journal", result=20)]
    found = messages(log)
    asked = CutRequest(found, {}, budget_of(8_000, 0), (), ID, NOW)

    plan = plan_cut(asked)

    assert plan.cut is not None
    assert plan.cut.calls == ("c20",)
    view = restore_from_log([*log, cut_record(replace(plan.cut, id="cut"))])
    assert calls_and_results(view) == ([], [])
    assert next(one.text for one in view if one.role is Role.ASSISTANT) == "I look."


def test_a_running_turn_keeps_its_bytes_until_it_overflows() -> None:
    log = [*turn(0, 4_000), *turn(10, 40, result=40_000)[:-1]]
    found = messages(log)
    asked = CutRequest(
        found,
        {one.id: message_tokens(one) for one in found},
        budget_of(8_000, 0),
        (),
        ID,
        NOW,
        why=CutReason.FULL,
        is_running=True,
    )

    assert plan_cut(asked).cut is None
    first = plan_cut(replace(asked, why=CutReason.OVERFLOW)).cut
    assert first is not None
    assert first.begins_at == "m10"
    assert not first.shrunk
    view = restore_from_log([*log, cut_record(replace(first, id="cut"))])
    assert not any(isinstance(part, ReasoningPart) for one in view for part in one.parts)
    second = plan_cut(
        replace(asked, why=CutReason.OVERFLOW, attempt=2, previous=replace(first, id="cut"))
    ).cut
    assert second is not None
    assert [one.kept_chars for one in second.shrunk] == [8_000]
    view = restore_from_log([*log, cut_record(replace(second, id="cut2"))])
    assert sum(map(message_tokens, view)) < 3_600
    result = view[-1].parts[0]
    assert isinstance(result, ToolResultPart)
    assert "32,000 characters of this result were left out" in result.text
    sizes = {one.id: message_tokens(one) for one in view}
    again = replace(
        asked, why=CutReason.OVERFLOW, attempt=2, previous=replace(second, id="cut2"), sizes=sizes
    )
    assert "The program cannot compact any further" in plan_cut(again).problem


def test_the_results_of_a_first_turn_shrink_at_its_first_overflow() -> None:
    """Nothing stands before it and it has no reasoning: its results are all that can leave."""
    call = ToolCallPart("c0", "read_file", '{"path": "a.py"}')
    log = [said(0, Role.USER, TextPart("Read.")), said(1, Role.ASSISTANT, call)]
    log.append(said(2, Role.TOOL, ToolResultPart("c0", "r" * 40_000)))
    found = messages(log)
    sizes = {one.id: message_tokens(one) for one in found}
    budget = budget_of(500 + sum(sizes.values()), 500)
    overflow = CutReason.OVERFLOW

    plan = plan_cut(CutRequest(found, sizes, budget, (), ID, NOW, why=overflow, is_running=True))

    assert plan.cut is not None
    assert plan.cut.begins_at == "m0"
    assert [one.call_id for one in plan.cut.shrunk] == ["c0"]
    view = restore_from_log([*log, cut_record(replace(plan.cut, id="cut"))])
    assert sum(map(message_tokens, view)) <= budget.room


def running(reasoning: str, *, seals: str = "", keeps_seals: bool = False) -> CutRequest:
    """A first turn that has overflowed, with reasoning before its call."""
    thoughts = ReasoningPart(reasoning, seals)
    log = [
        said(0, Role.USER, TextPart("Read.")),
        said(1, Role.ASSISTANT, thoughts, ToolCallPart("c0", "read_file", '{"path": "a.py"}')),
        said(2, Role.TOOL, ToolResultPart("c0", "r" * 40_000)),
    ]
    found = messages(log)
    sizes = {one.id: message_tokens(one) for one in found}
    budget = budget_of(500 + sum(sizes.values()), 500)
    return CutRequest(
        found, sizes, budget, (), ID, NOW, why=CutReason.OVERFLOW, is_running=True, keeps_seals=keeps_seals
    )


def test_a_first_overflow_is_not_spent_on_reasoning_that_makes_no_room() -> None:
    """There are two, and nothing but reasoning stands before the results of a first turn."""
    little, much = plan_cut(running("I look. " * 20)).cut, plan_cut(running("I look. " * 20_000)).cut

    assert little is not None
    assert [one.call_id for one in little.shrunk] == ["c0"]
    assert much is not None
    assert not much.shrunk, "without its reasoning the turn fits: results stay whole"


def test_seals_that_a_vendor_asks_for_stay_on_the_calls_of_a_running_turn() -> None:
    """They are no room to win, and what stands in their place would change the bytes before the results."""
    seal = '{"call_id":"c0","thought_signature":"c2VhbA=="}'
    asked = running("I look. " * 20_000, seals=seal, keeps_seals=True)

    entry = JournalEntry(NOW - timedelta(days=1), "", "Of another day")
    cut = plan_cut(replace(asked, entries=(entry,))).cut

    assert cut is not None
    assert [one.call_id for one in cut.shrunk] == ["c0"]
    assert not cut.journal, "no message left: there is nothing to be told of, and no room"
    log = [MessageRecord(one.id, one.at, one.role, one.parts) for one in asked.messages]
    later = said(5, Role.USER, TextPart("And now?"))
    view = restore_from_log([*log, cut_record(replace(cut, id="cut")), later])
    assert [part.vendor_json for one in view for part in one.parts if isinstance(part, ReasoningPart)] == [
        seal
    ]
    whole = plan_cut(replace(asked, is_running=False, why=CutReason.FULL, attempt=2)).cut
    assert whole is not None
    assert whole.reasoned_from == ""


def test_a_cut_that_cannot_be_read_or_names_nothing_shows_all() -> None:
    log = turn(0, 10)
    whole = restore_from_log(log)

    assert restore_from_log([*log, ViewRecord("v", NOW, "cut", "[]")]) == whole
    unnamed = ViewRecord("v", NOW, "cut", '{"begins_at":"gone","journal":"x"}')
    assert restore_from_log([*log, unnamed]) == whole, "a summary of what is shown would say it twice"


class Compacting(RuleBasedStateMachine):
    """Turns, edits and cuts of every kind; the log is kept as bytes beside the state."""

    @initialize()
    def begin(self) -> None:
        self.number = 0
        self.records: list[Record] = []
        self.live = OpenDiscussion(ID)
        self.entries: list[JournalEntry] = []
        self.is_open = False
        self.budget = budget_of(12_000, 400)

    def add(self, *records: Record) -> None:
        for record in records:
            kept = decode(encode(record), 1)
            assert type(kept) is type(record)
            self.records.append(record)
            self.live = apply(self.live, record)

    @rule(chars=_WORDS, result=st.sampled_from([0, 0, 50, 50_000]), tool=st.sampled_from(["bash", "journal"]))
    def speak(self, chars: int, result: int, tool: str) -> None:
        self.number += 10
        self.add(*turn(self.number, chars, result=result, tool=tool))

    @precondition(lambda self: self.number)
    @rule()
    def write_journal(self) -> None:
        self.entries.append(new_entry(NOW + timedelta(seconds=self.number + 1), "", "what was done", ID))

    @precondition(lambda self: self.number)
    @rule(data=st.data(), is_gone=st.booleans())
    def change(self, data: st.DataObject, is_gone: bool) -> None:
        chosen = data.draw(
            st.sampled_from([one.id for one in self.live.messages if one.role is not Role.TOOL] or ["x"])
        )
        self.number += 10
        if is_gone and not any(
            isinstance(r, MessageRecord) and r.id == chosen and len(r.parts) > 1 for r in self.records
        ):
            self.add(DeleteRecord(f"d{self.number}", NOW, chosen))

    @rule(why=st.sampled_from(CutReason), attempt=st.integers(1, 2))
    def compact(self, why: CutReason, attempt: int) -> None:
        self.cut(why, attempt)

    @precondition(lambda self: self.live.messages)
    @rule(attempts=st.sampled_from([(1,), (1, 2), (1, 1), (1, 1, 2, 1)]), keeps_seals=st.booleans())
    def overflow_inside_a_turn(self, attempts: Sequence[int], *, keeps_seals: bool) -> None:
        for attempt in attempts:
            self.cut(CutReason.OVERFLOW, attempt, is_running=True, keeps_seals=keeps_seals)

    def cut(
        self, why: CutReason, attempt: int, *, is_running: bool = False, keeps_seals: bool = False
    ) -> None:
        found, view = self.live.messages, sent_view(self.live)
        sizes = {one.id: message_tokens(one) for one in (*found, *view)}
        budget = self.budget
        if why is CutReason.OVERFLOW:  # as the worker takes it: that was too much
            budget = budget_of(min(12_000, 400 + sum(map(message_tokens, view))), 400)
        self.number += 10
        asked = CutRequest(
            found,
            sizes,
            budget,
            tuple(self.entries),
            ID,
            NOW + timedelta(seconds=self.number),
            previous=self.live.cut,
            why=why,
            is_running=is_running,
            attempt=attempt,
            keeps_seals=keeps_seals,
        )
        plan = plan_cut(asked)
        assert plan_cut(asked) == plan
        if plan.cut is None:
            assert plan.problem
            if is_running:  # it ends with nothing more to shorten, not before
                longest = max(
                    (len(p.text) for m in view for p in m.parts if isinstance(p, ToolResultPart)), default=0
                )
                assert longest < 1_100
            return
        before = set(self.shown())
        cut = with_summary(plan, "s" * 50_000) if plan.to_summarise else plan.cut
        self.add(cut_record(replace(cut, id=f"cut{self.number}")))
        left = [one for one in found if one.id in before - set(self.shown()) and one.text]
        covered = max((entry.at for entry in self.entries), default=None)
        told = "".join(plan.to_summarise)
        is_little = sum(map(message_tokens, left)) < 200  # an entry takes 20 of it with its head
        for one in left:  # nothing leaves untold
            is_covered = covered is not None and one.at <= covered + timedelta(seconds=10)
            is_covered = is_covered and ("what was done" in plan.cut.journal or is_little)
            assert is_covered or one.text[:9] in told
        kept = [one for one in self.shown() if not one.startswith("cut")]
        turns = [one.id for one in self.live.messages if one.role is Role.USER and one.id in kept]
        if len(turns) > 1:
            assert sum(map(message_tokens, sent_view(self.live))) <= self.budget.room + SUMMARY_TOKENS

    def shown(self) -> list[str]:
        return [message.id for message in sent_view(self.live)]

    @invariant()
    def no_call_without_its_result(self) -> None:
        calls, results = calls_and_results(sent_view(self.live))
        assert calls == results

    @invariant()
    def the_log_gives_the_same_view(self) -> None:
        assert restore_from_log(self.records) == sent_view(self.live)

    @invariant()
    def nothing_is_lost(self) -> None:
        kept = {entry.id for entry in self.live.entries}
        assert kept == {one.id for one in self.records if isinstance(one, MessageRecord)}

    @invariant()
    def the_view_begins_with_the_person(self) -> None:
        view = sent_view(self.live)
        if view and self.live.cut is not None and view[0].id == self.live.cut.id:
            assert view[0].role is Role.USER


Compacting.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestCompacting = Compacting.TestCase
