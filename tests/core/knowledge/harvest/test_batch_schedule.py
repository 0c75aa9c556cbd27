"""Times at which the program asks by itself after open batches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import BatchState, HarvestBatch
from core.knowledge.harvest.batch_step import POLL, SOON, is_due

AT = datetime(2026, 11, 23, 6, tzinfo=UTC)
SENT = HarvestBatch("t", "anthropic", "m", AT.isoformat(), (), state=BatchState.SUBMITTED, name="b")


@pytest.mark.parametrize(
    ("batches", "looked", "after", "due"),
    [
        ((), None, POLL * 9, False),
        ((SENT,), AT, POLL - timedelta(seconds=1), False),
        ((SENT,), AT, POLL, True),
        ((SENT,), None, SOON, True),  # after a start
        ((replace(SENT, asked_at=(AT + POLL).isoformat()),), None, POLL, False),
        ((replace(SENT, is_cancelling=True),), AT, SOON, True),
        ((replace(SENT, state=BatchState.ENDED, short_looks=1),), AT, SOON, True),
        ((SENT,), AT, -timedelta(hours=1), True),  # the clock was set back
    ],
)
def test_a_provider_is_asked_again_when_it_is_time(
    batches: tuple[HarvestBatch, ...], looked: datetime | None, after: timedelta, due: bool
) -> None:
    assert is_due(batches, looked, AT + after) is due
