"""Looks after batches in the state: by itself, out of everybody's way, told when one ended, previewed when asked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import BatchItem, BatchReport, BatchState, HarvestBatch, HarvestPhase
from core.kernel.values.state import CommandOutcome
from core.kernel.values.updates import Tick, outcome_of
from core.knowledge.harvest.batch_step import NOTICE, POLL, SOON
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    BatchesFound,
    BatchHarvest,
    DistilConversations,
    FindBatches,
    HarvestFailed,
    HarvestLooked,
    HarvestReported,
    LookForHarvest,
    PreviewHarvest,
    RunBatches,
    ScanConversations,
)
from core.services.settings.settings_messages import SettingsLoaded
from tests.core.app.playbook import START, Playbook, of
from tests.core.knowledge.harvest.test_step import LOOK, ONE, TWO, harvest, ready

__all__ = ["SettingsLoaded"]

ITEMS = tuple(
    BatchItem(f"t-{n}", one.facts.sha256, one.facts.path, one.facts.name) for n, one in enumerate((ONE, TWO))
)
SENT = HarvestBatch(
    "t", "anthropic", "m", START.isoformat(), ITEMS, 0.03, state=BatchState.SUBMITTED, name="msgbatch_1"
)
DONE = replace(SENT, state=BatchState.COLLECTED, answered=1, taken=(0,), paid_usd=0.01)
KEPT = replace(LOOK, kept=frozenset({ONE.facts.sha256}))
ENDED = HarvestReported(result=BatchReport((DONE,), problems=("two: it failed",)), look=KEPT)


def waiting() -> Playbook:
    """A program that was started with a batch at the provider."""
    book = ready()
    book.play(BatchesFound((SENT,)))
    return book


def looking() -> Playbook:
    """The same, while it looks by itself."""
    book = waiting().later(SOON.total_seconds())
    (asked,) = of(book.play(Tick()), RunBatches)
    assert (asked.artifacts, asked.is_quiet) == ((), True)
    return book


def notices(book: Playbook) -> list[str]:
    return [one.text for one in book.state.program.notices if one.id == NOTICE]


def test_a_program_finds_its_batches_at_the_start_and_looks_after_them_by_itself() -> None:
    book = Playbook()
    from core.app.app_messages import HomeOpened

    assert of(book.play(HomeOpened("/h")), FindBatches)
    book = looking()
    book.play(HarvestReported(result=BatchReport((SENT,)), look=None))
    assert of(book.later(60).play(Tick()), RunBatches) == ()
    assert of(book.later(POLL.total_seconds()).play(Tick()), RunBatches)


def test_its_own_look_stands_in_nobodys_way_and_keeps_silent_where_nothing_ended() -> None:
    book = looking()
    assert harvest(book).phase is HarvestPhase.BATCHING
    assert not harvest(book).is_busy
    book.play(HarvestReported(result=BatchReport((replace(SENT, worked_off=1),)), look=None))

    assert (harvest(book).phase, harvest(book).look.batches[0].worked_off) == (HarvestPhase.IDLE, 1)
    assert notices(book) == []


def test_what_is_asked_for_meanwhile_is_begun_after_it_and_waited_for() -> None:
    book = looking()
    assert book.play(LookForHarvest(command_id="c1")) == ()
    assert harvest(book).is_busy
    assert outcome_of(book.state, "c1") is None
    begun = book.play(HarvestReported(result=BatchReport((SENT,)), look=None))
    assert of(begun, ScanConversations)
    book.play(HarvestLooked(LOOK))

    assert outcome_of(book.state, "c1") == CommandOutcome("c1")


def test_a_look_of_its_own_that_fails_says_nothing_and_waits_for_its_next_turn() -> None:
    book = looking()
    book.play(HarvestFailed("Another harvest runs", "Wait"))

    assert (harvest(book).phase, harvest(book).problem, notices(book)) == (HarvestPhase.IDLE, "", [])
    assert of(book.later(5).play(Tick()), RunBatches) == ()


def test_a_batch_that_ended_is_told_of_with_its_price_and_a_way_to_its_items() -> None:
    book = looking()
    book.play(HarvestReported(result=BatchReport((DONE,), problems=("two: it failed",)), look=KEPT))

    assert notices(book) == ["A batch has ended: answered: 1 of 2, paid $0.010; $0.020 without a batch."]
    (notice,) = [one for one in book.state.program.notices if one.id == NOTICE]
    assert notice.action == PreviewHarvest((ONE.facts.path,))
    assert of(book.play(PreviewHarvest((ONE.facts.path,))), DistilConversations)


def test_what_its_own_looks_closed_stays_told_until_somebody_looks() -> None:
    book = looking()
    book.play(ENDED)
    book.play(BatchHarvest(submits=False, command_id="c1"))
    book.play(HarvestReported(result=BatchReport(), look=KEPT))
    told = harvest(book).batched
    assert told is not None
    assert (told.batches, told.problems) == ((DONE,), ("two: it failed",))

    book.play(BatchHarvest(submits=False))
    book.play(HarvestReported(result=BatchReport(), look=KEPT))
    assert harvest(book).batched == BatchReport()


def test_collect_previews_what_came_and_nothing_that_would_cost() -> None:
    book = waiting()
    book.play(BatchHarvest(submits=False, previews=True))
    effects = book.play(HarvestReported(result=BatchReport((DONE,)), look=KEPT, previews=True))

    (distil,) = of(effects, DistilConversations)
    assert [one.facts.name for one in distil.artifacts] == ["one"]


@pytest.mark.parametrize("command", [PreviewHarvest(), ApplyHarvest()])
def test_a_run_of_somebody_keeps_its_own_looks_waiting(command: PreviewHarvest | ApplyHarvest) -> None:
    book = ready()
    book.play(LookForHarvest())
    book.play(HarvestLooked(replace(LOOK, batches=())))
    book.play(command)
    book.play(BatchesFound((SENT,)))

    assert of(book.later(timedelta(hours=1).total_seconds()).play(Tick()), RunBatches) == ()
