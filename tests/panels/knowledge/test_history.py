"""An item opens what it stands on: quote, turn, history; the turn is shown in its conversation, or said to be gone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.facts import (
    EvidenceRow,
    EvidenceState,
    HistoryKind,
    HistoryLine,
    ItemEvent,
    ItemEventKind,
    ItemHistory,
    TurnPlace,
    Witness,
)
from core.knowledge.knowledge_messages import ExplainItem
from core.talk.discussion.discussion_messages import SelectDiscussion, UndoDelete
from panels.discussion.view import DiscussionView, Landing
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import MOON, item_of, open_panel
from tests.panels.screen import Screen

AT = "2026-11-20T12:00:00.000000+00:00"
QUOTE = "the moon pulls"
ROW = EvidenceRow(
    "a" * 64, AT, "2026-11-01-tides", "/p/log.jsonl", "b" * 64, "tides", turns=("m-7",), quote=QUOTE
)


def opened(*witnesses: Witness, **told: object) -> Screen:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Why the model knows this", within=MOON)
    item = item_of(screen.state, MOON)
    assert screen.asked == [ExplainItem(item)]
    screen.sent.clear()
    history = replace(ItemHistory("a" * 64, item.category.value, item.text, witnesses), **told)  # type: ignore[arg-type]
    screen.show(replace(screen.state, evidence=EvidenceState(history)))
    return screen


def test_a_quote_opens_its_message_in_the_conversation() -> None:
    screen = opened(
        Witness(ROW, TurnPlace.LIST, "Tides", "assistant", "Because the moon pulls.", is_there=True)
    )

    assert screen.ui.shows(f"“{QUOTE}”")
    assert screen.ui.shows("From Tides, of 2026-11-01, harvested 2026-11-20 12:00")
    assert screen.ui.shows("The model said:")
    (turn,) = [node for node in screen.ui.nodes("markdown") if node.value == "Because the moon pulls."]
    assert turn.props["terms"] == (QUOTE,)
    screen.ui.click("Show the message")
    assert screen.asked == [SelectDiscussion("tides")]
    assert screen.view.of(DiscussionView).landing == Landing("tides", "m-7", QUOTE, is_phrase=True)
    assert (screen.view.page, screen.view.dialog) == ("chat", None)


def test_a_turn_in_the_trash_is_read_there_and_can_be_taken_out() -> None:
    screen = opened(Witness(ROW, TurnPlace.TRASH, "Tides", "user", "Because the moon pulls.", is_there=True))

    assert screen.ui.shows("From Tides, of 2026-11-01, harvested 2026-11-20 12:00 (in the trash)")
    assert screen.ui.shows("You said:")
    assert screen.ui.shows(QUOTE)
    screen.ui.click("Restore from trash")
    assert screen.asked == [UndoDelete("tides")]


@pytest.mark.parametrize(
    ("witness", "words"),
    [
        (Witness(ROW, TurnPlace.GONE, "Tides"), "the conversation is gone"),
        (Witness(ROW, TurnPlace.LIST, "Tides"), "the message is gone"),
        (Witness(ROW, TurnPlace.LIST, "Tides", "user", "Other words."), "the message has changed since"),
    ],
)
def test_what_cannot_be_shown_is_said(witness: Witness, words: str) -> None:
    assert words in " ".join(opened(witness).ui.texts())


def test_the_history_and_the_requests_are_told_and_torn_lines_counted() -> None:
    accepted = ItemEvent(ItemEventKind.ACCEPTED, AT, "a" * 64, source="2026-11-01-tides")
    entered = ItemEvent(ItemEventKind.INJECTED, AT, discussion="d-1", model="luna", items=("a" * 64,))
    texts = " ".join(
        opened(lines=(HistoryLine(HistoryKind.ACCEPTED, accepted),), injected=(entered,), torn=3).ui.texts()
    )

    assert "written by hand" in texts
    assert "2026-11-20 12:00  accepted (from 2026-11-01-tides)" in texts
    assert "2026-11-20 12:00  luna, discussion d-1" in texts
    assert "skipped 3 unreadable lines of the logs" in texts


def test_the_history_of_another_item_is_not_shown_for_this_one() -> None:
    screen = opened(category="decisions")
    assert screen.ui.shows("Reading the logs…")
    screen.ui.click("Close")
    assert screen.view.dialog is None
