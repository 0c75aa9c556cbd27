"""Structured facts in the Knowledge panel: filters, bars, marks, and an edit that is sent once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.facts import (
    EvidenceRow,
    EvidenceState,
    FactCategory,
    FactProblem,
    FactsState,
    IndexedFact,
    ItemHistory,
    TurnPlace,
    Witness,
)
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import conclude
from core.knowledge.knowledge_messages import (
    DeleteFact,
    EditFact,
    ExplainFact,
    KnowledgeDeleted,
    RestoreFact,
    SyncFacts,
)
from core.knowledge.knowledge_step import HANDLERS
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.discussion.view import DiscussionView, Landing
from panels.knowledge.knowledge_room import KnowledgeView
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import open_panel, words_of
from tests.panels.screen import Screen

AT = "2026-11-20T12:00:00.000000+00:00"


def fact(name: str, text: str, effective: float = 0.7, **more: object) -> IndexedFact:
    domain, category, _ = name.split(":")
    made: IndexedFact = IndexedFact(
        name, text, FactCategory(category), domain, 0.7, effective_confidence=effective, **more  # type: ignore[arg-type]
    )  # fmt: skip
    return made


FACTS = (
    fact("moon:fact:001", "The moon pulls", tags=("sky",)),
    fact("tides:fact:001", "Tides are late", 0.42, harvests_since_confirmed=150),
    fact("tides:pitfall:001", "Mud is deep", tags=("sea", "sky"), stale=True, expires="2026-11-01"),
    fact("tides:question:001", "How high?", held=True),
)
PROBLEM = FactProblem("repos/tides.yaml", 14, "confidence is 7; it must be a number from 0.0 to 1.0")


def state(facts: tuple[IndexedFact, ...] = FACTS, problems: tuple[FactProblem, ...] = ()) -> AppState:
    known = ks.some()
    return replace(known, knowledge=replace(known.knowledge, facts=FactsState(facts, problems)))


def shown(screen: Screen) -> list[str]:
    texts = [one.text for one in FACTS]
    return [word for word in words_of(screen) if word in texts]


def test_facts_are_listed_with_bar_and_marks() -> None:
    screen = open_panel(state(), tab="facts")

    assert shown(screen) == [one.text for one in FACTS]
    assert "4 of 4 facts" in words_of(screen)
    assert [node.props["fraction"] for node in screen.ui.nodes("progress")] == [0.7, 0.42, 0.7, 0.7]
    assert [node.value for node in screen.ui.nodes("badge") if node.value in {"expired", "held"}] == [
        "expired",
        "held",
    ]
    assert (
        "0.42: inferred from little; 0.70 in its file, last confirmed 150 harvested conversations ago; too low for requests"
        in screen.ui.tips()
    )


def test_filters_by_domain_category_tag_and_words_narrow_the_list() -> None:
    for filters, left in (
        ({"fact_domain": "moon"}, ["The moon pulls"]),
        ({"fact_category": "pitfall"}, ["Mud is deep"]),
        ({"fact_tag": "sky"}, ["The moon pulls", "Mud is deep"]),
        ({"fact_query": "how HIGH"}, ["How high?"]),
        ({"fact_domain": "tides", "fact_tag": "sky"}, ["Mud is deep"]),
    ):
        screen = open_panel(state(), tab="facts")
        for name, value in filters.items():
            setattr(screen.view.of(KnowledgeView), name, value)
        screen.show(screen.state)
        assert shown(screen) == left


def test_a_problem_is_shown_with_its_place_and_once() -> None:
    screen = open_panel(state(problems=(PROBLEM,)), tab="facts")

    told = "repos/tides.yaml, line 14: confidence is 7; it must be a number from 0.0 to 1.0."
    assert words_of(screen).count(told) == 1
    assert screen.ui.shows("Requests use a broken fact's last valid text until you repair its lines.")
    screen.ui.click("Open tides.yaml in editor")
    assert [one.endswith("knowledge/repos/tides.yaml") for one in screen.ui.files] == [True]


def test_one_rule_of_keys_holds_in_the_editor_of_a_fact() -> None:
    screen = open_panel(state(), tab="facts")
    for key, sends in (("Escape", 0), ("Ctrl+Enter", 1)):
        screen.ui.click("Edit moon:fact:001")
        assert screen.ui.shows("Ctrl+Enter saves, Escape cancels")
        screen.ui.type("One sentence, at most 280 characters", "The moon pulls much")
        screen.ui.press(key)
        assert len(screen.asked) == sends
        assert bool(screen.view.of(KnowledgeView).fact_edits) is bool(sends)


def test_an_edit_is_sent_with_what_was_shown_and_closes_when_it_is_done() -> None:
    screen = open_panel(state(), tab="facts")
    screen.ui.click("Edit moon:fact:001")
    draft = screen.view.of(KnowledgeView).fact_edits["moon:fact:001"]
    draft.text, draft.confidence, draft.tags = "The moon  pulls\ntwice", "0.9", "sky, tide"
    screen.show(screen.state)

    screen.ui.click("Save")

    (sent,) = screen.asked
    assert sent == EditFact("moon:fact:001", "The moon pulls", "The moon pulls twice", 0.9, ("sky", "tide"))
    screen.show(conclude(screen.state, CommandOutcome(draft.command_id)))
    assert screen.view.of(KnowledgeView).fact_edits == {}


def test_a_refused_edit_stays_open_with_the_reason() -> None:
    screen = open_panel(state(), tab="facts")
    screen.ui.click("Edit moon:fact:001")
    draft = screen.view.of(KnowledgeView).fact_edits["moon:fact:001"]
    draft.confidence = "7"
    screen.show(screen.state)
    assert "Enter a confidence from 0.0 to 1.0" in words_of(screen)
    assert not screen.ui.find("Save").is_enabled

    draft.confidence = "0.7"
    screen.show(screen.state)
    screen.ui.click("Save")
    screen.show(conclude(screen.state, CommandOutcome(draft.command_id, problem="It has changed")))

    assert "It has changed" in words_of(screen)


def test_words_being_typed_are_told_when_an_editor_changed_or_took_out_their_fact() -> None:
    screen = open_panel(state(), tab="facts")
    screen.ui.click("Edit moon:fact:001")
    draft = screen.view.of(KnowledgeView).fact_edits["moon:fact:001"]
    draft.text = "The moon pulls much"
    knowledge = screen.state.knowledge
    facts = knowledge.facts.facts
    other = tuple(replace(one, text="It pulls.") if one.id == "moon:fact:001" else one for one in facts)
    screen.show(
        replace(screen.state, knowledge=replace(knowledge, facts=replace(knowledge.facts, facts=other)))
    )
    assert "This fact has changed in its file. The file now says: It pulls." in words_of(screen)

    rest = tuple(one for one in facts if one.id != "moon:fact:001")
    screen.show(
        replace(screen.state, knowledge=replace(knowledge, facts=replace(knowledge.facts, facts=rest)))
    )
    assert "The fact moon:fact:001 is no longer in its file. Your text is kept here." in words_of(screen)
    assert screen.ui.shows("The moon pulls much")
    screen.ui.click("Discard")
    assert screen.view.of(KnowledgeView).fact_edits == {}


def test_the_files_are_read_again_when_asked() -> None:
    screen = open_panel(state(), tab="facts")

    screen.ui.click("Read the YAML files again now")

    assert screen.asked == [SyncFacts()]


def test_a_fact_opens_its_quote_and_the_turn_that_it_stands_in() -> None:
    screen = open_panel(state(), tab="facts")
    screen.ui.click("Why the model knows moon:fact:001")

    assert screen.asked == [ExplainFact("moon:fact:001")]
    other = ItemHistory("", "fact", "The moon pulls", fact="moon:fact:002")
    screen.show(replace(screen.state, evidence=EvidenceState(other)))
    assert screen.ui.shows("Reading the logs…")
    row = EvidenceRow("a" * 64, AT, "talk", "/p", "b" * 64, "tides", turns=("m-7",), quote="it pulls")
    seen = Witness(row, TurnPlace.LIST, "Tides", "user", "Because it pulls.", is_there=True)
    told = replace(other, fact="moon:fact:001", witnesses=(seen,))
    screen.show(replace(screen.state, evidence=EvidenceState(told)))
    assert screen.ui.shows("“it pulls”")
    screen.ui.click("Show the message")

    assert screen.asked[-1] == SelectDiscussion("tides")
    assert screen.view.of(DiscussionView).landing == Landing("tides", "m-7", "it pulls", is_phrase=True)


def test_a_fact_is_deleted_as_it_was_shown_and_the_notice_offers_to_put_it_back() -> None:
    screen = open_panel(state(), tab="facts")
    screen.ui.click("Delete moon:fact:001")

    assert screen.asked == [DeleteFact("moon:fact:001", "The moon pulls")]
    undo = RestoreFact("moon:fact:001", "repos/moon.yaml", "- id: moon:fact:001\n", 90)
    after, _ = HANDLERS(screen.state, KnowledgeDeleted("The moon pulls", undo))
    (notice,) = after.program.notices
    assert (notice.action, notice.action_label) == (undo, "Undo")
    assert HANDLERS(after, undo)[0].program.notices == ()


def test_a_held_fact_and_one_of_a_home_that_cannot_be_written_are_not_deleted() -> None:
    screen = open_panel(state(), tab="facts")
    assert screen.ui.shows("How high?")
    with pytest.raises(AssertionError):
        screen.ui.find("Delete tides:question:001")
    known = state()
    screen = open_panel(replace(known, program=replace(known.program, is_home_read_only=True)), tab="facts")

    assert all(
        not node.is_enabled for node in screen.ui.nodes("button") if node.props.get("icon") == "trash-can"
    )


def test_what_was_deleted_is_put_back_where_it_was_deleted_and_there_alone() -> None:
    undo = RestoreFact("moon:fact:001", "repos/moon.yaml", "- id: moon:fact:001\n", 0)
    gone, _ = HANDLERS(state(), KnowledgeDeleted("The moon pulls", undo))
    screen = open_panel(gone, tab="facts")

    screen.ui.click("Undo", within="Deleted: The moon pulls")

    assert screen.asked == [undo]
    assert screen.ui.texts().count("Deleted: The moon pulls") == 1
