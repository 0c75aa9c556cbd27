"""Calls that begin at once: who waits reads what the first of them wrote."""

from __future__ import annotations

import pytest

from tests.bench.cache_days import count_labels, make_start
from tests.bench.cache_parallel import at_once, send_at_once


def test_who_waits_reads_the_shared_prefix_and_who_does_not_writes_it_again() -> None:
    asks = make_start(1)
    shared = sum(
        count_labels(p.text) for layer in asks[0].stack.layers if layer.id <= 7 for p in layer.pieces
    )
    waited = send_at_once(asks, 0.05, waits=True)
    rushed = send_at_once(asks, 0.05, waits=False)

    assert len(asks) == 3
    assert waited.total == rushed.total
    assert rushed.read == 0
    assert waited.read == pytest.approx(2 * shared, rel=0.01)


def test_one_call_alone_waits_for_nobody() -> None:
    one = make_start(1)[:1]

    assert send_at_once(one, 0.05, waits=True) == send_at_once(one, 0.05, waits=False)


@pytest.mark.parametrize("read", [0.1, 0.05, 0.025])
def test_waiting_is_cheaper_at_every_price(read: float) -> None:
    assert at_once((1, 2), read, waits=True) < 0.85 * at_once((1, 2), read, waits=False)
