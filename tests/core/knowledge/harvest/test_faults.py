"""The disk fails, or the program ends, at every call of a harvest, of its undo and of the start after a crash."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.errors import SlopError
from core.knowledge.recovery import recover_home, undo_apply
from tests.core.knowledge.fault_disks import Fault, KilledError, Point, PointDisk
from tests.core.knowledge.harvest.fault_runs import (
    BY_HAND,
    RUNS,
    Paid,
    Stage,
    check_harvested,
    faults_at,
    harvest,
    made_home,
    memory_folder,
    words,
)
from tests.core.knowledge.harvest.harvests import NOW

_IDS = re.compile(r"[0-9a-f]{8,}|\d{8}-\d{6}-\w+")
_MARKS = re.compile(r"\.holder|^\.\.?digest(?!\.md)")
ANYWHERE = tuple(fault for fault in Fault if fault is not Fault.TORN)
"""Each of these is tried at every fifth point of a run and begins one further on, so that every point meets one;
`make faults` tries all."""


def told_apart(points: list[Point]) -> list[int]:
    """Places of the calls to try: of calls of one kind on one file, whatever its ids, the first and the last.

    Those between come again for each conversation that a harvest takes. Folders, which have no names here, are all tried.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for at, point in enumerate(points):
        name = f"folder {at}" if point.name == "a folder" else _IDS.sub("#", point.name)
        places.setdefault((point.kind, name), []).append(at)
    return sorted({at for same in places.values() for at in (same[0], same[-1])})


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=memory_folder()) as name:
        yield Path(name)


@pytest.mark.parametrize("run_name", RUNS)
def test_after_a_fault_at_any_call_nothing_is_lost_doubled_or_paid_twice(folder: Path, run_name: str) -> None:
    stage = Stage(folder, run_name)
    points = stage.prepare()
    tried = told_apart(points)

    wrong = {
        (at, fault): why
        for fault in Fault
        for at in tried[ANYWHERE.index(fault) if fault in ANYWHERE else 0 :: len(ANYWHERE)]
        if fault in faults_at(points[at]) and (why := stage.try_point(at, fault, points[at]))
    }

    assert wrong == {}


def test_the_harvest_that_is_tried_has_every_kind_of_call_and_a_conversation_in_pieces(folder: Path) -> None:
    points = Stage(folder, "harvest").prepare()

    assert {point.kind for point in points} == {"open", "write", "fsync", "rename", "unlink", "make"}
    assert len(points) > 150
    paid = Paid()
    harvest(made_home(folder / "home"), paid)
    assert sorted(paid.answered) == ["ALPHA", "BETA", "part 1 of 3", "part 2 of 3", "part 3 of 3"]
    assert set(paid.answered.values()) == {1}


@pytest.mark.parametrize(
    "damage",
    [
        "knowledge/facts.md",
        "knowledge/ledger.json",
        "knowledge/digest.md",
        "trash",
        "knowledge/tasks.md",
        "knowledge/evidence.jsonl",
        "knowledge/events.jsonl",
    ],
)
def test_the_check_sees_what_is_lost(folder: Path, damage: str) -> None:
    stage = Stage(folder, "harvest")
    stage.prepare()
    home = stage.copied("damaged")
    harvest(home, Paid())
    check_harvested(home)
    if damage == "trash":
        shutil.rmtree(next((home / damage).iterdir()))
    else:
        lines = (home / damage).read_bytes().split(b"\n")
        (home / damage).write_bytes(b"\n".join(lines[:-3] + lines[-2:]))

    assert stage.judge(home, Paid(), Fault.KILL, Point("write", damage))


def test_the_check_sees_an_item_twice_and_a_reply_paid_twice(folder: Path) -> None:
    stage = Stage(folder, "harvest")
    stage.prepare()
    home = stage.copied("doubled")
    harvest(home, Paid())
    facts = home / "knowledge" / "facts.md"
    line = facts.read_bytes().split(b"\n")[-2]
    facts.write_bytes(facts.read_bytes() + line + b"\n")

    assert "doubled" in stage.judge(home, Paid(), Fault.KILL, Point("write", "x"))
    shutil.rmtree(home)
    home = stage.copied("paid")
    paid = Paid()
    paid.answered["BETA"] = 1
    assert "paid twice" in stage.judge(home, paid, Fault.KILL, Point("rename", "x"))


