"""An apply as a whole: what it writes, its gate, its duplicates, what another process sees, and its undo."""

from __future__ import annotations

import errno
import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import Disk
from core.kernel.errors import ConfigError, LockedError, StorageError
from core.kernel.values.knowledge import Category, LedgerStatus, NewItem, Provenance
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.apply_log import write
from core.knowledge.categories import parse_file
from core.knowledge.file_writer import harvest_lock, withdrawal_count, write_lock
from core.knowledge.knowledge_reader import digest_file, regenerate_digest
from core.knowledge.ledger import HarvestLedger
from core.knowledge.recovery import list_applies, recover_home, undo_apply, undoing_row
from core.talk.discussion import trash
from tests.command_forks import FORKS
from tests.core.knowledge.homes import (
    FIRST,
    NOW,
    SECOND,
    check_nothing_lost,
    entry_of,
    harvest,
    item_lines,
    items_of,
    made_home,
    sha_of,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made_home(tmp_path)


def read(home: Path, name: str) -> str:
    return (home / "knowledge" / name).read_bytes().decode()


def put(home: Path, name: str, text: str) -> None:
    (home / "knowledge" / name).write_bytes(text.encode())


def test_everything_is_where_the_specification_says(home: Path) -> None:
    harvest(home)

    assert read(home, "decisions.md").startswith("# Decisions\n\n- decisions that ")
    assert read(home, "playbooks.md").startswith("# Playbooks\n\n- **Deploy**: playbooks that ")
    tasks = {item.section for item in parse_file("tasks.md", read(home, "tasks.md").encode()).items}
    assert tasks == {"Open", "Done"}
    assert len(list((home / "knowledge" / "files").iterdir())) == 1
    assert {item.why for item in trash.items(home)} == {"harvested"}
    assert {entry.deleted for entry in HarvestLedger(home).entries()} == {True}
    assert json.loads(read(home, "ledger.json"))["entries"]
    assert digest_file(home).is_file()
    check_nothing_lost(home)


def test_what_is_known_is_not_written_again_whatever_its_case_and_source(home: Path) -> None:
    came = Provenance("other", "2026-01-01")
    with begin_apply(home, NOW, seed="a") as apply:
        first = apply.append(
            [NewItem(Category.FACTS, "The sea is salt", provenance=came)], entry_of(home, FIRST)
        )
        again = apply.append(
            [
                NewItem(Category.FACTS, "the sea  is salt."),
                NewItem(Category.DECISIONS, "The sea is salt"),
                NewItem(Category.DECISIONS, "The sea is salt"),
            ],
            entry_of(home, SECOND),
        )

    assert (first.counts["facts"], again.counts["facts"], again.counts["decisions"]) == (1, 0, 1)
    assert len(again.known) == 2
    assert read(home, "facts.md") == "# Facts\n\n- The sea is salt [from: other, 2026-01-01]\n"


def test_an_open_task_that_is_done_now_is_written_as_done(home: Path) -> None:
    with begin_apply(home, NOW, seed="a") as apply:
        apply.append([NewItem(Category.TASKS_OPEN, "paint it")], entry_of(home, FIRST))
        done = apply.append(
            [NewItem(Category.TASKS_DONE, "paint it", provenance=Provenance("b", "2026-01-01"))],
            entry_of(home, SECOND),
        )

    assert done.counts["tasks_done"] == 1


def test_nothing_goes_to_the_trash_that_the_ledger_does_not_prove(home: Path) -> None:
    with begin_apply(home, NOW, seed="a") as apply:
        with pytest.raises(StorageError, match="ledger has no harvest of"):
            apply.reclaim(FIRST, sha_of(home, FIRST), NOW)
        apply.record(replace(entry_of(home, FIRST), status=LedgerStatus.HARVEST_FAILED, error="no"))
        with pytest.raises(StorageError, match="ledger has no harvest of"):
            apply.reclaim(FIRST, sha_of(home, FIRST), NOW)

    assert paths.log_file(home, FIRST).exists()


def test_a_conversation_that_grew_meanwhile_is_kept(home: Path) -> None:
    with begin_apply(home, NOW, seed="a") as apply:
        sha256 = sha_of(home, FIRST)
        apply.append(items_of(home, FIRST), entry_of(home, FIRST))
        with paths.log_file(home, FIRST).open("ab") as file:
            file.write(b"\n")
        with pytest.raises(StorageError, match="has grown"):
            apply.reclaim(FIRST, sha256, NOW)

    assert paths.log_file(home, FIRST).exists()


def test_unharvested_reclaim_says_so_in_the_trash(home: Path) -> None:
    with begin_apply(home, NOW, seed="a") as apply:
        apply.record(replace(entry_of(home, FIRST), status=LedgerStatus.DELETED_UNHARVESTED))
        apply.reclaim(FIRST, sha_of(home, FIRST), NOW)

    assert trash.items(home)[0].why == "reclaimed without harvest"


def test_a_second_harvest_says_who_holds_the_lock(home: Path) -> None:
    with begin_apply(home, NOW, seed="a", by="the window"):
        with pytest.raises(LockedError, match=r"the window \(process \d+, since"):
            harvest(home)
        with pytest.raises(LockedError):
            undo_apply(home, NOW)
        with pytest.raises(LockedError):
            recover_home(home)
    harvest(home)


def test_a_broken_ledger_stops_it_before_anything_is_written(home: Path) -> None:
    harvest(home, only=(FIRST,))
    put(home, "ledger.json", "{")
    before = item_lines(home)

    with pytest.raises(ConfigError):
        harvest(home)

    assert item_lines(home) == before
    assert read(home, "ledger.json") == "{"


def test_a_file_that_cannot_be_understood_is_not_written_to(home: Path) -> None:
    (home / "knowledge").mkdir()
    utf16 = "- one\n".encode("utf-16")
    (home / "knowledge" / "questions.md").write_bytes(utf16)

    with pytest.raises(StorageError, match="UTF-8"):
        harvest(home)

    assert (home / "knowledge" / "questions.md").read_bytes() == utf16
    assert sum(item_lines_of(home, "facts.md")) == 0
    assert paths.log_file(home, FIRST).exists()


def item_lines_of(home: Path, name: str) -> list[int]:
    return [1 for line in read(home, name).split("\n") if line.startswith("- ")]


def test_undo_takes_items_out_and_brings_conversations_back(home: Path) -> None:
    (home / "knowledge").mkdir()
    put(home, "facts.md", "# Facts\n\nmy prose\n- mine\n")
    regenerate_digest(home)
    harvest(home)

    assert withdrawal_count(home) == 0
    report = undo_apply(home, NOW)

    assert withdrawal_count(home) > 0
    assert (report.removed, report.left, report.problems) == (14, (), ())
    assert sorted(report.restored) == [FIRST, SECOND]
    assert read(home, "facts.md") == "# Facts\n\nmy prose\n- mine\n"
    assert list((home / "knowledge" / "files").iterdir()) == []
    assert not any(entry.allows_reclaim for entry in HarvestLedger(home).entries())
    assert digest_file(home).read_text("utf-8").endswith("## Facts\n- mine\n")
    with pytest.raises(StorageError, match="There is no harvest to undo"):
        undo_apply(home, NOW)


def test_what_was_undone_can_be_harvested_again(home: Path) -> None:
    harvest(home)
    undo_apply(home, NOW)

    harvest(home)

    assert sum(item_lines(home).values()) == 14
    assert [bool(record.undone_at) for record in list_applies(home)] == [False, True]


def test_undo_takes_the_last_applies_back_one_by_one(home: Path) -> None:
    harvest(home, only=(FIRST,))
    harvest(home, only=(SECOND,))

    assert undo_apply(home, NOW).restored == (SECOND,)
    assert undo_apply(home, NOW).restored == (FIRST,)


def test_lines_that_a_person_edited_since_are_shown_and_left(home: Path) -> None:
    harvest(home, only=(FIRST,))
    put(home, "facts.md", read(home, "facts.md").replace("facts that", "facts, I think, that"))
    put(home, "questions.md", read(home, "questions.md") + "  and my thoughts on it\n")

    report = undo_apply(home, NOW)

    assert report.removed == 5
    assert [line.partition(":")[0] for line in report.left] == ["facts.md", "questions.md"]
    assert "facts, I think, that" in read(home, "facts.md")
    assert read(home, "questions.md").endswith("  and my thoughts on it\n")


def test_a_conversation_that_left_the_trash_is_named(home: Path) -> None:
    harvest(home, only=(FIRST,))
    import shutil

    shutil.rmtree(paths.trash_dir(home))

    report = undo_apply(home, NOW)

    assert report.restored == ()
    assert "the program cannot restore it" in report.problems[0]


def test_undo_does_not_turn_the_digest_on(home: Path) -> None:
    (home / "knowledge").mkdir()
    put(home, "facts.md", "- mine\n")
    harvest(home)
    digest_file(home).unlink()

    undo_apply(home, NOW)

    assert not digest_file(home).exists()


def later(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def apply(home: Path, source: str, minutes: int = 0) -> str:
    """Harvest one conversation, leaving it where it is. Returns the apply's id."""
    with begin_apply(home, later(minutes), seed=source) as begun:
        begun.append(items_of(home, source), entry_of(home, source))
        finish_apply(begun)
    return begun.id


def test_memory_that_was_off_before_an_apply_is_off_after_its_undo(home: Path) -> None:
    (home / "knowledge").mkdir()
    put(home, "facts.md", "- mine\n")
    apply(home, FIRST)
    assert digest_file(home).exists()

    undo_apply(home, later(1))

    assert not digest_file(home).exists()
    assert "mine" in read(home, "facts.md")


def test_memory_that_was_on_before_an_apply_stays_on_after_its_undo(home: Path) -> None:
    (home / "knowledge").mkdir()
    put(home, "facts.md", "- mine\n")
    regenerate_digest(home)
    apply(home, FIRST)

    undo_apply(home, later(1))

    assert "mine" in digest_file(home).read_text("utf-8")


@pytest.mark.parametrize("is_newest_first", [True, False])
def test_memory_goes_off_with_the_last_of_the_applies_that_had_turned_it_on(
    home: Path, *, is_newest_first: bool
) -> None:
    ids = [apply(home, FIRST), apply(home, SECOND, 1)]
    put(home, "facts.md", read(home, "facts.md") + "- mine\n")
    first, last = reversed(ids) if is_newest_first else ids

    undo_apply(home, later(2), first)
    assert digest_file(home).exists(), "an apply that stands keeps it on"
    undo_apply(home, later(3), last)

    assert not digest_file(home).exists()


def test_memory_that_a_person_turned_on_since_stays_on(home: Path) -> None:
    apply(home, FIRST)
    put(home, "facts.md", read(home, "facts.md") + "- mine\n")
    undo_apply(home, later(1))
    regenerate_digest(home)

    apply(home, SECOND, 2)
    undo_apply(home, later(3))

    assert digest_file(home).exists()


def test_an_undo_that_a_crash_interrupted_turns_memory_off_at_the_next_start(home: Path) -> None:
    apply_id = apply(home, FIRST)
    put(home, "facts.md", read(home, "facts.md") + "- mine\n")
    record = next(iter(list_applies(home)))
    write(home, apply_id, undoing_row(home, record, later(1)))
    assert digest_file(home).exists()

    recover_home(home, later(2))

    assert not digest_file(home).exists()
    regenerate_digest(home)
    recover_home(home, later(3))
    assert digest_file(home).exists(), "what was undone turns nothing off again"


def test_an_apply_of_before_this_was_noted_leaves_memory_on(home: Path) -> None:
    apply(home, FIRST)
    put(home, "facts.md", read(home, "facts.md") + "- mine\n")
    log = next((home / "knowledge" / "applies").iterdir())
    log.write_bytes(log.read_bytes().replace(b', "on": false', b""))

    undo_apply(home, later(1))

    assert digest_file(home).exists()


def test_a_start_finishes_what_was_interrupted_without_turning_the_digest_on(home: Path) -> None:
    with begin_apply(home, NOW, seed="a") as apply:
        apply.append(items_of(home, FIRST), entry_of(home, FIRST))
    log = next((home / "knowledge" / "applies").iterdir())
    log.write_bytes(log.read_bytes().replace(b'{"kind": "written"}\n', b'{"kind": "wri'))
    put(home, "facts.md", "# Facts\n\nmine\n")

    assert recover_home(home) == (f"discussions/{FIRST}/log.jsonl",)
    assert recover_home(home) == ()

    assert "mine\n- facts that" in read(home, "facts.md")
    assert not digest_file(home).exists()
    assert sum(item_lines(home).values()) == 7


@pytest.mark.parametrize("cut", [2, 20, 60])
def test_half_a_line_that_a_crash_left_is_made_whole(home: Path, cut: int) -> None:
    harvest(home, only=(FIRST,))
    before = read(home, "facts.md")
    with begin_apply(home, NOW, seed="b") as apply:
        apply.append(items_of(home, SECOND), entry_of(home, SECOND))
    after = read(home, "facts.md")
    log = max((home / "knowledge" / "applies").iterdir())
    log.write_bytes(log.read_bytes().replace(b'{"kind": "written"}\n', b""))
    put(home, "facts.md", after[:-cut])

    recover_home(home)

    assert read(home, "facts.md") == after
    assert after.startswith(before)


def test_an_apply_that_was_left_in_the_middle_stands(home: Path) -> None:
    with begin_apply(home, NOW, seed="a") as apply:
        apply.append(items_of(home, FIRST), entry_of(home, FIRST))

    with begin_apply(home, NOW, seed="b") as apply:
        finish_apply(apply)

    assert sum(item_lines(home).values()) == 7
    assert undo_apply(home, NOW).removed == 7


def test_locks_are_freed_when_their_holder_fails(home: Path) -> None:
    with pytest.raises(ZeroDivisionError), harvest_lock(home, "x"), write_lock(home):
        _ = 1 / 0
    with harvest_lock(home, "y"), write_lock(home):
        pass


_CHILD = """
import sys
from pathlib import Path
from tests.core.knowledge.homes import NOW, entry_of, items_of, FIRST, SECOND
from core.kernel.errors import LockedError
from core.knowledge.apply import begin_apply, finish_apply
home = Path(sys.argv[1])
while True:
    try:
        with begin_apply(home, NOW, seed=sys.argv[2]) as apply:
            for key in (FIRST, SECOND):
                apply.append(items_of(home, key), entry_of(home, key))
            finish_apply(apply)
        break
    except LockedError:
        pass
"""


def test_two_processes_that_harvest_the_same_write_each_item_once(home: Path) -> None:
    children = [FORKS.program(_CHILD, home, seed) for seed in "ab"]

    assert [child.communicate() for child in children] == [(b"", b"")] * 2
    assert [child.returncode for child in children] == [0, 0]

    assert sum(item_lines(home).values()) == 14
    check_nothing_lost(home)
    assert len(list(list_applies(home))) == 2


class NoRewriteDisk(Disk):
    """As full as it gets once an append has failed: then nothing that needs new space can be written."""

    def __init__(self, name: str) -> None:
        self.name, self.is_full = name, False

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self.is_full = self.is_full or path.name.startswith(f".{self.name}.")
        if self.is_full and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "no space")
        return super().open(path, flags, mode)


def test_on_a_disk_that_is_full_to_the_last_byte_nothing_stays_half_written(home: Path) -> None:
    harvest(home, only=(FIRST,))
    before = item_lines(home)

    with pytest.raises(StorageError, match="full"):
        harvest(home, NoRewriteDisk("tasks.md"))

    assert item_lines(home) == before
    assert paths.log_file(home, SECOND).exists()
    check_nothing_lost(home)
