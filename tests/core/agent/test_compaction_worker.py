"""The compaction worker: sizes as a model counts them, a journal of any shape, a summary that is stopped or fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from core.agent.agent_messages import (
    CompactionEvent,
    PlanView,
    StopSummary,
    SummariseView,
    ViewPlanned,
    ViewSummarised,
)
from core.agent.compaction_worker import MAX_JOURNAL_BYTES, CompactionHandler
from core.agent.journal_text import new_entry, written
from core.kernel.errors import StorageError
from core.kernel.paths import JOURNAL_FILE
from core.kernel.values.curation import Preset
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.provider import ModelProfile
from core.kernel.values.spec import CallToBuild, PlannedRequest, StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.updates import Report
from core.kernel.values.usage import Usage
from core.kernel.values.window import CutPlan, CutReason, ViewCut
from core.services.providers.protocol import Provider
from core.talk.context.assembly import Assembler
from core.talk.context.difference import Assembly
from core.talk.context.stack import build_stack
from tests.core.records import ID, NOW

TURNS = tuple(
    Message(
        f"m{at}",
        NOW + timedelta(seconds=at),
        (Role.USER, Role.ASSISTANT)[at % 2],
        (TextPart("words " * 900),),
    )
    for at in range(6)
)
SPEC = StackSpec(ID, StackInputs(turns=TURNS, user_text="next"), Preset("p"), "")


class Measured(Assembler):
    """Builds stacks and counts nothing; fails as it is told to."""

    def __init__(self, error: Exception | None = None, window: int | None = 8_000) -> None:
        self.error, self.window = error, window

    def assemble(self, spec: StackSpec, call: CallToBuild | None = None) -> Assembly:
        if self.error is not None:
            raise self.error
        stack = build_stack(spec.inputs)
        return Assembly(
            spec, stack, (), stack.report(), ModelProfile("p", "m", context_tokens=self.window), True
        )

    def recount(self, assembly: Assembly) -> Assembly:
        return assembly

    def ask_behind(self, spec: StackSpec, words: str) -> tuple[PlannedRequest, int] | None:
        return None


def nobody(_provider: str) -> Provider:
    raise StorageError("There is no key", remedy="Store one")


def handled(
    home: Path,
    effect: PlanView | SummariseView,
    measured: Measured | None = None,
    before: Callable[[CompactionHandler], object] = lambda _handler: None,
) -> CompactionEvent:
    found: list[CompactionEvent | Report] = []
    about = home, measured or Measured(), nobody, lambda *_: 0.25, found.append
    handler = CompactionHandler(*about, lambda _key: True)
    before(handler)
    handler.handle(effect)
    (event,) = found
    assert isinstance(event, CompactionEvent)
    return event


def plan(home: Path, measured: Measured | None = None, why: CutReason = CutReason.FULL) -> ViewPlanned:
    effect = PlanView(ID, "job", SPEC, TURNS, None, why, NOW + timedelta(minutes=1))
    event = handled(home, effect, measured)
    assert isinstance(event, ViewPlanned)
    return event


def test_what_does_not_fit_is_to_be_summarised_at_a_price(tmp_path: Path) -> None:
    event = plan(tmp_path)

    assert event.plan.cut is not None
    assert event.plan.cut.begins_at == "m4"
    assert len(event.plan.to_summarise) == 2  # each a call of two fifths of the window at most
    assert event.usd == 0.25


def test_an_overflow_is_planned_for_less_than_was_too_much(tmp_path: Path) -> None:
    event = plan(tmp_path, Measured(window=1_000_000), CutReason.OVERFLOW)

    assert event.plan.cut is not None
    assert event.plan.cut.begins_at == "m4"


@pytest.mark.parametrize("shape", ["a folder", "a pipe", "noise", "a loop of links", "huge"])
def test_a_journal_of_any_shape_stops_nothing(tmp_path: Path, shape: str) -> None:
    path = tmp_path / JOURNAL_FILE
    entry = written(new_entry(NOW + timedelta(seconds=4), "", "The end of it.", ID)).encode()
    match shape:
        case "a folder":
            path.mkdir()
        case "a pipe":
            os.mkfifo(path)
        case "noise":
            path.write_bytes(b"\xff\xfe\x00## \xf0\n" + entry)
        case "a loop of links":
            path.symlink_to(path)
        case _:
            with path.open("wb") as file:
                file.seek(2 * MAX_JOURNAL_BYTES)
                file.write(b"\n" + entry)

    cut = plan(tmp_path).plan.cut

    assert cut is not None
    assert cut.begins_at == "m4"
    assert ("The end of it." in cut.journal) is (shape in {"noise", "huge"})


@pytest.mark.parametrize("error", [StorageError("The disk is gone"), RuntimeError("a fault")])
def test_a_plan_that_fails_is_told(tmp_path: Path, error: Exception) -> None:
    event = plan(tmp_path, Measured(error))

    assert event.plan.cut is None
    assert event.plan.problem


def test_a_summary_that_cannot_be_asked_for_or_was_stopped_before_costs_nothing(tmp_path: Path) -> None:
    asked = CutPlan(ViewCut("", NOW, "m4"), to_summarise=("words",))
    effect = SummariseView(ID, "job", "r", "p", "m", "Tides", "Summarise.", asked)

    failed = handled(tmp_path, effect)
    stopped = handled(tmp_path, effect, before=lambda handler: handler.stop(StopSummary(ID, "job")))

    assert failed == ViewSummarised(ID, "job", "r", "", "There is no key. Store one", Usage())
    assert isinstance(stopped, ViewSummarised)
    assert (stopped.problem, stopped.usage) == ("The summary was stopped", Usage())
