"""Deleted means moved aside, with a way back; the clock alone empties nothing early."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import StorageError
from core.talk.discussion import trash
from core.talk.discussion.reply_journal import ReplyHead, ReplyJournal
from tests.core.kernel.faults import DyingDisk, FullDisk, StuckDisk, made
from tests.core.records import ID, NOW, user
from tests.core.talk.discussion.test_store import tree

DAY = timedelta(days=1)
OTHER = "20261120-080000-bbbbbb"


def live_through(home: Path, days: int, since: datetime = NOW) -> list[int]:
    """Look at the trash each day; returns the days on which something was removed."""
    return [day for day in range(1, days + 1) if trash.expire(home, since + day * DAY)]


def test_a_deleted_discussion_is_whole_in_the_trash_with_why(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    before = tree(directory)

    item = trash.delete(tmp_path, ID, NOW, "deleted by you")

    assert not directory.exists()
    assert Path(item.path).name == f"20261120-073000-{ID}"
    assert (item.discussion_id, item.name, item.deleted_at, item.why) == (ID, "A talk", NOW, "deleted by you")
    assert trash.items(tmp_path) == (item,)
    assert {k: v for k, v in tree(Path(item.path)).items() if k != "why.toml"} == before


def test_undo_brings_back_the_same_bytes(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    before = tree(directory)
    trash.delete(tmp_path, ID, NOW, "x")

    assert trash.restore(tmp_path, ID) == ID

    assert tree(directory) == before
    assert trash.items(tmp_path) == ()


def test_undo_without_a_name_takes_the_one_deleted_last(tmp_path: Path) -> None:
    made(tmp_path)
    made(tmp_path, discussion_id=OTHER)
    trash.delete(tmp_path, OTHER, NOW, "x")
    trash.delete(tmp_path, ID, NOW + DAY, "x")

    assert [item.discussion_id for item in trash.items(tmp_path)] == [ID, OTHER]
    assert trash.restore(tmp_path) == ID
    assert trash.restore(tmp_path) == OTHER


def test_what_is_not_in_the_trash_cannot_come_back(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not hold"):
        trash.restore(tmp_path, ID)
    with pytest.raises(StorageError, match="The program could not delete"):
        trash.delete(tmp_path, ID, NOW, "x")


def test_a_place_that_was_taken_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    made(tmp_path, [user("old")])
    item = trash.delete(tmp_path, ID, NOW, "x")
    directory = made(tmp_path, [user("new")])
    before = tree(directory)

    with pytest.raises(StorageError, match="a file or folder with this name already exists"):
        trash.restore(tmp_path, ID)

    assert tree(directory) == before
    assert trash.items(tmp_path) == (item,)


def test_one_id_deleted_twice_in_a_second_is_kept_twice(tmp_path: Path) -> None:
    for _ in range(2):
        made(tmp_path)
        trash.delete(tmp_path, ID, NOW, "x")

    assert len({item.path for item in trash.items(tmp_path)}) == 2
    assert {item.discussion_id for item in trash.items(tmp_path)} == {ID}


def test_a_full_disk_keeps_nobody_from_deleting(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])

    trash.delete(tmp_path, ID, NOW, "x", disk=FullDisk(3))

    assert not directory.exists()
    assert [(item.discussion_id, item.why) for item in trash.items(tmp_path)] == [(ID, "unknown")]
    trash.restore(tmp_path)
    assert directory.exists()


@pytest.mark.parametrize("disk", [DyingDisk(), StuckDisk()])
def test_a_delete_that_fails_leaves_the_discussion_where_it_was(tmp_path: Path, disk: DyingDisk) -> None:
    directory = made(tmp_path, [user("a")])
    before = tree(directory)

    with pytest.raises(StorageError):
        trash.delete(tmp_path, ID, NOW, "x", disk=disk)

    assert tree(directory) == before
    assert trash.items(tmp_path) == ()


def test_an_entry_without_its_reason_is_listed_by_its_name(tmp_path: Path) -> None:
    made(tmp_path)
    item = trash.delete(tmp_path, ID, NOW, "x")
    (Path(item.path) / "why.toml").write_bytes(b"id = 5\nwhy =")
    (tmp_path / "trash" / "a stray file").write_bytes(b"")
    (tmp_path / "trash" / "odd").mkdir()

    (found,) = trash.items(tmp_path)

    assert (found.discussion_id, found.deleted_at, found.why) == (ID, NOW, "unknown")
    assert trash.restore(tmp_path) == ID


def test_a_hostile_reason_leads_out_of_no_directory(tmp_path: Path) -> None:
    made(tmp_path)
    item = trash.delete(tmp_path, ID, NOW, "x")
    (Path(item.path) / "why.toml").write_text('id = "../../outside"\n')

    assert trash.items(tmp_path) == ()


def test_the_trash_is_emptied_after_thirty_days_of_daily_use(tmp_path: Path) -> None:
    made(tmp_path)
    trash.delete(tmp_path, ID, NOW, "x")
    assert trash.expire(tmp_path, NOW) == ()

    assert live_through(tmp_path, 40) == [30]
    assert trash.items(tmp_path) == ()
    assert not list((tmp_path / "trash").glob("2*"))


def test_the_days_are_a_setting(tmp_path: Path) -> None:
    made(tmp_path)
    trash.delete(tmp_path, ID, NOW, "x")
    trash.expire(tmp_path, NOW)

    assert trash.expire(tmp_path, NOW + DAY, keep_days=2) == ()
    assert [item.discussion_id for item in trash.expire(tmp_path, NOW + 2 * DAY, keep_days=2)] == [ID]


@given(st.lists(st.integers(-20_000, 20_000), min_size=1, max_size=4))
def test_a_clock_that_jumps_a_few_times_empties_nothing(
    tmp_path_factory: pytest.TempPathFactory, jumps: list[int]
) -> None:
    """Four jumps of any length count as four weeks at most, and thirty days are more."""
    home = tmp_path_factory.mktemp("home")
    made(home)
    trash.delete(home, ID, NOW, "x")
    trash.expire(home, NOW)

    now = NOW
    for jump in jumps:
        now = min(max(now + jump * DAY, datetime(1971, 1, 1, tzinfo=UTC)), datetime(9000, 1, 1, tzinfo=UTC))
        assert trash.expire(home, now) == ()
    assert len(trash.items(home)) == 1


def test_after_a_jump_there_and_back_the_days_are_counted_as_before(tmp_path: Path) -> None:
    made(tmp_path)
    trash.delete(tmp_path, ID, NOW, "x")
    trash.expire(tmp_path, NOW)
    trash.expire(tmp_path, NOW + 4_000 * DAY)
    trash.expire(tmp_path, NOW)

    assert live_through(tmp_path, 40) == [30]


def test_something_deleted_under_a_wrong_clock_waits_for_its_days(tmp_path: Path) -> None:
    """Deleted in 1980 by the clock, which was then set right: it is not thirty days old at once."""
    made(tmp_path)
    trash.delete(tmp_path, ID, datetime(1980, 1, 1, tzinfo=UTC), "x")
    trash.expire(tmp_path, NOW)

    assert live_through(tmp_path, 40) == [30]


@pytest.mark.parametrize(
    "junk", [b"", b"seen_at =", b"\xff", b'seen_at = 5\nseconds = "x"\n', b"[seconds]\nx = -1\n"]
)
def test_lost_ages_only_make_the_trash_last_longer(tmp_path: Path, junk: bytes) -> None:
    made(tmp_path)
    trash.delete(tmp_path, ID, NOW, "x")
    live_through(tmp_path, 20)
    (tmp_path / "trash" / "ages.toml").write_bytes(junk)

    assert live_through(tmp_path, 60, NOW + 20 * DAY) == [31]


def test_where_ages_cannot_be_written_nothing_is_removed(tmp_path: Path) -> None:
    made(tmp_path)
    trash.delete(tmp_path, ID, NOW, "x")
    live_through(tmp_path, 29)

    with pytest.raises(StorageError, match="the disk is full"):
        trash.expire(tmp_path, NOW + 30 * DAY, disk=FullDisk(0))

    assert len(trash.items(tmp_path)) == 1


def test_an_empty_trash_is_looked_at_without_a_trace(tmp_path: Path) -> None:
    assert trash.expire(tmp_path, NOW) == ()
    assert list(tmp_path.iterdir()) == []


def test_a_reply_that_is_arriving_goes_along_and_comes_back(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    journal = ReplyJournal(tmp_path, ID, lambda: ReplyHead("r", NOW, "p", "m"))
    journal.begin()
    journal.add_text("first ")
    trash.delete(tmp_path, ID, NOW, "x")
    journal.add_text("still arriving")
    journal.close()
    trash.restore(tmp_path, ID)

    assert b"still arriving" in (tmp_path / "discussions" / ID / "reply.part").read_bytes()


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e308", "1" + "0" * 400, "-1", '"x"', "[]"])
def test_an_age_that_is_none_counts_as_nothing_and_stops_no_start(tmp_path: Path, seconds: str) -> None:
    made(tmp_path)
    item = trash.delete(tmp_path, ID, NOW, "x")
    ages = tmp_path / "trash" / "ages.toml"
    ages.write_text(f'seen_at = 0001-01-01T00:00:00+14:00\n[seconds]\n"{Path(item.path).name}" = {seconds}\n')

    assert trash.expire(tmp_path, NOW + 400 * DAY) == ()
    assert trash.items(tmp_path) == (item,)
