"""Assembly: fresh files, measured stacks, the guard of the prefix, and what does not fit."""

from __future__ import annotations

import gc
import hashlib
import tracemalloc
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.cache import RewriteCosts
from core.kernel.values.curation import FileItem, NamedText, Preset
from core.kernel.values.messages import Role
from core.kernel.values.provider import ModelPrice, ModelProfile
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import DiscussionMetadata, LayerId, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.talk.context.assembly import Assembler, BuiltCall, Planner
from core.talk.context.assembly_desk import AssemblyDesk, HomeScaleStore
from core.talk.context.stack import AggregateStack
from core.talk.context.token_scale import RequestCount, TokenScale, with_request
from tests.core.stacks import said
from tests.operations import FLAT, operations

AT = datetime(2026, 11, 20, tzinfo=UTC)


class FakeCounter:
    """Counts a token a character, when asked."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.asked = 0

    def known(self) -> Mapping[str, int]:
        return self.counts

    def count(self, texts: Mapping[str, str]) -> None:
        self.asked += len(texts)
        self.counts |= {sha256: len(text) for sha256, text in texts.items()}


class Bench:
    """An assembler on a project folder with one file."""

    def __init__(
        self, root: Path, context_tokens: int | None = 10_000, scales: HomeScaleStore | None = None
    ) -> None:
        self.root = root
        self.counter = FakeCounter()
        self.profile = ModelProfile("p", "m", context_tokens=context_tokens, family="gpt")
        self.file = root / "a.py"
        self.file.write_text("x = 1\n", encoding="utf-8")
        self.assembler = Assembler(
            self.counter,
            lambda _path, _text: (),
            lambda *_: ModelPrice(input_usd=1_000.0, output_usd=0.0),
            lambda: AT,
            scales=scales,
        )

    def spec(self, text: str = "hello", **inputs: object) -> StackSpec:
        given = StackInputs(
            provider="p",
            model="m",
            role_text="You help.",
            metadata=DiscussionMetadata("Sky"),
            preset_name="core",
            user_text=text,
        )
        given = replace(given, **inputs)  # type: ignore[arg-type]
        return StackSpec(
            "d", given, Preset("core", (FileItem("a.py"),)), str(self.root), profile=self.profile
        )

    def build(self, spec: StackSpec) -> BuiltCall:
        return self.assembler.build(CallToBuild("call", "request", "message", spec))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_files_are_read_fresh_for_every_assembly(bench: Bench) -> None:
    first = bench.assembler.assemble(bench.spec())
    bench.file.write_text("x = 22\n", encoding="utf-8")
    second = bench.assembler.assemble(bench.spec())

    assert "x = 1" in first.stack.text
    assert "x = 22" in second.stack.text


class Pricing:
    """A planner that prices nothing, and keeps the stack that it was asked about."""

    def __init__(self) -> None:
        self.stacks: list[AggregateStack] = []

    def is_held(self, _discussion_id: str) -> bool:
        return True

    def recalled_behind(self, _discussion_id: str) -> tuple[str, ...]:
        return ()

    def rewrite(self, spec: StackSpec, stack: AggregateStack, *_: object) -> RewriteCosts:
        self.stacks.append(stack)
        return RewriteCosts(discussion_id=spec.discussion_id)


def test_the_price_of_a_change_takes_over_what_the_last_assembly_rendered(tmp_path: Path) -> None:
    """However much the project's documents say, they are looked at and not rendered anew; what changed is."""
    bench, planner = Bench(tmp_path), Pricing()
    made = Assembler(
        FakeCounter(),
        lambda *_: (),
        lambda *_: ModelPrice(input_usd=1_000.0, output_usd=0.0),
        lambda: AT,
        keeper=cast("Planner", planner),
    )

    def priced(size: int) -> Callable[[], object]:
        documents = tuple(NamedText(f"{one}.md", "words") for one in range(size))
        spec = replace(bench.spec(project=documents), discussion_id=f"d{size}")
        made.assemble(spec)
        return lambda: made.rewrite(replace(spec))

    few, many = priced(50), priced(200)
    assert operations(many) <= operations(few) * FLAT
    assert [len(stack.layer(LayerId.PROJECT).pieces) for stack in planner.stacks] == [200, 50]

    made.rewrite(replace(bench.spec(project=(NamedText("new.md", "other"),)), discussion_id="d50"))
    assert "other" in planner.stacks[-1].layer(LayerId.PROJECT).text
    assert planner.stacks[-1].layer(LayerId.TURNS).pieces == ()


