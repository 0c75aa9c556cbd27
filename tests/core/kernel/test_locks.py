"""Locks of files: one holder at a time, whoever it is, and none by a file that is gone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from core.kernel.disk import HeldLock, take_lock
from core.kernel.errors import StorageError


def test_a_lock_keeps_out_who_takes_it_by_the_library_and_the_other_way_round(tmp_path: Path) -> None:
    """Programs of earlier versions, and of other systems on a shared disk, take it so."""
    from filelock import FileLock, Timeout

    path = tmp_path / "x.lock"
    ours = take_lock(path)
    assert ours is not None
    theirs = FileLock(path, timeout=0)
    with pytest.raises(Timeout):
        theirs.acquire()
    ours.release()
    with theirs:
        assert take_lock(path) is None

    again = take_lock(path)
    assert again is not None
    again.release()


def test_a_lock_is_released_by_any_thread_and_once(tmp_path: Path) -> None:
    first = take_lock(tmp_path / "x.lock")
    assert first is not None
    other = threading.Thread(target=first.release)
    other.start()
    other.join()
    second = take_lock(tmp_path / "x.lock")
    assert second is not None

    first.release()

    assert take_lock(tmp_path / "x.lock") is None
    second.release()


def test_who_waits_for_as_long_as_it_takes_has_it_when_the_holder_lets_go(tmp_path: Path) -> None:
    first = take_lock(tmp_path / "x.lock")
    assert first is not None
    taken: list[HeldLock | None] = []
    other = threading.Thread(target=lambda: taken.append(take_lock(tmp_path / "x.lock", wait_s=-1)))
    other.start()
    assert take_lock(tmp_path / "x.lock", wait_s=0.02) is None

    first.release()
    other.join()

    assert taken[0] is not None
    taken[0].release()


def test_a_file_that_its_holder_removed_keeps_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first = take_lock(path)
    assert first is not None
    path.unlink()

    second = take_lock(path)

    assert second is not None
    assert take_lock(path) is None
    first.release()
    assert take_lock(path) is None
    second.release()


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "x.lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StorageError):
        take_lock(tmp_path / "x.lock")

    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_makes_no_folder_anew(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the file or folder is missing"):
        take_lock(tmp_path / "gone" / "x.lock")

    assert not (tmp_path / "gone").exists()
