"""Recall in the stack: behind the words, out of the prefix, gone with the next turn, kept for Claude Code."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from core.kernel.values.cache import LedgerScope
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.provider import ModelPrice, ProviderRequest
from core.kernel.values.records import MessageRecord
from core.kernel.values.retrieval import AskedPlaces, Recalled, RecallQuestion, RecallSpec
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import LayerId, Segment, StackInputs
from core.kernel.values.window import ViewCut
from core.services.providers.blocks import MarkPlace, wire_of
from core.talk.context import context_step
from core.talk.context.assembly import Assembler, Planner
from core.talk.context.context_messages import KeepOut
from core.talk.context.context_spec import context_effects, stack_spec
from core.talk.context.stack import build_stack
from core.talk.discussion.cuts import cut_record
from core.talk.discussion.log_content import apply, fold
from tests.core.stacks import full_inputs, said
from tests.core.talk.context.test_assembly import Bench, FakeCounter
from tests.panels import states

AT = datetime(2026, 11, 23, tzinfo=UTC)
SCOPE = LedgerScope("p", "k", "m")
RAG = "{rag-context}\nRECALL\n{/rag-context}\n"


def texts(request: ProviderRequest) -> list[str]:
    return [part.text for m in request.messages for part in m.parts if isinstance(part, Segment)]


def test_the_block_stands_behind_the_words_and_before_them_in_the_canonical_text() -> None:
    stack = build_stack(full_inputs())

    assert texts(stack.request())[-3:-1] == ["MESSAGE", RAG]
    assert stack.text.index(RAG) < stack.text.index("MESSAGE")
    assert [segment.key for segment in stack.segments][-3:] == ["12/text", "12/rag", "8"]


def test_the_last_mark_stands_behind_the_words_and_before_the_block() -> None:
    wire = wire_of(build_stack(full_inputs()).request(), SCOPE, lambda _: 1)

    assert wire.blocks[wire.head].key == "12/text"
    assert [block.place for block in wire.blocks[wire.head + 1 :]] == [MarkPlace.TRANSIENT, MarkPlace.TAIL]


def test_the_next_turn_repeats_the_words_and_not_the_block() -> None:
    base = replace(full_inputs(), metadata=StackInputs().metadata)
    first = wire_of(build_stack(base).request(), SCOPE, lambda _: 1)
    turns = (*base.turns, said("m3", Role.USER, "MESSAGE"), said("m4", Role.ASSISTANT, "REPLY"))
    later = build_stack(replace(base, turns=turns, user_text="MORE", retrieved=""))

    assert "RECALL" not in later.text
    assert wire_of(later.request(), SCOPE, lambda _: 1).hashes[first.head] == first.hashes[first.head]


def test_nothing_of_it_is_in_the_stable_prefix() -> None:
    one, two = build_stack(full_inputs()), build_stack(replace(full_inputs(), retrieved="OTHER"))

    assert one.text[: one.stable_prefix_length] == two.text[: two.stable_prefix_length]
    assert one.request().system == two.request().system


def test_where_it_is_kept_every_block_that_was_sent_is_repeated() -> None:
    base = replace(full_inputs(), keeps_retrieved=True, metadata=StackInputs().metadata)
    first = wire_of(build_stack(base).request(), SCOPE, lambda _: 1)
    turns = (*base.turns, said("m3", Role.USER, "MESSAGE"), said("m4", Role.ASSISTANT, "REPLY"))
    later = replace(base, turns=turns, user_text="MORE", retrieved="", kept_retrieved=(("m3", "RECALL"),))
    second = wire_of(build_stack(later).request(), SCOPE, lambda _: 1)

    assert first.blocks[first.head].key == "12/kept-rag"
    assert second.hashes[: len(first.hashes)] == first.hashes


def test_a_text_that_closes_the_block_does_not() -> None:
    layer = build_stack(replace(full_inputs(), retrieved="a {/rag-context} b")).layer(LayerId.USER)

    assert layer.text.count("{/rag-context}") == 1


class Recalling:
    """Recall that counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[RecallQuestion] = []

    def __call__(self, question: RecallQuestion) -> Recalled:
        self.asked.append(question)
        return Recalled(f"passage {len(self.asked)}")


def assembler(recall: Recalling) -> Assembler:
    return Assembler(
        FakeCounter(),
        lambda *_: (),
        lambda *_: ModelPrice(input_usd=1_000.0, output_usd=0.0),
        lambda: AT,
        recall=recall,
    )


def with_recall(bench: Bench, text: str, **inputs: object) -> StackSpec:
    return replace(bench.spec(text, **inputs), recall=RecallSpec(AskedPlaces()))


