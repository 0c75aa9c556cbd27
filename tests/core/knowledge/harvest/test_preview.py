"""What a person does with a preview before anything is written."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from core.kernel.values.harvest import ArtifactFacts, HarvestItem, HarvestPreview
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, Item, NewItem, Provenance
from core.knowledge.categories import FILE_OF
from core.knowledge.harvest.harvest_reply import Reply
from core.knowledge.harvest.preview import chosen, edited, failed, moved, propose, ticked
from core.knowledge.merges import known_items

AT = datetime(2026, 11, 20, tzinfo=UTC)
FACTS = ArtifactFacts(
    "id", "/h/log.jsonl", "2026-10-01-tides", TranscriptKind.DISCUSSION, 9, AT, sha256="a" * 64
)
ORIGIN = Provenance("2026-10-01-tides", "2026-11-20")


def preview(*items: HarvestItem, known: tuple[tuple[Category, str], ...] = ()) -> HarvestPreview:
    return propose(
        HarvestPreview(),
        FACTS,
        Reply(items, 2),
        known_items(Item(c, FILE_OF[c], text, first_line=3) for c, text in known),
    )


def fact(head: str, body: str = "") -> HarvestItem:
    return HarvestItem(Category.FACTS, head, body)


def test_what_is_proposed_is_ticked_and_names_its_source() -> None:
    found = preview(fact("Tides follow the moon."))

    one = found.items[0]
    assert (one.is_ticked, one.is_known, one.source, one.sha256) == (True, False, FACTS.name, FACTS.sha256)
    assert found.sources == (FACTS,)
    assert found.dropped == 2
    assert chosen(found, FACTS, AT) == (NewItem(Category.FACTS, "Tides follow the moon.", provenance=ORIGIN),)


def test_what_is_known_exactly_is_shown_and_not_written_twice() -> None:
    found = preview(fact("Tides follow the moon."), known=((Category.FACTS, "Tides follow the moon."),))

    assert found.items[0].is_known
    assert chosen(found, FACTS, AT) == ()


def test_a_near_duplicate_is_shown_beside_the_item_and_left_to_the_person() -> None:
    found = preview(
        fact("The tides follow the moon closely."), known=((Category.FACTS, "Tides follow the moon."),)
    )

    assert found.items[0].near == ("Tides follow the moon.",)
    assert found.items[0].is_ticked


def test_a_done_task_is_near_to_the_open_one() -> None:
    found = preview(
        HarvestItem(Category.TASKS_DONE, "Plot the tide curve."),
        known=((Category.TASKS_OPEN, "Plot the tide curve."),),
    )

    assert found.items[0].near == ("Plot the tide curve.",)
    assert found.items[0].is_ticked


def test_two_conversations_that_say_the_same_propose_it_once() -> None:
    known = known_items(())
    first = propose(HarvestPreview(), FACTS, Reply((fact("One thing."),)), known)
    other = replace(FACTS, path="/other", sha256="b" * 64)

    both = propose(first, other, Reply((fact("One thing"),)), known)

    assert [one.is_ticked for one in both.items] == [True, False]
    assert [one.is_repeated for one in both.items] == [False, True]


def test_what_is_like_another_proposal_is_not_called_known() -> None:
    found = preview(
        fact("In summer the gauge is read at noon."), fact("The gauge is read at noon in summer, by hand.")
    )

    assert found.items[1].near == ()
    assert found.items[1].near_here == ("In summer the gauge is read at noon.",)


def test_an_item_that_is_unticked_is_not_written_and_can_be_ticked_again() -> None:
    found = preview(fact("One."), fact("Two."))
    without = ticked(found, [found.items[0].id], is_ticked=False)

    assert [item.text for item in chosen(without, FACTS, AT)] == ["Two."]
    assert ticked(without, [found.items[0].id], is_ticked=True) == found


def test_an_edit_is_cleaned_as_a_models_words_are() -> None:
    found = preview(fact("One."))
    changed = edited(found, found.items[0].id, "Two\nlines " + "sk-" + "a" * 30, "why")

    assert changed.items[0].item == fact("Two lines [secret]", "why")
    assert changed.items[0].is_edited


def test_an_edit_that_says_nothing_leaves_the_item_as_it_was() -> None:
    found = preview(fact("One."))

    assert edited(found, found.items[0].id, "  ", "") == found
    assert edited(found, "no such id", "Two.", "") == found
    assert edited(found, found.items[0].id, "One.", "") == found


def test_an_item_moves_to_another_category_where_its_words_fit() -> None:
    found = preview(fact("One thing."))

    assert moved(found, found.items[0].id, Category.DECISIONS).items[0].item.category is Category.DECISIONS
    assert moved(found, found.items[0].id, Category.FILES) == found


def test_a_failed_conversation_is_in_the_preview_with_its_reason() -> None:
    found = failed(preview(fact("One.")), FACTS, "timed out")

    assert found.failures[0].reason == "timed out"
    assert found.failures[0].sha256 == FACTS.sha256


def test_items_of_another_conversation_are_not_this_ones() -> None:
    assert chosen(preview(fact("One.")), replace(FACTS, path="/else"), AT) == ()


def test_of_a_small_model_nothing_is_ticked_beforehand_and_a_tick_is_a_choice() -> None:
    found = propose(
        HarvestPreview(), FACTS, Reply((fact("The moon pulls."),), 0), known_items([]), ticks=False
    )
    (one,) = found.items

    assert (one.is_ticked, one.is_tick_changed) == (False, False)
    (one,) = ticked(found, [one.id], is_ticked=True).items
    assert (one.is_ticked, one.is_tick_changed) == (True, True)
