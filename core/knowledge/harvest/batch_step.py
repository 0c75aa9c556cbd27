"""Looks after batches in the state: what they are told as, and which previews they lead to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import TypedReader, decoder_of, to_json
from core.kernel.figures import count, first_of, moment, money
from core.kernel.language import as_sentences, capital, joined, spliced, tr
from core.kernel.secrets import scrubbed_line
from core.kernel.values.harvest import (
    ArtifactClass,
    BatchFault,
    BatchProgress,
    BatchReport,
    BatchState,
    HarvestBatch,
    HarvestState,
)
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import notify
from core.knowledge.harvest.harvest_messages import PreviewHarvest
from core.services.spending.pricing import batch_price, direct_price

NEXT: Mapping[BatchState, frozenset[BatchState]] = {
    BatchState.INTENDED: frozenset({BatchState.SUBMITTED, BatchState.CANCELLED}),
    BatchState.SUBMITTED: frozenset({BatchState.ENDED, BatchState.CANCELLED, BatchState.VANISHED}),
    BatchState.ENDED: frozenset(
        {BatchState.COLLECTED, BatchState.CANCELLED, BatchState.EXPIRED, BatchState.VANISHED}
    ),
}
"""Changes of state that can be. What is closed stays as it is, but for being cleaned."""

MOST_SHORT_LOOKS = 3
"""Looks at results that lack something, after which the person is asked; until then nothing of them is given up."""

MOST_FAULTS = 2
"""Answers in errors to one request, after which no batch asks it again."""


_GROWING = ("answered", "forgotten", "worked_off", "paid_usd", "short_looks")
"""Figures of a batch that no change makes smaller: one that leaves them out leaves them as they are."""


class BatchChange(BatchProgress, frozen=True):
    """One change of a batch. `at`: ISO 8601 UTC; what it leaves out, other than `state`, is as before."""

    at: str


class _Intent(msgspec.Struct, frozen=True):
    intent: HarvestBatch


_ROWS: TypedReader[BatchChange] = decoder_of(BatchChange)
_INTENTS: TypedReader[_Intent] = decoder_of(_Intent)


def intent_row(batch: HarvestBatch) -> bytes:
    """The first row of a batch's file."""
    return to_json(_Intent(batch)) + b"\n"


def change_row(change: BatchChange) -> bytes:
    """A later one."""
    return to_json(change) + b"\n"


def changed(batch: HarvestBatch, change: BatchChange) -> HarvestBatch:
    """The batch after a change; one that cannot be leaves it as it is."""
    if change.state is batch.state and not batch.is_open:
        return replace(batch, is_cleaned=batch.is_cleaned or change.is_cleaned)
    if change.state is not batch.state and change.state not in NEXT.get(batch.state, frozenset()):
        return batch
    values = {name: getattr(change, name) for name in BatchProgress.__struct_fields__}
    values["name"] = change.name or batch.name
    values["reason"] = change.reason or batch.reason
    values["is_cancelling"] = change.is_cancelling or batch.is_cancelling
    values["is_unwanted"] = change.is_unwanted or batch.is_unwanted
    values["asked_at"] = change.asked_at or batch.asked_at
    values["faults"] = change.faults or batch.faults
    values["taken"] = tuple(sorted({*batch.taken, *change.taken}))
    for name in _GROWING:
        values[name] = max(getattr(change, name), getattr(batch, name))
    return replace(batch, **values)


def folded(data: bytes) -> HarvestBatch | None:
    """A batch as its file tells of it; rows that cannot be read are left out. None: no intent can be read."""
    first, *rest = data.split(b"\n")
    try:
        batch = _INTENTS.decode(first).intent
    except (msgspec.DecodeError, RecursionError):
        return None
    for line in rest:
        try:
            batch = changed(batch, _ROWS.decode(line))
        except (msgspec.DecodeError, RecursionError):
            continue
    return batch


def waiting(batches: Iterable[HarvestBatch]) -> frozenset[str]:
    """The conversations (sha256) of open batches: nothing of them is submitted again."""
    return frozenset(item.sha256 for one in batches if one.is_open for item in one.items)


def unread(batches: Iterable[HarvestBatch]) -> frozenset[str]:
    """The conversations (sha256) of batches that closed without answers, were stopped or given up: this run submits none."""
    closed = (BatchState.VANISHED, BatchState.CANCELLED)
    stopped = (one for one in batches if one.name and (one.state in closed or one.reason or one.is_unwanted))
    return frozenset(item.sha256 for one in stopped for item in one.items)


def reserved(batches: Iterable[HarvestBatch]) -> dict[str, float]:
    """Expected cost of each open batch in US dollars, by tag."""
    return {one.tag: one.estimate_usd or 0.0 for one in batches if one.is_open}


def faults_of(batches: Iterable[HarvestBatch]) -> dict[str, tuple[BatchFault, ...]]:
    """Errors that requests were answered with so far, by the reply's key."""
    found: dict[str, tuple[BatchFault, ...]] = {}
    for fault in (fault for one in batches for fault in one.faults):
        found[fault.key] = (*found.get(fault.key, ()), fault)
    return found


