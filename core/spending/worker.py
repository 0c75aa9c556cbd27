"""Worker of spending: tells other programs on this home of the calls under way, whoever asked for them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import assert_never

from core.base.errors import SlopError
from core.base.reports import Report
from core.spending.limits import shared_key, upkeep_key
from core.spending.messages import (
    ClaimReserve,
    DropReserve,
    LookAtReserves,
    PaidElsewhere,
    ReserveClaimed,
    SettleReserve,
    SpendingEffect,
    SpendingEvent,
    TakeCutUpkeep,
)
from core.spending.shared_reserves import SharedReserves
from core.values.spending import SpentElsewhere

log = logging.getLogger(__name__)

Emit = Callable[[SpendingEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class SpendingHandler:
    """Carries out the spending worker's effects.

    Args:
        reserves: of all programs on the home; emit: the inbox.
        is_logged: whether a discussion's log holds the record of an id.
    """

    def __init__(self, reserves: SharedReserves, emit: Emit, is_logged: Callable[[str, str], bool]) -> None:
        self._reserves = reserves
        self._emit = emit
        self._is_logged = is_logged

    def handle(self, effect: SpendingEffect) -> None:
        """Carry out one effect."""
        match effect:
            case ClaimReserve():
                self._emit(ReserveClaimed(effect.key, effect.reservation, self._claimed(effect)))
            case SettleReserve(key, payments):
                self._reserves.settle(key, payments)
            case DropReserve(key):
                self._reserves.drop(key)
            case TakeCutUpkeep():
                self._take_cut()
            case LookAtReserves():
                if (paid := self._reserves.changed_elsewhere()) is not None:
                    self._emit(PaidElsewhere(paid))
            case _:
                assert_never(effect)

    def _take_cut(self) -> None:
        """Report what a kill cut off. What the log tells of was cut off after its record was written."""
        for cut in self._reserves.cut_upkeep():
            try:
                is_logged = self._is_logged(cut.discussion_id, cut.id)
            except SlopError as error:  # it waits for a start that can read it
                log.warning("whether a ping of %s is booked is not known: %s", cut.discussion_id, error)
                continue
            if is_logged:
                self._reserves.settle(upkeep_key(cut.kind, cut.id), {})
            else:
                self._emit(cut)

    def _claimed(self, effect: ClaimReserve) -> SpentElsewhere:
        """Claim it. A call waits for the answer: where that fails, a limit sees this program alone."""
        held = effect.reservation
        try:
            return self._reserves.claim(
                shared_key(effect.key, held), held.usd, held.discussion_id, settled=effect.settled
            )
        except Exception:  # the edge of the worker: what waits must not wait for ever
            log.exception("reserves were not shared with other programs")
            return SpentElsewhere()


def supersedes(newer: SpendingEffect, older: SpendingEffect) -> bool:
    """A later look at what other programs did makes an earlier one needless."""
    return isinstance(newer, LookAtReserves) and isinstance(older, LookAtReserves)
