"""The Knowledge panel's bench measures what it says it does."""

from __future__ import annotations

from core.kernel.values.state import AppState
from tests.bench.knowledge_panel import ITEMS, known, with_one_more


def test_there_are_as_many_items_as_the_figures_name() -> None:
    assert sum(len(file.items) for file in known().categories) == ITEMS == 100_000


def test_a_change_is_one_more_fact_in_a_file_that_was_read_anew() -> None:
    before = AppState(knowledge=known())

    after = with_one_more(before)

    (old,) = [file.items for file in before.knowledge.categories if file.name == "facts.md"]
    (new,) = [file.items for file in after.knowledge.categories if file.name == "facts.md"]
    assert new[:-1] == old
    assert not any(a is b for a, b in zip(old, new, strict=False))
    assert len({(item.first_line, item.text) for item in new}) == len(new)
    same = [a is b for a, b in zip(before.knowledge.categories, after.knowledge.categories, strict=True)]
    assert same.count(False) == 1