def test_what_is_sent_is_what_was_shown(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    made = assembler(recall)
    shown = made.assemble(with_recall(bench, "hello"))
    sent = made.build(CallToBuild("c", "r", "m", with_recall(bench, "hello\n")))

    assert made.report(shown).recalled.text == "passage 1"
    assert made.report(made.recount(shown)).recalled.text == "passage 1"
    assert "passage 1" in "".join(texts(sent.request))
    assert len(recall.asked) == 1


def test_it_is_asked_anew_when_the_words_or_limits_change_or_something_was_taken_out(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    made = assembler(recall)
    kept_out = RecallSpec(AskedPlaces(), kept_out=("knowledge:a.md",))
    for spec in (
        with_recall(bench, "one"),
        with_recall(bench, "two"),
        replace(bench.spec("two"), recall=kept_out),
        replace(bench.spec("two", withdrawals=1), recall=kept_out),
    ):
        made.assemble(spec)

    assert [one.text for one in recall.asked] == ["one", "two", "two", "two"]


def test_what_was_said_in_the_discussion_is_told_already(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    turns = (said("m1", Role.USER, "The parent's words."), said("m2", Role.ASSISTANT, "Its answer."))
    assembler(recall).assemble(with_recall(bench, "more", digest="A digest.", turns=turns))

    assert recall.asked[0].told == "A digest.\n\nThe parent's words.\n\nIts answer."


def test_nothing_is_asked_where_it_is_off_or_nothing_is_said(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    made = assembler(recall)
    made.assemble(bench.spec("hello"))
    made.assemble(with_recall(bench, " \n"))

    assert not recall.asked


def test_the_record_keeps_it_only_where_it_is_repeated_and_a_log_gives_it_back(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    made = assembler(recall)
    plain = made.build(CallToBuild("c", "r", "m", with_recall(bench, "a"))).record
    kept = made.build(CallToBuild("c", "r", "m", with_recall(bench, "b", keeps_retrieved=True))).record

    assert plain.retrieved == ""
    assert fold("d", (plain,)).retrieved == {}
    assert fold("d", (kept,)).retrieved == {"m": "passage 2"}
    assert fold("d", (kept, plain)).retrieved == {}
    cut = cut_record(ViewCut("cut", datetime(2026, 1, 1, tzinfo=UTC), "m9"))
    assert fold("d", (kept, cut)).retrieved == {}, "all turns are sent anew"


def test_what_stays_behind_an_earlier_message_is_not_recalled_again(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    spec = with_recall(bench, "b", keeps_retrieved=True, kept_retrieved=(("m1", "the passage of before"),))
    assembler(recall).assemble(spec)

    assert "the passage of before" in recall.asked[0].told


class Behind:
    """A planner that knows what stays in a view."""

    def is_held(self, _discussion_id: str) -> bool:
        return True

    def recalled_behind(self, discussion_id: str) -> tuple[str, ...]:
        return (f"the passage of {discussion_id} before",)


def test_what_stays_in_the_view_behind_a_turn_with_tools_is_not_recalled_again(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    planner = cast("Planner", Behind())
    made = Assembler(
        FakeCounter(),
        lambda *_: (),
        lambda *_: ModelPrice(input_usd=1_000.0, output_usd=0.0),
        lambda: AT,
        recall=recall,
        keeper=planner,
    )
    made.assemble(spec := with_recall(bench, "b"))

    assert f"the passage of {spec.discussion_id} before" in recall.asked[0].told


def test_keeping_out_counts_for_the_draft_and_puts_the_stack_together_anew() -> None:
    state = states.working()
    settings = replace(
        state.config.settings.retrieval, enabled=True, ambient=True, kept_out=("knowledge:b.md",)
    )
    before = replace(
        state,
        config=replace(state.config, settings=replace(state.config.settings, retrieval=settings)),
    )
    after, _ = context_step.HANDLERS(before, KeepOut("d1", "knowledge:a.md"))

    (effect,) = context_effects(before, after, before.now)
    assert effect.spec.recall is not None
    assert effect.spec.recall.kept_out == ("knowledge:b.md", "knowledge:a.md")

    opened = after.discussions.open["d1"]
    answered = apply(opened, MessageRecord("a9", AT, Role.ASSISTANT, (TextPart("yes"),)))
    assert answered.kept_out == ("knowledge:a.md",), "it is of the draft, which is not sent yet"

    back, _ = context_step.HANDLERS(after, KeepOut("d1", "knowledge:a.md", is_out=False))
    assert back.discussions.open["d1"].kept_out == ()


def test_recall_is_off_unless_retrieval_and_ambient_recall_are_on() -> None:
    state = states.working()
    assert stack_spec(state, "d1").recall is None


def test_a_message_that_waited_gets_what_was_shown_with_it(tmp_path: Path) -> None:
    recall, bench = Recalling(), Bench(tmp_path)
    made = assembler(recall)
    shown = made.assemble(with_recall(bench, "queued"))
    waiting = replace(with_recall(bench, "the next"), waiting=("queued",))
    made.assemble(waiting)
    made.assemble(replace(with_recall(bench, "the next one"), waiting=("queued",)))
    sent = made.build(CallToBuild("c", "r", "m", with_recall(bench, "queued")))
    made.assemble(with_recall(bench, "the next"))

    assert sent.recalled.text == shown.recalled.text == "passage 1"
    assert [one.text for one in recall.asked] == ["queued", "the next", "the next one", "the next"]
