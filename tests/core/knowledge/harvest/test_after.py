"""What happens to a conversation once its items are written: kept as read, moved, or left, as the person chose."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import ArtifactClass
from core.kernel.values.settings import AfterHarvest, KnowledgeSettings
from core.knowledge.harvest.harvest_run import ApplyRequest, apply, items_by_asking
from core.knowledge.harvest.modes import fate_of
from core.knowledge.ledger import HarvestLedger
from tests.core.knowledge.harvest.harvests import NOW, Harvest, Model, add_discussion, go_on, reply
from tests.core.knowledge.harvest.test_classes import facts
from tests.core.knowledge.harvest.test_run import MOON, names_there


def applied(harvest: Harvest, after: AfterHarvest) -> None:
    items = items_by_asking(harvest.distiller, harvest.now)
    apply(ApplyRequest(scan=harvest.request, artifacts=harvest.scan(), items_of=items, seed="s", after=after))


def kinds(harvest: Harvest) -> dict[str, ArtifactClass]:
    return {one.facts.id: one.kind for one in harvest.scan()}


def test_what_is_kept_is_marked_as_read_until_it_grows(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    harvest = Harvest(tmp_path, Model({"Why?": reply(MOON)}))
    applied(harvest, AfterHarvest.KEEP)

    assert names_there(tmp_path) == {chosen}
    assert kinds(harvest) == {chosen: ArtifactClass.USER_KEPT}
    assert [one.kept for one in HarvestLedger(tmp_path).entries()] == [True]
    go_on(tmp_path, chosen, "One more thing")
    later = replace_now(harvest)
    (grown,) = later.scan()
    assert grown.kind is ArtifactClass.HARVEST
    assert 0 < grown.facts.new_bytes < grown.facts.size_bytes


def replace_now(harvest: Harvest) -> Harvest:
    return Harvest(harvest.home, harvest.model, now=NOW + timedelta(days=30))


def test_what_is_left_is_listed_again_and_asks_no_model(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    model = Model({"Why?": reply(MOON)})
    harvest = Harvest(tmp_path, model)
    applied(harvest, AfterHarvest.LEAVE)
    (again,) = harvest.scan()

    assert (again.facts.id, again.kind, again.facts.new_bytes) == (chosen, ArtifactClass.HARVEST, 0)
    applied(harvest, AfterHarvest.TRASH)
    assert names_there(tmp_path) == set()
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    ("after", "origin", "fate"),
    [
        (AfterHarvest.TRASH, "", AfterHarvest.TRASH),
        (AfterHarvest.TRASH, "Imported from ChatGPT", AfterHarvest.KEEP),
        (AfterHarvest.TRASH_ALL, "Imported from ChatGPT", AfterHarvest.TRASH),
        (AfterHarvest.LEAVE, "Imported from ChatGPT", AfterHarvest.LEAVE),
        (AfterHarvest.KEEP, "", AfterHarvest.KEEP),
    ],
)
def test_an_imported_conversation_is_kept_unless_the_person_said_otherwise(
    after: AfterHarvest, origin: str, fate: AfterHarvest
) -> None:
    assert fate_of(after, replace(facts(), origin=origin)) is fate


def test_the_choice_of_an_apply_counts_before_that_of_the_settings() -> None:
    settings = KnowledgeSettings(after_harvest="keep")

    assert settings.fate_of_harvested("leave") is AfterHarvest.LEAVE
    assert settings.fate_of_harvested() is AfterHarvest.KEEP
    assert KnowledgeSettings().fate_of_harvested() is AfterHarvest.TRASH