def test_the_price_of_a_change_is_read_off_the_stack_that_the_window_shows(tmp_path: Path) -> None:
    """Nothing is read or built a second time for the very same spec."""
    bench, planner = Bench(tmp_path), Pricing()
    made = Assembler(
        FakeCounter(), lambda *_: (), lambda *_: None, lambda: AT, keeper=cast("Planner", planner)
    )
    spec = bench.spec()
    shown = made.assemble(spec)
    made.rewrite(spec)
    assert planner.stacks == [shown.stack]
    assert planner.stacks[0] is shown.stack

    made.rewrite(replace(spec, root=str(tmp_path)))
    assert planner.stacks[1] is not shown.stack


def test_tokens_are_estimated_at_first_and_counted_once(bench: Bench) -> None:
    assembly = bench.assembler.assemble(bench.spec())
    assert not assembly.is_counted
    assert bench.counter.asked == 0

    counted = bench.assembler.recount(assembly)
    asked = bench.counter.asked
    assert counted.is_counted
    assert counted.total_tokens == sum(len(s.text) for s in counted.stack.segments)

    bench.assembler.recount(bench.assembler.assemble(bench.spec()))
    assert bench.counter.asked == asked


def test_the_report_names_files_that_cannot_be_sent(bench: Bench) -> None:
    bench.file.unlink()
    report = bench.assembler.report(bench.assembler.assemble(bench.spec()))
    assert len(report.problems) == 1
    assert report.problems[0].startswith("a.py")
    assert report.fits


def test_the_report_has_cost_texts_and_the_stable_length(bench: Bench) -> None:
    assembly = bench.assembler.recount(bench.assembler.assemble(bench.spec()))
    report = bench.assembler.report(assembly)

    assert report.cost_usd == pytest.approx(0.001 * report.total_tokens_est)
    assert "".join(layer.text for layer in report.texts) == assembly.stack.text
    assert report.stable_length_chars == assembly.stack.stable_prefix_length
    assert report.is_exact


def test_a_long_talk_is_not_copied_to_be_reported_on(bench: Bench) -> None:
    long = said("a", Role.ASSISTANT, "word " * 1_000_000)
    record = bench.build(bench.spec()).record
    spec = replace(bench.spec("on", turns=(said("q", Role.USER, "hello"), long)), previous=record)
    assembly = bench.assembler.recount(bench.assembler.assemble(spec))
    tracemalloc.start()
    try:
        report = bench.assembler.report(assembly)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < 1_000_000
    assert long.text in report.texts[LayerId.TURNS - 1].text


def test_the_difference_from_the_last_request_shows_only_what_is_new(bench: Bench) -> None:
    record = bench.build(bench.spec("one")).record
    same = bench.assembler.assemble(replace(bench.spec("one"), previous=record))
    bench.file.write_text("y = 2\n", encoding="utf-8")
    changed = bench.assembler.assemble(replace(bench.spec("one"), previous=record))

    first = bench.assembler.report(same).change
    second = bench.assembler.report(changed).change
    assert first is not None
    assert first.layer is None
    assert second is not None
    assert second.layer is LayerId.FILE_DETAILS
    assert second.rewritten_tokens_est > first.rewritten_tokens_est


def test_the_difference_is_named_by_its_byte_and_its_reason(bench: Bench) -> None:
    record = bench.build(bench.spec("one")).record
    bench.file.write_text("x = 2\n", encoding="utf-8")
    files = bench.assembler.report(bench.assembler.assemble(replace(bench.spec("one"), previous=record)))
    persona = NamedText("terse", "Be terse.")
    spec = replace(bench.spec("one", persona=persona), previous=record)
    stable = bench.assembler.report(bench.assembler.assemble(spec))

    assert files.change is not None
    assert files.change.byte_offset == files.texts[LayerId.FILE_DETAILS - 1].text.index("2")
    assert stable.change is not None
    assert (stable.change.layer, stable.change.reason) == (LayerId.PERSONA, "persona changed")


