"""An item is forgotten: its words go from knowledge, its conversations are named, and no harvest proposes it again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.harvest import ArtifactFacts, HarvestItem, HarvestPreview
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, Item
from core.knowledge.apply_log import plan_append
from core.knowledge.edits import archive_item, delete_item, restore_item
from core.knowledge.fact_store import FactReader
from core.knowledge.harvest.harvest_reply import Reply
from core.knowledge.harvest.preview import chosen, propose, ticked
from core.knowledge.history_text import tombstones
from core.knowledge.memory_log import read_logs
from core.knowledge.merges import known_items
from tests.core.app.forgetting.day import OTHER, SHARED, WORD, a_day, files, forgotten, items
from tests.core.knowledge.harvest.harvests import OLD, Harvest, Model, add_discussion, item_lines, reply
from tests.core.knowledge.homes import archived_items

AT = datetime(2026, 11, 20, tzinfo=UTC)
SOURCE = ArtifactFacts("id", "/h/log.jsonl", "again", TranscriptKind.DISCUSSION, 9, AT, sha256="a" * 64)


@pytest.fixture
def home(isolated_home: Path) -> Path:
    isolated_home.mkdir()
    return isolated_home


def named(home: Path, text: str) -> Item:
    return next(item for item in items(home) if item.text == text)


def holders_of(text: str) -> set[str]:
    """Files of ours in which a text stands, by the first part of their names."""
    found = ((path, folder) for _, folder, path in files() if text.encode() in path.read_bytes())
    return {path.relative_to(folder).parts[0] for path, folder in found}


def test_an_item_leaves_everything_but_the_conversations_that_hold_it(home: Path) -> None:
    a_day(home)
    receipt = forgotten(home, item=named(home, OTHER))

    assert holders_of(OTHER) == {"trash"}
    assert [path.name for path in paths.trash_dir(home).glob(f"*{receipt.holders[0]}")] != []
    assert OTHER not in {fact.text for fact in FactReader(home).facts()}
    assert (receipt.items, receipt.facts, receipt.problems) == (1, 1, ())
    assert SHARED in [item.text for item in items(home)]


def test_what_was_archived_is_forgotten_with_its_conversation_and_alone(home: Path) -> None:
    secret = a_day(home)
    texts = [item.text for item in items(home) if WORD.lower() in item.text.lower()]
    for text in (*texts, OTHER):
        archive_item(home, named(home, text))
    forgotten(home, secret)
    assert {item.text for item in archived_items(home)} == {OTHER}
    assert not {"knowledge", "cache"} & holders_of(WORD)

    forgotten(home, item=archived_items(home)[0])
    assert archived_items(home) == ()
    assert not {"knowledge", "cache"} & holders_of(OTHER)


def test_an_item_that_an_editor_changed_takes_its_quote_and_its_former_words_along(home: Path) -> None:
    a_day(home)
    path = paths.knowledge_dir(home) / "facts.md"
    path.write_text(path.read_text().replace(OTHER, OTHER.replace("two", "three")))
    before = len(read_logs(home).evidence)
    receipt = forgotten(home, item=named(home, OTHER.replace("two", "three")))

    assert len(read_logs(home).evidence) < before
    assert not {"knowledge", "cache"} & holders_of(OTHER)
    assert receipt.problems == ()


def test_no_harvest_writes_it_again_also_in_other_letters(home: Path) -> None:
    a_day(home)
    forgotten(home, item=named(home, OTHER))
    add_discussion(home, "Again", "Whose keys?", at=OLD)
    report = Harvest(
        home, Model({"Whose keys?": reply(OTHER.upper(), OTHER, "A third key is lost.")})
    ).apply()

    assert dict(report.items)["facts"] == 1
    assert [line for line in item_lines(home) if "harbour master" in line.lower()] == []


def test_what_was_deleted_is_written_again_by_no_harvest_but_by_a_persons_own_tick(home: Path) -> None:
    a_day(home)
    delete_item(home, named(home, OTHER))
    add_discussion(home, "Again", "Whose keys?", at=OLD)
    said = Model({"Whose keys?": reply(OTHER.upper(), "A third key is lost.")})
    assert dict(Harvest(home, said).apply().items)["facts"] == 1
    assert [line for line in item_lines(home) if "harbour master" in line.lower()] == []

    known = known_items(items(home), read_logs(home))
    item = HarvestItem(Category.FACTS, OTHER.upper(), "")
    (left,) = propose(
        HarvestPreview(), SOURCE, Reply((item,)), known_items(items(home), read_logs(home))
    ).items
    assert (left.is_ticked, bool(left.deleted_on), left.is_tick_changed) == (False, True, False)
    found = HarvestPreview((SOURCE,), (left,))
    assert plan_append(chosen(found, SOURCE, AT), known, ()).items == ()
    ticks = ticked(found, (left.id,), is_ticked=True)
    assert [one.text for one in plan_append(chosen(ticks, SOURCE, AT), known, ()).items] == [OTHER.upper()]


def test_what_was_put_back_after_it_was_deleted_is_deleted_no_more(home: Path) -> None:
    a_day(home)
    restore_item(home, delete_item(home, named(home, OTHER)))

    assert known_items((), read_logs(home)).deleted_on(Category.FACTS, OTHER) == ""


@pytest.mark.slow
def test_what_went_with_its_conversation_may_be_said_by_another(home: Path) -> None:
    secret = a_day(home)
    forgotten(home, secret)
    assert tombstones(read_logs(home)) == frozenset()
    add_discussion(home, "Again", "Which gate?", at=OLD)
    text = f"We go through the {WORD} gate."
    Harvest(home, Model({"Which gate?": reply(decisions=[{"statement": text, "detail": ""}])})).apply()

    assert [item.text for item in items(home) if WORD in item.text] == [text]


@pytest.mark.slow
def test_an_edited_item_goes_with_the_words_that_it_had_before(home: Path) -> None:
    secret = a_day(home)
    forgotten(home, item=named(home, f"Who rings the {WORD} bell at night?"))

    assert holders_of(f"Who rings the {WORD} bell") <= {"discussions"}
    assert paths.discussion_dir(home, secret).is_dir()


def test_an_item_that_has_changed_meanwhile_is_not_forgotten(home: Path) -> None:
    a_day(home)
    before = item_lines(home)
    from msgspec.structs import replace

    with pytest.raises(StorageError, match="has changed or is gone"):
        forgotten(home, item=replace(named(home, OTHER), text="Other words."))
    assert item_lines(home) == before
