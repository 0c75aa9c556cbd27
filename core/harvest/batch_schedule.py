"""Times at which the program asks by itself after open batches. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from core.values.batches import BatchState, HarvestBatch

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
