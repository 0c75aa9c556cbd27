"""Batches in the Harvest panel: submitted from its menu, seen while they wait, collected; and a look after a forgetting."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import BatchItem, BatchReport, BatchState, HarvestBatch
from core.knowledge.harvest.harvest_messages import BatchHarvest, CancelBatches, LeaveBatch, LookForHarvest
from panels.harvest.harvest_facts import name_of
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at, panel


def test_a_backlog_is_submitted_as_a_batch_at_half_the_price_and_collected() -> None:
    screen = open_at("conversations", hs.looked())

    screen.ui.click("As a batch (~$0.21, half the price, within a day)")

    assert screen.asked == [BatchHarvest()]
    look = hs.looked().harvest.look
    sent = HarvestBatch("t", "anthropic", "m", "2026-11-23T00:00:00Z", (), 0.21, state=BatchState.SUBMITTED)
    screen = open_at("conversations", hs.state(hs.seen(look=replace(look, batches=(sent,)))))
    assert screen.ui.shows(": at the provider · ~$0.21 reserved; ~$0.42 without a batch")
    assert screen.ui.shows("The program asks for results every 10 minutes")
    screen.ui.click("Collect")
    assert screen.asked == [BatchHarvest(submits=False, previews=True)]


def test_what_stood_against_a_batch_is_said_and_its_conversations_are_marked() -> None:
    first = hs.artifacts()[0].facts
    sent = HarvestBatch(
        "t", "anthropic", "m", "2026-11-23T00:00:00Z", (BatchItem("c", first.sha256, first.path, "k"),),
        state=BatchState.SUBMITTED,
    )  # fmt: skip
    look = replace(hs.looked().harvest.look, batches=(sent,), kept=frozenset())
    made = replace(hs.seen(look=look), batched=BatchReport(problems=("1 request expired.",)))
    screen = open_at("conversations", hs.state(made))

    assert screen.ui.shows("1 conversation, sent ")
    assert screen.ui.shows("3 to read, 1 in a batch")
    assert screen.ui.shows("1 request expired.")
    assert any("in a batch" in word for word in panel(screen))
    with pytest.raises(AssertionError):
        screen.ui.find(f"Read {name_of(first)}")  # nothing to tick: reading it now would be paid twice


def test_what_a_batch_did_not_answer_is_unticked_and_its_outcome_says_both_prices() -> None:
    first, second = (one.facts for one in hs.artifacts()[:2])
    items = tuple(BatchItem(one.name, one.sha256, one.path, one.name) for one in (first, second))
    closed = HarvestBatch(
        "t", "anthropic", "m", "2026-11-23T00:00:00Z", items,
        state=BatchState.COLLECTED, name="msgbatch_1", answered=1, taken=(0,), paid_usd=0.02,
    )  # fmt: skip
    screen = open_at("conversations", hs.state(replace(hs.seen(), batched=BatchReport((closed,)))))

    assert screen.ui.shows("answered: 1 of 2 · paid $0.020; $0.040 without a batch")
    assert screen.ui.find(f"Read {name_of(first)}").value is True
    assert screen.ui.find(f"Read {name_of(second)}").value is False
    assert not screen.ui.shows("msgbatch_1")


def test_with_everything_in_a_batch_no_price_is_asked_for_nothing() -> None:
    items = tuple(
        BatchItem(one.facts.name, one.facts.sha256, one.facts.path, one.facts.name) for one in hs.artifacts()
    )
    sent = HarvestBatch("t", "anthropic", "m", "2026-11-23T00:00:00Z", items, state=BatchState.SUBMITTED)
    look = replace(hs.looked().harvest.look, batches=(sent,))
    screen = open_at("conversations", hs.state(hs.seen(look=look)))

    assert not screen.ui.find("Preview", kind="button").is_enabled
    assert screen.ui.shows("All readable conversations are in a batch")
    assert not screen.ui.shows("Preview 0")


def test_open_batches_are_cancelled_after_a_yes_only() -> None:
    sent = HarvestBatch("t", "anthropic", "m", "2026-11-23T00:00:00Z", (), state=BatchState.SUBMITTED)
    look = replace(hs.looked().harvest.look, batches=(sent,))
    screen = open_at("conversations", hs.state(hs.seen(look=look)))
    screen.ui.click("Cancel…")
    assert screen.asked == []
    screen.ui.click("Keep batch")
    assert screen.view.dialog is None
    screen.ui.click("Cancel…")
    screen.ui.click("Cancel 1 batch")

    assert screen.asked == [CancelBatches()]


def test_a_batch_past_the_limit_asks_and_goes_with_the_persons_yes_or_is_left() -> None:
    asked = BatchHarvest(over_limit=True)
    made = replace(hs.seen(look=hs.looked().harvest.look), batch=asked, is_past_limit=True)
    screen = open_at("conversations", hs.state(made))
    assert screen.ui.shows("The batch waits for your approval.")
    screen.ui.click("Send the batch anyway")
    screen.ui.click("Do not send the batch")

    assert screen.asked == [asked, LeaveBatch()]


def test_the_panel_looks_again_when_a_forgetting_took_away_what_was_seen() -> None:
    state = hs.looked()
    screen = open_at("conversations", state)
    screen.show(state)
    assert screen.asked == []

    screen.show(replace(state, harvest=replace(state.harvest, looked_at=None)))
    screen.show(screen.state)

    assert screen.asked == [LookForHarvest()]
