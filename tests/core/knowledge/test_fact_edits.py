"""A structured fact is deleted and put back, to the byte where its file is the same; it opens what it stands on."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import SlopError, StorageError
from core.kernel.values.facts import ItemEventKind, Quote, TurnPlace
from core.kernel.values.knowledge import Category, NewItem, Provenance
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.edits import delete_fact, edit_fact, restore_fact
from core.knowledge.fact_store import FactReader, sync_facts
from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.file_writer import withdrawal_count
from core.knowledge.knowledge_messages import RestoreFact
from core.knowledge.memory_log import fact_history, read_logs
from tests.core.knowledge.facts.fact_homes import HEAD, made_fact
from tests.core.knowledge.homes import FIRST, NOW, entry_of, made_home

BY_HAND = '- id: tides:fact:002  # seen twice\n  fact: "Mud."\n  category: fact\n  domain: tides\n  confidence: 0.7\n  mood: grey\n'
QUOTE = Quote((f"{FIRST[:-6]}userid",), f"hello from {FIRST}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "knowledge" / "repos" / "tides.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + item_text(made_fact(1)) + BY_HAND + item_text(made_fact(3, "Sand.")))
    sync_facts(tmp_path)
    return path


def ids(home: Path) -> list[str]:
    return [fact.id for fact in FactReader(home).facts()]


def test_a_deleted_fact_leaves_file_and_index_and_comes_back_with_its_comments(
    tmp_path: Path, file: Path
) -> None:
    before, taken = file.read_text(), withdrawal_count(tmp_path)
    undo = delete_fact(tmp_path, "tides:fact:002", "Mud.")

    assert (undo.item, ids(tmp_path)) == (BY_HAND, ["tides:fact:001", "tides:fact:003"])
    assert file.read_text() == before.replace(BY_HAND, "")
    assert withdrawal_count(tmp_path) > taken  # warm discussions are told
    told = len(read_logs(tmp_path).events)
    restore_fact(tmp_path, undo)

    assert (file.read_text(), len(ids(tmp_path))) == (before, 3)
    assert len(read_logs(tmp_path).events) == told  # nobody wrote it by hand
    with pytest.raises(StorageError, match="exists already"):
        restore_fact(tmp_path, undo)


def test_where_the_file_changed_meanwhile_it_comes_back_at_the_end_of_its_section(
    tmp_path: Path, file: Path
) -> None:
    undo = delete_fact(tmp_path, "tides:fact:002", "Mud.")
    file.write_text(HEAD + item_text(made_fact(3, "Sand.")) + "\nWords of mine.\n")
    restore_fact(tmp_path, undo)

    assert BY_HAND in file.read_text()
    assert ids(tmp_path) == ["tides:fact:002", "tides:fact:003"]
    assert "Words of mine." in file.read_text()


def test_what_was_changed_is_not_deleted_and_what_is_no_fact_is_not_put_back(
    tmp_path: Path, file: Path
) -> None:
    before = file.read_text()
    with pytest.raises(StorageError, match="has changed"):
        delete_fact(tmp_path, "tides:fact:002", "Other words.")
    undo = RestoreFact("tides:fact:009", "repos/tides.yaml", BY_HAND, 0)
    for wrong in (
        undo,
        replace(undo, item="no item\n"),
        replace(undo, file="../../escape.yaml"),
        replace(undo, item=BY_HAND.replace(":002", ":009") + item_text(made_fact(8))),
    ):
        with pytest.raises(SlopError):
            restore_fact(tmp_path, wrong)

    assert file.read_text() == before


def test_a_fact_opens_the_quote_and_the_turn_of_the_item_it_was_made_of_also_after_an_edit(
    tmp_path: Path,
) -> None:
    home = made_home(tmp_path)
    item = NewItem(
        Category.FACTS, "It greets.", provenance=Provenance("2026-11-01-first", "2026-11-20"), quote=QUOTE
    )
    with begin_apply(home, NOW, seed="seed") as apply:
        apply.append([item], replace(entry_of(home, FIRST), path=str(paths.log_file(home, FIRST))))
        finish_apply(apply)
    (fact,) = FactReader(home).facts()
    edit_fact(home, fact.id, "It greets.", "It greets kindly.", 0.9, ())
    sync_facts(home)

    told = fact_history(home, fact.id, FactReader(home).facts())
    assert (told.text, told.fact) == ("It greets kindly.", fact.id)
    (witness,) = told.witnesses
    assert (witness.row.quote, witness.place, witness.is_there) == (QUOTE.text, TurnPlace.LIST, True)
    kinds = [event.kind for event in told.events]
    assert kinds == [ItemEventKind.PROPOSED, ItemEventKind.ACCEPTED, ItemEventKind.EDITED]
    with pytest.raises(StorageError, match="no fact"):
        fact_history(home, "tides:fact:404", ())
