"""Recall in the Context view: what goes along, why, and keeping it out, once or for good."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.knowledge import Category, CategoryFile, Item
from core.kernel.values.retrieval import Corpus, Recalled, RecalledPassage
from core.kernel.values.state import AppState
from core.retrieval.ambient import item_mark
from core.services.settings.settings_messages import ChangeSetting
from core.talk.context.context_messages import KeepOut
from panels.base.view import WindowView
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields

PASSAGE = RecalledPassage(
    "knowledge:a.md",
    Corpus.KNOWLEDGE,
    "a.md:3",
    "a",
    "the passage contains checkpoint, interval",
    "2026-06-01",
    0.9,
    words="The interval is thirty seconds.",
)


def _screen(recalled: Recalled, state: AppState | None = None) -> Screen:
    report = replace(states.report(), recalled=recalled)
    shown = with_fields(state or states.working(), reports={"d1": report})
    return Screen(shown, WindowView(panel="context"))


def test_a_passage_shows_its_place_its_date_its_words_and_why_before_anything_is_sent() -> None:
    told = '<passage source="a.md:3">\nThe interval is thirty seconds.\n</passage>\n'
    screen = _screen(Recalled(told, (PASSAGE,), 120))

    assert screen.ui.shows("Recalled for this message · ≈ 120 tokens")
    assert screen.ui.shows("a.md:3 · 2026-06-01")
    assert screen.ui.shows("The interval is thirty seconds.")
    assert screen.ui.shows("Because the passage contains checkpoint, interval.")


def test_a_click_keeps_it_out_once_and_another_for_good() -> None:
    screen = _screen(Recalled("text", (PASSAGE,), 120))

    screen.ui.click("Leave out")
    screen.ui.click("Never recall")

    assert screen.sent == [
        KeepOut("d1", "knowledge:a.md"),
        ChangeSetting("retrieval.kept_out", ("knowledge:a.md",)),
    ]


def test_what_is_kept_out_can_be_let_in_again() -> None:
    state = states.with_opened(states.working(), kept_out=("knowledge:a.md",))
    screen = _screen(Recalled(), state)

    screen.ui.click("Include again")

    assert screen.sent == [KeepOut("d1", "knowledge:a.md", is_out=False)]


def test_an_item_that_is_kept_out_is_named_by_its_words() -> None:
    words = "The interval\n  is thirty seconds."
    files = (CategoryFile("facts.md", items=(Item(Category.FACTS, "facts.md", words),)),)
    mark = item_mark("The interval is thirty seconds.")
    working = states.working()
    state = states.with_opened(
        replace(working, knowledge=replace(working.knowledge, categories=files)),
        kept_out=(f"knowledge:facts.md#{mark}", "knowledge:facts.md#000000000000"),
    )
    shown = _screen(Recalled(), state).ui

    assert shown.shows("Left out of the next message: facts.md: The interval is thirty seconds.")
    assert shown.shows("facts.md: a knowledge item that was changed since then")


def test_less_than_all_is_said_and_nothing_takes_no_room() -> None:
    assert _screen(Recalled(problem="Recall took too long.")).ui.shows("Recall took too long.")
    assert not any("Recalled" in text for text in _screen(Recalled()).ui.texts())