def closing_state(batch: HarvestBatch, *, answered: int, is_expired: bool) -> BatchState:
    """State in which an ended batch closes, once its answers are read."""
    if answered:
        return BatchState.COLLECTED
    if batch.is_cancelling:
        return BatchState.CANCELLED
    return BatchState.EXPIRED if is_expired else BatchState.COLLECTED


def owner(custom_id: str, batch: HarvestBatch) -> int | None:
    """Index of an answer's item, None if there is none."""
    head, _, number = custom_id.rpartition("-")
    if head != batch.tag or not (number.isascii() and number.isdigit()) or len(number) > 9:
        return None
    index = int(number)
    return index if index < len(batch.items) and batch.items[index].custom_id == custom_id else None


# Times at which the program asks by itself after open batches. Pure.

POLL = timedelta(minutes=10)
"""Between two looks of a program that runs: a batch takes minutes to hours, and asking costs nothing."""

SOON = timedelta(minutes=1)
"""The same for one that is being cancelled, or whose results came short; and after a start."""


def is_due(batches: Iterable[HarvestBatch], looked_at: datetime | None, now: datetime) -> bool:
    """True if the provider is to be asked now.

    Args:
        batches: the open ones; looked_at: when this program last did, None before; a clock that was set back counts.
    """
    waiting = tuple(batches)
    if not waiting:
        return False
    is_soon = any(one.is_cancelling or one.is_unwanted or one.state is BatchState.ENDED for one in waiting)
    last = looked_at or max(map(asked_last, waiting))
    wait = SOON if is_soon or looked_at is None else POLL
    return not timedelta() <= now - last < wait


def asked_last(batch: HarvestBatch) -> datetime:
    """Time at which a provider was last asked about a batch, or was given it."""
    return datetime.fromisoformat(batch.asked_at or batch.at)


# Sentences about batches, for window, terminal and reports alike. Pure.

HALF = tr("half the price, within a day")
SHOWN_NAMES = 3

_CLOSED = {
    BatchState.COLLECTED: tr("answered"),
    BatchState.CANCELLED: tr("cancelled"),
    BatchState.EXPIRED: tr("expired"),
    BatchState.VANISHED: tr("no longer known to the provider"),
}


def conversations(batch: HarvestBatch) -> int:
    """Number of conversations in a batch."""
    return len({item.sha256 for item in batch.items})


def batch_name(batch: HarvestBatch, now: datetime | None = None) -> str:
    """Name of a batch for a person: `the batch of 4 conversations, sent 05:52`."""
    sent = moment(datetime.fromisoformat(batch.at), now)
    return tr(
        "the batch of {batch}, sent {sent}",
        batch=count(conversations(batch), tr("conversation"), tr("conversations")),
        sent=sent,
    )


def state_words(batch: HarvestBatch) -> str:
    """State of a batch in a few words: `at the provider`, `cancelling`, `answered: 2 of 4`."""
    done, every = batch.answered + batch.forgotten, len(batch.items)
    far = tr(": {done:,} of {every:,}", done=done, every=every)
    if not batch.is_open:
        is_counted = batch.state is BatchState.COLLECTED or done
        stopped = batch.is_unwanted and batch.state is BatchState.COLLECTED
        word = tr("cancelled, but answered before") if stopped else _CLOSED[batch.state]
        return spliced("{}{}", word, far) if is_counted else word
    if batch.is_cancelling:
        return tr("cancelling: the program has asked the provider to stop it")
    if batch.is_unwanted:
        return tr("cancelling: the next check asks the provider to stop it")
    if batch.state is BatchState.INTENDED:
        return tr("the program does not know yet whether the batch arrived")
    if batch.state is BatchState.ENDED:
        return (
            tr("ended; the program could not read all of its answers{far}", far=far)
            if batch.short_looks
            else tr("ended")
        )
    return (
        tr(
            "at the provider, which has answered {worked_off:,} of {every:,} requests",
            worked_off=batch.worked_off,
            every=every,
        )
        if batch.worked_off
        else tr("at the provider")
    )


def batch_line(batch: HarvestBatch, now: datetime | None) -> str:
    """Line about a batch: `4 conversations, sent 05:52: at the provider · asked 06:02 · ~$0.03, half the price`."""
    sent = moment(datetime.fromisoformat(batch.at), now)
    head = tr(
        "{conversations}, sent {sent}: {state}",
        conversations=count(conversations(batch), tr("conversation"), tr("conversations")),
        sent=sent,
        state=state_words(batch),
    )
    asked = (
        tr("asked {batch}", batch=moment(asked_last(batch), now)) if batch.is_open and batch.asked_at else ""
    )
    return joined(" · ", filter(None, (head, asked, price_words(batch))))


