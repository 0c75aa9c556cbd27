"""What the harvest wrote as a person meets it: the report of the last apply or undo, and every apply with its way back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import HarvestPhase
from core.knowledge.harvest.harvest_messages import UndoHarvest
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.harvest.harvest_room import HarvestTab, HarvestView
from tests.panels.caching import cache_states
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at, panel
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def test_the_report_tells_what_was_written_reclaimed_and_kept_and_where() -> None:
    words = panel(open_at("applied", hs.applied()))

    for expected in (
        "12 items written",
        "3 facts · 4 decisions · 1 done task · 2 open tasks · 1 question · 1 file note",
        "246 KB moved to the trash · 1 known already, not written again · 1 malformed row dropped",
        "Parser regressions", "the provider timed out after 5 minutes", "Knowledge import", "too large",
        "digest.md", "ledger.json",
    ):  # fmt: skip
        assert expected in words
    assert not any(text.startswith("/home/person/.manual_slop/knowledge") for text in words)


def test_a_run_that_ended_early_says_so_in_its_report() -> None:
    screen = open_at("applied", hs.state(hs.seen(report=replace(hs.report(), stopped="the disk is full"))))

    assert screen.ui.shows("The harvest stopped before it wrote every item")
    assert screen.ui.shows("the disk is full")
    assert not screen.ui.shows("The preview still holds the items that were not written.")

    screen.show(replace(screen.state, harvest=replace(screen.state.harvest, preview=hs.preview())))
    assert screen.ui.shows("The preview still holds the items that were not written.")


def test_a_text_of_the_report_opens_in_an_editor_and_the_path_of_another_file_is_copied() -> None:
    screen = open_at("applied", hs.applied())

    screen.ui.click("Open digest.md in editor")
    screen.ui.click("Copy the path /home/person/.manual_slop/knowledge/ledger.json")

    assert screen.ui.files == ["/home/person/.manual_slop/knowledge/digest.md"]
    assert screen.ui.copied == ["/home/person/.manual_slop/knowledge/ledger.json"]


@pytest.mark.parametrize("tab", ["applied", "ledger", "conversations"])
def test_before_the_first_look_no_part_says_that_there_is_nothing(tab: HarvestTab) -> None:
    words = panel(open_at(tab, hs.unseen()))

    assert "The program has not looked at the conversations yet." in words
    assert not [text for text in words if text.startswith(("Nothing", "You have not", "No conversations"))]


def test_the_last_apply_and_every_other_can_be_taken_back() -> None:
    newer = replace(hs.applies()[0], id="a3", items=5, conversations=1, reclaimed=1)
    state = hs.applied()
    look = replace(hs.look(), applies=(newer, *hs.applies()))
    screen = open_at("applied", replace(state, harvest=replace(state.harvest, look=look)))

    screen.ui.click("Undo last harvest")
    screen.ui.click("Undo", within="12 items · 3 conversations · 3 of these in the trash")

    assert screen.asked == [UndoHarvest(), UndoHarvest("a2")]
    assert sum("Undo" in one.words() for one in screen.ui.nodes("button")) == 1, "each apply by one button"
    assert screen.ui.shows("undone 3 Oct")
    assert screen.ui.shows("Harvest of Cache TTL policy and 1 more")


def test_the_report_tells_what_was_struck_through_and_leads_to_the_items() -> None:
    screen = open_at("applied", hs.state(hs.seen(report=replace(hs.report(), struck=2))))

    assert screen.ui.shows("2 known items struck through")
    screen.ui.click("Show in Knowledge")
    assert screen.view.panel == "knowledge"


def test_what_was_taken_back_left_and_restored_is_told() -> None:
    screen = open_at("applied", hs.undone())
    words = panel(screen)

    for expected in (
        "Undone", "The undo removed 11 lines · 2 conversations are back", "1 line kept, because you changed it since",
        "facts.md: Anthropic counts a 5-minute entry from its last read. Mostly.", "Cache TTL policy", "gone",
        "The program could not undo this", "harbour.md could not be read: permission denied",
    ):  # fmt: skip
        assert expected in words
    screen.ui.click("Show Cache TTL policy", within="Undone")
    assert screen.asked == [SelectDiscussion("d1")]


def test_an_undo_that_moved_no_conversation_speaks_of_none() -> None:
    screen = open_at("applied", hs.state(hs.seen(undone=replace(hs.undo_report(), restored=()))))

    assert screen.ui.shows("The undo removed 11 lines")
    assert not screen.ui.shows("conversations are back")


def test_nothing_can_be_taken_back_twice_or_while_a_run_is_on_or_read_only() -> None:
    undone = replace(hs.look(), applies=hs.applies()[1:])
    for state, why in (
        (hs.state(hs.seen(look=undone)), "There is nothing to undo"),
        (hs.state(hs.seen(phase=HarvestPhase.UNDOING)), "Wait until the current work ends"),
        (with_fields(hs.applied(), is_home_read_only=True), "read-only"),
    ):
        button = open_at("applied", state).ui.find("Undo last harvest", kind="button")
        assert not button.is_enabled
        assert why in button.tip


def test_before_the_first_apply_the_part_says_so() -> None:
    assert open_at("applied", hs.nothing()).ui.shows("You have not applied anything yet.")


def test_before_an_undo_its_price_is_said() -> None:
    for menu in (True, False):
        for state, sends in (
            (hs.applied(), [UndoHarvest()]),
            (cache_states.with_price_of_deletion(hs.applied()), []),
        ):
            screen = Screen(state) if menu else open_at("applied", state)
            if menu:
                screen.ui.click("Edit")
            screen.ui.click("Undo last harvest")
            assert screen.asked == sends
            assert screen.view.of(HarvestView).tab == "applied"
            assert screen.ui.shows("the next turn rewrites the cache of") is not bool(sends)
            if not sends:
                screen.ui.click("Undo anyway")
                assert screen.asked == [UndoHarvest()]
