"""Sentences about batches: a state and a price for every moment of one, and no raw ids."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.kernel.language import english
from core.kernel.values.harvest import BatchItem, BatchState, HarvestBatch
from core.knowledge.harvest.batch_step import (
    batch_line,
    ended_sentence,
    fault_sentence,
    names_words,
    sent_sentence,
    state_words,
    stopped_sentence,
)

NOW = datetime(2026, 11, 23, 7, tzinfo=UTC)
ITEMS = tuple(BatchItem(f"c{n}", f"sha{n}", f"/home/user/{n}", f"k{n}") for n in range(4))
SENT = HarvestBatch(
    "tag",
    "anthropic",
    "m",
    "2026-11-23T05:52:00Z",
    ITEMS,
    0.03,
    state=BatchState.SUBMITTED,
    name="msgbatch_1",
)
DONE = replace(SENT, state=BatchState.COLLECTED, answered=2, taken=(0, 1), paid_usd=0.012)


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (replace(SENT, state=BatchState.INTENDED), "the program does not know yet whether the batch arrived"),
        (SENT, "at the provider"),
        (replace(SENT, worked_off=2), "at the provider, which has answered 2 of 4 requests"),
        (replace(SENT, is_cancelling=True, is_unwanted=True), "cancelling: the program has asked the provider to stop it"),
        (replace(SENT, state=BatchState.ENDED, answered=3, short_looks=1),
         "ended; the program could not read all of its answers: 3 of 4"),
        (DONE, "answered: 2 of 4"),
        (replace(DONE, is_unwanted=True), "cancelled, but answered before: 2 of 4"),
        (replace(SENT, state=BatchState.CANCELLED), "cancelled"),
        (replace(SENT, state=BatchState.VANISHED), "no longer known to the provider"),
    ],
)  # fmt: skip
def test_every_state_has_its_words(batch: HarvestBatch, words: str) -> None:
    assert state_words(batch) == words


def test_a_line_says_the_price_both_ways_when_it_was_asked_and_no_id() -> None:
    waiting = batch_line(replace(SENT, asked_at="2026-11-23T06:02:00Z"), NOW)
    assert "4 conversations, sent " in waiting
    assert " · asked " in waiting
    assert waiting.endswith("~$0.03 reserved; ~$0.06 without a batch")
    assert batch_line(DONE, NOW).endswith("paid $0.012; $0.024 without a batch")
    assert "msgbatch" not in waiting + batch_line(DONE, NOW) + ended_sentence((DONE,))


def test_what_was_cancelled_is_never_said_to_be_submitted_again() -> None:
    told = stopped_sentence(replace(SENT, state=BatchState.CANCELLED, is_unwanted=True), NOW)

    assert "was cancelled: 4 requests were not answered. You paid nothing." in told
    assert "submit" not in told


def test_a_submission_says_its_half_price_and_that_it_is_reserved() -> None:
    told = sent_sentence((SENT,))

    assert told.startswith("4 conversations are at the provider, ~$0.03, half the price, within a day")
    assert "keeps this amount reserved" in told
    assert "reserved" not in sent_sentence((replace(SENT, estimate_usd=None),)), (
        "nobody knows what to hold back"
    )


@pytest.mark.usefixtures("german")
def test_a_sentence_about_batches_is_known_in_english_too() -> None:
    for said in (sent_sentence((SENT,)), ended_sentence((DONE,)), batch_line(DONE, NOW), state_words(DONE)):
        assert english(said) != said
    assert (
        english(ended_sentence((DONE,)))
        == "A batch has ended: answered: 2 of 4, paid $0.012; $0.024 without a batch."
    )
    assert "half the price, within a day" in english(sent_sentence((SENT,)))


def test_failures_name_their_conversations_the_first_few_of_many() -> None:
    assert fault_sentence("It broke.", ["Tides", "Sun"]).startswith("Tides, Sun: the provider answered")
    assert names_words(["A", "B", "C", "D", "D"]) == "A, B, C and 1 more"