def price_words(batch: HarvestBatch) -> str:
    """Price of a batch both ways: `~$0.03 reserved, directly ~$0.06`; once it closed, what was paid."""
    if batch.is_open and batch.estimate_usd is None:
        return tr("price unknown")
    if batch.is_open:
        direct = direct_price(batch.estimate_usd)
        return tr(
            "{estimate_usd} reserved; {direct} without a batch",
            estimate_usd=money(batch.estimate_usd, "report"),
            direct=money(direct, "report"),
        )
    if not batch.taken:
        return tr("you paid nothing") if batch.state is not BatchState.VANISHED else ""
    return tr(
        "paid {paid_usd}; {paid_usd2} without a batch",
        paid_usd=money(batch.paid_usd),
        paid_usd2=money(direct_price(batch.paid_usd)),
    )


def polling_words() -> str:
    """Sentence on when the program looks by itself."""
    minutes = int(POLL.total_seconds() // 60)
    return tr(
        "The program checks every {minutes} minutes and at its start. It tells you when a batch has ended.",
        minutes=minutes,
    )


def offer_words(direct_usd: float | None) -> str:
    """Price of a submission: `~$0.03, half the price, within a day`."""
    return spliced("{}, {}", money(batch_price(direct_usd), "report"), HALF)


def sent_sentence(batches: Sequence[HarvestBatch]) -> str:
    """Sentence after a submission: what went out, what it is expected to cost and that this is held back."""
    number = sum(map(conversations, batches))
    costs = [one.estimate_usd for one in batches]
    known = [cost for cost in costs if cost is not None]
    usd = sum(known) if len(known) == len(costs) else None
    price = offer_words(direct_price(usd))
    sent = (
        tr("1 conversation is at the provider, {price}.", price=price)
        if number == 1
        else tr("{number:,} conversations are at the provider, {price}.", number=number, price=price)
    )
    held = "" if usd is None else tr("The program keeps this amount reserved until the answers are read.")
    return as_sentences(sent, *filter(None, (held,)), is_closed=True)


def ended_sentence(batches: Sequence[HarvestBatch]) -> str:
    """Sentence when batches have closed: how much of them was answered, and for what."""
    head = (
        tr("A batch has ended")
        if len(batches) == 1
        else tr("{batches:,} batches have ended", batches=len(batches))
    )
    told = (joined(", ", filter(None, (state_words(one), price_words(one)))) for one in batches)
    return as_sentences(spliced("{}: {}", head, as_sentences(*told)), is_closed=True)


def short_sentence(batch: HarvestBatch, missing: int, now: datetime) -> str:
    """Sentence about results that lack something which the provider counts. `batch`: with this look counted."""
    head = tr(
        "{batch}: the provider counts {answers} that the program could not read. The provider keeps these answers, and you do not pay twice",
        batch=capital(batch_name(batch, now)),
        answers=count(missing, tr("answer"), tr("answers")),
    )
    if batch.short_looks < MOST_SHORT_LOOKS:
        return tr("{head}; the program reads the batch again at the next check.", head=head)
    return tr(
        "{head}. The program read the batch {short_looks} times. Wait, or cancel the batch and give up the rest; the program keeps answers already read.",
        head=head,
        short_looks=batch.short_looks,
    )


def overdue_reason(ends_within: timedelta) -> str:
    """Reason why a batch is given up that its provider does not call ended."""
    hours = int(ends_within.total_seconds() // 3600)
    return tr("the provider's limit of {hours} hours is over, but the batch has not ended", hours=hours)


def overdue_sentence(batch: HarvestBatch, why: str, now: datetime) -> str:
    """Sentence about such a batch."""
    return tr(
        "{batch}: {why}. The program asks the provider to stop the batch and keeps its replies. This harvest sends no request again",
        batch=capital(batch_name(batch, now)),
        why=why,
    )


def fault_sentence(reason: str, names: Iterable[str]) -> str:
    """Sentence about requests that the provider answered with an error."""
    return tr(
        "{names}: the provider answered with an error: {reason}. The conversations stay, and you can harvest them again.",
        names=names_words(names),
        reason=reason,
    )


def stopped_sentence(batch: HarvestBatch, now: datetime) -> str:
    """Sentence about a closed batch that the person stopped."""
    left = len(batch.items) - len(batch.taken)
    unread = (
        count(left, tr("request was not answered"), tr("requests were not answered"))
        if left
        else tr("all requests of the batch were answered before")
    )
    return tr(
        "{batch}, was cancelled: {result}. {price}.",
        batch=capital(batch_name(batch, now)),
        result=unread,
        price=capital(price_words(batch)),
    )


def names_words(names: Iterable[str]) -> str:
    """Names of conversations in a row, the first few of many."""
    every = [scrubbed_line(name, 60) for name in dict.fromkeys(names)]
    return first_of(every, SHOWN_NAMES)


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
        label = tr("Preview the answers") if offered is not None else ""
        state = notify(state, NOTICE, Level.INFO, ended_sentence(closed), action=offered, action_label=label)
    elif report.said:
        state = notify(state, NOTICE, Level.INFO, joined(" ", report.said))
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
