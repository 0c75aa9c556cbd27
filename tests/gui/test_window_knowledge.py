"""The Knowledge panel on a real window: it fits in every state, and real input reaches it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.knowledge import Category, ProposalsState
from core.kernel.values.state import AppState
from core.knowledge.knowledge_messages import DeleteKnowledgeItem, EditKnowledgeItem, SetTaskDone
from gui.elements.editor import Editor, SelectableText
from gui.elements.popups import anchor_of
from gui.elements.text import Text
from panels.base.view import Dialog, WindowView
from panels.knowledge.knowledge_room import ItemDraft, KnowledgeView, begin_edit, begin_new
from tests.gui.conftest import Screen
from tests.gui.test_window_caching import Desk
from tests.gui.test_window_states import panel_shown
from tests.panels import states
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.test_facts import state as fact_state
from tests.panels.knowledge.test_proposals import ONE, TWO
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
STATES: dict[str, Callable[[], AppState]] = {
    "some": ks.some,
    "empty": ks.empty,
    "odd": ks.odd,
    "broken": ks.broken,
    "off by deletion": ks.off_by_deletion,
    "off by configuration": ks.off_by_configuration,
    "many": lambda: ks.many(3_000),
    "first run": states.first_run,
}
ALL = {category.value for category in Category}


def _view(tab: str = "items", *only: str) -> WindowView:
    view = view_of(KnowledgeView(tab=tab), panel="knowledge")
    if only:
        view.of(KnowledgeView).closed = ALL - set(only)
    return view


@pytest.mark.parametrize("tab", ["items", "digest"])
@pytest.mark.parametrize("name", sorted(STATES))
@pytest.mark.parametrize("scale", [0.9, 1.0, 1.5])
def test_every_state_fits(screen: Screen, name: str, tab: str, scale: float) -> None:
    assert panel_shown(screen, STATES[name](), _view(tab), scale) == []


def test_short_names_of_files_are_whole_in_a_narrow_hub(screen: Screen) -> None:
    view = _view("items", "files")
    view.hub_px, view.side = 270.0, "hub"
    assert panel_shown(screen, ks.some(), view) == []
    names = [el for el in screen.ui.tree.root.walk() if isinstance(el, Text) and el.label().endswith(".py")]
    assert {el.label() for el in names} >= {"gone.py", "lost.py"}
    assert not any(el.is_cut for el in names)


@pytest.mark.parametrize("px", [288.0, 800.0])
def test_cards_of_facts_fit_a_hub_of_any_width(screen: Screen, px: float) -> None:
    view = _view("facts")
    view.hub_px, view.side = px, "hub"
    assert panel_shown(screen, fact_state(), view) == []


@pytest.mark.parametrize("px", [288.0, 384.0, 800.0])
@pytest.mark.parametrize("section", sorted(ALL))
def test_every_section_fits_a_hub_of_any_width(screen: Screen, section: str, px: float) -> None:
    for state in (ks.some(), ks.odd()):
        view = _view("items", section)
        view.hub_px, view.side = px, "hub"
        assert panel_shown(screen, state, view) == []


@pytest.mark.parametrize("px", [288.0, 800.0])
def test_proposals_fit_a_hub_of_any_width(screen: Screen, px: float) -> None:
    long = replace(TWO, id="p3", name="A name that goes on " * 9, detail="because " * 60, source="S" * 60)
    waiting = ProposalsState((ONE, TWO, long), {"p1": ("High tide is about nine.", "near " * 90)})
    view = _view("proposed")
    view.hub_px, view.side = px, "hub"
    view.of(KnowledgeView).proposal_edits["p2"] = "1. Look."
    assert panel_shown(screen, replace(ks.some(), proposals=waiting), view) == []
    assert (
        panel_shown(screen, replace(ks.some(), proposals=ProposalsState(problem="Broken " * 30)), view) == []
    )


def test_forms_fit(screen: Screen) -> None:
    for px in (288.0, 600.0):
        state, view = ks.some(), _view()
        view.hub_px, view.side = px, "hub"
        for item in state.knowledge.categories[0].items:
            begin_edit(view.of(KnowledgeView), item)
        for category in (Category.PLAYBOOKS, Category.TASKS_OPEN, Category.FACTS):
            begin_new(view.of(KnowledgeView), category)
        view.of(KnowledgeView).show_new = None
        assert panel_shown(screen, state, view) == []
        assert panel_shown(screen, ks.odd(), view) == []  # the items are gone, the words are not


def test_the_question_before_a_deletion_fits(screen: Screen) -> None:
    for state in (ks.some(), ks.odd()):
        view = _view()
        view.dialog = Dialog(
            "delete_item", command=DeleteKnowledgeItem(state.knowledge.categories[0].items[0])
        )
        assert panel_shown(screen, state, view) == []


def test_the_wheel_over_a_long_digest_scrolls_the_panel_to_its_end(screen: Screen) -> None:
    Desk(screen, ks.odd(), _view("digest"))
    text = next(e for e in screen.ui.tree.root.walk() if isinstance(e, SelectableText) and "text" in e.path())

    shown_at_first = screen.driver.rect(text)
    for _ in range(12):
        screen.driver.wheel(text, 5)

    _, top, _, bottom = screen.driver.rect(text)
    assert text.h > bottom - top > shown_at_first[3] - shown_at_first[1]
    assert anchor_of(text)[1] + text.h <= bottom + 1


def test_a_click_ticks_a_task(screen: Screen) -> None:
    state = ks.some()
    desk = Desk(screen, state, _view())

    screen.driver.click("Done: Ask Ana whether the **slot** may outlive its fork")

    assert desk.asked == [SetTaskDone(state.knowledge.categories[0].items[1], True)]


def test_an_item_is_edited_with_the_keyboard(screen: Screen) -> None:
    state = ks.some()
    desk = Desk(screen, state, _view("items", "questions"))
    person = screen.driver

    person.click("Edit", index=1)  # the first is the menu
    person.until(lambda: desk.view.of(KnowledgeView).typing is not None)
    person.type(" so")
    person.key("Ctrl+Enter")
    screen.settle()

    item = state.knowledge.categories[1].items[0]
    assert desk.asked == [EditKnowledgeItem(item, f"{item.text} so")]


def test_escape_closes_the_form_that_has_the_keyboard(screen: Screen) -> None:
    desk = Desk(screen, ks.some(), _view("items", "questions"))
    person = screen.driver
    person.click("Edit", index=1)  # the first is the menu
    person.until(lambda: desk.view.of(KnowledgeView).typing is not None)

    person.key("Escape")
    person.until(lambda: not desk.view.of(KnowledgeView).edits)

    assert desk.asked == []


def test_words_and_keyboard_stay_with_their_item_when_others_come_above_it(screen: Screen) -> None:
    state = ks.some()
    desk = Desk(screen, state, _view("items", "facts"))
    person, view = screen.driver, desk.view.of(KnowledgeView)
    moon, gauge = state.knowledge.categories[3].items[0], state.knowledge.categories[3].items[2]
    begin_edit(view, moon)
    view.edits[next(iter(view.edits))].wants_focus = False
    begin_edit(view, gauge)
    screen.settle()
    person.until(lambda: view.typing is not None)
    person.type(" so")
    person.until(lambda: any(draft.text.endswith(" so") for draft in view.edits.values()))

    more = ks.TEXTS["facts.md"] + "- One more\n"
    desk.show(ks.with_knowledge(ks.known(ks.TEXTS | {"facts.md": more})))
    screen.settle(6)

    texts = {draft.item.text: draft.text for draft in view.edits.values()}
    assert texts == {moon.text: moon.text, gauge.text: f"{gauge.text} so"}
    shown_words = [e.text for e in screen.ui.tree.root.walk() if isinstance(e, Editor) and "hub" in e.path()]
    assert shown_words == [f"{gauge.text} so", moon.text]
    person.until(lambda: isinstance(view.typing, ItemDraft) and view.typing.text.endswith(" so"))


def test_a_hundred_thousand_items_scroll_and_filter(screen: Screen) -> None:
    desk = Desk(screen, ks.many(), _view("items", "facts"))
    person = screen.driver

    person.wheel("The facts number 44999", 15)
    assert not person.has("The facts number 44999")
    person.click("Words or “a phrase”")
    person.type("facts number 4711")
    person.until(lambda: person.has("5 of 100,006 items"))

    assert desk.asked == []
    screen.check()
