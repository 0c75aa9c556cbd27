"""A merge in the Knowledge panel: its price before a model is asked, one rule of keys, one way on, and its undo told."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.app_messages import DismissNotice
from core.kernel.values.harvest import ApplyKind, ApplySummary, HarvestState, UndoReport
from core.kernel.values.knowledge import Category, MergeGroup, MergeProposal, RemovalQuestion
from core.kernel.values.state import AppState, Level, Notice
from core.knowledge.categories import parse_file
from core.knowledge.harvest.harvest_messages import ApplyMerge, EditMergeGroup, ProposeMerge
from panels.knowledge.knowledge_room import KnowledgeView
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import open_panel, words_of
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields

FILE = parse_file("facts.md", b"".join(b"- The tide number %d.\n" % n for n in range(5)))
TIP = "Merge: a model proposes a shorter list; you see the price first"


def state(**harvest: object) -> AppState:
    known = ks.some()
    knowledge = replace(known.knowledge, categories=(FILE,))
    made: HarvestState = replace(known.harvest, **harvest)  # type: ignore[arg-type]
    return replace(known, knowledge=knowledge, harvest=made)


def proposed(**harvest: object) -> Screen:
    group = MergeGroup("g1", FILE.items[:4], "Tides.")
    merge = MergeProposal(
        Category.FACTS, "facts.md", (group,), "anthropic", "m", 5, 5, calls=1, cost_usd=0.012
    )
    return open_panel(state(merge=merge, **harvest), tab="merge")


def test_price_and_model_are_said_before_a_model_is_asked_and_the_cost_after() -> None:
    screen = open_panel(state(), "facts")
    screen.ui.click(TIP)

    assert screen.asked == []
    assert screen.ui.shows("reads 5 items in facts.md")
    screen.ui.click("Ask for a merge (free)")  # the embedded model reads
    assert screen.asked == [ProposeMerge(Category.FACTS)]
    assert "The proposal cost $0.012." in " ".join(words_of(proposed()))


def test_an_offer_that_is_left_asks_nobody() -> None:
    screen = open_panel(state(), "facts")
    screen.ui.click(TIP)
    screen.ui.click("Cancel", within="Ask for a merge")

    assert screen.asked == []
    assert screen.view.of(KnowledgeView).tab == "items"


def test_one_rule_of_keys_holds_for_merged_words() -> None:
    screen = proposed()
    for key, sent in (("Escape", []), ("Ctrl+Enter", [EditMergeGroup("g1", "Tides, all.")])):
        screen.ui.click("Edit the merged text")
        screen.ui.type("Text of the merged item", "Tides, all.")
        screen.ui.press(key)
        assert screen.asked == sent
        assert screen.view.of(KnowledgeView).merge_edits == {}


def test_while_it_is_asked_about_there_is_one_way_on() -> None:
    question = RemovalQuestion(
        "This would put 1 item in place of 4 of 5 facts", FILE.items[:4], is_merge=True
    )
    screen = proposed(question=question)

    assert not screen.ui.find("Write 1 merge").is_enabled
    screen.ui.click("Continue", within="This would put 1 item in place of 4 of 5 facts")
    assert screen.asked == [ApplyMerge(is_agreed=True)]


def test_an_undone_merge_is_said() -> None:
    look = replace(
        ks.some().harvest.look,
        applies=(ApplySummary("m", "", "2026", kind=ApplyKind.MERGE, sources=("facts.md",)),),
    )
    screen = open_panel(state(look=look, undone=UndoReport("m", 2, (), ())), tab="merge")

    assert screen.ui.shows("Merge of facts.md was undone")


def test_a_merge_that_did_not_begin_is_said_once_in_its_tab_and_goes_on_from_there() -> None:
    again = ProposeMerge(Category.FACTS, over_limit=True)
    notice = Notice(
        "harvest", Level.WARNING, "No model was asked.", "The limit is reached.", action=again, action_label="Read anyway"
    )  # fmt: skip
    screen = open_panel(with_fields(state(), notices=(notice,)), tab="merge")

    assert words_of(screen).count("No model was asked.") == 1
    screen.ui.click("Read anyway")
    assert screen.asked == [again, DismissNotice("harvest")]


def test_what_did_not_begin_is_said_also_while_a_merge_is_offered() -> None:
    """The notice beside the window is left out in this tab."""
    notice = Notice("harvest", Level.WARNING, "No model was asked.", "The limit is reached.")
    view = view_of(KnowledgeView(tab="merge", merge_offer=Category.FACTS), panel="knowledge")
    screen = Screen(with_fields(state(), notices=(notice,)), view)

    assert words_of(screen).count("No model was asked.") == 1