def test_a_discussion_that_was_left_gives_its_stack_back_but_not_one_that_was_sent(bench: Bench) -> None:
    def desks() -> int:
        return sum(isinstance(one, AssemblyDesk) for one in gc.get_objects())

    before = desks()
    record = bench.build(bench.spec("one")).record
    for number in range(40):
        bench.assembler.assemble(replace(bench.spec(), discussion_id=f"left {number}"))

    assert desks() - before < 12
    bench.file.write_text("x = 2\n", encoding="utf-8")
    change = bench.assembler.report(
        bench.assembler.assemble(replace(bench.spec("one"), previous=record))
    ).change
    assert change is not None
    assert change.byte_offset is not None


def test_after_a_restart_the_byte_of_a_difference_is_not_known(tmp_path: Path) -> None:
    record = Bench(tmp_path).build(Bench(tmp_path).spec()).record
    fresh = Bench(tmp_path)
    fresh.file.write_text("x = 2\n", encoding="utf-8")

    change = fresh.assembler.report(fresh.assembler.assemble(replace(fresh.spec(), previous=record))).change

    assert change is not None
    assert (change.layer, change.byte_offset) == (LayerId.FILE_DETAILS, None)


def test_a_request_record_explains_what_was_sent(bench: Bench) -> None:
    built = bench.build(bench.spec())

    record = built.record
    assert (record.id, record.message_id, record.at) == ("request", "message", AT)
    assert [layer.layer for layer in record.layers] == list(LayerId)
    role = record.layers[LayerId.ROLE - 1]
    assert role.sha256 == hashlib.sha256(b"You help.\n").hexdigest()
    assert built.request.messages[-1].parts


def test_a_prefix_that_changed_for_a_reason_is_recorded_and_not_warned_of(bench: Bench) -> None:
    record = bench.build(bench.spec()).record
    persona = NamedText("terse", "Be terse.")

    built = bench.build(replace(bench.spec(persona=persona), previous=record))

    assert built.record.prefix_reason
    assert built.warning == ""


def test_a_prefix_that_changed_without_a_reason_is_warned_of_with_layer_and_byte(bench: Bench) -> None:
    record = bench.build(bench.spec()).record
    layers = tuple(
        replace(layer, sha256="0" * 64) if layer.layer is LayerId.ROLE else layer for layer in record.layers
    )

    built = bench.build(replace(bench.spec(), previous=replace(record, layers=layers)))

    assert "Layer 1" in built.warning
    assert "nothing explains it" in built.warning


def test_after_a_restart_a_change_counts_as_explained(tmp_path: Path) -> None:
    record = Bench(tmp_path).build(Bench(tmp_path).spec()).record
    fresh = Bench(tmp_path)

    built = fresh.build(replace(fresh.spec(role_text="You help more."), previous=record))

    assert built.record.prefix_reason
    assert built.warning == ""


def test_what_does_not_fit_is_refused_with_sizes_and_the_largest_files(tmp_path: Path) -> None:
    bench = Bench(tmp_path, context_tokens=1000)
    bench.file.write_text("word " * 2000, encoding="utf-8")

    report = bench.assembler.report(bench.assembler.assemble(bench.spec()))
    with pytest.raises(ProviderError) as refused:
        bench.build(bench.spec())

    assert not report.fits
    assert refused.value.kind is FailureKind.CONTEXT_TOO_LONG
    assert "a.py" in refused.value.what
    assert "Nothing was sent" in refused.value.remedy


def test_a_file_with_a_long_name_is_named_by_its_beginning(tmp_path: Path) -> None:
    bench = Bench(tmp_path, context_tokens=1000)
    path = "a" * 4_000

    spec = replace(bench.spec(), preset=Preset("core", (FileItem(path),)))

    report = bench.assembler.report(bench.assembler.assemble(spec))

    assert max(map(len, report.problems)) < 600
    assert path not in "".join(report.problems)


def test_what_to_leave_out_is_what_is_large(tmp_path: Path) -> None:
    bench = Bench(tmp_path, context_tokens=1000)
    long_message = bench.spec("word " * 2000)
    long_persona = bench.spec(persona=NamedText("bard", "word " * 2000))

    with pytest.raises(ProviderError) as message:
        bench.build(long_message)
    with pytest.raises(ProviderError) as persona:
        bench.build(long_persona)

    with pytest.raises(ProviderError) as tools:
        bench.build(bench.spec(tools=(ToolSchema("look", "word " * 2000, '{"type":"object"}'),)))

    assert tools.value.remedy.startswith("Turn off the tools of this discussion, or choose")
    assert message.value.remedy.startswith("Shorten the message or its attachments")
    assert "largest files" not in message.value.what
    assert persona.value.remedy.startswith("Shorten the persona")


