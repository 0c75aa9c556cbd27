"""A harvest that ends at any write, sync, rename, removal or call: nothing lost, nothing doubled, nothing paid twice."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from core import paths
from core.errors import SlopError
from core.knowledge.digest import fresh_digest
from core.knowledge.ledger import Ledger, hash_source
from core.knowledge.undo import undo_apply
from core.store import trash
from core.store.atomic import Disk
from tests.core.knowledge.harvests import NOW, OLD, Harvest, add_discussion, item_lines, reply

FACTS = {"ALPHA": ("A one.", "Shared."), "BETA": ("B one.", "Shared.")}
EXPECTED = sorted({fact for facts in FACTS.values() for fact in facts})


class Killed(BaseException):
    """The end of the process: nothing after it happens."""


class Fuse(Disk):
    """Ends the program at the n-th effect (0-based), before it or in its middle; afterwards nothing works any more.

    Args:
        at: -1 to count only; is_torn: a write gets half of its bytes out first.
        fault: an errno to fail with once, instead of ending the program.
    """

    def __init__(self, at: int = -1, *, is_torn: bool = False, fault: int = 0) -> None:
        self.left = at
        self.is_torn, self.fault = is_torn, fault
        self.count = 0
        self.is_dead = False
        self.place = ""

    def tick(self, what: str) -> None:
        if self.is_dead:
            raise Killed(what)
        self.count += 1
        if self.left == 0:
            self.place = what
            self.left = -1
            if self.fault:
                raise OSError(self.fault, os.strerror(self.fault))
            self.is_dead = True
            raise Killed(what)
        self.left -= 1

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self.tick(f"open {path}")
        return super().open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.left == 0 and self.is_torn and not self.is_dead:
            super().write(fd, data[: len(data) // 2])
        self.tick("write")
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self.tick("fsync")  # nothing is synced for real: no power is cut here, and it would take minutes

    def replace(self, source: Path, target: Path) -> None:
        self.tick(f"replace {target}")
        super().replace(source, target)

    def make_dir(self, path: Path) -> None:
        self.tick(f"make_dir {path}")
        super().make_dir(path)

    def unlink(self, path: Path) -> None:
        self.tick(f"unlink {path}")
        super().unlink(path)


class Paid:
    """What the model was asked and answered, over all runs; a killed process remembers nothing, the bill does."""

    def __init__(self, fuse: Fuse) -> None:
        self.fuse = fuse
        self.answered: list[str] = []
        self.is_keeping = False

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        self.fuse.tick("ask")
        mark = next(mark for mark in FACTS if mark in prompt)
        self.answered.append(mark)
        return reply(*FACTS[mark])


def home_with_two(home: Path) -> dict[str, str]:
    """Two conversations. Returns the hash of each by id."""
    ids = [
        add_discussion(home, mark.lower(), f"{mark} question", "Answer.", at=OLD + timedelta(days=n))
        for n, mark in enumerate(FACTS)
    ]
    return {one: hash_source(paths.log_file(home, one)).sha256 for one in ids}


def run(home: Path, paid: Paid, fuse: Fuse, seed: str) -> None:
    Harvest(home, paid, disk=fuse).apply(seed=seed)  # type: ignore[arg-type]


def check(home: Path, hashes: dict[str, str]) -> None:
    """What must hold at any instant, also before the next start: nothing is gone that was not harvested."""
    there = {path.name for path in paths.discussions_dir(home).iterdir()}
    in_trash = {item.discussion_id for item in trash.items(home)}
    assert there | in_trash == set(hashes)
    ledger = Ledger(home)
    for gone in set(hashes) - there:
        assert ledger.may_reclaim(hashes[gone])


def check_after(home: Path) -> None:
    """What must hold once a run went through."""
    assert sorted(line[2:].split(" [from: ")[0] for line in item_lines(home)) == EXPECTED
    assert list(paths.discussions_dir(home).iterdir()) == []
    digest = paths.knowledge_dir(home) / "digest.md"
    assert digest.read_text(encoding="utf-8") == fresh_digest(home)
    assert not (paths.knowledge_dir(home) / ".replies").exists()
    statuses = {entry.status.value for entry in Ledger(home).entries()}
    assert statuses == {"harvested"}


def effects(tmp_path: Path) -> int:
    """How many effects a harvest of two conversations has."""
    fuse = Fuse()
    home_with_two(tmp_path)
    run(tmp_path, Paid(fuse), fuse, "count")
    check_after(tmp_path)
    return fuse.count


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_harvest_that_is_killed_at_any_point_is_finished_by_the_next(
    tmp_path: Path, *, is_torn: bool
) -> None:
    total = effects(tmp_path / "count")
    paid_twice = []
    for point in range(total):
        home = tmp_path / f"{point}"
        hashes = home_with_two(home)
        fuse = Fuse(point, is_torn=is_torn)
        paid = Paid(fuse)
        with pytest.raises(Killed):
            run(home, paid, fuse, "first")
        check(home, hashes)
        paid.fuse = Fuse()

        run(home, paid, paid.fuse, "second")

        check_after(home)
        if len(paid.answered) != len(FACTS):
            paid_twice.append(fuse.place)

    assert total > 60
    # Between the last byte of a reply and its own file's rename nothing can know that it was paid for.
    assert all(".replies" in place or place in {"write", "fsync"} for place in paid_twice), paid_twice
    assert len(paid_twice) <= 2 * 8


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_once_at_any_point_loses_and_doubles_nothing(tmp_path: Path, fault: int) -> None:
    total = effects(tmp_path / "count")
    for point in range(fault % 3, total, 3):
        home = tmp_path / f"{point}"
        hashes = home_with_two(home)
        fuse = Fuse(point, is_torn=True, fault=fault)
        paid = Paid(fuse)
        with suppress(SlopError, OSError):
            run(home, paid, fuse, "first")
        check(home, hashes)
        paid.fuse = Fuse()

        run(home, paid, paid.fuse, "second")

        check_after(home)


def test_a_harvest_that_is_killed_twice_is_finished_by_the_third(tmp_path: Path) -> None:
    total = effects(tmp_path / "count")
    for point in range(0, total, 17):
        home = tmp_path / f"{point}"
        home_with_two(home)
        paid = Paid(Fuse())
        for seed, at in (("first", point), ("second", 11)):
            paid.fuse = Fuse(at)
            with suppress(Killed):
                run(home, paid, paid.fuse, seed)
        paid.fuse = Fuse()

        run(home, paid, paid.fuse, "third")

        check_after(home)


def test_what_a_crash_finished_can_be_undone(tmp_path: Path) -> None:
    total = effects(tmp_path / "count")
    for point in range(5, total, 19):
        home = tmp_path / f"{point}"
        hashes = home_with_two(home)
        fuse = Fuse(point)
        paid = Paid(fuse)
        with pytest.raises(Killed):
            run(home, paid, fuse, "first")
        paid.fuse = Fuse()
        run(home, paid, paid.fuse, "second")

        while True:
            try:
                undo_apply(home, NOW)
            except SlopError:
                break

        assert item_lines(home) == []
        assert {path.name for path in paths.discussions_dir(home).iterdir()} == set(hashes)
