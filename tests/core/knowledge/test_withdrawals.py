"""What is taken out of knowledge is counted, before and after, so that nothing that was sent of it is carried on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from core.kernel.errors import LockedError, StorageError
from core.kernel.values.curation import Preset
from core.kernel.values.knowledge import Category, Item, NewItem
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.knowledge.edits import add_item, delete_item, edit_item, set_task_done
from core.knowledge.file_writer import (
    WITHDRAWALS_FILE,
    await_withdrawal,
    withdrawal_count,
    withdrawing,
    write_lock,
)
from core.knowledge.knowledge_reader import KnowledgeReader, read_categories, regenerate_digest
from core.knowledge.knowledge_worker import Layer7
from tests.core.kernel.faults import FullDisk


def item(home: Path, text: str) -> Item:
    return next(one for file in read_categories(home) for one in file.items if one.text == text)


def test_a_deletion_counts_and_another_wording_does_not(tmp_path: Path) -> None:
    add_item(tmp_path, NewItem(Category.TASKS_OPEN, "Measure it"))
    edit_item(tmp_path, item(tmp_path, "Measure it"), "Measure twice")
    set_task_done(tmp_path, item(tmp_path, "Measure twice"), done=True)
    assert withdrawal_count(tmp_path) == 0

    delete_item(tmp_path, item(tmp_path, "Measure twice"))
    assert withdrawal_count(tmp_path) > 0
    found = KnowledgeReader(tmp_path).read(KnowledgeSettings())
    assert found.withdrawals == withdrawal_count(tmp_path)


def test_an_item_that_is_left_without_words_was_deleted(tmp_path: Path) -> None:
    add_item(tmp_path, NewItem(Category.FACTS, "Tides are M2"))
    edit_item(tmp_path, item(tmp_path, "Tides are M2"), " ")
    assert withdrawal_count(tmp_path) > 0


def test_it_is_another_count_during_and_after_also_where_it_failed(tmp_path: Path) -> None:
    seen = [withdrawal_count(tmp_path)]

    def fail() -> None:
        with withdrawing(tmp_path):
            seen.append(withdrawal_count(tmp_path))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    seen.append(withdrawal_count(tmp_path))
    assert len(set(seen)) == 3


def test_what_cannot_be_counted_is_not_taken_out(tmp_path: Path) -> None:
    add_item(tmp_path, NewItem(Category.FACTS, "Tides are M2"))
    with pytest.raises(StorageError):
        delete_item(tmp_path, item(tmp_path, "Tides are M2"), disk=FullDisk(0))
    assert item(tmp_path, "Tides are M2").file == "facts.md"


@pytest.mark.parametrize("data", [b"many", b"\xff\xfe", b"1e9"])
def test_a_count_that_cannot_be_read_is_another_than_before_and_goes_on(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "knowledge" / WITHDRAWALS_FILE
    path.parent.mkdir()
    path.write_bytes(data)
    assert withdrawal_count(tmp_path) == -1
    with withdrawing(tmp_path):
        pass
    assert withdrawal_count(tmp_path) == 2


def test_a_request_is_read_without_what_is_being_taken_out_or_not_at_all(tmp_path: Path) -> None:
    """Another program takes it out: its lock is all that is known of it."""
    add_item(tmp_path, NewItem(Category.FACTS, "Tides are M2"))
    regenerate_digest(tmp_path)
    spec = StackSpec("d", StackInputs("p", "m"), Preset(""), "")
    layer = Layer7(tmp_path)
    assert "M2" in layer.read(spec, ())[0]

    read: list[str] = []
    reading = threading.Thread(target=lambda: read.append(layer.read(spec, ())[0]))
    with withdrawing(tmp_path):
        reading.start()
        with pytest.raises(LockedError, match="A removal from knowledge is still running"):
            await_withdrawal(tmp_path, wait_s=0)
        with write_lock(tmp_path):
            (tmp_path / "knowledge" / "digest.md").write_text("# Digest\n\nNothing.\n")
    reading.join()
    assert len(read) == 1
    assert "M2" not in read[0]
