"""The harvest's preview as a person meets it: ticking, editing, moving, filtering, applying; no typed word is lost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.facts import Quote
from core.kernel.values.harvest import ArtifactFacts, HarvestPhase, HarvestPreview, HarvestState, HarvestUse
from core.kernel.values.knowledge import Category, Item, Replacement
from core.kernel.values.settings import MemoryMode
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.knowledge.harvest import preview as harvest_preview
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    DiscardPreview,
    EditHarvestItem,
    MoveHarvestItem,
    ReplaceKnownItem,
    TickHarvestItems,
)
from core.knowledge.harvest.modes import RECALL_ONLY
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.discussion.view import DiscussionView, Landing
from panels.harvest.harvest_room import HarvestView
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at
from tests.panels.screen import Screen

DECISION = "The cache slot stays immutable; a fork shares its prefix until it diverges."
TASK = "Measure the lazy fork against the eager one with ten turns each."


def _first() -> str:
    return hs.preview().items[0].id


def _with(state: AppState, preview: HarvestPreview, **changes: object) -> AppState:
    return replace(state, harvest=replace(state.harvest, preview=preview, **changes))  # type: ignore[arg-type]


def _alone(*numbers: int) -> Screen:
    """A preview of one conversation with some of its items, so that each label is on the screen once."""
    every = hs.preview()
    items = tuple(every.items[n] for n in numbers)
    return open_at("preview", _with(hs.previewed(), HarvestPreview(every.sources[:1], items)))


def _arrived(screen: Screen, about: ArtifactFacts) -> None:
    """The model answered for one more conversation."""
    preview = screen.state.harvest.preview
    assert preview is not None
    more = replace(preview, sources=(*preview.sources, about), items=(*preview.items, *hs.items(about)))
    screen.show(_with(screen.state, more))


def _carry_out(screen: Screen) -> None:
    """Do to the state what was asked for, as the step does."""
    for command in screen.asked:
        preview = screen.state.harvest.preview
        assert preview is not None
        match command:
            case EditHarvestItem():
                preview = harvest_preview.edited(preview, command.item_id, command.head, command.body)
            case TickHarvestItems():
                preview = harvest_preview.ticked(preview, command.item_ids, is_ticked=command.is_ticked)
            case MoveHarvestItem():
                preview = harvest_preview.moved(preview, command.item_id, command.category)
            case _:
                raise AssertionError(command)
        screen.show(_with(screen.state, preview))
    screen.sent.clear()


# --- what it shows


def test_without_a_preview_it_says_what_one_is_and_leads_to_the_conversations() -> None:
    screen = open_at("preview", hs.looked())
    assert screen.ui.shows("only Apply writes them")

    screen.ui.click("Choose conversations")

    assert screen.view.of(HarvestView).tab == "conversations"


def test_the_figures_count_what_is_ticked_known_empty_dropped_and_paid() -> None:
    screen = open_at("preview", hs.previewed())

    assert screen.ui.shows("9 of 11 ticked")
    assert screen.ui.shows(
        "3 conversations · 1 without items to keep · 1 already known · 1 malformed row dropped"
    )
    assert screen.ui.shows("$0.39 for this preview")
    assert screen.ui.has("Preview (11)", kind="tab")


def test_what_is_known_of_the_cost_is_told_when_one_call_has_no_price() -> None:
    use = HarvestUse(2, Usage(cost_usd=0.25), 0.25) + HarvestUse(1, Usage())
    screen = open_at("preview", _with(hs.previewed(), hs.preview(), run_use=use))

    assert screen.ui.shows("over $0.25 for this preview")


def test_an_item_shows_its_words_category_and_what_is_like_it() -> None:
    screen = open_at("preview", hs.previewed())

    for words in (DECISION, "Copying it eagerly cost 11.9k tokens for every fork.", "Decision",
                  "Similar items in knowledge:", "•  Does the 1-hour lifetime pay for short gaps?"):  # fmt: skip
        assert screen.ui.shows(words)


def test_what_is_known_exactly_is_marked_unticked_and_cannot_be_ticked() -> None:
    screen = _alone(1)

    box = screen.ui.find(
        "Your knowledge has this item already; the harvest does not write it again", kind="checkbox"
    )
    assert (box.value, box.is_enabled) == (False, False)
    screen.ui.click("Tick all new items")
    assert screen.asked == []


def test_items_stand_under_their_conversation_which_leads_to_the_discussion() -> None:
    screen = open_at("preview", hs.previewed())
    assert screen.ui.shows("5 of 7")

    screen.ui.click("Show Cache TTL policy", within="5 of 7")

    assert screen.asked == [SelectDiscussion("d1")]


def test_a_conversation_in_which_nothing_was_found_is_shown() -> None:
    screen = open_at("preview", hs.previewed())

    screen.ui.scroll("items", 10)

    assert screen.ui.shows("claude-code-7f3a")
    assert screen.ui.shows("no items to keep")


def test_failures_are_counted_and_shown_with_their_reason() -> None:
    screen = open_at("preview", hs.previewed())

    assert screen.ui.shows("1 conversation could not be read")
    screen.ui.click("Show why")
    assert screen.ui.shows("harvest output invalid after 2 attempts")
    assert not screen.ui.shows(DECISION)
    screen.ui.click("Show all")
    assert screen.ui.shows(DECISION)


def test_grouped_by_category_each_item_names_its_conversation() -> None:
    screen = open_at("preview", hs.previewed())

    screen.ui.click("Group by category")

    assert screen.ui.shows("Facts")
    assert screen.ui.shows("Decisions")
    assert screen.ui.shows("from 2026-11-10-cache-ttl-policy")


# --- ticking


def test_an_item_is_unticked_and_ticked() -> None:
    screen = _alone(0)
    screen.ui.click("Write this item")
    assert screen.asked == [TickHarvestItems((_first(),), is_ticked=False)]

    _carry_out(screen)
    assert screen.ui.shows("0 of 1 ticked")
    screen.ui.click("Write this item")
    assert screen.asked == [TickHarvestItems((_first(),), is_ticked=True)]


def test_tick_none_and_all_but_what_is_known() -> None:
    screen = open_at("preview", hs.previewed())
    items = hs.preview().items
    screen.ui.click("Untick all items")
    assert screen.asked == [TickHarvestItems(tuple(i.id for i in items if i.is_ticked), is_ticked=False)]
    _carry_out(screen)
    assert screen.ui.shows("0 of 11 ticked")

    screen.ui.click("Tick all new items")

    assert screen.asked == [TickHarvestItems(tuple(i.id for i in items if not i.is_known), is_ticked=True)]


def test_all_and_none_touch_only_what_the_filter_shows() -> None:
    screen = open_at("preview", hs.previewed())
    screen.ui.type("Find an item", "LAZY fork")

    screen.ui.click("Untick all items that the list shows")

    ids = tuple(i.id for i in hs.preview().items if i.item.head == TASK)
    assert len(ids) == 2
    assert screen.asked == [TickHarvestItems(ids, is_ticked=False)]


def test_a_whole_conversation_is_ticked_at_once() -> None:
    screen = open_at("preview", hs.previewed())
    screen.ui.click("Tick all items of Cache TTL policy")

    assert screen.asked == [TickHarvestItems((hs.preview().items[6].id,), is_ticked=True)]
    _carry_out(screen)
    assert screen.ui.find("Tick all items of Cache TTL policy").value is True
    assert screen.ui.shows("6 of 7")


@pytest.mark.parametrize(
    ("option", "seen", "gone"),
    [("Ticked", DECISION, "Anthropic counts a 5-minute"), ("Not ticked", "Split the ledger", DECISION),
     ("Changed by you", "Split the ledger", DECISION), ("Already known", "Anthropic counts a 5-minute", DECISION),
     ("Similar to another", "Does the 1-hour lifetime pay when", DECISION)],
)  # fmt: skip
def test_the_list_is_narrowed(option: str, seen: str, gone: str) -> None:
    screen = open_at("preview", hs.previewed())

    screen.ui.choose("Show only some items", option)

    assert screen.ui.shows(seen)
    assert not screen.ui.shows(gone)


def test_a_filter_that_finds_nothing_says_so() -> None:
    screen = open_at("preview", hs.previewed())
    screen.ui.type("Find an item", "no such words")
    assert screen.ui.shows("No item matches.")


# --- categories


def test_an_item_is_moved_to_another_category() -> None:
    screen = _alone(2)
    screen.ui.click("Open task")
    screen.ui.click("Done task")

    assert screen.asked == [MoveHarvestItem(hs.preview().items[2].id, Category.TASKS_DONE)]
    _carry_out(screen)
    assert screen.ui.has("Done task", kind="menu")
    assert screen.ui.shows("changed")


def test_only_categories_that_the_words_fit_are_offered() -> None:
    screen = _alone(2)
    screen.ui.click("Open task")
    assert not screen.ui.has("Playbook", kind="menu_item")
    assert not screen.ui.has("File note", kind="menu_item")

    screen = _alone(0)
    screen.ui.click("Decision", within=DECISION)
    assert screen.ui.has("Playbook", kind="menu_item")
    assert not screen.ui.has("File note", kind="menu_item")

    screen = _alone(5)
    screen.ui.click("File note")
    assert screen.ui.has("Fact", kind="menu_item")


# --- editing


def _edit(screen: Screen, head: str) -> None:
    screen.ui.click("Edit the text")
    screen.ui.type("Text", head)


def test_words_are_edited_in_place_and_kept() -> None:
    screen = _alone(0)
    _edit(screen, "A slot never changes.")
    screen.ui.type("Detail (optional)", "Forks share it.")
    assert screen.asked == []

    screen.ui.click("Keep")

    assert screen.asked == [EditHarvestItem(_first(), "A slot never changes.", "Forks share it.")]
    _carry_out(screen)
    assert screen.ui.shows("A slot never changes.")
    assert screen.ui.shows("changed")
    assert not screen.ui.has("Text")


def test_ctrl_enter_keeps_and_cancel_or_escape_leaves_the_words_as_they_were() -> None:
    screen = _alone(0)
    _edit(screen, "A slot never changes.")
    screen.ui.press("Ctrl+Enter")
    assert screen.asked == [
        EditHarvestItem(
            _first(), "A slot never changes.", "Copying it eagerly cost 11.9k tokens for every fork."
        )
    ]

    for is_by_key in (False, True):
        screen = _alone(0)
        _edit(screen, "Something else")
        if is_by_key:
            screen.ui.press("Escape")
        else:
            screen.ui.click("Cancel")
        assert screen.asked == []
        assert screen.ui.shows(DECISION)


def test_the_keyboard_is_in_what_is_edited() -> None:
    screen = _alone(0)
    screen.ui.click("Edit the text")
    assert screen.ui.is_focused_on("Text")


def test_words_that_say_nothing_are_not_kept_and_it_is_said_why() -> None:
    screen = _alone(0)
    _edit(screen, "  …  ")
    assert screen.ui.shows("This item has no text.")
    assert not screen.ui.find("Keep", kind="button").is_enabled

    screen = _alone(5)
    screen.ui.click("Edit the text")
    screen.ui.type("Path", " ")
    assert screen.ui.shows("A file note needs a path and a note.")
    assert not screen.ui.find("Keep", kind="button").is_enabled

    screen = _alone(4)
    screen.ui.click("Edit the text")
    screen.ui.type("Steps", "")
    assert screen.ui.shows("A playbook needs a name and steps.")


def test_typed_words_outlive_what_arrives_other_parts_filters_and_groups() -> None:
    screen = open_at("preview", hs.previewing())
    screen.ui.choose("Show only some items", "Ticked")
    screen.ui.type("Find an item", "immutable")
    _edit(screen, "half a sen")

    _arrived(screen, hs.artifacts()[1].facts)
    screen.show(
        _with(screen.state, screen.state.harvest.preview or HarvestPreview(), phase=HarvestPhase.IDLE)
    )
    screen.ui.click("Group by category")
    screen.ui.click("Ledger")
    screen.ui.click("Preview (14)")

    assert screen.ui.find("Text", within="Copying it eagerly").value == "half a sen"
    assert screen.asked == []


def test_what_arrives_stands_below_so_that_nothing_moves_under_the_person() -> None:
    screen = open_at("preview", hs.previewing())
    before = [node.path for node in screen.ui.nodes("list_row")]

    _arrived(screen, hs.artifacts()[1].facts)

    assert [node.path for node in screen.ui.nodes("list_row")][: len(before)] == before
    assert screen.ui.shows("14 of 14 ticked")


def test_while_parts_arrive_the_order_is_that_of_their_arrival() -> None:
    screen = open_at("preview", hs.previewing())
    screen.view.of(HarvestView).by = "category"
    screen.ui.settle()

    assert screen.ui.shows("Cache TTL policy")
    assert not screen.ui.find("While replies arrive, the list is grouped by conversation").is_enabled


# --- applying


def _never_chosen(state: AppState) -> AppState:
    settings = state.config.settings
    knowledge = replace(settings.knowledge, after_harvest="")
    return replace(state, config=replace(state.config, settings=replace(settings, knowledge=knowledge)))


def test_the_first_time_nothing_is_preset_and_apply_says_what_it_waits_for() -> None:
    screen = open_at("preview", _never_chosen(hs.previewed()))

    assert not screen.ui.find("Apply", kind="button").is_enabled
    assert "Choose one" in screen.ui.texts()
    assert "Choose one." not in screen.ui.texts(), "the choice says that itself"
    screen.ui.choose("What happens to the conversations", "Keep the conversations, marked as read")
    assert screen.ui.shows("Write 9 items, leave 1 out, mark 2 conversations as read")
    screen.ui.click("Apply")
    assert [one for one in screen.sent if isinstance(one, ChangeSetting | ApplyHarvest)] == [
        ChangeSetting("ai_settings.knowledge.after_harvest", "keep"),
        ApplyHarvest(after="keep"),
    ]


def test_in_recall_only_apply_says_why_it_waits_and_closes_the_sentence_once() -> None:
    state = hs.previewed()
    settings = state.config.settings
    recall = replace(settings, knowledge=replace(settings.knowledge, mode=MemoryMode.RECALL.value))
    screen = open_at("preview", replace(state, config=replace(state.config, settings=recall)))

    assert not screen.ui.find("Apply", kind="button").is_enabled
    assert f"{RECALL_ONLY}." in screen.ui.texts()
    assert f"{RECALL_ONLY}.." not in screen.ui.texts()


def test_imported_conversations_are_kept_and_said_so() -> None:
    state = hs.previewed()
    preview = state.harvest.preview
    assert preview is not None
    sources = tuple(replace(one, origin="Imported from ChatGPT") for one in preview.sources)
    screen = open_at("preview", _with(state, replace(preview, sources=sources)))

    assert screen.ui.shows("Write 9 items, leave 1 out, mark 2 conversations as read")
    screen.ui.choose(
        "What happens to the conversations", "Move the conversations to the trash, imported ones too"
    )
    assert screen.ui.shows("Write 9 items, leave 1 out, move 2 conversations to the trash")


def test_apply_says_what_it_will_do() -> None:
    screen = open_at("preview", hs.previewed())

    said = "Write 9 items, leave 1 out, move 2 conversations to the trash, remove 2 empty conversations, leave 1 source of other programs unchanged"
    assert screen.ui.shows(f"{said}.")
    screen.ui.click("Apply")

    assert screen.asked == [ApplyHarvest(after="trash")]
    assert screen.view.of(HarvestView).tab == "applied"


def test_in_a_wide_panel_the_button_itself_says_it() -> None:
    every = hs.preview()
    state = _with(hs.previewed(), HarvestPreview(every.sources[:1], every.items[:1]))
    screen = open_at("preview", state, is_wide=True)

    assert screen.ui.has(
        "Write 1 item, move 1 conversation to the trash, remove 2 empty conversations", kind="button"
    )


def test_apply_with_nothing_ticked_says_so() -> None:
    none = harvest_preview.ticked(hs.preview(), [i.id for i in hs.preview().items], is_ticked=False)
    screen = open_at("preview", _with(hs.previewed(), none))

    assert screen.ui.shows("Write nothing, move 2 conversations to the trash")


def test_words_still_being_typed_are_taken_over_by_apply() -> None:
    screen = _alone(0)
    _edit(screen, "A slot never changes.")

    screen.ui.click("Apply")

    body = "Copying it eagerly cost 11.9k tokens for every fork."
    assert screen.asked == [
        EditHarvestItem(_first(), "A slot never changes.", body),
        ApplyHarvest(after="trash"),
    ]


def test_the_models_detail_is_named_and_left_out_with_one_press() -> None:
    screen = _alone(0)
    _edit(screen, "A slot never changes.")
    assert screen.ui.shows("Detail of this item, written after its text")

    screen.ui.click("Leave out detail")
    assert not screen.ui.shows("Detail of this item, written after its text")
    screen.ui.click("Keep")

    assert screen.asked == [EditHarvestItem(_first(), "A slot never changes.", "")]


def test_apply_waits_for_words_that_say_nothing() -> None:
    screen = _alone(0)
    _edit(screen, "")

    button = screen.ui.find("Apply", kind="button")
    assert not button.is_enabled
    assert "An item that you edit has no text" in button.tip


@pytest.mark.parametrize(
    ("harvest", "why"),
    [(hs.previewing().harvest, "Wait until everything is read, or cancel and apply the finished part"), (hs.applying().harvest, "Wait until the current work ends"),
     (replace(hs.seen(), preview=HarvestPreview()), "The model has read no conversation")],
)  # fmt: skip
def test_what_keeps_apply_from_being_done_is_said(harvest: HarvestState, why: str) -> None:
    screen = open_at("preview", hs.state(harvest))

    button = screen.ui.find("Apply", kind="button")
    assert not button.is_enabled
    assert why in button.tip


def test_while_it_is_written_nothing_can_be_changed() -> None:
    screen = open_at("preview", hs.applying())

    assert not any(node.is_enabled for node in screen.ui.nodes("checkbox"))
    assert all(not node.is_enabled for node in screen.ui.nodes("button") if node.tip == "Edit the text")
    assert not screen.ui.has("Decision", kind="menu")


def test_a_preview_that_was_not_touched_is_discarded_at_once() -> None:
    screen = _alone(0)
    screen.ui.click("Discard")

    assert screen.asked == [DiscardPreview()]
    assert screen.view.of(HarvestView).tab == "conversations"


def test_a_preview_that_was_worked_on_is_asked_for_before_it_is_discarded() -> None:
    screen = _alone(0)
    _edit(screen, "A slot never changes.")
    screen.ui.click("Discard")
    assert screen.ui.shows("another preview of them costs nothing")
    screen.ui.click("Keep")
    assert screen.asked == []
    assert screen.ui.find("Text").value == "A slot never changes."

    screen.ui.click("Discard")
    screen.ui.click("Discard")

    assert screen.asked == [DiscardPreview()]
    assert screen.view.of(HarvestView).edits == {}


def test_an_item_shows_its_quote_and_the_message_and_dropped_quotes_are_counted() -> None:
    every = hs.preview()
    first = every.items[0]
    item = replace(first.item, quote=Quote(("m-3",), "it stays immutable"))
    path = "/home/person/.manual_slop/discussions/d5/log.jsonl"
    said = replace(first, item=item, artifact_path=path)
    screen = open_at("preview", _with(hs.previewed(), HarvestPreview(every.sources[:1], (said,), unfound=2)))

    assert screen.ui.shows("it stays immutable")
    assert "2 quotes left out" in " ".join(screen.ui.texts())
    screen.ui.click("Show the message")
    assert screen.view.of(DiscussionView).landing == Landing(
        "d5", "m-3", "it stays immutable", is_phrase=True
    )
    assert screen.asked == [SelectDiscussion("d5")]


def test_a_known_item_that_is_replaced_is_shown_with_the_reason_first_and_can_be_left() -> None:
    every = hs.preview()
    old = Item(Category.FACTS, "facts.md", "A fork copies the slot.", first_line=3)
    one = replace(every.items[0], replaces=Replacement(old, "It shares the prefix now."), is_ticked=True)
    screen = open_at("preview", _with(hs.previewed(), HarvestPreview(every.sources[:1], (one,))))

    texts = screen.ui.texts()
    reason = next(n for n, text in enumerate(texts) if text == "It shares the prefix now.")
    assert "A fork copies the slot." in texts[reason + 1]
    screen.ui.click("Strike the old item through; its line stays in the file")
    assert screen.asked == [ReplaceKnownItem(one.id, is_replacing=False)]
