"""The money of one harvest: what is left for it, what the call under way is expected to cost, and what calls came to."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.base.figures import dollars
from core.base.tokens import estimate_tokens
from core.harvest.classes import OUTPUT_TOKENS_EST
from core.harvest.generation import HarvestCancelledError
from core.providers.whole_reply import CallSpent
from core.spending.estimates import booked, with_lost
from core.spending.harvest_costs import Payments
from core.values.harvest import HarvestUse
from core.values.usage import Usage


class RunPurse:
    """A `Purse`. No call begins once the money is spent; the one that reaches the limit is still read.

    Args:
        payments: adds up what the run's calls cost; room_usd: what they may cost together, None for no limit.
        on_begin: told what a call is expected to cost, before it is made; on_paid: what it came to.
        on_limit: told why the run ends.
    """

    def __init__(
        self,
        payments: Payments,
        room_usd: float | None,
        *,
        on_begin: Callable[[float], object] = lambda _usd: None,
        on_paid: Callable[[HarvestUse], object] = lambda _use: None,
        on_limit: Callable[[str], object] = lambda _why: None,
    ) -> None:
        self._payments = payments
        self._room_usd = room_usd
        self._on_begin, self._on_paid, self._on_limit = on_begin, on_paid, on_limit
        self._lock = threading.Lock()

    def allow(self, left_usd: float | None) -> None:
        """So much more may be spent from now on: the limit is another one. Thread-safe."""
        with self._lock:
            self._room_usd = None if left_usd is None else self._payments.spent_usd + left_usd

    def begin(self, provider: str, model: str, prompt: str) -> None:
        """As `Purse.begin`."""
        if why := self._limit():
            self._on_limit(why)
            raise HarvestCancelledError(why)
        expected = Usage(input_tokens=_tokens(prompt), output_tokens=OUTPUT_TOKENS_EST)
        self._on_begin(self._payments.price(provider, model, expected) or 0.0)

    def spent(self, provider: str, model: str, prompt: str, spent: CallSpent) -> None:
        """As `Purse.spent`. A call that a provider may not bill is none."""

        def price(used: Usage) -> float | None:
            return self._payments.price(provider, model, used)

        sent, usage = Usage(input_tokens=_tokens(prompt)), spent.reported
        if spent.is_billed:
            length = sum(map(_tokens, spent.texts))
            usage = booked(usage, sent, length, price, is_whole=spent.is_whole)
        usage = with_lost(usage, sent, spent.lost, price)
        is_call = spent.is_billed or spent.lost > 0
        self._on_paid(self._payments(provider, model, usage) if is_call else HarvestUse())

    def _limit(self) -> str:
        with self._lock:
            room, spent = self._room_usd, self._payments.spent_usd
        if room is None or spent < room:
            return ""
        return f"The day's limit is reached: this harvest used {dollars(spent)}."


def _tokens(text: str) -> int:
    return estimate_tokens(len(text.encode("utf-8", "replace")))
