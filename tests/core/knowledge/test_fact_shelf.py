"""Facts in an apply: which items become which facts, what confirms, one undo, one recovery, and a person's edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.errors import SlopError
from core.kernel.values.facts import IndexedFact, ItemWords
from core.kernel.values.knowledge import Category, NewItem, Provenance, Replacement
from core.knowledge.categories import CATEGORY_NAMES
from core.knowledge.edits import edit_fact
from core.knowledge.evidence_rows import item_hash
from core.knowledge.fact_store import FactReader, HomePast, sync_facts
from core.knowledge.facts.fact_sync import validate
from core.knowledge.knowledge_reader import read_categories
from core.knowledge.memory_log import read_logs
from core.knowledge.recovery import undo_apply
from tests.core.knowledge.homes import NOW, applied

TIDES = NewItem(Category.FACTS, "The moon makes tides", provenance=Provenance("talk", "2026-11-20"))


def facts(home: Path) -> dict[str, IndexedFact]:
    assert validate(home) == ()
    return {fact.id: fact for fact in FactReader(home).facts()}


def test_items_become_facts_of_the_conversations_repository(tmp_path: Path) -> None:
    applied(
        tmp_path,
        TIDES,
        NewItem(Category.DECISIONS, "Use M2", "it is the largest"),
        NewItem(Category.QUESTIONS, "How high?"),
        NewItem(Category.PLAYBOOKS, "1. look 2. write", name="Measure"),
        NewItem(Category.FACTS, "Mud is deep", fact_category="pitfall"),
        NewItem(Category.FACTS, "The gauge sticks", fact_category="tool-quirk"),
        NewItem(Category.TASKS_OPEN, "Buy boots"),
        NewItem(Category.FILES, "Odd", name="/nowhere/at/all.py"),
    )

    found = {fact.id: (fact.text, fact.tags, fact.confidence) for fact in facts(tmp_path).values()}
    assert found == {
        "tides:fact:001": ("The moon makes tides", (), 0.7),
        "tides:fact:002": ("Use M2 — it is the largest", ("decision",), 0.7),
        "tides:question:001": ("How high?", (), 0.7),
        "tides:pattern:001": ("Measure: 1. look 2. write", (), 0.7),
        "tides:pitfall:001": ("Mud is deep", (), 0.7),
        "tides:tool-quirk:001": ("The gauge sticks", (), 0.7),
    }
    text = (tmp_path / "knowledge" / "repos" / "tides.yaml").read_text()
    assert text.startswith("---\ndomain: tides\nversion: 1\nlast_updated: ")
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Facts", "## Pitfalls", "## Patterns", "## Tool quirks", "## Questions",
    ]  # fmt: skip


def test_a_conversation_of_no_repository_gives_facts_that_hold_everywhere(tmp_path: Path) -> None:
    applied(tmp_path, TIDES, NewItem(Category.QUESTIONS, "Why?"), domain="")

    assert sorted(facts(tmp_path)) == ["global:fact:001", "global:question:001"]
    assert (tmp_path / "knowledge" / "global" / "questions.yaml").is_file()


def test_what_a_person_edited_or_confirmed_is_surer(tmp_path: Path) -> None:
    edited = NewItem(Category.FACTS, "Mine", proposed=ItemWords("facts", "The model's"))
    ticked = NewItem(Category.FACTS, "Ticked", is_confirmed=True)

    applied(tmp_path, edited, ticked, TIDES)

    assert [fact.confidence for fact in facts(tmp_path).values()] == [0.9, 0.9, 0.7]


def test_seen_again_confirms_once_a_conversation_whatever_it_is_read_as(tmp_path: Path) -> None:
    applied(tmp_path, TIDES)
    applied(tmp_path, TIDES, TIDES, sha256="b" * 64, path="/talks/b.md")
    first = facts(tmp_path)["tides:fact:001"]
    applied(tmp_path, TIDES, sha256="b" * 64, path="/talks/copy-of-b.md")
    applied(tmp_path, TIDES, sha256="c" * 64, path="/talks/b.md")

    assert (first.source_count, first.confidence, first.last_confirmed) == (2, 0.76, f"{NOW:%Y-%m-%d}")
    assert facts(tmp_path) == {"tides:fact:001": first}


def test_a_fact_whose_words_a_person_changed_is_known_by_its_evidence(tmp_path: Path) -> None:
    applied(tmp_path, TIDES)
    path = tmp_path / "knowledge" / "repos" / "tides.yaml"
    edit_fact(tmp_path, "tides:fact:001", "The moon makes tides", "The moon makes tides", 0.8, ("sea",))
    path.write_text(path.read_text().replace("The moon makes tides", "Moon and sun make tides"))
    sync_facts(tmp_path)

    applied(tmp_path, TIDES, sha256="b" * 64, path="/talks/b.md")

    (fact,) = facts(tmp_path).values()
    assert (fact.text, fact.source_count, fact.confidence, fact.tags) == (
        "Moon and sun make tides",
        2,
        0.84,
        ("sea",),
    )


def test_one_undo_takes_facts_and_confirmations_back_and_gives_no_number_again(tmp_path: Path) -> None:
    applied(tmp_path, TIDES)
    before = facts(tmp_path)
    applied(tmp_path, TIDES, NewItem(Category.FACTS, "Another"), sha256="b" * 64, path="/talks/b.md")
    assert len(facts(tmp_path)) == 2

    undo_apply(tmp_path, NOW)

    assert facts(tmp_path) == before
    applied(tmp_path, NewItem(Category.FACTS, "A third"), sha256="c" * 64, path="/talks/c.md")
    assert sorted(facts(tmp_path)) == ["tides:fact:001", "tides:fact:003"]


def test_the_fact_of_an_item_that_was_replaced_leaves_every_prompt_and_an_undo_brings_it_back(
    tmp_path: Path,
) -> None:
    applied(tmp_path, TIDES)
    (old,) = read_categories(tmp_path)[CATEGORY_NAMES.index("facts.md")].items
    new = NewItem(
        Category.FACTS, "Moon and sun make tides", replaces=Replacement(old, "The sun was forgotten")
    )
    applied(tmp_path, new, sha256="b" * 64, path="/talks/b.md")

    found = facts(tmp_path)
    assert (found["tides:fact:001"].stale, found["tides:fact:002"].stale) == (True, False)
    assert "The moon makes tides" in (tmp_path / "knowledge" / "repos" / "tides.yaml").read_text()
    undo_apply(tmp_path, NOW, is_agreed=True)
    assert {key: fact.stale for key, fact in facts(tmp_path).items()} == {"tides:fact:001": False}


def test_evidence_names_the_fact_and_events_tell_no_edit_by_hand(tmp_path: Path) -> None:
    applied(tmp_path, TIDES)
    sync_facts(tmp_path)

    rows = read_logs(tmp_path)
    assert [(row.item, row.fact) for row in rows.evidence] == [
        (item_hash("facts", TIDES.text), "tides:fact:001")
    ]
    assert {event.reason for event in rows.events} == {""}
    assert HomePast(tmp_path).read().highest == {"tides:fact": 1}


def test_a_broken_file_takes_no_new_facts_and_the_items_stay_in_markdown(tmp_path: Path) -> None:
    applied(tmp_path, TIDES)
    path = tmp_path / "knowledge" / "repos" / "tides.yaml"
    path.write_text(path.read_text().removeprefix("---\n"))
    broken = path.read_bytes()

    applied(tmp_path, NewItem(Category.FACTS, "Another"), sha256="b" * 64, path="/talks/b.md")

    assert path.read_bytes() == broken
    assert "- Another" in (tmp_path / "knowledge" / "facts.md").read_text()
    assert [fact.held for fact in FactReader(tmp_path).facts()] == [True]


@pytest.mark.parametrize("length", [279, 280, 281, 900])
def test_a_long_item_is_a_fact_by_its_first_sentence_or_cut_at_a_word(tmp_path: Path, length: int) -> None:
    words = ("word " * 200)[: length - 1].strip() + "."
    applied(tmp_path, NewItem(Category.FACTS, words), NewItem(Category.FACTS, f"Short one. {words}"))

    one, two = facts(tmp_path).values()
    assert len(one.text) <= 280
    assert one.text == words if len(words) <= 280 else one.text.endswith("word…")
    assert len(two.text) <= 280
    assert two.text == "Short one."


def test_an_edit_that_breaks_a_rule_or_comes_late_is_refused_with_the_reason(tmp_path: Path) -> None:
    applied(tmp_path, TIDES)
    for change, reason in (
        (("The moon makes tides", "x" * 281, 0.5, ()), "281 characters"),
        (("The moon makes tides", "x", 0.5, ("Big",)), "the tag 'Big'"),
        (("Other words", "x", 0.5, ()), "has changed"),
    ):
        with pytest.raises(SlopError, match=reason):
            edit_fact(tmp_path, "tides:fact:001", *change)

    assert facts(tmp_path)["tides:fact:001"].text == "The moon makes tides"
