"""The benchmark of the Harvest panel draws what it says."""

from __future__ import annotations

from collections import Counter

import pytest

from core.kernel.values.harvest import ArtifactClass
from tests.bench import harvest_panel


def test_its_conversations_are_of_every_class_and_its_preview_has_ten_items_of_each() -> None:
    artifacts = harvest_panel.conversations(25)
    found = harvest_panel.preview(artifacts)

    assert {one.kind for one in artifacts} == set(ArtifactClass)
    assert len({one.facts.path for one in artifacts}) == 25
    assert set(Counter(item.artifact_path for item in found.items).values()) == {10}
    assert len({item.id for item in found.items}) == 250


@pytest.mark.parametrize("part", harvest_panel.PARTS)
def test_each_part_has_as_many_rows_as_it_says(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harvest_panel, "ROWS", 200)

    harvest = harvest_panel.state(part).harvest

    shown = harvest.look.artifacts if harvest.preview is None else harvest.preview.items
    assert len(shown) == 200


def test_rows_are_judged_by_the_frame_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harvest_panel, "measured", lambda *_, **__: {"median_ms": 2.9, "p99_ms": 8.1})

    found = harvest_panel._rows("preview")

    assert [(row["value"], row["holds"]) for row in found] == [(2.9, True), (8.1, False)]
