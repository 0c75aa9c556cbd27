"""The old file or the new one, never half of it; an append that fails leaves no trace."""

from __future__ import annotations

import errno
import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.disk import append_file, make_dirs, remove_leftovers, storage_error, write_file
from core.kernel.errors import StorageError
from tests.core.kernel.faults import CountingDisk, DyingDisk, FullDisk, ReadOnlyDisk, StuckDisk
from tests.core.records import NOW

OLD = b"what was there before"
NEW = b"what shall be there now, and longer"


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    write_file(path, OLD)
    write_file(path, NEW)

    assert path.read_bytes() == NEW
    assert os.listdir(tmp_path) == ["a.toml"]


def test_the_content_is_synced_before_the_rename_and_the_name_after_it(tmp_path: Path) -> None:
    disk = CountingDisk()
    write_file(tmp_path / "a", NEW, disk=disk)

    assert disk.calls == ["write", "fsync", "replace"] + ["fsync"] * (sys.platform != "win32")


@pytest.mark.parametrize("room", range(len(NEW)))
def test_a_disk_that_is_full_at_any_byte_leaves_the_old_file(tmp_path: Path, room: int) -> None:
    path = tmp_path / "a"
    write_file(path, OLD)

    with pytest.raises(StorageError, match="the disk is full"):
        write_file(path, NEW, disk=FullDisk(room))

    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("disk", "words"),
    [
        (DyingDisk(), "reported a fault"),
        (ReadOnlyDisk(), "read-only"),
        (StuckDisk(), "another program uses the file"),
    ],
)
def test_other_failures_leave_the_old_file_and_say_why(tmp_path: Path, disk: DyingDisk, words: str) -> None:
    path = tmp_path / "a"
    write_file(path, OLD)

    with pytest.raises(StorageError, match=words) as caught:
        write_file(path, NEW, disk=disk)

    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["a"]
    assert caught.value.errno is not None
    assert caught.value.remedy
    assert caught.value.where == str(path)


def has_mode(path: Path, bits: int) -> bool:
    """Windows has no such bits; its homes are private by their place."""
    return sys.platform == "win32" or path.stat().st_mode & 0o777 == bits


def test_permission_bits_are_private_kept_or_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, NEW)
    assert has_mode(path, 0o600)

    path.chmod(0o644)
    write_file(path, OLD)
    assert has_mode(path, 0o644)

    write_file(path, OLD, mode=0o640)
    assert has_mode(path, 0o640)


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "real"
    make_dirs(target.parent)
    write_file(target, OLD)
    link = tmp_path / "link"
    link.symlink_to(target)

    write_file(link, NEW)

    assert link.is_symlink()
    assert target.read_bytes() == NEW


def test_a_missing_directory_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the file or folder is missing"):
        write_file(tmp_path / "no" / "a", NEW)


def test_appends_tell_where_they_went(tmp_path: Path) -> None:
    path = tmp_path / "log"

    first, second = append_file(path, b"one\n"), append_file(path, b"two\n")

    assert (first.offset, first.size_bytes, first.was_torn) == (0, 4, False)
    assert (second.offset, second.size_bytes, second.was_torn) == (4, 8, False)
    assert path.read_bytes() == b"one\ntwo\n"


def test_an_append_is_synced_before_it_returns(tmp_path: Path) -> None:
    disk = CountingDisk()
    append_file(tmp_path / "log", b"one\n")
    append_file(tmp_path / "log", b"two\n", disk=disk)

    assert disk.calls == ["write", "fsync"]


def test_a_line_without_its_end_is_closed_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b'one\n{"tor')

    found = append_file(path, b"two\n")

    assert path.read_bytes() == b'one\n{"tor\ntwo\n'
    assert (found.offset, found.was_torn) == (10, True)


@given(st.binary(max_size=30), st.binary(min_size=1, max_size=30), st.integers(0, 31))
def test_an_append_that_fails_at_any_byte_leaves_the_file_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes, room: int
) -> None:
    path = tmp_path_factory.mktemp("append") / "log"
    path.write_bytes(old)
    is_torn = bool(old) and not old.endswith(b"\n")
    data = new + b"\n"

    if room >= len(data) + is_torn:
        append_file(path, data, disk=FullDisk(room))
        assert path.read_bytes() == old + b"\n" * is_torn + data
    else:
        with pytest.raises(StorageError, match="the disk is full"):
            append_file(path, data, disk=FullDisk(room))
        assert path.read_bytes() == old


def test_an_append_that_cannot_be_synced_is_taken_back(tmp_path: Path) -> None:
    """It might not be on the medium: nobody may be told that it was saved."""
    path = tmp_path / "log"
    path.write_bytes(b"one\n")

    with pytest.raises(StorageError, match="reported a fault"):
        append_file(path, b"two\n", disk=DyingDisk())

    assert path.read_bytes() == b"one\n"


def test_directories_are_made_with_their_parents_and_only_for_their_owner(tmp_path: Path) -> None:
    make_dirs(tmp_path / "a" / "b")
    make_dirs(tmp_path / "a" / "b")

    assert (tmp_path / "a" / "b").is_dir()
    assert has_mode(tmp_path / "a", 0o700)


def test_a_file_in_the_place_of_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")

    with pytest.raises(StorageError, match="a file is where a folder should be"):
        make_dirs(tmp_path / "a" / "b")


def test_only_old_temporary_files_of_dead_processes_are_removed(tmp_path: Path) -> None:
    for name in (".meta.toml.00ff.tmp", ".fresh.tmp", "meta.toml", ".lock"):
        (tmp_path / name).write_bytes(b"x")
    long_ago = (NOW - timedelta(hours=2)).timestamp()
    os.utime(tmp_path / ".meta.toml.00ff.tmp", (long_ago, long_ago))
    os.utime(tmp_path / "meta.toml", (long_ago, long_ago))
    os.utime(tmp_path / ".fresh.tmp", (NOW.timestamp(), NOW.timestamp()))

    assert remove_leftovers(tmp_path, NOW) == 1
    assert sorted(os.listdir(tmp_path)) == [".fresh.tmp", ".lock", "meta.toml"]
    assert remove_leftovers(tmp_path / "gone", NOW) == 0


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.ENOENT, errno.EBUSY]
)
def test_every_known_failure_has_a_sentence_and_a_remedy(number: int) -> None:
    found = storage_error("write", Path("/h/log.jsonl"), OSError(number, "raw"))

    assert found.errno == number
    assert found.what.startswith("The program could not write 'log.jsonl': ")
    assert "raw" not in found.what
    assert found.remedy
    assert str(found).endswith("/h/log.jsonl")


def test_an_unknown_failure_says_what_the_system_said() -> None:
    assert "odd thing" in storage_error("read", Path("/x"), OSError(9999, "odd thing")).what
    assert "no number" in storage_error("read", Path("/x"), OSError("no number")).what
