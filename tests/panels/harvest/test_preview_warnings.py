"""Warnings of the harvest's preview: what another card says already, a quote that was left out, what is struck through."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.facts import Quote
from core.kernel.values.harvest import HarvestPreview
from core.kernel.values.knowledge import Category, Item, Replacement
from core.knowledge.evidence_rows import QUOTE_LEFT_OUT
from panels.harvest.harvest_facts import outcome
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at
from tests.panels.screen import Screen


def screen_of(preview: HarvestPreview, provider: str = "anthropic") -> Screen:
    state = hs.previewed()
    harvest = replace(state.harvest, preview=preview, provider=provider)
    return open_at("preview", replace(state, harvest=harvest))


def test_what_is_like_another_card_of_the_preview_is_not_called_known() -> None:
    every = hs.preview()
    one = replace(every.items[0], near_here=("A fork shares its slot.",))
    same = replace(every.items[2], is_known=True, is_ticked=False, is_repeated=True)
    screen = screen_of(HarvestPreview(every.sources[:1], (one, same)))

    assert screen.ui.shows("Similar items in this preview:")
    assert not screen.ui.shows("Similar items in knowledge:")
    assert screen.ui.shows("The list above has this item already; the harvest does not write it twice")


def test_an_item_whose_quote_was_left_out_says_so_and_can_be_found() -> None:
    every = hs.preview()
    bad = replace(every.items[0], item=replace(every.items[0].item, quote=Quote(is_unfound=True)))
    preview = HarvestPreview(every.sources[:1], (bad, every.items[2]), unfound=1)
    screen = screen_of(preview)

    assert screen.ui.texts().count(QUOTE_LEFT_OUT) == 1
    screen.ui.choose("Show only some items", "Quote left out")
    assert screen.ui.shows(every.items[0].item.head)
    assert not screen.ui.shows("Measure the lazy fork")


def test_the_small_models_warning_is_of_the_small_model_and_agrees_with_the_ticks() -> None:
    every = hs.preview()
    bare = replace(every.items[0], is_ticked=False, was_ticked=False, is_known=False)
    deleted = replace(bare, deleted_on="2026-11-02")
    seen = {
        name: screen_of(HarvestPreview(every.sources[:1], (one,)), "embedded").ui
        for name, one in {"bare": bare, "ticked": replace(bare, is_ticked=True), "deleted": deleted}.items()
    }
    assert seen["bare"].shows("so nothing is ticked yet")
    assert seen["ticked"].shows("The built-in model is small. Read each item")
    assert not seen["ticked"].shows("nothing is ticked yet")
    assert not seen["deleted"].shows("The built-in model is small")


def test_what_no_screen_showed_is_not_ticked_and_apply_says_what_it_leaves_out() -> None:
    every = hs.preview()
    bare = replace(every.items[0], is_ticked=False, was_ticked=False, is_known=False)
    shown = replace(bare, id="shown", is_ticked=True, was_ticked=True)
    preview = HarvestPreview(every.sources[:1], (shown, bare))
    ui = screen_of(preview).ui
    assert ui.shows("Only the first items are ticked.")
    assert not ui.shows("The built-in model is small")
    assert outcome(preview, ()).sentence.startswith("Write 1 item, leave 1 out")
    read = HarvestPreview(every.sources[:1], (shown, replace(bare, is_ticked=True)))
    assert not screen_of(read).ui.shows("Only the first items are ticked.")
    assert "out" not in outcome(read, ()).sentence


def test_the_outcome_says_what_is_struck_through() -> None:
    every = hs.preview()
    old = Item(Category.FACTS, "facts.md", "A fork copies the slot.", first_line=3)
    one = replace(every.items[0], replaces=Replacement(old, "It shares the prefix now."), is_ticked=True)
    for is_replacing in (True, False):
        preview = HarvestPreview(every.sources[:1], (replace(one, is_replacing=is_replacing),))
        said = outcome(preview, ()).sentence
        assert ("strike 1 known item through" in said) is is_replacing


def test_a_known_item_that_a_line_names_shows_no_marks_of_emphasis() -> None:
    every = hs.preview()
    one = replace(every.items[0], near=("The **spring tide** comes late",))
    assert screen_of(HarvestPreview(every.sources[:1], (one,))).ui.shows("•  The spring tide comes late")
