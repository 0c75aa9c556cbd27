"""Modes of the memory: recall only, confirm each write, automatic for what the person ticked. Rules of the step."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import HarvestPhase, HarvestReport
from core.kernel.values.knowledge import Category, Item, Replacement
from core.kernel.values.settings import KnowledgeSettings, MemoryMode, Settings
from core.kernel.values.state import Cause
from core.kernel.values.updates import outcome_of
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    ApplyPreview,
    BatchHarvest,
    DistilConversations,
    HarvestEnded,
    HarvestProposed,
    HarvestReported,
    PreviewHarvest,
    RunBatches,
    TickHarvestItems,
    UndoApply,
    UndoHarvest,
)
from core.knowledge.harvest.harvest_run import ApplyRequest, apply, items_by_asking
from core.knowledge.harvest.modes import RECALL_ONLY, automatic_part, writes_nothing_itself
from core.knowledge.knowledge_reader import digest_file
from tests.core.app.playbook import Playbook, of, settings_loaded
from tests.core.knowledge.harvest.harvests import NOW, Harvest, Model, add_discussion, reply
from tests.core.knowledge.harvest.test_step import (
    LOOK,
    ONE,
    TWO,
    facts,
    harvest,
    looked,
    part,
    previewed,
    proposed,
)


def settings(mode: MemoryMode, *categories: Category, provider: str = "anthropic") -> Settings:
    names = tuple(category.value for category in categories)
    known = KnowledgeSettings(
        harvest_provider=provider, harvest_model="m", mode=mode, automatic_categories=names
    )
    return Settings(knowledge=known)


AUTOMATIC = settings(MemoryMode.AUTOMATIC, Category.FACTS)


def mixed() -> Playbook:
    """A preview whose first conversation has facts alone, and whose second a decision as well."""
    book = looked(AUTOMATIC)
    book.play(PreviewHarvest(command_id="p"))
    book.play(HarvestProposed(part("one")))
    two = part("two")
    decision = replace(two.items[0], item=replace(two.items[0].item, category=Category.DECISIONS))
    book.play(HarvestProposed(replace(two, items=(decision, two.items[1]))))
    return book


def test_recall_only_reads_no_conversation_and_says_why() -> None:
    book = looked(settings(MemoryMode.RECALL))
    assert of(book.play(PreviewHarvest(command_id="p")), DistilConversations) == ()
    outcome = outcome_of(book.state, "p")
    assert outcome is not None
    assert (outcome.problem, outcome.cause) == (RECALL_ONLY, Cause.NOT_NOW)


def test_recall_only_sends_no_batch_and_its_notice_goes_with_the_mode() -> None:
    book = looked(settings(MemoryMode.RECALL))
    assert of(book.play(BatchHarvest()), RunBatches) == ()
    assert [one.text for one in book.state.program.notices] == [RECALL_ONLY]

    book.play(settings_loaded(settings=settings(MemoryMode.CONFIRM)))
    assert book.state.program.notices == ()


def test_an_automatic_mode_without_a_category_writes_nothing_itself_and_says_so() -> None:
    for mode, categories, is_so in (
        (MemoryMode.AUTOMATIC, (), True),
        (MemoryMode.AUTOMATIC, (Category.FACTS,), False),
        (MemoryMode.CONFIRM, (), False),
    ):
        assert writes_nothing_itself(settings(mode, *categories).knowledge) is is_so


def test_recall_only_writes_nothing_that_was_found_before_and_takes_back_and_reclaims() -> None:
    book = previewed()
    book.state = replace(book.state, config=replace(book.state.config, settings=settings(MemoryMode.RECALL)))
    assert of(book.play(ApplyHarvest()), ApplyPreview) == ()
    assert len(of(book.play(UndoHarvest()), UndoApply)) == 1

    unread = looked(settings(MemoryMode.RECALL))
    (effect,) = of(unread.play(ApplyHarvest((facts("one").path,))), ApplyPreview)
    assert effect.preview is None


def test_each_write_is_confirmed_unless_the_person_said_otherwise() -> None:
    assert KnowledgeSettings().mode == MemoryMode.CONFIRM
    book = looked(settings(MemoryMode.CONFIRM, Category.FACTS))
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    assert of(book.play(HarvestEnded()), ApplyPreview) == ()


def test_automatic_writes_conversations_with_ticked_categories_alone_and_leaves_the_rest_to_the_person() -> (
    None
):
    book = mixed()
    (effect,) = of(book.play(HarvestEnded()), ApplyPreview)

    assert effect.artifacts == (ONE,)
    assert effect.preview is not None
    assert [one.path for one in effect.preview.sources] == [ONE.facts.path]
    assert not effect.makes_digest, "no mode turns memory on"
    assert (harvest(book).phase, harvest(book).is_automatic) == (HarvestPhase.APPLYING, True)

    book.play(HarvestReported(result=HarvestReport(is_dry=False), look=LOOK))
    left = harvest(book).preview
    assert left is not None
    assert [one.path for one in left.sources] == [TWO.facts.path]
    assert not harvest(book).is_automatic
    (asked,) = of(book.play(ApplyHarvest()), ApplyPreview)
    assert asked.makes_digest, "what the person starts does"


def test_automatic_writes_also_what_no_screen_showed() -> None:
    book = looked(AUTOMATIC)
    book.play(PreviewHarvest())
    for name in ("one", "two"):
        book.play(HarvestProposed(part(name)))
    (effect,) = of(book.play(HarvestEnded()), ApplyPreview)
    assert effect.preview is not None
    assert [(one.is_ticked, one.was_ticked) for one in effect.preview.items] == [(True, True)] * 4


def test_who_waits_for_a_preview_waits_for_what_is_written_of_itself() -> None:
    book = mixed()
    assert of(book.play(HarvestEnded()), ApplyPreview)
    assert outcome_of(book.state, "p") is None

    book.play(HarvestReported(result=HarvestReport(is_dry=False), look=LOOK))
    outcome = outcome_of(book.state, "p")
    assert outcome is not None
    assert outcome.is_done


def test_a_preview_that_was_stopped_writes_nothing() -> None:
    assert of(mixed().play(HarvestEnded("You stopped the run.")), ApplyPreview) == ()


def test_the_built_in_small_model_is_never_automatic() -> None:
    book = looked(settings(MemoryMode.AUTOMATIC, *Category, provider="embedded"))
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    assert of(book.play(HarvestEnded()), ApplyPreview) == ()


def test_what_a_person_has_unticked_waits_for_them() -> None:
    book = mixed()
    book.play(TickHarvestItems((proposed("one").id,), is_ticked=False))
    assert of(book.play(HarvestEnded()), ApplyPreview) == ()


@pytest.mark.parametrize(
    "change",
    [
        {"near": ("Nearly this.",)},
        {"replaces": Replacement(Item(Category.FACTS, "facts.md", "Old.", first_line=3), "Why.")},
        {"is_edited": True},
    ],
)
def test_what_resembles_or_contradicts_what_is_known_waits_for_the_person(change: dict[str, object]) -> None:
    one = part("one")
    held = replace(one, items=(replace(one.items[0], **change), one.items[1]))  # type: ignore[arg-type]
    assert automatic_part(held, AUTOMATIC.knowledge, "anthropic")[0].sources == ()
    assert automatic_part(one, AUTOMATIC.knowledge, "anthropic")[0].sources == one.sources


def test_an_apply_that_nobody_asked_for_leaves_memory_off_and_renews_it_where_it_is_on(
    tmp_path: Path,
) -> None:
    add_discussion(tmp_path, "tides", "ALPHA", "Yes.")
    run = Harvest(tmp_path, Model({"ALPHA": reply("A one."), "BETA": reply("B one.")}))

    def applied(seed: str, *, makes_digest: bool) -> None:
        items = items_by_asking(run.distiller, NOW)
        apply(ApplyRequest(run.request, run.scan(), items, seed, makes_digest=makes_digest))

    applied("a", makes_digest=False)
    assert "A one." in (tmp_path / "knowledge" / "facts.md").read_text()
    assert not digest_file(tmp_path).exists()

    digest_file(tmp_path).write_text("old\n")
    add_discussion(tmp_path, "moon", "BETA", "Yes.")
    applied("b", makes_digest=False)
    assert "B one." in digest_file(tmp_path).read_text()
