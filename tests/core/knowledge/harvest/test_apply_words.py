"""An apply is told by its kind and by what it was made of, also once some of that is forgotten."""

from __future__ import annotations

import pytest

from core.kernel.values.harvest import ApplyKind, ApplySummary, UndoReport
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge.apply import DRAFT_BY, MERGE_BY
from core.knowledge.apply_log import ApplyRecord, ApplyStep
from core.knowledge.harvest.harvest_report import apply_line, apply_title, merge_undone_words
from core.knowledge.harvest.harvest_worker import summary_of

ENTRY = HarvestLedgerEntry("aa", "/home/person/d1/log.jsonl", LedgerStatus.HARVESTED, "2026-11-20")


def step(source: str, *, is_talk: bool = True) -> ApplyStep:
    return ApplyStep(source, ENTRY if is_talk else None, ())


@pytest.mark.parametrize(
    ("by", "steps", "title", "line"),
    [
        ("manual-slop harvest", (step("a"), step("b")), "Harvest of a and 1 more", "0 items · 2 conversations"),
        ("manual-slop harvest", (step("a"), step("")), "Harvest of a", "0 items · 2 conversations · 1 forgotten since"),
        ("manual-slop harvest", (step(""),), "Harvest whose conversations you forgot since",
         "0 items · 1 conversation · 1 forgotten since"),
        (MERGE_BY, (step("facts.md", is_talk=False),), "Merge of facts.md", ""),
        (DRAFT_BY, (step("playbooks.md", is_talk=False),), "Draft of a playbook", ""),
    ],
)  # fmt: skip
def test_an_apply_is_told_by_its_kind_and_its_sources(
    by: str, steps: tuple[ApplyStep, ...], title: str, line: str
) -> None:
    told = summary_of(ApplyRecord("1", "2026-11-20", by, steps, is_ended=True))

    assert (apply_title(told, told.sources), apply_line(told)) == (title, line)


def test_what_was_removed_unread_is_told_so() -> None:
    told = summary_of(ApplyRecord("1", reclaimed={"d1": "aa"}))
    assert apply_title(told, ()) == "Removed without harvest"


def test_an_undone_merge_is_told_and_no_other_undo() -> None:
    applies = (ApplySummary("m", "", kind=ApplyKind.MERGE, sources=("facts.md",)), ApplySummary("h", ""))
    back = UndoReport("m", 2, (), ())
    changed = UndoReport("m", 1, ("facts.md: A.",), ())

    assert (
        merge_undone_words(back, applies) == "Merge of facts.md was undone: every item is as it was before."
    )
    assert merge_undone_words(changed, applies).endswith("except for 1 line that you changed since.")
    assert merge_undone_words(UndoReport("h", 2, (), ()), applies) == merge_undone_words(None, applies) == ""
