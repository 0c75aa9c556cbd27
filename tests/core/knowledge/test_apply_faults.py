"""Faults at every write, sync, rename and removal of an apply and of its undo; what a restart makes of it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from core import paths
from core.errors import SlopError
from core.knowledge.apply import recover_home
from core.knowledge.digest import digest_file
from core.knowledge.undo import undo_apply
from core.store.atomic import Disk
from tests.core.knowledge.homes import (
    FIRST,
    NOW,
    SECOND,
    FaultyDisk,
    KilledError,
    check_nothing_lost,
    harvest,
    item_lines,
    made_home,
)

FAULTS: tuple[tuple[int | str, int], ...] = (
    (errno.ENOSPC, 1),
    (errno.EIO, 5),
    (errno.EROFS, 5),
    ("torn", 3),
    ("kill", 1),
)
"""Each fault, and which points it is tried at: every one, or every n-th. `make faults` tries all, with real kills."""


def points_of(folder: Path, run: Callable[[Path, Disk], object], prepare: Callable[[Path], object]) -> int:
    """How many calls of the disk a run makes."""
    home = made_home(folder / "counted")
    prepare(home)
    disk = FaultyDisk()
    run(home, disk)
    return disk.calls


def survive(run: Callable[[Path, Disk], object], home: Path, disk: Disk) -> bool:
    """Run until it fails; whether it went through."""
    try:
        run(home, disk)
    except (SlopError, KilledError):
        return False
    return True


@pytest.mark.parametrize(("fault", "every"), FAULTS)
def test_an_apply_that_fails_anywhere_loses_nothing_and_doubles_nothing(
    tmp_path: Path, fault: int | str, every: int
) -> None:
    def run(home: Path, disk: Disk) -> None:
        harvest(home, disk)

    total = points_of(tmp_path, run, lambda home: None)
    failed = 0
    for at in range(0, total, every):
        home = made_home(tmp_path / f"{at}")
        disk = FaultyDisk(at, fault)
        failed += not survive(run, home, disk)
        recover_home(home, disk=FaultyDisk())
        check_nothing_lost(home)
        harvest(home, FaultyDisk())
        check_nothing_lost(home)
        assert sum(item_lines(home).values()) == 14, f"{fault} at {at}: {disk.what}"
        assert digest_file(home).exists()
    assert failed > total // every // 2


@pytest.mark.parametrize(("fault", "every"), FAULTS)
def test_an_undo_that_fails_anywhere_can_be_asked_for_again(
    tmp_path: Path, fault: int | str, every: int
) -> None:
    def run(home: Path, disk: Disk) -> None:
        undo_apply(home, NOW, disk=disk)

    for at in range(0, points_of(tmp_path, run, lambda home: harvest(home, FaultyDisk())), every):
        home = made_home(tmp_path / f"{at}")
        harvest(home, FaultyDisk())
        disk = FaultyDisk(at, fault)
        if not survive(run, home, disk):
            recover_home(home, disk=FaultyDisk())
            survive(run, home, FaultyDisk())
        assert not item_lines(home), f"{fault} at {at}: {disk.what}"
        assert all(paths.log_file(home, discussion_id).exists() for discussion_id in (FIRST, SECOND))
        assert not digest_file(home).exists()
