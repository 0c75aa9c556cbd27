"""Looks after batches in the state: what they are told as, and which previews they lead to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from core.kernel.figures import count, moment, money
from core.kernel.secrets import scrubbed_line
from core.kernel.values.harvest import ArtifactClass, BatchReport, BatchState, HarvestBatch, HarvestState
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import notify
from core.knowledge.harvest.batch_book import MOST_SHORT_LOOKS, POLL, asked_last
from core.knowledge.harvest.harvest_messages import PreviewHarvest
from core.services.spending.pricing import batch_price, direct_price

# Sentences about batches, for window, terminal and reports alike. Pure.

HALF = "half the price, within a day"
SHOWN_NAMES = 3

_CLOSED = {
    BatchState.COLLECTED: "answered",
    BatchState.CANCELLED: "cancelled",
    BatchState.EXPIRED: "expired",
    BatchState.VANISHED: "gone at the provider",
}


def conversations(batch: HarvestBatch) -> int:
    """Number of conversations in a batch."""
    return len({item.sha256 for item in batch.items})


def batch_name(batch: HarvestBatch, now: datetime | None = None) -> str:
    """Name of a batch for a person: `the batch of 4 conversations, sent 05:52`."""
    sent = moment(datetime.fromisoformat(batch.at), now)
    return f"the batch of {count(conversations(batch), 'conversation')}, sent {sent}"


def state_words(batch: HarvestBatch) -> str:
    """State of a batch in a few words: `at the provider`, `cancelling`, `answered: 2 of 4`."""
    done, every = batch.answered + batch.forgotten, len(batch.items)
    far = f": {done:,} of {every:,}"
    if not batch.is_open:
        is_counted = batch.state is BatchState.COLLECTED or done
        stopped = batch.is_unwanted and batch.state is BatchState.COLLECTED
        word = "cancelled, answered before" if stopped else _CLOSED[batch.state]
        return f"{word}{far}" if is_counted else word
    if batch.is_cancelling:
        return "cancelling: the provider was asked to stop it"
    if batch.is_unwanted:
        return "cancelling: the provider is asked to stop it at the next look"
    if batch.state is BatchState.INTENDED:
        return "not known yet whether it arrived"
    if batch.state is BatchState.ENDED:
        return f"ended; not all of its answers could be read{far}" if batch.short_looks else "ended"
    return (
        f"at the provider, {batch.worked_off:,} of {every:,} worked off"
        if batch.worked_off
        else "at the provider"
    )


def batch_line(batch: HarvestBatch, now: datetime | None) -> str:
    """Line about a batch: `4 conversations, sent 05:52: at the provider · asked 06:02 · ~$0.03, half the price`."""
    sent = moment(datetime.fromisoformat(batch.at), now)
    head = f"{count(conversations(batch), 'conversation')}, sent {sent}: {state_words(batch)}"
    asked = f"asked {moment(asked_last(batch), now)}" if batch.is_open and batch.asked_at else ""
    return " · ".join(filter(None, (head, asked, price_words(batch))))


def price_words(batch: HarvestBatch) -> str:
    """Price of a batch both ways: `~$0.03 reserved, directly ~$0.06`; once it closed, what was paid."""
    if batch.is_open and batch.estimate_usd is None:
        return "price unknown"
    if batch.is_open:
        direct = direct_price(batch.estimate_usd)
        return f"{money(batch.estimate_usd, 'report')} reserved; directly {money(direct, 'report')}"
    if not batch.taken:
        return "nothing was paid" if batch.state is not BatchState.VANISHED else ""
    return f"paid {money(batch.paid_usd)}; directly {money(direct_price(batch.paid_usd))}"


def polling_words() -> str:
    """Sentence on when the program looks by itself."""
    minutes = int(POLL.total_seconds() // 60)
    return f"Manual Slop asks by itself, every {minutes} minutes and at its start, and tells you when one has ended."


def offer_words(direct_usd: float | None) -> str:
    """Price of a submission: `~$0.03, half the price, within a day`."""
    return f"{money(batch_price(direct_usd), 'report')}, {HALF}"


def sent_sentence(batches: Sequence[HarvestBatch]) -> str:
    """Sentence after a submission: what went out, what it is expected to cost and that this is held back."""
    several = count(sum(map(conversations, batches)), "conversation is", "conversations are")
    costs = [one.estimate_usd for one in batches]
    known = [cost for cost in costs if cost is not None]
    usd = sum(known) if len(known) == len(costs) else None
    return f"{several} at the provider, {offer_words(direct_price(usd))}: that much is reserved until the answers are read."


def ended_sentence(batches: Sequence[HarvestBatch]) -> str:
    """Sentence when batches have closed: how much of them was answered, and for what."""
    head = "A batch has ended" if len(batches) == 1 else f"{len(batches):,} batches have ended"
    told = (", ".join(filter(None, (state_words(one), price_words(one)))) for one in batches)
    return f"{head}: {'. '.join(told)}."


def short_sentence(batch: HarvestBatch, missing: int, now: datetime) -> str:
    """Sentence about results that lack something which the provider counts. `batch`: with this look counted."""
    head = (
        f"{capital(batch_name(batch, now))}: {count(missing, 'answer')} that the provider counts could not be read. "
        "Nothing is deleted there, and nothing is sent or paid again"
    )
    if batch.short_looks < MOST_SHORT_LOOKS:
        return f"{head}; it is read again at the next look."
    return f"{head}. It was read {batch.short_looks} times: wait, or cancel the batch to give the rest up; what was read is kept."


def overdue_reason(ends_within: timedelta) -> str:
    """Reason why a batch is given up that its provider does not call ended."""
    hours = int(ends_within.total_seconds() // 3600)
    return f"by the provider's own rule it ends within {hours} hours, and it is not said to have ended"


def overdue_sentence(batch: HarvestBatch, why: str, now: datetime) -> str:
    """Sentence about such a batch."""
    return (
        f"{capital(batch_name(batch, now))}: {why}. The provider is asked to stop it; what it answered is kept, and "
        "nothing is sent again in this run"
    )


def lost_sentence(what: str, number: int, names: Iterable[str]) -> str:
    """Sentence about requests that were not answered: `1 request expired: Tides. It is kept …`."""
    return f"{count(number, 'request')} {what}: {names_words(names)}. Kept, and can be read again, in a batch or directly."


def fault_sentence(reason: str, names: Iterable[str]) -> str:
    """Sentence about requests that the provider answered with an error."""
    return (
        f"{names_words(names)}: the provider answered with an error: {reason}. Kept, and can be read again."
    )


def stopped_sentence(batch: HarvestBatch, now: datetime) -> str:
    """Sentence about a closed batch that the person stopped."""
    left = len(batch.items) - len(batch.taken)
    unread = (
        f"{count(left, 'request')} of it {'was' if left == 1 else 'were'} not answered"
        if left
        else "all of it was answered before"
    )
    return f"{capital(batch_name(batch, now))}, was cancelled: {unread}. {capital(price_words(batch))}."


def names_words(names: Iterable[str]) -> str:
    """Names of conversations in a row, the first few of many."""
    every = [scrubbed_line(name, 60) for name in dict.fromkeys(names)]
    more = f" and {len(every) - SHOWN_NAMES:,} more" if len(every) > SHOWN_NAMES else ""
    return ", ".join(every[:SHOWN_NAMES]) + more


def capital(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]


NOTICE = "batches"
"""Id of the notice of batches."""


def with_batches(state: AppState, batches: tuple[HarvestBatch, ...]) -> AppState:
    """The state with these as the open batches."""
    look = replace(state.harvest.look, batches=batches)
    return replace(state, harvest=replace(state.harvest, look=look))


def batched(
    state: AppState, before: HarvestState, report: BatchReport
) -> tuple[AppState, PreviewHarvest | None]:
    """Take in a look after the batches, and say what ended.

    Args:
        before: the harvest while the look was under way. What it found by itself stays told until somebody asks.

    Returns:
        The state, and the preview of what is answered now, None where nothing is or another preview is open.
    """
    closed = tuple(one for one in report.batches if not one.is_open)
    state = with_batches(state, tuple(one for one in report.batches if one.is_open))
    told = _joined(before, report)
    state = replace(
        state,
        harvest=replace(
            state.harvest,
            batched=told,
            problem=report.stopped or state.harvest.problem,
            is_unasked=before.is_quiet,
        ),
    )
    follow = _preview(state, closed)
    if closed and not all(one.is_unwanted for one in closed):
        offered = follow if before.is_quiet else None
        label = "Preview what came" if offered is not None else ""
        state = notify(state, NOTICE, Level.INFO, ended_sentence(closed), action=offered, action_label=label)
    elif report.said:
        state = notify(state, NOTICE, Level.INFO, " ".join(report.said))
    return state, follow


def _joined(before: HarvestState, report: BatchReport) -> BatchReport:
    """The report with what the program's own looks told before, and nobody asked about since."""
    earlier = before.batched if before.is_quiet or before.is_unasked else None
    if earlier is None:
        return report
    closed = tuple(one for one in earlier.batches if not one.is_open)
    if not closed:
        return report
    return replace(
        report,
        batches=(*report.batches, *closed),
        problems=tuple(dict.fromkeys((*earlier.problems, *report.problems))),
        said=tuple(dict.fromkeys((*earlier.said, *report.said))),
    )


def _preview(state: AppState, closed: tuple[HarvestBatch, ...]) -> PreviewHarvest | None:
    harvest = state.harvest
    if harvest.preview is not None:
        return None
    sent = {item.sha256 for batch in closed for item in batch.items}
    answered = tuple(
        one.facts.path
        for one in harvest.look.artifacts
        if one.kind is ArtifactClass.HARVEST and one.facts.sha256 in sent & harvest.look.kept
    )
    return PreviewHarvest(paths=answered) if answered else None
