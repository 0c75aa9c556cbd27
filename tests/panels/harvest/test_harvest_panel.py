"""The Harvest panel as a person meets it: conversations, progress, problems, the applies and the ledger."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import HarvestLook, HarvestPhase
from core.kernel.values.knowledge import Category, Item, RemovalQuestion
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.settings import KnowledgeSettings, MemoryMode, Settings
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    CancelHarvest,
    LeaveRemoval,
    LookForHarvest,
    PreviewHarvest,
    UndoHarvest,
)
from core.knowledge.harvest.modes import RECALL_ONLY
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.harvest.harvest_room import HARVEST_TABS, HarvestTab, HarvestView
from panels.shell.rooms import to_toml
from tests.panels import states
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import hub, open_at, panel, rows
from tests.panels.screen import Screen
from tests.panels.views import restored
from tests.state_fields import with_fields

# --- where it is, and the first look


def _from_menu(screen: Screen) -> None:
    screen.ui.click("View")
    screen.ui.click("Harvest", within="Switch theme")


def test_it_is_reached_from_the_rail_the_menu_and_its_chord() -> None:
    acts: tuple[Callable[[Screen], None], ...] = (
        lambda s: s.ui.press("Ctrl+5"),
        lambda s: s.ui.click("Harvest (Ctrl+5)"),
        _from_menu,
    )
    for act in acts:
        screen = Screen(hs.looked())
        act(screen)
        assert screen.view.panel == "harvest"
        assert screen.ui.shows("4 to read, 2 empty, 1 in use, 1 kept by you, 1 left alone")


def test_it_looks_once_when_it_is_first_seen_and_not_before() -> None:
    screen = Screen(hs.unseen())
    assert screen.asked == []

    screen.ui.press("Ctrl+5")
    screen.show(replace(screen.state, harvest=replace(screen.state.harvest, phase=HarvestPhase.LOOKING)))
    screen.show(hs.looked())
    screen.ui.press("Ctrl+1")
    screen.ui.press("Ctrl+5")

    assert screen.asked == [LookForHarvest()]


def test_it_does_not_look_before_the_home_is_read_nor_again_where_somebody_else_has() -> None:
    for state in (with_fields(hs.unseen(), is_loading=True), with_fields(hs.unseen(), home=""), hs.looked()):
        screen = Screen(state)
        screen.ui.press("Ctrl+5")
        assert screen.asked == []


def test_a_changed_setting_is_followed_by_one_more_look() -> None:
    screen = open_at("conversations", hs.looked())
    settings = replace(screen.state.config.settings, knowledge=KnowledgeSettings(live_days=1.0))

    screen.show(replace(screen.state, config=replace(screen.state.config, settings=settings)))
    screen.show(replace(screen.state, config=replace(screen.state.config, settings=settings)))

    assert screen.asked == [LookForHarvest()]


def test_a_discussion_that_came_is_followed_by_one_more_look() -> None:
    state = hs.looked()
    screen = open_at("conversations", state)
    rows_before = state.discussions.summaries
    like = next(iter(rows_before.values()))
    came = {"d99": replace(like, meta=replace(like.meta, id="d99"))}
    screen.show(replace(state, discussions=replace(state.discussions, summaries={**rows_before, **came})))
    screen.ui.settle()

    assert screen.asked == [LookForHarvest()]


def test_look_again_looks_again() -> None:
    screen = open_at("conversations", hs.looked())

    screen.ui.click("Look for conversations again; nothing on disk changes")

    assert screen.asked == [LookForHarvest()]


def test_its_part_in_front_comes_back_after_a_restart() -> None:
    screen = open_at("conversations", hs.looked())
    screen.ui.click("Ledger")

    assert restored(to_toml(screen.view)).of(HarvestView).tab == "ledger"


# --- conversations


def test_every_conversation_stands_there_with_class_why_size_age_and_estimate() -> None:
    words = [" | ".join(row) for row in rows(open_at("conversations", hs.looked()))]

    assert words[:2] == [
        "Cache TTL policy | ~$0.05, ≈20.8k tokens · 82 KB · 10 days | to read",
        "Harvest worker design | ~$0.05, ≈21.2k tokens · 83 KB · 11 days | to read",
    ]
    assert "Parser regressions | read before, free · 85 KB · 12 days | to read" in words
    assert "Untitled | empty · 0 B · 14 days | empty" in words
    assert "Knowledge import | too large · 3.4 MB · 17 days | left alone" in words
    assert "Release checklist | pinned · 92 KB · 16 days | kept by you" in words
    assert words[-1] == "Today's work | open · 95 KB · 40 min | in use"


def test_a_wide_panel_has_a_column_for_each() -> None:
    screen = open_at("conversations", hs.looked(), is_wide=True)

    keep = next(row for row in rows(screen) if "Knowledge import" in row)
    assert keep == ["Knowledge import", "left alone", "too large", "3.4 MB", "17 days"]


def test_the_figures_are_those_of_the_report() -> None:
    words = panel(open_at("conversations", hs.looked()))

    assert "4 to read, 2 empty, 1 in use, 1 kept by you, 1 left alone" in words
    assert "892 KB, ≈204k input tokens, ~$0.42 with Claude Opus 4.8" in words
    assert any(word.startswith("Nothing on disk changes before you choose Apply.") for word in words)


def test_an_unknown_price_is_said_and_not_shown_as_nothing() -> None:
    estimate = replace(hs.estimate(), cost_usd=None)
    screen = open_at("conversations", hs.state(hs.seen(look=replace(hs.look(), estimate=estimate))))

    assert screen.ui.shows("≈204k input tokens, price unknown with Claude Opus 4.8")
    assert screen.ui.has("Preview 4 conversations (price unknown)", kind="button")


def test_a_preview_reads_all_candidates() -> None:
    screen = open_at("conversations", hs.looked())

    screen.ui.click("Preview 4 conversations (est. $0.42)")

    assert screen.asked == [PreviewHarvest()]
    assert screen.view.of(HarvestView).tab == "preview"


def test_what_is_unticked_is_not_read_and_the_estimate_follows() -> None:
    screen = open_at("conversations", hs.looked())

    screen.ui.click("Read Cache TTL policy")
    screen.ui.click("Read claude-code-7f3a")
    assert not screen.ui.find("Read Cache TTL policy").value
    screen.ui.click("Preview 2 conversations (est. $0.05)")

    assert screen.asked == [PreviewHarvest(tuple(one.facts.path for one in hs.artifacts()[1:3]))]


def test_ticking_none_and_all() -> None:
    screen = open_at("conversations", hs.looked())
    screen.ui.click("More actions for the conversations")
    screen.ui.click("Untick all")
    assert screen.ui.find("Preview", kind="button").tip == "Tick a conversation first"

    screen.ui.click("More actions for the conversations")
    screen.ui.click("Tick all")

    assert screen.ui.has("Preview 4 conversations (est. $0.42)", kind="button")


def test_a_name_leads_to_its_discussion() -> None:
    screen = open_at("conversations", hs.looked())

    screen.ui.click("Show Cache TTL policy", within="82 KB")

    assert screen.asked == [SelectDiscussion("d1")]
    assert not screen.ui.has("Show claude-code-7f3a")


def test_the_filter_finds_by_words_and_by_class() -> None:
    screen = open_at("conversations", hs.looked())

    screen.ui.type("Find a conversation", "PARSER")
    assert [row[0] for row in rows(screen)] == ["Parser regressions"]

    screen.ui.type("Find a conversation", "")
    screen.ui.choose("Show only one state", "Empty")
    assert [row[0] for row in rows(screen)] == ["Untitled", "Untitled 2"]

    screen.ui.type("Find a conversation", "nothing like that")
    assert screen.ui.shows("No conversation matches.")


def test_nothing_found_is_said_and_nothing_can_be_previewed() -> None:
    screen = open_at("conversations", hs.nothing())

    assert screen.ui.shows("There are no conversations yet.")
    assert not screen.ui.shows("Nothing to harvest"), "of conversations that are not there"
    assert not screen.ui.find("Preview", kind="button").is_enabled


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (with_fields(hs.looked(), is_home_read_only=True), "read-only"),
        (hs.state(hs.seen(phase=HarvestPhase.LOOKING)), "Wait until the current work ends"),
        (with_fields(hs.looked(), providers={"anthropic": ProviderStatus(
            "anthropic", ProviderKind.ANTHROPIC, "Anthropic", KeySource.MISSING, is_ready=False, problem="No key")}), "No key"),
    ],
)  # fmt: skip
def test_what_keeps_a_preview_from_being_made_is_said(state: AppState, why: str) -> None:
    screen = open_at("conversations", state)

    button = screen.ui.find("Preview 4 conversations", kind="button")
    assert not button.is_enabled
    assert why in button.tip


def test_giving_up_is_asked_for_first_and_says_what_happens() -> None:
    screen = open_at("conversations", hs.looked())
    screen.ui.click("Read Harvest worker design")
    screen.ui.click("More actions for the conversations")
    screen.ui.click("Move 2 conversations to the trash without harvesting…")

    assert screen.asked == []
    assert screen.ui.shows(
        "2 conversations go to the trash. No model reads them, and knowledge keeps nothing of them."
    )
    assert screen.ui.shows("2 empty conversations go to the trash.")
    screen.ui.click("Keep")
    assert screen.asked == []

    screen.ui.click("More actions for the conversations")
    screen.ui.click("Move 2 conversations to the trash without harvesting…")
    screen.ui.click("Move to trash")

    first, _, third = (one.facts.path for one in hs.artifacts()[:3])
    assert screen.asked == [ApplyHarvest((first, third))], (
        "what belongs to another program is never reclaimed"
    )
    assert screen.view.of(HarvestView).tab == "applied"


def test_the_empty_ones_alone_can_be_removed() -> None:
    screen = open_at("conversations", hs.looked())
    screen.ui.click("More actions for the conversations")
    screen.ui.click("Remove 2 empty conversations…")
    screen.ui.click("Remove")

    assert screen.asked == [ApplyHarvest()]


def test_while_a_preview_stands_nothing_is_given_up_and_a_button_leads_back_to_it() -> None:
    screen = open_at("conversations", hs.previewed())
    screen.ui.click("More actions for the conversations")
    assert not screen.ui.find("Move 3 conversations to the trash without harvesting…").is_enabled
    assert not screen.ui.find("Remove 2 empty conversations…").is_enabled

    screen.ui.click("Back to the preview")

    assert screen.view.of(HarvestView).tab == "preview"
    assert screen.asked == []


# --- progress and problems


def test_a_run_shows_its_phase_how_far_it_is_and_what_it_reads_on_every_part() -> None:
    for tab in HARVEST_TABS:
        screen = open_at(tab, hs.previewing())
        assert screen.ui.shows("Reading conversations")
        assert screen.ui.shows("1 of 4 · 2026-11-03-harvest-worker-design")
        assert [node.props["fraction"] for node in hub(screen).walk() if node.kind == "progress"] == [0.25]


def test_a_run_can_be_cancelled_once() -> None:
    screen = open_at("preview", hs.previewing())
    screen.ui.click("Cancel")
    assert screen.asked == [CancelHarvest()]

    screen.show(replace(screen.state, harvest=replace(screen.state.harvest, is_cancelling=True)))

    assert not screen.ui.find("Stopping…", kind="button").is_enabled


def test_a_failure_stands_in_the_panel_with_its_remedy() -> None:
    screen = open_at("conversations", hs.failed())

    words = panel(screen)
    assert "The ledger is unreadable: ledger.json, line 12" in words
    assert "Repair the line or move the file away; nothing was changed." in words
    screen.ui.click("Reload the conversations, the ledger and the list of applied harvests")
    assert screen.asked == [LookForHarvest()]


# --- every state


@pytest.mark.parametrize("tab", HARVEST_TABS)
@pytest.mark.parametrize("name", ["nothing", "unseen", "looked", "previewing", "previewed", "applying", "applied",
                                  "undone", "failed", "wordy"])  # fmt: skip
def test_every_state_draws_in_every_part(name: str, tab: HarvestTab) -> None:
    screen = open_at(tab, getattr(hs, name)())

    assert screen.ui.has("Conversations", kind="tab")
    assert screen.asked == []


def test_in_recall_only_nothing_can_be_read_and_the_way_to_another_mode_is_there() -> None:
    recall = Settings(knowledge=KnowledgeSettings(mode=MemoryMode.RECALL.value))
    for tab in ("conversations", "preview"):
        screen = open_at(tab, with_fields(hs.looked(), settings=recall))
        assert screen.ui.shows(RECALL_ONLY)
        assert not any(
            node.is_enabled for node in screen.ui.nodes("button") if node.label.startswith("Preview")
        )
        assert not screen.ui.shows("As a batch")
        screen.ui.click("Choose another mode")
        assert screen.ui.shows(
            "Choose whether a harvest may write to knowledge without asking you"
        ) or screen.ui.shows("Harvest settings")

    found = open_at("preview", with_fields(hs.previewed(), settings=recall))
    assert not found.ui.find("Apply").is_enabled


def test_a_hundred_thousand_of_each_draw_only_what_is_in_view() -> None:
    state = hs.many()
    tabs: tuple[HarvestTab, ...] = ("conversations", "preview", "ledger")
    for tab in tabs:
        screen = open_at(tab, state)
        assert 3 < len(screen.ui.nodes("list_row")) < 200


def test_a_harvest_of_a_first_run_is_quiet() -> None:
    screen = Screen(states.first_run())
    screen.ui.press("Ctrl+5")

    assert screen.ui.shows("looked at the conversations yet") or screen.ui.shows("no conversations yet")


def test_a_look_without_anything_has_no_counts_to_hide() -> None:
    screen = open_at("conversations", hs.state(hs.seen(look=HarvestLook())))

    assert screen.ui.shows("No conversations")


@pytest.mark.parametrize(
    ("is_undo", "agreed"),
    [(True, UndoHarvest("a", is_agreed=True)), (False, ApplyHarvest(is_agreed=True))],
)
def test_before_much_is_taken_out_the_list_is_shown_and_a_yes_is_asked_for(
    is_undo: bool, agreed: UndoHarvest | ApplyHarvest
) -> None:
    gone = tuple(Item(Category.FACTS, "facts.md", f"Fact {n}.") for n in range(5))
    question = RemovalQuestion("This would remove 5 of 6 facts", gone, is_undo, "a" if is_undo else "")
    state = hs.looked()
    screen = open_at("applied", replace(state, harvest=replace(state.harvest, question=question)))

    assert screen.ui.shows("This would remove 5 of 6 facts.")
    assert "facts.md: Fact 4." in " ".join(screen.ui.texts())
    screen.ui.click("Keep")
    screen.ui.click("Continue", within="This would remove 5 of 6 facts.")
    assert screen.asked == [LeaveRemoval(), agreed]