def test_an_estimate_over_the_limit_is_counted_before_anything_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, context_tokens=1000)
    bench.file.write_text("a" * 6000, encoding="utf-8")
    assembly = bench.assembler.assemble(bench.spec())
    bench.counter.count = lambda texts: bench.counter.counts.update(dict.fromkeys(texts, 1))  # type: ignore[method-assign]

    assert not bench.assembler.report(assembly).fits
    assert bench.build(bench.spec()).request.messages


def test_reported_tokens_move_the_models_factor(bench: Bench) -> None:
    spec = bench.spec()
    before = bench.assembler.recount(bench.assembler.assemble(spec)).total_tokens
    bench.build(spec)

    bench.assembler.note_usage(spec, Usage(input_tokens=before * 2))
    bench.assembler.learn()

    assert bench.assembler.assemble(spec).total_tokens > before


def test_an_estimate_that_is_booked_knows_every_report_before_it(bench: Bench) -> None:
    spec = bench.spec()
    bench.assembler.recount(bench.assembler.assemble(spec))
    first = bench.build(spec).record.estimate
    assert first is not None
    bench.assembler.note_usage(spec, Usage(input_tokens=(first.input_tokens or 0) * 3))
    second = bench.build(spec).record.estimate  # at once: nobody has learned yet
    assert second == first

    booked = bench.assembler.recounted(spec, second)

    assert booked.input_tokens == pytest.approx((first.input_tokens or 0) * 3, rel=0.01)


def test_a_prewarm_is_planned_by_every_report_before_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is given up is booked by its plan: under load the bill of the call before it was learned only afterwards."""
    spec, factors = bench.spec(), list[float]()
    bench.assembler.recount(bench.assembler.assemble(spec))
    first = bench.build(spec).record.estimate
    assert first is not None
    bench.assembler.note_usage(spec, Usage(input_tokens=(first.input_tokens or 0) * 3))

    class Warming:
        def prewarm_request(self, _spec: object, _stack: object, _profile: object, factor: float) -> None:
            factors.append(factor)

    monkeypatch.setattr(bench.assembler, "_keeper", Warming())
    assert bench.assembler.prewarm_request(spec) is None

    assert factors == [pytest.approx(3 * bench.profile.token_factor, rel=0.01)]


def _billed(bench: Bench, times: float) -> int:
    """Tokens of the next request, as estimated after a bill of so many times the last estimate."""
    spec = bench.spec()
    before = bench.assembler.recount(bench.assembler.assemble(spec)).total_tokens
    bench.build(spec)
    bench.assembler.note_usage(spec, Usage(input_tokens=round(before * times)))
    bench.assembler.learn()
    return bench.assembler.assemble(spec).total_tokens


def test_after_a_restart_the_estimate_is_as_it_was(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    learned = _billed(Bench(tmp_path, scales=HomeScaleStore(home)), 1.5)

    later = Bench(tmp_path, scales=HomeScaleStore(home))

    assert later.assembler.recount(later.assembler.assemble(later.spec())).total_tokens == learned


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format":9}', b'{"format":1,"models":[["p","m"]]}'])
def test_a_scale_that_cannot_be_read_is_learned_anew(tmp_path: Path, data: bytes) -> None:
    (tmp_path / paths.TOKENS_FILE).write_bytes(data)
    store = HomeScaleStore(tmp_path)
    assert store.load() == TokenScale()

    store.save(TokenScale({("p", "m"): 9.0}, {("d", "p", "m"): 1.25}))

    assert store.load() == TokenScale({("p", "m"): 4.0}, {("d", "p", "m"): 1.25})


def test_a_bill_with_a_picture_or_pdf_says_nothing_of_how_text_is_counted() -> None:
    profile, count = ModelProfile("p", "m"), RequestCount(1_000, 1_500)

    assert with_request(TokenScale(), profile, "d", count, 6_000) == TokenScale()
    assert with_request(TokenScale(), profile, "d", replace(count, images=0), 1_500).talks
