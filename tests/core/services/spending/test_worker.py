"""The spending worker: what one program holds back, another on the same home sees, until it is settled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.updates import Report
from core.kernel.values.usage import Payment, Reservation, SpentElsewhere
from core.services.spending.shared_reserves import SharedReserves, SpendingHandler
from core.services.spending.spending_messages import (
    ClaimReserve,
    LookAtReserves,
    PaidElsewhere,
    ReserveClaimed,
    SettleReserve,
    SpendingEvent,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Program:
    """A program's worker and what it told."""

    def __init__(self, home: Path, clock: Callable[[], datetime] = lambda: NOW) -> None:
        self.told: list[SpendingEvent | Report] = []
        self.worker = SpendingHandler(SharedReserves(home, clock), self.told.append, lambda *_: False)

    def claim(self, key: str, usd: float) -> SpentElsewhere:
        self.worker.handle(ClaimReserve(key, Reservation(usd, "a")))
        claimed = self.told[-1]
        assert isinstance(claimed, ReserveClaimed)
        assert (claimed.key, claimed.reservation) == (key, Reservation(usd, "a"))
        return claimed.elsewhere


def test_two_programs_see_what_the_other_has_under_way_under_the_same_name(tmp_path: Path) -> None:
    one, two = Program(tmp_path), Program(tmp_path)

    assert one.claim("prewarm", 0.25) == SpentElsewhere()
    assert two.claim("prewarm", 0.5) == SpentElsewhere(0.25)
    assert one.claim("harvest", 1.0) == SpentElsewhere(0.5)

    two.worker.handle(SettleReserve("prewarm", {"paid": Payment(0.375)}))
    assert one.claim("harvest", 1.0) == SpentElsewhere(0.0, {"paid": Payment(0.375)})
    assert two.claim("keepalive/a", 0.125) == SpentElsewhere(1.25)


def test_what_is_over_is_settled_with_the_next_claim_in_one_write(tmp_path: Path) -> None:
    one, two = Program(tmp_path), Program(tmp_path)
    one.claim("turn/a", 0.25)
    paid = {"turn/a": {"usage": Payment(0.375)}}
    one.worker.handle(ClaimReserve("turn/b", Reservation(0.5, "a"), paid))

    assert two.claim("turn/c", 1.0) == SpentElsewhere(0.5, paid["turn/a"])


def test_a_call_that_reserved_nothing_and_cost_nothing_writes_nothing(tmp_path: Path) -> None:
    one, two = Program(tmp_path), Program(tmp_path)
    two.claim("turn/b", 0.5)
    book = tmp_path / paths.RESERVES_DIR / paths.RESERVES_FILE
    before = book.stat()
    one.worker.handle(SettleReserve("turn/a", {}))
    one.worker.handle(SettleReserve("turn/a", None))
    assert (book.stat().st_ino, book.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    one.worker.handle(SettleReserve("turn/a", {"usage": Payment(0.25)}))

    assert two.claim("turn/b", 0.5) == SpentElsewhere(0.0, {"usage": Payment(0.25)}), (
        "its server said a price"
    )


def test_a_newer_reserve_of_one_name_takes_the_place_of_the_older(tmp_path: Path) -> None:
    one, two = Program(tmp_path), Program(tmp_path)
    one.claim("prewarm", 2.0)
    one.claim("prewarm", 0.5)

    assert two.claim("prewarm", 0.0).reserved_usd == 0.5


def test_a_claim_that_fails_is_answered_and_said_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A call waits for the answer: nobody may wait for ever because something fails that nobody thought of."""

    def clock() -> datetime:
        raise OverflowError("date value out of range")

    one = Program(tmp_path, clock)

    assert one.claim("turn/c", 0.25) == SpentElsewhere()
    assert "not shared with other programs" in caplog.text


def test_what_another_program_pays_is_told_once_and_what_this_one_does_never(tmp_path: Path) -> None:
    one, two = Program(tmp_path), Program(tmp_path)
    one.worker.handle(LookAtReserves())
    one.claim("a", 1.0)
    one.worker.handle(SettleReserve("a", {"mine": Payment(1.0)}))
    one.told.clear()
    one.worker.handle(LookAtReserves())
    assert one.told == []

    two.claim("b", 0.5)
    two.worker.handle(SettleReserve("b", {"paid": Payment(0.375)}))
    one.worker.handle(LookAtReserves())
    one.worker.handle(LookAtReserves())

    assert one.told == [PaidElsewhere({"paid": Payment(0.375)})]
