"""The money of a run: no call begins once it is spent, and every call is paid for, however it ends."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.kernel.values.harvest import HarvestUse
from core.kernel.values.usage import Usage
from core.knowledge.harvest.distillation import HarvestCancelledError
from core.knowledge.harvest.harvest_run import RunPurse
from core.services.providers.http import CallSpent
from core.services.spending.harvest_costs import Payments, harvest_payments

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
WHOLE = CallSpent(Usage(input_tokens=30, output_tokens=20), ("text",), is_whole=True, is_billed=True)


class Run:
    """A purse with a cent a token, and what it told. `why`: for which no further call is let go."""

    def __init__(self, home: Path) -> None:
        self.begun: list[float] = []
        self.paid: list[HarvestUse] = []
        self.why = ""
        self.home = home
        payments = Payments(home, lambda _by, _model, used: _cents(used), lambda: NOON)
        self.purse = RunPurse(payments, self._let_go, on_paid=self.paid.append)

    def _let_go(self, usd: float) -> str:
        self.begun.append(usd)
        return self.why

    def call(self, spent: CallSpent = WHOLE) -> HarvestUse:
        self.purse.begin("p", "m", "x" * 400)
        self.purse.spent("p", "m", "x" * 400, spent)
        return self.paid[-1]


def _cents(usage: Usage) -> float:
    return ((usage.input_tokens or 0) + (usage.output_tokens or 0)) / 100


def test_no_call_is_made_that_is_not_let_go(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert [run.call().cost_usd for _ in range(2)] == [0.5, 0.5]

    run.why = "The day's limit is reached."
    with pytest.raises(HarvestCancelledError, match="limit is reached"):
        run.call()
    assert (len(run.begun), len(run.paid)) == (3, 2)
    assert sum(one.usd for one in harvest_payments(tmp_path, NOON).values()) == 1.0


def test_a_call_is_expected_before_it_is_made_and_what_was_cut_is_estimated(tmp_path: Path) -> None:
    run = Run(tmp_path)
    cut = run.call(CallSpent(Usage(), ("word " * 16,), is_whole=False, is_billed=True))

    assert run.begun[0] > 1.0
    assert cut.usage.is_estimate
    assert (cut.usage.input_tokens, cut.usage.output_tokens, cut.cost_usd) == (100, 20, 1.2)
    (payment,) = harvest_payments(tmp_path, NOON).values()
    assert payment.is_estimate


def test_a_call_that_nobody_bills_is_none_and_a_lost_answer_is_paid_for(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert run.call(CallSpent(Usage(), (), is_whole=False, is_billed=False)) == HarvestUse()
    again = run.call(CallSpent(WHOLE.reported, ("text",), is_whole=True, is_billed=True, lost=1))
    assert (again.cost_usd, again.usage.is_estimate) == (1.5, True)
