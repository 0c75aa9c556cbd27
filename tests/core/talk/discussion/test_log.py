"""The log on disk: torn at any byte, written by two processes, killed, full, foreign: nothing that was said is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import discussion_lock, take_lock
from core.kernel.errors import LockedError, StorageError
from core.kernel.values.records import Record, ViewRecord
from core.talk.discussion import log, log_codec
from tests.command_forks import FORKS, Forked
from tests.core.kernel.faults import DyingDisk, FullDisk, ReadOnlyDisk, WatchedDisk, made, names
from tests.core.records import ID, records, reply, used, user
from tests.patience import PATIENCE_S

WRITER = """
import sys
from pathlib import Path
from core.talk.discussion import log
from tests.core.records import ID, user
home, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(count):
    log.append(home, ID, [user(f"{name}-{number}", "words " * 50), user(f"{name}-{number}b")])
    print(number, flush=True)
"""


def start_writer(home: Path, name: str, count: int) -> Forked:
    return FORKS.program(WRITER, home, name, count)


def test_what_was_appended_is_read_back_in_order(tmp_path: Path) -> None:
    made(tmp_path)
    log.append(tmp_path, ID, [user("a"), reply("b")])
    log.append(tmp_path, ID, [used("u", "b")])

    found = log.read(tmp_path, ID)

    assert found.records == (user("a"), reply("b"), used("u", "b"))
    assert (found.foreign, found.repairs) == ((), ())


def test_views_alone_are_read_without_the_rest(tmp_path: Path) -> None:
    made(tmp_path)
    view = ViewRecord("v", used("u", "b").at, "base", "{}")
    log.append(tmp_path, ID, [user("a"), view, user('of a "view"'), replace(view, id="w")])

    assert log.read_views(tmp_path, ID) == (view, replace(view, id="w"))


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    made(tmp_path)

    assert log.read(tmp_path, ID) == log.LogContent()


@given(st.lists(st.lists(records(), max_size=3), max_size=5))
def test_any_records_in_any_batches_come_back(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Record]]
) -> None:
    home = tmp_path_factory.mktemp("home")
    made(home)
    for batch in batches:
        log.append(home, ID, batch)

    assert log.read(home, ID).records == tuple(record for batch in batches for record in batch)


LAST = log_codec.encode(reply("b", "the last wörds"))


@pytest.mark.parametrize("kept", range(len(LAST)))
def test_a_last_record_torn_at_any_byte_costs_that_record_and_no_other(tmp_path: Path, kept: int) -> None:
    directory = made(tmp_path, [user("a")])
    with (directory / "log.jsonl").open("ab") as stream:
        stream.write(LAST[:kept])

    found = log.read(tmp_path, ID)

    is_whole = kept == len(LAST) - 1
    assert found.records == ((user("a"), reply("b", "the last wörds")) if is_whole else (user("a"),))
    assert len(found.repairs) == (kept > 0)
    assert len(found.foreign) == (0 < kept < len(LAST) - 1)

    appended = log.append(tmp_path, ID, [user("c")])
    again = log.read(tmp_path, ID)

    assert appended.was_torn == (kept > 0)
    assert again.records == (*found.records, user("c"))
    assert again.repairs == ()
    assert (directory / "log.jsonl").read_bytes().count(LAST[:kept]) >= 1


def test_foreign_lines_are_left_alone_and_reported_by_number(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    path = directory / "log.jsonl"
    foreign = b'{"v":9,"type":"dream"}\n\n<html>\n\xff\xfe\0\n{"v":1,"type":"song"}\n'
    path.write_bytes(path.read_bytes() + foreign)
    log.append(tmp_path, ID, [reply("b")])

    found = log.read(tmp_path, ID)

    assert found.records == (user("a"), reply("b"))
    assert [line.line_number for line in found.foreign] == [2, 4, 5, 6]
    assert foreign in path.read_bytes()
    sentences = log.foreign_sentences(found)
    assert (
        sentences[0] == "The program skipped line 2 of the log: the log has version 9; this program reads 1"
    )
    assert sentences[-1] == "the program skipped 1 more unreadable lines of the log"


@pytest.mark.parametrize("room", [0, 1, 50, 160])
def test_a_full_disk_adds_nothing_and_says_so(tmp_path: Path, room: int) -> None:
    directory = made(tmp_path, [user("a")])
    before = (directory / "log.jsonl").read_bytes()

    with pytest.raises(StorageError, match="the disk is full") as caught:
        log.append(tmp_path, ID, [user("b"), reply("c")], disk=FullDisk(room))

    assert "Free some space" in caught.value.remedy
    assert (directory / "log.jsonl").read_bytes() == before
    log.append(tmp_path, ID, [user("b"), reply("c")])
    assert len(log.read(tmp_path, ID).records) == 3


def test_a_dying_disk_and_a_read_only_one_add_nothing(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])

    with pytest.raises(StorageError, match="reported a fault"):
        log.append(tmp_path, ID, [user("b")], disk=DyingDisk())
    with pytest.raises(StorageError, match="read-only"):
        log.append(tmp_path, ID, [user("b")], disk=ReadOnlyDisk())

    assert log.read(tmp_path, ID).records == (user("a"),)


def test_a_deleted_discussion_is_not_made_anew_by_an_append(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the file or folder is missing"):
        log.append(tmp_path, ID, [user("a")])

    assert not (tmp_path / "discussions").exists()


def test_while_another_holds_the_lock_an_append_waits_and_then_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = made(tmp_path)
    with (
        discussion_lock(directory),
        pytest.raises(LockedError, match="Another window or command"),
        discussion_lock(directory, wait_s=0),
    ):
        pytest.fail("the lock was taken twice")


def test_a_held_lock_keeps_nobody_from_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = made(tmp_path, [user("a")])
    monkeypatch.setattr(log, "_READ_WAIT_S", 0.01)

    with discussion_lock(directory):
        assert log.read(tmp_path, ID).records == (user("a"),)


def test_a_lock_may_be_released_and_taken_again(tmp_path: Path) -> None:
    first = take_lock(tmp_path / "x.lock")
    assert first is not None
    assert take_lock(tmp_path / "x.lock") is None
    first.release()
    second = take_lock(tmp_path / "x.lock")
    assert second is not None
    second.release()


def test_two_processes_that_append_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    directory = made(tmp_path)
    writers = [start_writer(tmp_path, name, 25) for name in ("left", "right")]
    for number in range(25):
        log.append(tmp_path, ID, [user(f"here-{number}"), user(f"here-{number}b")])
    for writer in writers:
        writer.communicate(timeout=PATIENCE_S)

    found = log.read(tmp_path, ID)
    ids = [record.id for record in found.records]

    assert [writer.returncode for writer in writers] == [0, 0]
    assert (found.foreign, found.repairs) == ((), ())
    for name in ("left", "right", "here"):
        assert [i for i in ids if i.startswith(name)] == [
            f"{name}-{n}{s}" for n in range(25) for s in ("", "b")
        ]
    assert all(ids[n].removesuffix("b") == ids[n + 1].removesuffix("b") for n in range(0, len(ids), 2))
    assert names(directory) == {"log.jsonl", "meta.toml"}


def test_an_append_holds_the_lock_from_the_first_byte_to_the_sync(tmp_path: Path) -> None:
    """It is the lock that keeps lines whole, not the luck of one large write."""
    directory = made(tmp_path, [user("a")])
    disk = WatchedDisk(directory / paths.LOCK_FILE)

    log.append(tmp_path, ID, [user("b")], disk=disk)

    assert disk.was_held == [True, True]


def test_a_killed_writer_loses_nothing_that_it_had_reported_and_frees_the_lock(tmp_path: Path) -> None:
    made(tmp_path)
    writer = start_writer(tmp_path, "killed", 100_000)
    assert writer.line() == "ready"
    assert "20" in iter(writer.line, "")
    writer.kill()
    rest, _ = writer.communicate(timeout=PATIENCE_S)
    last = max([20, *(int(line) for line in rest.decode().split("\n")[:-1])])

    log.append(tmp_path, ID, [user("after")])
    ids = [record.id for record in log.read(tmp_path, ID).records]

    assert ids[-1] == "after"
    assert ids[: 2 * (last + 1)] == [f"killed-{n}{s}" for n in range(last + 1) for s in ("", "b")]


def test_a_large_log_is_read_line_by_line_from_any_line_start(tmp_path: Path) -> None:
    directory = made(tmp_path, [user(f"{n}", f"text {n}") for n in range(2_000)])
    path = directory / "log.jsonl"
    lines = list(log.scan(path))

    assert len(lines) == 2_000
    middle = lines[1_000]
    part = list(log.scan(path, start=middle.offset, end=lines[1_010].offset, first_line=1_001))
    assert [line.content for line in part] == [user(f"{n}", f"text {n}") for n in range(1_000, 1_010)]
    assert sum(line.size_bytes for line in lines) == path.stat().st_size


def test_a_line_beyond_all_measure_is_foreign_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MAX_LINE_BYTES", 1_000)
    made(tmp_path, [user("a"), user("long", "x" * 5_000), user("b")])

    found = log.read(tmp_path, ID)

    assert found.records == (user("a"), user("b"))
    assert [(line.line_number, line.reason) for line in found.foreign] == [
        (2, "the line is longer than 1,000 bytes")
    ]
    assert found.repairs == ()
