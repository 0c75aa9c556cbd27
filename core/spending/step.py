"""Spending in the state: what was counted, and the day that ends."""

from __future__ import annotations

from typing import assert_never

from core.spending.limits import add_payments, counted, new_day
from core.spending.messages import PaymentsSeen, SpendingEvent, SpentCounted
from core.values.state import AppState
from core.values.updates import Result


def event(state: AppState, happened: SpendingEvent) -> Result:
    """Decide what follows from an event."""
    match happened:
        case SpentCounted():
            return counted(state, happened), ()
        case PaymentsSeen():
            return add_payments(state, happened.payments), ()
        case _:
            assert_never(happened)


def tick(state: AppState) -> Result:
    """Begin the day's sum anew past the person's midnight."""
    return new_day(state), ()
