"""The money of a run: no call begins once it is spent, and every call is paid for, however it ends."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.harvest.generation import HarvestCancelledError
from core.harvest.purse import RunPurse
from core.providers.whole_reply import CallSpent
from core.spending.harvest_costs import Payments, harvest_payments
from core.values.harvest import HarvestUse
from core.values.usage import Usage

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
WHOLE = CallSpent(Usage(input_tokens=30, output_tokens=20), ("text",), is_whole=True, is_billed=True)


class Run:
    """A purse with a cent a token, and what it told."""

    def __init__(self, home: Path, room_usd: float | None) -> None:
        self.begun: list[float] = []
        self.paid: list[HarvestUse] = []
        self.why = ""
        self.home = home
        payments = Payments(home, lambda _by, _model, used: _cents(used), lambda: NOON)
        self.purse = RunPurse(
            payments, room_usd, on_begin=self.begun.append, on_paid=self.paid.append, on_limit=self._stop
        )

    def _stop(self, why: str) -> None:
        self.why = why

    def call(self, spent: CallSpent = WHOLE) -> HarvestUse:
        self.purse.begin("p", "m", "x" * 400)
        self.purse.spent("p", "m", "x" * 400, spent)
        return self.paid[-1]


def _cents(usage: Usage) -> float:
    return ((usage.input_tokens or 0) + (usage.output_tokens or 0)) / 100


def test_the_call_that_reaches_the_limit_is_the_last(tmp_path: Path) -> None:
    run = Run(tmp_path, 0.9)
    assert [run.call().cost_usd for _ in range(2)] == [0.5, 0.5]

    with pytest.raises(HarvestCancelledError, match=r"used \$1\.00"):
        run.call()
    assert "day's limit is reached" in run.why
    assert len(run.begun) == 2
    assert sum(one.usd for one in harvest_payments(tmp_path, NOON).values()) == 1.0


def test_with_nothing_left_no_call_begins_and_without_a_limit_all_do(tmp_path: Path) -> None:
    with pytest.raises(HarvestCancelledError):
        Run(tmp_path, 0.0).call()
    free = Run(tmp_path, None)
    assert len([free.call() for _ in range(9)]) == 9


def test_another_limit_counts_from_the_next_call_on(tmp_path: Path) -> None:
    run = Run(tmp_path, 0.1)
    run.call()
    run.purse.allow(0.2)
    run.call()
    run.purse.allow(0.0)
    with pytest.raises(HarvestCancelledError):
        run.call()
    run.purse.allow(None)
    run.call()


def test_a_call_is_expected_before_it_is_made_and_what_was_cut_is_estimated(tmp_path: Path) -> None:
    run = Run(tmp_path, None)
    cut = run.call(CallSpent(Usage(), ("word " * 16,), is_whole=False, is_billed=True))

    assert run.begun[0] > 1.0
    assert cut.usage.is_estimate
    assert (cut.usage.input_tokens, cut.usage.output_tokens, cut.cost_usd) == (100, 20, 1.2)
    (payment,) = harvest_payments(tmp_path, NOON).values()
    assert payment.is_estimate


def test_a_call_that_nobody_bills_is_none_and_a_lost_answer_is_paid_for(tmp_path: Path) -> None:
    run = Run(tmp_path, None)
    assert run.call(CallSpent(Usage(), (), is_whole=False, is_billed=False)) == HarvestUse()
    again = run.call(CallSpent(WHOLE.reported, ("text",), is_whole=True, is_billed=True, lost=1))
    assert (again.cost_usd, again.usage.is_estimate) == (1.5, True)
