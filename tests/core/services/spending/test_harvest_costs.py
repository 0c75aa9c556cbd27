"""What harvests cost, kept by day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from core.kernel.errors import StorageError
from core.kernel.values.usage import Usage
from core.services.spending.harvest_costs import (
    HarvestCall,
    Payments,
    harvest_calls,
    harvest_files,
    note_spent,
)
from tests.core.knowledge.homes import FaultyDisk, paid_since

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def call(at: datetime, usd: float) -> HarvestCall:
    return HarvestCall(at=at, provider="anthropic", model="m", usage=Usage(cost_usd=usd))


def noted(home: Path, at: datetime, usd: float) -> None:
    note_spent(home, call(at, usd))


def test_only_what_was_paid_since_counts(tmp_path: Path) -> None:
    for hours, usd in ((-30, 8.0), (-1, 4.0), (0, 2.0), (11, 1.0)):
        noted(tmp_path, NOON + timedelta(hours=hours), usd)

    assert paid_since(tmp_path, NOON) == pytest.approx(3.0)
    assert paid_since(tmp_path, NOON - timedelta(hours=2)) == pytest.approx(7.0)


def test_a_persons_day_reaches_over_midnight_in_utc(tmp_path: Path) -> None:
    auckland = timezone(timedelta(hours=13))
    start = datetime(2026, 11, 21, 0, tzinfo=auckland).astimezone(UTC)
    for hours in (-1, 1, 23):
        noted(tmp_path, start + timedelta(hours=hours), 1.0)

    assert paid_since(tmp_path, start) == pytest.approx(2.0)


def test_where_nothing_was_paid_nothing_counts(tmp_path: Path) -> None:
    assert paid_since(tmp_path, NOON) == 0.0
    assert list(tmp_path.iterdir()) == []


def test_what_was_used_is_kept_for_two_years(tmp_path: Path) -> None:
    for day in (0, 400, 800, 1200):
        noted(tmp_path, NOON + timedelta(days=day), 1.0)

    kept = sorted(path.stem for path in (tmp_path / "knowledge" / ".spent").iterdir())
    assert kept == ["2027-12-25", "2029-01-28", "2030-03-04"]


@pytest.mark.parametrize(
    "row",
    [
        b"{",
        b"[]",
        b"null",
        b'{"at": 5}',
        b'{"at": "2026-11-20T12:00:00", "cost_usd": 1}',
        b"[" * 5_000,
        b"\xff",
    ],
)
def test_a_torn_or_foreign_row_counts_nothing_and_hides_no_other(tmp_path: Path, row: bytes) -> None:
    noted(tmp_path, NOON, 1.0)
    (file,) = (tmp_path / "knowledge" / ".spent").iterdir()
    file.write_bytes(row + b"\n" + file.read_bytes() + row)

    assert paid_since(tmp_path, NOON) == pytest.approx(1.0)


@pytest.mark.parametrize("cost", [b"-5", b"NaN", b"Infinity", b'"x"', b"null", b"1" + b"0" * 400])
def test_a_row_takes_nothing_away_and_makes_no_sum_endless(tmp_path: Path, cost: bytes) -> None:
    noted(tmp_path, NOON, 1.0)
    (file,) = (tmp_path / "knowledge" / ".spent").iterdir()
    file.write_bytes(file.read_bytes() + b'{"at": "2026-11-20T13:00:00+00:00", "cost_usd": ' + cost + b"}\n")

    assert paid_since(tmp_path, NOON) == pytest.approx(1.0)


def test_payments_add_up_and_are_kept(tmp_path: Path) -> None:
    paid = Payments(tmp_path, lambda *_: 0.5, lambda: NOON)

    paid("anthropic", "m", Usage(input_tokens=10))
    paid("anthropic", "m", Usage(input_tokens=5, cost_usd=0.25))

    assert (paid.use.calls, paid.use.usage.input_tokens) == (2, 15)
    assert paid.spent_usd == pytest.approx(0.75)
    assert paid_since(tmp_path, NOON) == pytest.approx(0.75)


@pytest.mark.parametrize("cost", [0.0, None])
def test_what_costs_nothing_or_nobody_knows_what_is_kept_and_counts_towards_no_limit(
    tmp_path: Path, cost: float | None
) -> None:
    paid = Payments(tmp_path, lambda *_: cost, lambda: NOON)

    paid("embedded", "m", Usage(input_tokens=10))

    assert (paid.use.cost_usd, paid.spent_usd) == (cost, 0.0)
    assert paid_since(tmp_path, NOON) == 0.0
    ((file, _),) = harvest_files(tmp_path)
    (one,) = harvest_calls(file)
    assert one == HarvestCall(
        at=NOON, provider="embedded", model="m", usage=Usage(input_tokens=10, cost_usd=cost)
    )


def test_a_row_that_came_twice_is_one_call(tmp_path: Path) -> None:
    for _ in range(2):
        note_spent(tmp_path, call(NOON, 1.0), payment_id="b/1")
    note_spent(tmp_path, call(NOON, 2.0))

    ((file, _),) = harvest_files(tmp_path)
    assert [one.usage.cost_usd for one in harvest_calls(file)] == [1.0, 2.0]


def test_one_unknown_price_makes_the_sum_unknown_but_not_what_is_known(tmp_path: Path) -> None:
    prices = iter([0.5, None])
    paid = Payments(tmp_path, lambda *_: next(prices), lambda: NOON)

    paid("a", "m", Usage(input_tokens=1))
    paid("a", "m", Usage(input_tokens=1))

    assert paid.use.cost_usd is None
    assert paid.spent_usd == pytest.approx(0.5)


def test_a_disk_that_takes_no_row_is_told_to_the_log_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "knowledge").write_text("in the way")
    paid = Payments(tmp_path, lambda *_: 0.5, lambda: NOON)

    paid("a", "m", Usage(input_tokens=1))

    assert paid.spent_usd == pytest.approx(0.5)
    assert "not on disk" in caplog.text


def test_a_row_that_could_not_be_added_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        note_spent(tmp_path, call(NOON, 1.0), disk=FaultyDisk(0))
