"""A state machine over the whole store: harvests, edits by hand, undo, crashes and the switch, in any order."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core import paths
from core.errors import SlopError, StorageError
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.digest import digest_file, fresh_digest, regenerate_digest
from core.knowledge.editing import add_item, delete_item, edit_item, set_task_done
from core.knowledge.ledger import Ledger, timestamp
from core.knowledge.reading import read_categories
from core.knowledge.recovery import recover_home
from core.knowledge.undo import undo_apply
from core.knowledge_text.categories import FILE_OF
from core.knowledge_text.duplicates import same_text
from core.values.knowledge import Category, Item, LedgerEntry, LedgerStatus, NewItem, Provenance
from tests.core.knowledge.homes import NOW, FaultyDisk, KilledError

DISK = FaultyDisk()
CATEGORIES = st.sampled_from([category for category in Category if category is not Category.FILES])
WORDS = st.text(st.sampled_from("ab é#-]{/\n["), min_size=1, max_size=12)
ITEMS = st.lists(st.builds(NewItem, CATEGORIES, WORDS, name=st.just("Play")), max_size=4)
PROSE = st.sampled_from(["", "prose\n", "\r\n", "  stray\n", "## Mine\n", "- by hand\n"])


class Store(RuleBasedStateMachine):
    """What is written is there until somebody takes it out; what a person wrote is never touched."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.count = 0
        self.is_on = False
        self.prose: dict[str, int] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def _entry(self) -> tuple[LedgerEntry, Provenance]:
        self.count += 1
        entry = LedgerEntry(f"{self.count:064}", f"talk {self.count}", LedgerStatus.HARVESTED, timestamp(NOW))
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
        self.is_on = digest_file(self.home).exists()
        found = {(item.file, same_text(item.text)) for item in self._items()}
        assert {(item.file, same_text(item.text)) for item in plan.items} <= found
        assert Ledger(self.home).may_reclaim(entry.sha256)

    @rule(items=ITEMS, at=st.integers(0, 40), fault=st.sampled_from(["kill", "torn"]))
    def harvest_that_fails(self, items: list[NewItem], at: int, fault: str) -> None:
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
            undo_apply(self.home, NOW, disk=DISK)
        except StorageError as error:
            assert "no apply" in str(error)  # noqa: PT017
        self.is_on = digest_file(self.home).exists()

    @rule(category=CATEGORIES, prose=PROSE)
    def person_writes_with_an_editor(self, category: Category, prose: str) -> None:
        path = paths.knowledge_dir(self.home) / FILE_OF[category]
        path.parent.mkdir(exist_ok=True)
        data = path.read_bytes() if path.exists() else b""
        path.write_bytes(data + prose.encode())
        if "prose" in prose:
            self.prose[path.name] = self.prose.get(path.name, 0) + 1
        regenerate_digest(self.home, may_create=False, disk=DISK)

    @precondition(lambda self: self._items())
    @rule(data=st.data(), text=WORDS)
    def person_changes_an_item_in_the_panel(self, data: st.DataObject, text: str) -> None:
        item = data.draw(st.sampled_from(self._items()))
        edit_item(self.home, item, text, disk=DISK)

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
    def prose_stays(self) -> None:
        for name, count in self.prose.items():
            data = (paths.knowledge_dir(self.home) / name).read_bytes()
            assert data.count(b"prose") == count

    @invariant()
    def nothing_is_left_lying_about(self) -> None:
        directory = paths.knowledge_dir(self.home)
        assert not list(directory.glob(".*.tmp"))
        Ledger(self.home).load()


Store.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestStore = Store.TestCase
