"""The money of one harvest: what the call under way is expected to cost, whether it may, and what calls came to."""

from __future__ import annotations

from collections.abc import Callable

from core.base.text import size_bytes
from core.base.tokens import estimate_tokens
from core.harvest.classes import OUTPUT_TOKENS_EST
from core.harvest.generation import HarvestCancelledError
from core.providers.whole_reply import CallSpent
from core.spending.estimates import booked, with_lost
from core.spending.harvest_costs import Payments
from core.values.harvest import HarvestUse
from core.values.usage import Usage


class RunPurse:
    """A `Purse`. No call begins that was not let go; the one that reaches a limit is still read.

    Args:
        payments: adds up what the run's calls cost.
        let_go: told what a call is expected to cost in US dollars, before it is made; gives the reason why it is not
            to be made, empty where it is. May wait.
        on_paid: told what it came to.
    """

    def __init__(
        self,
        payments: Payments,
        let_go: Callable[[float], str],
        *,
        on_paid: Callable[[HarvestUse], object] = lambda _use: None,
    ) -> None:
        self._payments = payments
        self._let_go, self._on_paid = let_go, on_paid

    def begin(self, provider: str, model: str, prompt: str) -> None:
        """As `Purse.begin`."""
        expected = Usage(input_tokens=_tokens(prompt), output_tokens=OUTPUT_TOKENS_EST)
        if why := self._let_go(self._payments.price(provider, model, expected) or 0.0):
            raise HarvestCancelledError(why)

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


def _tokens(text: str) -> int:
    return estimate_tokens(size_bytes(text))
