"""The rows of a batch's file: its intent, then every change. Pure: what follows on what, and what is still open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import TypedReader, decoder_of, to_json
from core.kernel.values.harvest import BatchFault, BatchProgress, BatchState, HarvestBatch

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
