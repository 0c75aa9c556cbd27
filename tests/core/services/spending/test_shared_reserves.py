"""Reserves that programs on one home share: who comes later sees who came before, and the dead reserve nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.usage import Payment, SpentElsewhere, UsageKind
from core.services.spending.shared_reserves import LONGEST, SharedReserves
from core.services.spending.spending_messages import UpkeepCut
from tests.command_forks import FORKS

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
KILLED = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from core.services.spending.shared_reserves import SharedReserves
reserves = SharedReserves(Path(sys.argv[1]), lambda: datetime.fromisoformat(sys.argv[2]))
for key in sys.argv[3:] or ["theirs"]:
    reserves.claim(key, 5.0, "d" if key != "theirs" else "")
    if key.endswith("/left"):
        reserves.note_out(key)
print("claimed", flush=True)
sys.stdin.read()
"""


class Clock:
    """Stands still until it is put forward."""

    now = NOW

    def __call__(self) -> datetime:
        return self.now


def test_who_reserves_later_sees_those_before_and_what_was_paid_since(tmp_path: Path) -> None:
    one, two = (SharedReserves(tmp_path, Clock()) for _ in range(2))

    assert one.claim("a", 0.25) == SpentElsewhere()
    assert two.claim("b", 0.5) == SpentElsewhere(0.25)
    assert one.claim("c", 0.0) == SpentElsewhere(0.5)

    one.settle("a", {"record": Payment(0.2, is_estimate=True)})
    assert two.claim("d", 0.0) == SpentElsewhere(0.0, {"record": Payment(0.2, is_estimate=True)})
    assert one.claim("e", 0.0).payments == {}, "its own are in its books"


def test_what_a_program_reserved_ends_with_it(tmp_path: Path) -> None:
    child = FORKS.program(KILLED, tmp_path, NOW.isoformat(), has_input=True)
    assert child.line() == "claimed"
    mine = SharedReserves(tmp_path, Clock())
    alive = mine.claim("mine", 0.0)
    child.kill()
    child.communicate()

    file = tmp_path / paths.RESERVES_DIR / paths.RESERVES_FILE
    assert b"theirs" in file.read_bytes()
    assert mine.cut_upkeep() == ()
    assert b"theirs" not in file.read_bytes(), "who reads the file alone sees no call that is over"
    assert (alive.reserved_usd, mine.claim("more", 0.0).reserved_usd) == (5.0, 0.0)


def test_a_ping_a_prewarm_and_a_summary_that_a_kill_cut_off_are_told_until_they_are_settled_and_count_until_then(
    tmp_path: Path,
) -> None:
    keys = ["keepalive/left", "prewarm/left", "compaction/left", "keepalive/waits", "turn/c"]
    child = FORKS.program(KILLED, tmp_path, NOW.isoformat(), *keys, has_input=True)
    assert child.line() == "claimed"
    clock = Clock()
    mine = SharedReserves(tmp_path, clock)
    assert mine.cut_upkeep() == (), "it lives"
    child.kill()
    child.communicate()

    clock.now += LONGEST  # however late the next start is
    assert mine.claim("mine", 0.0).reserved_usd == 20.0, "a turn's has its own journal"
    kinds = UsageKind.KEEPALIVE, UsageKind.PREWARM, UsageKind.COMPACTION
    cut = {UpkeepCut("left", kind, "d", 5.0, NOW) for kind in kinds}
    assert set(mine.cut_upkeep()) == cut, "what waited had not left"
    assert mine.cut_upkeep() == ()
    later = SharedReserves(tmp_path, clock)
    assert later.cut_upkeep() == (), "it is being written"
    mine.close()
    assert set(later.cut_upkeep()) == cut, "it was not"
    for kind in kinds:
        later.settle(f"{kind}/left", {})
    later.close()
    assert SharedReserves(tmp_path, clock).cut_upkeep() == ()


def test_a_ping_that_has_left_reserves_until_it_is_settled_and_one_that_reserves_nothing_does_not_leave(
    tmp_path: Path,
) -> None:
    one, two = (SharedReserves(tmp_path, Clock()) for _ in range(2))
    assert not one.note_out("keepalive/d")
    one.claim("keepalive/d", 1.0, "d")
    one.claim("keepalive/e", 2.0, "e")
    assert one.note_out("keepalive/d")

    one.drop("keepalive/d")
    one.drop("keepalive/e")

    assert two.claim("m", 0.0).reserved_usd == 1.0
    one.settle("keepalive/d", {})
    assert two.claim("m", 0.0).reserved_usd == 0.0


def test_a_program_that_was_closed_cut_nothing_off(tmp_path: Path) -> None:
    clock = Clock()
    before = SharedReserves(tmp_path, clock)
    before.claim("prewarm", 1.0, "d")
    before.close()
    assert SharedReserves(tmp_path, clock).cut_upkeep() == ()


def test_a_ping_that_was_answered_is_told_no_more(tmp_path: Path) -> None:
    clock = Clock()
    before = SharedReserves(tmp_path, clock)
    before.claim("keepalive/d", 1.0, "d")
    before.settle("keepalive/d", {})
    before.close()
    assert SharedReserves(tmp_path, clock).cut_upkeep() == ()


def test_what_closed_or_lasts_too_long_or_was_paid_yesterday_counts_no_more(tmp_path: Path) -> None:
    clock = Clock()
    closed, slow, mine = (SharedReserves(tmp_path, clock) for _ in range(3))
    closed.claim("a", 1.0)
    slow.claim("b", 2.0)
    closed.settle("none", {"yesterday": Payment(1.0)})
    closed.close()
    assert mine.claim("m", 0.0).reserved_usd == 2.0

    clock.now += LONGEST
    assert mine.claim("m", 0.0).reserved_usd == 0.0
    clock.now += timedelta(days=1)
    assert mine.claim("m", 0.0) == SpentElsewhere()


@pytest.mark.parametrize("junk", [b"", b"[]", b'{"reserves":{"a":1}}', b"\0" * 9])
def test_a_file_that_is_none_is_begun_anew(tmp_path: Path, junk: bytes) -> None:
    one, two = (SharedReserves(tmp_path, Clock()) for _ in range(2))
    one.claim("a", 1.0)
    (tmp_path / paths.RESERVES_DIR / paths.RESERVES_FILE).write_bytes(junk)

    assert one.claim("a", 1.0) == SpentElsewhere()
    assert two.claim("b", 1.0) == SpentElsewhere(1.0)


def test_where_nothing_can_be_written_a_program_sees_itself_alone(tmp_path: Path) -> None:
    (tmp_path / paths.RESERVES_DIR).write_bytes(b"a file in its place")

    assert SharedReserves(tmp_path, Clock()).claim("a", 1.0) == SpentElsewhere()
