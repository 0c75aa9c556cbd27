"""The archive: an item goes there whole and comes back whole, no request holds it meanwhile, and a kill loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.codecs import builtins_of
from core.kernel.errors import StorageError
from core.kernel.values.knowledge import Category, Item, NewItem, Provenance
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge import edits
from core.knowledge.edits import archive_item, take_back
from core.knowledge.fact_store import FactReader
from core.knowledge.facts.fact_merge import ranked
from core.knowledge.history_text import history_lines
from core.knowledge.knowledge_messages import (
    ArchiveItem,
    ChangeKnowledge,
    KnowledgeRead,
    RestoreItem,
    TakeBackItem,
)
from core.knowledge.knowledge_reader import (
    KnowledgeReader,
    digest_file,
    read_categories,
    regenerate_digest,
)
from core.knowledge.knowledge_worker import KnowledgeHandler
from core.knowledge.memory_log import item_history
from tests.core.knowledge.fault_disks import KilledError, PointDisk
from tests.core.knowledge.homes import applied, archived_items

TAG = Provenance("talk", "2026-11-20")
MOON, MUD = "The moon makes tides at noon", "Mud is deep by the old pier"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    applied(tmp_path, *(NewItem(Category.FACTS, text, provenance=TAG) for text in (MOON, MUD)))
    regenerate_digest(tmp_path)
    return tmp_path


def known(home: Path, text: str) -> Item:
    return next(one for file in read_categories(home) for one in file.items if one.text == text)


def sent(home: Path) -> list[str]:
    return sorted(fact.text for fact in ranked(FactReader(home).facts()))


def test_an_item_leaves_digest_and_prompts_and_comes_back_with_its_source(home: Path) -> None:
    path = home / "knowledge" / "facts.md"
    before = path.read_text()
    archive_item(home, known(home, MOON))

    assert MOON not in path.read_text()
    assert MOON not in digest_file(home).read_text()
    assert sent(home) == [MUD]
    (kept,) = archived_items(home)
    assert (kept.text, kept.provenance, kept.file) == (MOON, TAG, "facts.md")
    assert "put into the archive" in "\n".join(history_lines(item_history(home, kept)))
    assert KnowledgeReader(home).read(KnowledgeSettings()).archived == (kept,)

    take_back(home, kept)
    assert sorted(path.read_text().splitlines()) == sorted(before.splitlines())
    assert (sent(home), archived_items(home)) == ([MUD, MOON], ())
    assert MOON in digest_file(home).read_text()


def test_several_lines_a_done_task_and_a_note_keep_what_they_are(home: Path) -> None:
    folder = home / "knowledge"
    (folder / "tasks.md").write_text(
        "# Tasks\n\n## Open\n\n- Sweep\n\n## Done\n\n- Dig [from: t, 2026-01-02]\n  deeply\n"
    )
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "a1.md").write_text("# src/a.py\n\n- It parses.\n")
    state = KnowledgeReader(home).read(KnowledgeSettings())
    for item in [one for one in state.items if one.text in {"Dig\n  deeply", "It parses."}]:
        archive_item(home, item)

    kept = archived_items(home)
    assert [(one.category, one.text) for one in kept] == [
        (Category.TASKS_DONE, "Dig\n  deeply"),
        (Category.FILES, "It parses."),
    ]
    for item in kept:
        take_back(home, item)
    again = KnowledgeReader(home).read(KnowledgeSettings())
    assert {(one.category, one.text, one.provenance) for one in again.items} == {
        (one.category, one.text, one.provenance) for one in state.items
    }


def test_what_is_gone_is_said_and_nothing_changes(home: Path) -> None:
    moon = known(home, MOON)
    archive_item(home, moon)
    with pytest.raises(StorageError, match="gone or different"):
        archive_item(home, moon)
    (kept,) = archived_items(home)
    take_back(home, kept)
    with pytest.raises(StorageError, match="not in the archive any more"):
        take_back(home, kept)
    assert [one.text for file in read_categories(home) for one in file.items].count(MOON) == 1


def test_an_item_that_was_written_anew_meanwhile_leaves_the_archive_and_stands_once(home: Path) -> None:
    archive_item(home, known(home, MOON))
    (kept,) = archived_items(home)
    edits.restore_item(home, RestoreItem(kept, f"- {MOON} [from: talk, 2026-11-20]\n".encode(), -1, ""))
    take_back(home, kept)

    assert archived_items(home) == ()
    assert [one.text for file in read_categories(home) for one in file.items].count(MOON) == 1


def test_after_a_kill_at_any_write_the_item_stands_somewhere_and_both_ways_still_go(home: Path) -> None:
    for act in (archive_item, take_back):
        at = -1
        while True:
            at += 1
            item = known(home, MOON) if act is archive_item else archived_items(home)[0]
            try:
                act(home, item, disk=PointDisk(home, at))
            except KilledError:
                standing = [one.text for file in read_categories(home) for one in file.items]
                assert MOON in [*standing, *(one.text for one in archived_items(home))]
                if act is archive_item and MOON not in standing:
                    take_back(home, archived_items(home)[0])
                if act is take_back and not archived_items(home):
                    archive_item(home, known(home, MOON))
                continue
            break
        assert at > 1
    assert [one.text for file in read_categories(home) for one in file.items].count(MOON) == 1
    assert archived_items(home) == ()


def test_the_worker_tells_what_is_known_after_each(home: Path) -> None:
    told: list[object] = []
    handler = KnowledgeHandler(home, told.append)
    handler.handle(ChangeKnowledge(ArchiveItem(known(home, MOON)), KnowledgeSettings()))
    state = [one.knowledge for one in told if isinstance(one, KnowledgeRead)][-1]
    assert [one.text for one in state.archived] == [MOON]
    handler.handle(ChangeKnowledge(TakeBackItem(state.archived[0]), KnowledgeSettings()))
    state = [one.knowledge for one in told if isinstance(one, KnowledgeRead)][-1]
    assert state.archived == ()


def test_a_file_of_the_archive_that_cannot_be_read_is_told_and_the_others_are_there(home: Path) -> None:
    archive_item(home, known(home, MOON))
    (home / "knowledge" / "archive" / "questions.md").mkdir()
    state = KnowledgeReader(home).read(KnowledgeSettings())
    assert [one.text for one in state.archived] == [MOON]
    assert any("questions.md" in one for one in state.problems)


@pytest.mark.usefixtures("german")
def test_what_cannot_be_read_is_known_in_english_too(home: Path) -> None:
    (home / "knowledge" / "decisions.md").unlink(missing_ok=True)
    (home / "knowledge" / "decisions.md").mkdir()
    state = KnowledgeReader(home).read(KnowledgeSettings())
    (told,) = state.problems
    (kept,) = builtins_of(state)["problems"]
    assert kept.startswith("The program ")
    assert told.startswith("Das Programm ")
