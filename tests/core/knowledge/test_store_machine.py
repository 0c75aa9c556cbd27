"""A state machine over the whole store: harvests, edits by hand, undo, crashes and the switch, in any order."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.kernel import paths
from core.kernel.errors import SlopError, StorageError
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, Item, LedgerStatus, NewItem, Provenance
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.categories import FILE_OF
from core.knowledge.edits import add_item, delete_item, edit_item, set_task_done
from core.knowledge.knowledge_reader import digest_file, fresh_digest, read_categories, regenerate_digest
from core.knowledge.ledger import HarvestLedger, timestamp
from core.knowledge.merges import same_text
from core.knowledge.recovery import list_applies, recover_home, undo_apply
from tests.core.knowledge.homes import NOW, FaultyDisk, KilledError

DISK = FaultyDisk()
CATEGORIES = st.sampled_from([category for category in Category if category is not Category.FILES])
WORDS = st.text(st.sampled_from("ab é#-]{/\n["), min_size=1, max_size=12)
ITEMS = st.lists(st.builds(NewItem, CATEGORIES, WORDS, name=st.just("Play")), max_size=4)
PROSE = st.sampled_from(["", "\n", "\r\n", "  stray\n", "## Mine\n", "- by hand\n"])
FAULTS = st.sampled_from(["kill", "torn", errno.EIO, errno.ENOSPC, errno.EROFS])


class Store(RuleBasedStateMachine):
    """What is written is there until somebody takes it out; what a person wrote is never touched."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.count = 0
        self.is_on = False
        self.prose: dict[str, list[bytes]] = {}
        self.proven: dict[str, str] = {}
        self.undone: set[str] = set()
        self.has_edited = False

    def teardown(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def _entry(self) -> tuple[HarvestLedgerEntry, Provenance]:
        self.count += 1
        entry = HarvestLedgerEntry(
            f"{self.count:064}", f"talk {self.count}", LedgerStatus.HARVESTED, timestamp(NOW)
        )
        return entry, Provenance(f"talk-{self.count}", "2026-11-20")

    def _items(self) -> list[Item]:
        return [item for file in read_categories(self.home) for item in file.items]

    @rule(items=ITEMS)
    def harvest(self, items: list[NewItem]) -> None:
        entry, came = self._entry()
        new = [NewItem(i.category, i.text, name=i.name, provenance=came) for i in items]
        with begin_apply(self.home, NOW, seed=str(self.count), disk=DISK) as apply:
            plan = apply.append(new, entry)
            finish_apply(apply)
        self.proven[apply.id] = entry.sha256
        self.is_on = digest_file(self.home).exists()
        found = {(item.file, same_text(item.text)) for item in self._items()}
        assert {(item.file, same_text(item.text)) for item in plan.items} <= found
        assert HarvestLedger(self.home).may_reclaim(entry.sha256)

    @rule(items=ITEMS, at=st.integers(0, 60), fault=FAULTS)
    def harvest_that_fails(self, items: list[NewItem], at: int, fault: int | str) -> None:
        entry, came = self._entry()
        new = [NewItem(i.category, i.text, name=i.name, provenance=came) for i in items]
        disk = FaultyDisk(at, fault)
        try:
            with begin_apply(self.home, NOW, seed=str(self.count), disk=disk) as apply:
                apply.append(new, entry)
                finish_apply(apply)
        except (KilledError, SlopError):
            recover_home(self.home, disk=DISK)
        self.is_on = digest_file(self.home).exists()

    @rule()
    def undo(self) -> None:
        try:
            self._took_back(undo_apply(self.home, NOW, is_agreed=True, disk=DISK).apply_id)
        except StorageError as error:
            assert "no harvest to undo" in str(error)  # noqa: PT017

    @rule(at=st.integers(0, 60), fault=FAULTS)
    def undo_that_fails(self, at: int, fault: int | str) -> None:
        """What the person asked for is done after the next start, or was never begun."""
        newest = next((one.id for one in list_applies(self.home) if not one.undone_at and one.steps), "")
        try:
            undo_apply(self.home, NOW, is_agreed=True, disk=FaultyDisk(at, fault))
        except (KilledError, SlopError):
            recover_home(self.home, disk=DISK)
        record = next((one for one in list_applies(self.home) if one.id == newest), None)
        if record is not None and record.undone_at:
            self._took_back(newest)

    @rule()
    def start(self) -> None:
        assert recover_home(self.home, disk=DISK) == ()

    def _took_back(self, apply_id: str) -> None:
        if sha256 := self.proven.pop(apply_id, ""):
            self.undone.add(sha256)
        self.is_on = digest_file(self.home).exists()

    @rule(category=CATEGORIES, prose=PROSE, is_rename=st.booleans(), is_first=st.booleans())
    def person_saves_in_an_editor(
        self, category: Category, prose: str, is_rename: bool, is_first: bool
    ) -> None:
        """In place or by rename, at the top or at the end."""
        path = paths.knowledge_dir(self.home) / FILE_OF[category]
        path.parent.mkdir(exist_ok=True)
        data = path.read_bytes() if path.exists() else b""
        self.count += 1
        mine = f"prose {self.count}".encode()
        added = prose.encode() + mine + b"\n"
        gap = b"" if data.endswith(b"\n") or not data else b"\n"
        written = added + data if is_first else data + gap + added
        lines = self.prose.setdefault(path.name, [])
        lines.insert(0 if is_first else len(lines), mine)
        if is_rename:
            other = path.with_name("editor~")
            other.write_bytes(written)
            os.replace(other, path)
        else:
            path.write_bytes(written)
        regenerate_digest(self.home, may_create=False, disk=DISK)

    @rule(category=CATEGORIES)
    def person_removes_a_file(self, category: Category) -> None:
        path = paths.knowledge_dir(self.home) / FILE_OF[category]
        path.unlink(missing_ok=True)
        self.prose.pop(path.name, None)
        self.is_on = bool(regenerate_digest(self.home, may_create=False, disk=DISK).text)

    @precondition(lambda self: self._items())
    @rule(data=st.data(), text=WORDS)
    def person_changes_an_item_in_the_panel(self, data: st.DataObject, text: str) -> None:
        item = data.draw(st.sampled_from(self._items()))
        edit_item(self.home, item, text, disk=DISK)
        self.has_edited = True

    @precondition(lambda self: self._items())
    @rule(data=st.data())
    def person_deletes_or_moves_an_item(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self._items()))
        before = len(self._items())
        if item.file == "tasks.md":
            set_task_done(self.home, item, done=item.category is Category.TASKS_OPEN, disk=DISK)
            assert len(self._items()) == before
        else:
            delete_item(self.home, item, disk=DISK)
            assert len(self._items()) == before - 1

    @rule(item=st.builds(NewItem, CATEGORIES, WORDS, name=st.just("Play")))
    def person_adds_an_item(self, item: NewItem) -> None:
        add_item(self.home, item, disk=DISK)

    @rule()
    def person_turns_it_off(self) -> None:
        digest_file(self.home).unlink(missing_ok=True)
        self.is_on = False

    @rule()
    def person_turns_it_on(self) -> None:
        self.is_on = bool(regenerate_digest(self.home, disk=DISK).text)

    @invariant()
    def digest_is_a_fresh_projection_or_off(self) -> None:
        if digest_file(self.home).exists():
            assert self.is_on
            assert digest_file(self.home).read_text("utf-8") == fresh_digest(self.home)

    @invariant()
    def digest_is_a_pure_function_of_the_files(self) -> None:
        twin = self.home / "twin"
        shutil.copytree(paths.knowledge_dir(self.home), paths.knowledge_dir(twin), dirs_exist_ok=True) if (
            paths.knowledge_dir(self.home).exists()
        ) else None
        assert fresh_digest(self.home) == fresh_digest(twin)
        shutil.rmtree(twin, ignore_errors=True)

    @invariant()
    def every_line_that_the_person_wrote_stands_in_its_order(self) -> None:
        for name, lines in self.prose.items():
            found = iter((paths.knowledge_dir(self.home) / name).read_bytes().split(b"\n"))
            assert all(any(line == there.rstrip(b"\r") for there in found) for line in lines)

    @invariant()
    def the_ledger_proves_what_stands_and_nothing_that_was_undone(self) -> None:
        ledger = HarvestLedger(self.home)
        assert all(ledger.may_reclaim(sha256) for sha256 in self.proven.values())
        assert not any(ledger.may_reclaim(sha256) for sha256 in self.undone)

    @precondition(lambda self: not self.has_edited)  # a person may give one item the words of another
    @invariant()
    def no_item_of_a_harvest_stands_twice(self) -> None:
        tagged = [item for item in self._items() if item.provenance is not None]
        assert len({(i.file, i.provenance, i.text, i.section) for i in tagged}) == len(tagged)

    @invariant()
    def nothing_is_left_lying_about(self) -> None:
        directory = paths.knowledge_dir(self.home)
        assert not list(directory.glob(".*.tmp"))
        HarvestLedger(self.home).load()


Store.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestStore = Store.TestCase