def test_a_harvest_that_is_killed_twice_is_finished_by_the_third(folder: Path) -> None:
    stage = Stage(folder, "harvest")
    total = len(stage.prepare())
    for at in range(0, total, 13):
        home, paid = stage.copied(f"{at}"), Paid()
        for seed, point in (("first", at), ("second", 9 + at % 23)):
            with suppress(KilledError):
                harvest(home, paid, PointDisk(home, point), seed)

        harvest(home, paid, PointDisk(home), "third")

        check_harvested(home)


def test_what_a_crash_finished_can_be_undone(folder: Path) -> None:
    stage = Stage(folder, "harvest")
    total = len(stage.prepare())
    for at in range(5, total, 17):
        home, paid = stage.copied(f"{at}"), Paid()
        with suppress(KilledError):
            harvest(home, paid, PointDisk(home, at), "first")
        harvest(home, paid, PointDisk(home), "second")

        with suppress(SlopError):
            while True:
                undo_apply(home, NOW, is_agreed=True, disk=PointDisk(home))

        assert sorted(words(home)) == BY_HAND
        assert len(list(paths.discussions_dir(home).glob("2*"))) >= 4


def test_an_undo_that_was_interrupted_says_in_the_end_what_the_whole_of_it_did(folder: Path) -> None:
    stage = Stage(folder, "undo")
    points = stage.prepare()
    home = stage.copied("whole")
    facts = home / "knowledge" / "facts.md"
    facts.write_bytes(facts.read_bytes().replace(b"- L two.", b"- L two, I think."))
    template = stage.copied("edited")
    shutil.copy2(facts, template / "knowledge" / "facts.md")
    whole = undo_apply(home, NOW, is_agreed=True, disk=PointDisk(home))
    at = points.index(Point("rename", "knowledge/tasks.md"))
    with pytest.raises(KilledError):
        undo_apply(template, NOW, is_agreed=True, disk=PointDisk(template, at))

    again = undo_apply(template, NOW, is_agreed=True, disk=PointDisk(template))

    assert (again.removed, again.left) == (whole.removed, whole.left)
    assert [line.partition(" [")[0] for line in whole.left] == ["facts.md: - L two."]
    assert "- L two, I think." in facts.read_text("utf-8")


def test_a_start_with_nothing_interrupted_touches_nothing(folder: Path) -> None:
    home = made_home(folder / "home")
    harvest(home, Paid())
    disk = PointDisk(home)

    assert recover_home(home, disk=disk) == ()
    assert disk.points == []


_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.truncate", "os.link", "os.symlink"}
_watched: list[tuple[str, str]] | None = None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _watched is None:
        return
    is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    is_there = event == "os.mkdir" and os.path.isdir(
        str(arguments[0])
    )  # the lock's library asks for its folder
    if (event in _CHANGES or is_write) and not is_there:
        _watched.append((event, str(arguments[0])))


def test_every_change_that_a_harvest_makes_goes_through_the_disk_that_is_failed_here(folder: Path) -> None:
    """Else a point would be missing in the tests above. Locks, who holds them, and marks are no knowledge."""
    global _watched  # noqa: PLW0603
    sys.addaudithook(_watch)
    for run_name in ("harvest", "undo"):
        stage = Stage(folder / run_name, run_name)
        stage.folder.mkdir()
        stage.prepare()
        home = stage.copied("watched")
        disk = PointDisk(home)
        _watched = []
        try:
            stage.run(home, Paid(), disk)
        finally:
            seen, _watched = _watched, None

        changes = [what for what in seen if what[1].startswith(str(home)) and "lock" not in what[1]]
        changes = [what for what in changes if not _MARKS.search(os.path.basename(what[1]))]
        through = [point for point in disk.points if point.kind in {"open", "rename", "unlink", "make"}]
        assert len(changes) == len(through), (changes, through)
