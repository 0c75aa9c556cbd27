"""Spending in the state: what was counted, the day that ends, and what other programs must see of it."""

from __future__ import annotations

from typing import assert_never

from core.spending.limits import add_payments, counted, new_day
from core.spending.messages import (
    ClaimReserve,
    LookAtReserves,
    PaidElsewhere,
    PaymentsSeen,
    ReserveClaimed,
    ReservesTouched,
    SettleReserve,
    SpendingEffect,
    SpendingEvent,
    SpentCounted,
)
from core.values.state import AppState
from core.values.updates import Result


def event(state: AppState, happened: SpendingEvent) -> Result:
    """Decide what follows from an event. Whether a call goes whose reserve others see, its own room decides."""
    match happened:
        case SpentCounted():
            return counted(state, happened), ()
        case PaymentsSeen() | PaidElsewhere():
            return add_payments(state, happened.payments), ()
        case ReserveClaimed():
            return add_payments(state, happened.elsewhere.payments), ()
        case ReservesTouched():
            return state, (LookAtReserves(),)
        case _:
            assert_never(happened)


def tick(state: AppState) -> Result:
    """Begin the day's sum anew past the person's midnight."""
    return new_day(state), ()


def reserve_effects(before: AppState, after: AppState) -> tuple[SpendingEffect, ...]:
    """Share what is held back, whoever holds it: no call can reserve where other programs do not see it.

    What is held back no more ends there with what was paid for in the same step.
    """
    was, now = before.spending.reserved, after.spending.reserved
    if was is now:
        return ()
    paid = {key: one for key, one in after.spending.own.items() if key not in before.spending.own}
    over = tuple(SettleReserve(key, paid) for key in was if key not in now)
    return (*over, *(ClaimReserve(key, one) for key, one in now.items() if was.get(key) != one))
