"""A harvest that a person reviews: what a preview shows, what of it an apply writes, and an undo."""

from __future__ import annotations

from pathlib import Path

from core.kernel import paths
from core.kernel.values.harvest import ArtifactClass
from core.kernel.values.knowledge import LedgerStatus
from core.knowledge.harvest.harvest_run import ApplyRequest, apply, items_of_preview, preview
from core.knowledge.harvest.preview import edited, joined, ticked
from core.knowledge.ledger import HarvestLedger
from core.knowledge.recovery import undo_apply
from tests.core.knowledge.harvest.harvests import (
    NOW,
    Harvest,
    Model,
    add_discussion,
    go_on,
    item_lines,
    reply,
)
from tests.core.knowledge.harvest.test_run import MOON, SUN, names_there


def test_a_preview_is_reviewed_and_only_what_is_ticked_is_written(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?")
    harvest = Harvest(tmp_path, Model({"Why?": reply(MOON, SUN, "Wrong.")}))
    artifacts = harvest.scan()
    proposed = joined(preview(harvest.request, artifacts, harvest.distiller))
    before = item_lines(tmp_path)

    reviewed = ticked(proposed, [proposed.items[2].id], is_ticked=False)
    reviewed = edited(reviewed, proposed.items[1].id, "The sun adds half.", "")
    report = apply(ApplyRequest(harvest.request, artifacts, items_of_preview(reviewed, NOW), "s"))

    assert before == []
    assert [line.split(" [")[0] for line in item_lines(tmp_path)] == [f"- {MOON}", "- The sun adds half."]
    assert len(harvest.model.prompts) == 1
    assert names_there(tmp_path) == set()
    assert dict(report.items)["facts"] == 2


def test_a_preview_that_is_asked_for_again_is_not_paid_again(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?")
    harvest = Harvest(tmp_path, Model({"Why?": reply(MOON)}))

    first, second = (joined(preview(harvest.request, harvest.scan(), harvest.distiller)) for _ in range(2))

    assert first == second
    assert len(harvest.model.prompts) == 1


def test_a_preview_shows_what_is_known_and_what_failed(tmp_path: Path) -> None:
    add_discussion(tmp_path, "One", "FIRST")
    Harvest(tmp_path, Model({"FIRST": reply(MOON)})).apply()
    add_discussion(tmp_path, "Two", "SECOND")
    add_discussion(tmp_path, "Bad", "BAD")
    harvest = Harvest(tmp_path, Model({"SECOND": reply(MOON, "Tides nearly follow the moon."), "BAD": "no"}))

    found = joined(preview(harvest.request, harvest.scan(), harvest.distiller))

    assert [(item.is_known, item.is_ticked) for item in found.items] == [(True, False), (False, True)]
    assert MOON in found.items[1].near
    assert [failure.name for failure in found.failures] == ["2026-10-01-bad"]


def test_a_conversation_that_grew_since_the_preview_is_not_applied(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    harvest = Harvest(tmp_path, Model({"Why?": reply(MOON)}))
    reviewed = joined(preview(harvest.request, harvest.scan(), harvest.distiller))
    go_on(tmp_path, chosen, "More")

    report = apply(ApplyRequest(harvest.request, harvest.scan(), items_of_preview(reviewed, NOW), "s"))

    assert names_there(tmp_path) == {chosen}
    assert item_lines(tmp_path) == []
    assert "changed since the preview" in report.failures[0].reason


def test_undo_takes_items_out_and_brings_the_conversation_back_as_a_candidate(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    before = paths.log_file(tmp_path, chosen).read_bytes()
    Harvest(tmp_path, Model({"Why?": reply(MOON)})).apply()

    report = undo_apply(tmp_path, NOW)

    assert (report.removed, report.restored) == (1, (chosen,))
    assert item_lines(tmp_path) == []
    assert paths.log_file(tmp_path, chosen).read_bytes() == before
    again = Harvest(tmp_path, Model()).scan()[0]
    assert (again.kind, again.facts.known_status) == (ArtifactClass.HARVEST, "")


def test_an_undo_brings_back_the_empty_ones_of_its_apply_too(tmp_path: Path) -> None:
    empty = add_discussion(tmp_path, "Empty")
    Harvest(tmp_path, Model()).apply()
    assert names_there(tmp_path) == set()

    report = undo_apply(tmp_path, NOW)

    assert (report.restored, report.problems) == ((empty,), ())
    (entry,) = HarvestLedger(tmp_path).entries()
    assert (entry.status, entry.undone_at != "", entry.deleted) == (LedgerStatus.PRUNED, True, False)
