"""A conversation whose item was merged is forgotten: its words leave, and what others said stands again in every layer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from core.app.forgetting.forgetting_places import receipt_text
from core.kernel import paths
from core.kernel.values.knowledge import Category, MergeGroup
from core.knowledge.apply import MergeRequest, apply_merge
from core.knowledge.edits import edit_item
from core.knowledge.fact_store import FactReader
from core.knowledge.recovery import undo_apply
from tests.core.app.forgetting.day import forgotten, items, traces
from tests.core.knowledge.harvest.harvests import NOW, OLD, Harvest, Model, add_discussion, reply

MINE, THEIRS = "The zephyrine gate opens at three sharp.", "The gate opens at three."
MERGED = "The zephyrine gate opens at three."


@pytest.fixture
def gate(isolated_home: Path) -> str:
    """A home with a merge of what two conversations said. The id of the one that goes."""
    isolated_home.mkdir()
    mine = add_discussion(isolated_home, "Gate", "Which gate?")
    theirs = add_discussion(isolated_home, "Keys", "Which keys?", at=OLD + timedelta(days=1))
    Harvest(isolated_home, Model({"Which gate?": reply(MINE), "Which keys?": reply(THEIRS)})).apply()
    group = MergeGroup("1", tuple(items(isolated_home)), MERGED, "The same.")
    apply_merge(MergeRequest(isolated_home, Category.FACTS, "facts.md", (group,), NOW, "seed"))
    assert [item.text for item in items(isolated_home)] == [MERGED]
    assert mine != theirs
    return mine


@pytest.mark.slow
@pytest.mark.parametrize("is_edited", [False, True])
def test_the_other_s_words_of_before_the_merge_stand_again_and_nothing_is_left(
    isolated_home: Path, gate: str, *, is_edited: bool
) -> None:
    if is_edited:
        edit_item(isolated_home, items(isolated_home)[0], "The zephyrine gate opens at four.")
    receipt = forgotten(isolated_home, gate)

    assert traces() == []
    (item,) = items(isolated_home)
    assert (item.text, item.provenance is not None and item.provenance.source) == (THEIRS, "2026-10-02-keys")
    assert {one.text: one.stale for one in FactReader(isolated_home).facts()} == {THEIRS: False}
    assert (receipt.problems, receipt.blended) == ((), 0)


def test_undo_of_the_merge_leaves_file_and_facts_in_step(isolated_home: Path, gate: str) -> None:
    forgotten(isolated_home, gate)
    undo_apply(isolated_home, NOW + timedelta(hours=1), is_agreed=True)

    assert [item.text for item in items(isolated_home)] == [THEIRS]
    assert [one.text for one in FactReader(isolated_home).facts()] == [THEIRS]


def test_a_merge_of_which_nobody_knows_what_stood_before_is_told(isolated_home: Path, gate: str) -> None:
    events = paths.knowledge_dir(isolated_home) / "events.jsonl"
    lines = events.read_text().splitlines()
    events.write_text("".join(f"{line}\n" for line in lines if THEIRS not in line))
    receipt = forgotten(isolated_home, gate)

    assert receipt.blended == 1
    assert "1 merged item stays, because it has words of several conversations: check it" in receipt_text(
        receipt
    )
