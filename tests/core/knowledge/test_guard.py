"""The guard: more than three items and more than a tenth of a category are not taken out without a yes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel import paths
from core.kernel.values.knowledge import Category, Item, NewItem, Provenance
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.evidence_rows import struck
from core.knowledge.parts import RemovalError, check_removal, removal_sentence
from core.knowledge.recovery import recover_home, undo_apply
from tests.core.knowledge.homes import FIRST, NOW, FaultyDisk, KilledError, entry_of, made_home

TAG = Provenance("2026-11-01-first", "2026-11-20")


def items(count: int, category: Category = Category.FACTS) -> tuple[Item, ...]:
    return tuple(Item(category, f"{category.value}.md", f"Number {n}.", first_line=n) for n in range(count))


@given(removed=st.integers(0, 60), kept=st.integers(0, 200))
def test_it_asks_beyond_three_items_and_a_tenth_and_only_then(removed: int, kept: int) -> None:
    sentence = removal_sentence(items(removed), items(removed + kept))
    assert bool(sentence) is (removed > 3 and removed > (removed + kept) / 10)


def test_the_sentence_counts_each_category_that_would_lose_much() -> None:
    known = (*items(5), *items(80, Category.DECISIONS), *items(2, Category.QUESTIONS))
    removed = (*items(4), *items(8, Category.DECISIONS), *items(2, Category.QUESTIONS))
    assert removal_sentence(removed, known) == "This would remove 4 of 5 facts"


def test_a_merge_is_said_to_put_items_in_the_place_of_others_and_not_to_take_them_out() -> None:
    sentence = removal_sentence(items(4), items(5), merged=2)
    assert sentence.startswith("This would put 2 items in place of 4 of 5 facts;")
    assert "take out" not in sentence


def test_what_was_struck_through_is_not_counted_as_known() -> None:
    gone = [Item(Category.FACTS, "facts.md", struck(f"Old {n}.", "x", "2026-11-20")) for n in range(90)]
    assert removal_sentence(items(4), [*items(10), *gone])


def test_agreed_or_little_it_lets_go_on() -> None:
    check_removal(items(9), items(9), is_agreed=True)
    check_removal(items(3), items(3), is_agreed=False)
    with pytest.raises(RemovalError) as asked:
        check_removal(items(9), items(9), is_agreed=False)
    assert asked.value.items == items(9)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose newest apply wrote six facts and a note."""
    home = made_home(tmp_path)
    new = [NewItem(Category.FACTS, f"Number {n}.", provenance=TAG) for n in range(6)]
    with begin_apply(home, NOW, seed="seed") as apply:
        apply.append(new, entry_of(home, FIRST))
        finish_apply(apply)
    return home


def facts(home: Path) -> str:
    return (paths.knowledge_dir(home) / "facts.md").read_text()


def test_an_undo_asks_with_the_list_and_takes_nothing_back_before(home: Path) -> None:
    before = facts(home)
    with pytest.raises(RemovalError, match="6 of 6 facts") as asked:
        undo_apply(home, NOW)
    assert [item.text for item in asked.value.items] == [f"Number {n}." for n in range(6)]
    assert asked.value.items[0].category is Category.FACTS
    assert facts(home) == before
    assert recover_home(home, NOW) == (), "nothing was begun"

    assert undo_apply(home, NOW, is_agreed=True).removed == 6
    assert "Number" not in facts(home)


def test_an_undo_among_many_does_not_ask(home: Path) -> None:
    path = paths.knowledge_dir(home) / "facts.md"
    path.write_text(facts(home) + "".join(f"- Mine {n}.\n" for n in range(60)))
    assert undo_apply(home, NOW).removed == 6


def test_an_undo_that_was_agreed_to_and_interrupted_is_finished_without_a_question(home: Path) -> None:
    at, disk = 0, FaultyDisk()
    while disk.what != "rename to facts.md":
        disk, at = FaultyDisk(at, "kill"), at + 1
        with pytest.raises(KilledError):
            undo_apply(home, NOW, is_agreed=True, disk=disk)
    assert "Number" in facts(home)
    recover_home(home, NOW)
    assert "Number" not in facts(home)
