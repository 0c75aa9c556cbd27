"""The day's money of a harvest from a shell, of which other programs on the home spend as well."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from core.app.controller import wall_clock
from core.front.cli.output import Console
from core.front.cli.questions import can_ask, confirm
from core.front.cli.stops import in_terminal
from core.kernel.values.harvest import HarvestUse
from core.kernel.values.usage import UNPRICED_REMEDY, LimitScope, Payment
from core.knowledge.harvest.harvest_messages import HarvestRun
from core.services.spending.harvest_costs import Payments
from core.services.spending.limits import past_limit, reached, unpriced_limits
from core.services.spending.pricing import model_price
from core.services.spending.shared_reserves import SharedReserves
from core.talk.discussion.log import spent_today_usd

RESERVE = "harvest"
"""Key of the call under way, among what this program reserves."""


class PaidRun(Protocol):
    """A run, as far as its money goes."""

    @property
    def home(self) -> Path: ...  # noqa: D102
    @property
    def run(self) -> HarvestRun: ...  # noqa: D102
    @property
    def limit_usd(self) -> float | None: ...  # noqa: D102
    @property
    def unread(self) -> str: ...  # noqa: D102


class SharedMoney:
    """The day's money, of which other programs on the home spend as well: it is counted anew before each call."""

    def __init__(self, chosen: PaidRun, paid: Payments, console: Console) -> None:
        self.reserves = SharedReserves(chosen.home, wall_clock)
        self._chosen, self._paid, self._console = chosen, paid, console
        self._is_agreed = False

    def _unpriced(self, verb: str) -> str:
        """Sentence that the limit cannot hold because nobody knows the price; empty where it can, or the person says go on.

        One yes holds for the run, as `--over-limit` does.
        """
        run, limit = self._chosen.run, self._chosen.limit_usd
        if limit is None or self._is_agreed or model_price(run.provider, run.model, wall_clock()) is not None:
            return ""
        (stop,) = unpriced_limits(run.model or run.provider, ((LimitScope.DAY, limit),))
        if can_ask(self._console) and confirm(
            self._console, f"{stop.sentence} {verb} all the same?", is_yes=False
        ):
            self._is_agreed = True
            return ""
        self._console.note(f"manual-slop: go on with --over-limit. {in_terminal(UNPRICED_REMEDY)}")
        return stop.sentence

    def let_go(self, usd: float) -> str:
        """Reserve for a call. Returns why it is not to be made, empty where it is."""
        if self._chosen.unread:
            self._console.note("manual-slop: go on with --over-limit, or correct the settings")
            return self._chosen.unread
        others = self.reserves.claim(
            RESERVE, usd
        )  # first: what is paid after it is in the logs, or still reserved
        limit = self._chosen.limit_usd
        if limit is None:
            return ""
        spent = max(spent_today_usd(self._chosen.home, wall_clock()), self._paid.spent_usd)
        stop = reached(LimitScope.DAY, limit, spent, others.reserved_usd)
        if stop is None:
            if why := self._unpriced("Read"):
                self.reserves.settle(RESERVE, {})
            return why
        self.reserves.settle(RESERVE, {})
        self._console.note("manual-slop: go on with --over-limit, or raise the limit in the settings")
        return stop.sentence

    def let_batch_go(self, usd: float) -> str:
        """Decide over a batch. One that would go past the limit needs a yes. Returns as `let_go`."""
        others = self.reserves.claim(RESERVE, 0.0)
        self.reserves.settle(RESERVE, {})
        spent = max(spent_today_usd(self._chosen.home, wall_clock()), self._paid.spent_usd)
        why = past_limit(self._chosen.limit_usd, spent, others.reserved_usd, usd)
        if not why:
            return self._unpriced("Submit")
        if can_ask(self._console) and confirm(self._console, f"{why} Submit it all the same?", is_yes=False):
            return ""
        self._console.note("manual-slop: go on with --over-limit, or raise the limit in the settings")
        return why

    def paid(self, use: HarvestUse) -> None:
        """The call is over, and what it cost is on disk."""
        cost = use.cost_usd or 0.0
        payments = {use.payment_id: Payment(cost, use.usage.is_estimate)} if cost else {}
        self.reserves.settle(RESERVE, payments)
