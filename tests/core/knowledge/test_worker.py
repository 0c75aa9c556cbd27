"""The knowledge worker and layer 7 on real files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.app.app_messages import Event
from core.kernel.errors import SlopError, StorageError
from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles, Preset
from core.kernel.values.knowledge import Category, DigestSwitch, Item, KnowledgeState
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.updates import OperationDone, OperationFailed
from core.knowledge.apply import begin_apply
from core.knowledge.file_writer import harvest_lock
from core.knowledge.knowledge_messages import (
    AddKnowledgeItem,
    AttachNotes,
    ChangeKnowledge,
    DeleteDigest,
    DeleteKnowledgeItem,
    EditKnowledgeItem,
    FollowDigest,
    KnowledgeEffect,
    KnowledgeRead,
    ReadKnowledge,
    RegenerateDigest,
    SetTaskDone,
)
from core.knowledge.knowledge_reader import DigestFollower, digest_file
from core.knowledge.knowledge_worker import KnowledgeHandler, Layer7, supersedes
from core.knowledge.note_files import read_seen
from tests.core.knowledge.homes import FIRST, NOW, FaultyDisk, entry_of, harvest, items_of, made_home

ON = KnowledgeSettings()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made_home(tmp_path)


def spec(settings: KnowledgeSettings = ON) -> StackSpec:
    return StackSpec("d", StackInputs(), Preset("p"), "/", knowledge=settings)


def handled(home: Path, effect: KnowledgeEffect, *, is_read_only: bool = False) -> list[Event]:
    events: list[Event] = []
    KnowledgeHandler(home, events.append, is_read_only=is_read_only).handle(effect)
    return events


def interrupted(home: Path) -> None:
    with begin_apply(home, NOW, seed="a", disk=FaultyDisk()) as apply:
        apply.append(items_of(home, FIRST), entry_of(home, FIRST))
    log = next((home / "knowledge" / "applies").iterdir())
    log.write_bytes(log.read_bytes().replace(b'{"kind": "written"}\n', b""))


def test_the_switch_is_told_before_the_items(home: Path) -> None:
    harvest(home, FaultyDisk())

    first, second = handled(home, ReadKnowledge(ON))

    assert isinstance(first, KnowledgeRead)
    assert isinstance(second, KnowledgeRead)
    assert (first.knowledge.switch, first.knowledge.categories) == (DigestSwitch.ON, ())
    assert sum(len(file.items) for file in second.knowledge.categories) == 12
    assert sum(len(note.items) for note in second.knowledge.notes) == 2


def test_regenerating_turns_it_on_and_says_so(home: Path) -> None:
    harvest(home, FaultyDisk())
    digest_file(home).unlink()

    events = handled(home, ChangeKnowledge(RegenerateDigest(), ON))

    assert isinstance(events[1], KnowledgeRead)
    assert events[1].knowledge.is_on
    assert events[-1] == OperationDone(subject="digest", text="Digest written")


def test_an_editors_save_is_in_the_digest_at_the_next_reading_also_where_it_cannot_be_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(home, FaultyDisk())
    events: list[Event] = []
    handler = KnowledgeHandler(home, events.append)
    handler.handle(ReadKnowledge(ON))
    facts = home / "knowledge" / "facts.md"
    facts.write_text("- saved in an editor\n", encoding="utf-8")

    handler.handle(ReadKnowledge(ON))
    assert isinstance(events[-1], KnowledgeRead)
    assert "- saved in an editor\n" in events[-1].knowledge.digest

    def fails(_: DigestFollower) -> None:
        raise StorageError("The disk is full", remedy="Free some space", where="x")

    monkeypatch.setattr(DigestFollower, "follow", fails)
    del events[:]
    handler.handle(ReadKnowledge(ON))
    assert events[0] == OperationFailed("digest", "The disk is full", "Free some space. x")
    assert isinstance(events[-1], KnowledgeRead)


def test_a_digest_by_hand_outlives_the_notice_of_what_files_with_notes_hold(home: Path) -> None:
    harvest(home, FaultyDisk())
    events: list[Event] = []
    handler = KnowledgeHandler(home, events.append)
    handler.handle(ReadKnowledge(ON))
    digest_file(home).write_text("by hand\n", encoding="utf-8")
    seen = read_seen(home)
    (home / "code.py").write_text("edited = 1\n", encoding="utf-8")

    for _ in range(2):
        handler.handle(ReadKnowledge(ON))

    assert read_seen(home) != seen
    assert digest_file(home).read_text(encoding="utf-8") == "by hand\n"


def test_a_digest_is_renewed_without_reading_anything_and_not_in_a_read_only_home(home: Path) -> None:
    harvest(home, FaultyDisk())
    (home / "knowledge" / "facts.md").write_text("- saved in an editor\n", encoding="utf-8")
    os.utime(digest_file(home), (0, 0))

    assert handled(home, FollowDigest(), is_read_only=True) == []
    assert "saved in an editor" not in digest_file(home).read_text(encoding="utf-8")
    assert handled(home, FollowDigest()) == []
    assert "saved in an editor" in digest_file(home).read_text(encoding="utf-8")


def test_a_read_only_home_is_only_read(home: Path) -> None:
    harvest(home, FaultyDisk())
    before = digest_file(home).read_bytes()
    events: list[Event] = []
    handler = KnowledgeHandler(home, events.append, is_read_only=True)
    handler.handle(ReadKnowledge(ON))
    (home / "knowledge" / "facts.md").write_text("- saved in an editor\n", encoding="utf-8")

    handler.handle(ReadKnowledge(ON))

    assert digest_file(home).read_bytes() == before


def test_what_was_interrupted_is_finished_once_and_told(home: Path) -> None:
    interrupted(home)

    assert isinstance(handled(home, ReadKnowledge(ON), is_read_only=True)[0], KnowledgeRead)
    told = handled(home, ReadKnowledge(ON))[0]
    assert told == OperationDone(
        "knowledge",
        "The program finished a harvest that was cut short: 1 conversations",
        f"discussions/{FIRST}/log.jsonl",
    )
    assert isinstance(handled(home, ReadKnowledge(ON))[0], KnowledgeRead)


def test_a_harvest_that_runs_right_now_is_not_finished_for_it(home: Path) -> None:
    interrupted(home)
    with harvest_lock(home, "another"):
        assert {type(event) for event in handled(home, ReadKnowledge(ON))} == {KnowledgeRead}


def test_a_ledger_that_does_not_parse_is_told_and_reading_goes_on(home: Path) -> None:
    interrupted(home)
    (home / "knowledge" / "ledger.json").write_text("{", encoding="utf-8")

    events = handled(home, ReadKnowledge(ON))

    assert isinstance(events[0], OperationFailed)
    assert "ledger.json" in events[0].detail
    assert isinstance(events[-1], KnowledgeRead)


def test_layer_7_is_read_fresh_every_time(home: Path) -> None:
    harvest(home, FaultyDisk())
    layer = Layer7(home)
    code = (ItemFiles(FileItem("code.py"), (FileSnapshot("code.py", str(home / "code.py")),)),)

    digest, facts, notes, withdrawals = layer.read(spec(), code)
    assert facts.startswith("- ")
    assert "Knowledge digest" in digest
    assert [note.name for note in notes] == ["code.py"]
    assert layer.read(spec(), ())[2] == ()
    assert layer.read(spec(KnowledgeSettings(digest_enabled=False)), code) == ("", "", (), withdrawals)

    digest_file(home).unlink()
    assert layer.read(spec(), code) == ("", "", (), withdrawals)


def changed(home: Path, change: AddKnowledgeItem | EditKnowledgeItem | AttachNotes) -> list[Event]:
    return handled(home, ChangeKnowledge(change, ON))


def read(events: list[Event]) -> KnowledgeState:
    last = events[-1]
    assert isinstance(last, KnowledgeRead)
    return last.knowledge


def items(home: Path, name: str) -> list[Item]:
    state = read(handled(home, ReadKnowledge(ON)))
    return [item for file in state.categories if file.name == name for item in file.items]


def test_a_person_adds_edits_finishes_and_deletes_and_sees_it_at_once(home: Path) -> None:
    found = read(changed(home, AddKnowledgeItem(Category.TASKS_OPEN, "Measure it")))
    (task,) = [item for file in found.categories if file.name == "tasks.md" for item in file.items]
    assert task.text == "Measure it"

    read(changed(home, EditKnowledgeItem(task, "Measure it twice")))
    (task,) = items(home, "tasks.md")
    assert task.text == "Measure it twice"

    handled(home, ChangeKnowledge(SetTaskDone(task, is_done=True), ON))
    (task,) = items(home, "tasks.md")
    assert task.section == "Done"

    handled(home, ChangeKnowledge(DeleteKnowledgeItem(task), ON))
    assert items(home, "tasks.md") == []


def test_notes_are_not_added_by_hand(home: Path) -> None:
    with pytest.raises(SlopError, match="Only a harvest writes notes on files"):
        changed(home, AddKnowledgeItem(Category.FILES, "A note", name="/p/a.py"))


def test_a_playbook_is_added_under_its_name(home: Path) -> None:
    changed(home, AddKnowledgeItem(Category.PLAYBOOKS, "Look, then leap", name="Leaping"))

    assert [item.text for item in items(home, "playbooks.md")] == ["**Leaping**: Look, then leap"]


def test_an_item_that_changed_meanwhile_is_an_error_with_the_file_and_what_stands_there_now(
    home: Path,
) -> None:
    changed(home, AddKnowledgeItem(Category.FACTS, "The moon pulls"))
    (item,) = items(home, "facts.md")
    facts = home / "knowledge" / "facts.md"
    facts.write_text(facts.read_text().replace("The moon pulls", "The moon pushes"))
    events: list[Event] = []

    with pytest.raises(StorageError, match=r"facts\.md has changed") as raised:
        KnowledgeHandler(home, events.append).handle(ChangeKnowledge(EditKnowledgeItem(item, "Mine"), ON))

    assert raised.value.where == str(facts)
    assert raised.value.remedy
    assert "The moon pushes" in facts.read_text()
    assert [i.text for file in read(events).categories for i in file.items] == ["The moon pushes"]


def test_orphaned_notes_are_bound_to_the_file_that_the_person_chose(home: Path) -> None:
    harvest(home, FaultyDisk())
    note = next(n for n in read(handled(home, ReadKnowledge(ON))).notes if n.heading.endswith("code.py"))
    (home / "code.py").unlink()
    chosen = home / "other.py"
    chosen.write_text("x = 1\n")
    before = read(handled(home, ReadKnowledge(ON)))
    assert [n.status.value for n in before.notes if n.heading == note.heading] == ["orphaned"]

    after = read(changed(home, AttachNotes(note.file_id, str(chosen))))

    assert [(n.status.value, n.path) for n in after.notes if n.heading == str(chosen)] == [
        ("attached", str(chosen))
    ]


def test_notes_follow_a_file_through_every_reading_and_not_in_a_read_only_home(home: Path) -> None:
    harvest(home, FaultyDisk())
    code = home / "code.py"

    def status(*, is_read_only: bool = False) -> list[str]:
        state = read(handled(home, ReadKnowledge(ON), is_read_only=is_read_only))
        return [note.status.value for note in state.notes if note.heading.startswith(str(home / "code"))]

    fresh = home / "fresh"
    fresh.write_text("saved by rename\n", encoding="utf-8")
    fresh.replace(code)
    assert status(is_read_only=True) == ["moved"]
    assert status() == ["attached"]
    code.rename(home / "code2.py")
    assert status(is_read_only=True) == ["renamed"]
    assert status() == ["attached"]


def test_notes_that_are_gone_cannot_be_bound(home: Path) -> None:
    with pytest.raises(StorageError, match="The notes '9:9' on a file no longer exist"):
        changed(home, AttachNotes("9:9", str(home / "code.py")))


def test_the_digest_is_removed_and_off_at_once_and_twice_is_no_error(home: Path) -> None:
    harvest(home, FaultyDisk())
    assert read(handled(home, ReadKnowledge(ON))).is_on

    removed, again = (read(handled(home, ChangeKnowledge(DeleteDigest(), ON))) for _ in range(2))

    assert (removed.switch, removed.digest) == (DigestSwitch.OFF_BY_DELETION, "")
    assert again == removed
    assert not digest_file(home).exists()
    assert sum(len(file.items) for file in removed.categories) == 12


def test_only_a_later_reading_makes_a_reading_needless() -> None:
    assert supersedes(ReadKnowledge(ON), ReadKnowledge(ON))
    assert not supersedes(ReadKnowledge(ON), ChangeKnowledge(RegenerateDigest(), ON))
