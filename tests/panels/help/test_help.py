"""F1: the guide's page about the panel that has the keyboard, with links between pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from core.app.app_messages import Command
from core.app.forgetting.forgetting_messages import ForgetItem
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import CancelBatches, GraduatePlaybook
from core.knowledge.knowledge_messages import DeleteKnowledgeItem, ExplainItem
from core.services.settings.settings_messages import ReadGuide
from core.services.settings.settings_worker import guide_folder, read_guide
from panels.agent.agent_room import AgentView
from panels.base.desk import HubPanel
from panels.base.view import Dialog, RoomView, WindowView
from panels.discussion.view import DiscussionView
from panels.help.help_room import DIALOG_PAGES, PAGES, SECTION_PAGES
from panels.knowledge.knowledge_room import KnowledgeView
from panels.settings import settings_room
from panels.shell.palette import DIALOGS
from panels.shell.rooms import PANELS
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.harvest import harvest_states as hs
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.screen import Screen
from tests.panels.shell.test_notices_panel import untrusted
from tests.panels.views import view_of
from tests.state_fields import with_fields

BEHIND = dict.fromkeys(("remove", "palette", "shortcuts"), "mcp")
"""Dialogs of which what stands under them decides, with the page of the panel that does in these tests."""
ITEM = next(item for file in ks.some().knowledge.categories for item in file.items)
SUBJECTS: dict[str, tuple[Callable[[], AppState], str, str, Command | None]] = {
    "forget": (ks.some, "", "", ForgetItem(item=ITEM)),
    "delete_item": (ks.some, "", "", DeleteKnowledgeItem(ITEM)),
    "graduate_playbook": (ks.some, "", "", GraduatePlaybook(item=ITEM)),
    "item_history": (ks.some, "", "", ExplainItem(ITEM)),
    "harvest_cancel_batches": (hs.batched, "", "", CancelBatches()),
    "trust": (untrusted, "", "", None),
    "undo_turn": (ags.rested, "d1", next(one.turn_id for one in ags.CHANGES if not one.is_undone), None),
}
"""States in which a dialog has something to ask about, with its subject, text and command."""


def _answered(screen: Screen) -> None:
    """The page that was asked for last was read."""
    asked = [one for one in screen.asked if isinstance(one, ReadGuide)]
    screen.show(with_fields(screen.state, guide=read_guide(asked[-1].page)))


def _asked(screen: Screen) -> list[str]:
    return [one.page for one in screen.asked if isinstance(one, ReadGuide)]


def test_every_panel_has_a_page_that_is_there() -> None:
    by_part = {**PAGES, **SECTION_PAGES, **DIALOG_PAGES}
    for page in {*by_part.values(), *(panel.guide for panel in PANELS)}:
        assert (guide_folder() / f"{page}.md").is_file(), page


def test_every_section_and_dialog_is_in_the_tables_of_pages() -> None:
    assert set(SECTION_PAGES) == {page.id for page in settings_room.PAGES}
    assert set(DIALOGS) - set(DIALOG_PAGES) == {"help", *BEHIND}
    assert set(DIALOG_PAGES) < set(DIALOGS)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.id)
def test_f1_opens_the_page_of_the_panel_that_was_asked_for_last(panel: HubPanel) -> None:
    screen = Screen(states.working())
    screen.view.show_hub(panel.id)
    screen.ui.settle()

    screen.ui.press("F1")
    _answered(screen)

    assert _asked(screen) == [panel.guide]
    assert screen.ui.nodes("markdown")[-1].value == (guide_folder() / f"{panel.guide}.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("panel", "own", "page"),
    [("agent", AgentView(tab="autonomy"), "autonomy"), ("knowledge", KnowledgeView(tab="facts"), "facts")],
)
def test_f1_opens_the_page_of_the_part_that_is_in_front(panel: str, own: RoomView, page: str) -> None:
    view = view_of(own)
    view.show_hub(panel)
    screen = Screen(states.working(), view)

    screen.ui.press("F1")

    assert _asked(screen) == [page]


@pytest.mark.parametrize(("section", "page"), SECTION_PAGES.items())
def test_f1_opens_the_page_of_the_section_of_the_settings(section: str, page: str) -> None:
    screen = Screen(states.working(), WindowView(page="settings", settings_section=section))

    screen.ui.press("F1")

    assert _asked(screen) == [page]


@pytest.mark.parametrize(("kind", "page"), [*DIALOG_PAGES.items(), *BEHIND.items()])
def test_f1_opens_the_page_of_a_dialog_which_comes_back(kind: str, page: str) -> None:
    make, subject, text, command = SUBJECTS.get(kind, (states.working, "d1", "", None))
    view = view_of(DiscussionView(comparing=[""] * 4))
    view.show_hub("mcp")
    screen = Screen(make(), view)
    view.dialog = dialog = Dialog(kind=kind, subject=subject, text=text, command=command)
    screen.ui.settle()
    assert view.dialog is dialog, "it stands in this state"

    screen.ui.press("F1")
    _answered(screen)
    assert _asked(screen)[-1:] == [page]
    assert screen.ui.nodes("dialog")[-1].path[-1] == "help"

    screen.ui.press("Escape")
    assert view.dialog is dialog


def test_a_dialog_that_another_one_replaced_does_not_come_back() -> None:
    view = view_of(DiscussionView(comparing=[""] * 4))
    screen = Screen(states.working(), view)
    view.dialog = Dialog(kind="compare", subject="d1")
    screen.ui.settle()
    screen.ui.press("F1")
    _answered(screen)
    view.dialog = None  # as a dropped file does, whose dialog is closed then
    screen.ui.settle()

    screen.ui.press("F1")
    _answered(screen)
    screen.ui.press("Escape")

    assert view.dialog is None


def test_another_page_no_longer_tells_of_the_panel() -> None:
    screen = Screen(states.working())
    screen.view.show_hub("knowledge")
    screen.ui.settle()
    screen.ui.press("F1")
    _answered(screen)
    about = next(panel.about for panel in PANELS if panel.id == "knowledge")
    assert screen.ui.has(about)

    screen.ui.follow(re.findall(r"\]\(([a-z-]+\.md[^)]*)\)", screen.ui.nodes("markdown")[-1].value)[0])
    _answered(screen)

    assert not screen.ui.has(about)


def test_the_keyboard_decides_which_pane_it_is_about() -> None:
    screen = Screen(states.working())
    screen.view.show_hub("caching")
    screen.ui.settle()
    screen.ui.focus_on("Write a message")

    screen.ui.press("F1")

    assert _asked(screen) == [PAGES["conversation"]]


def test_links_lead_from_page_to_page_and_back_and_escape_closes() -> None:
    screen = Screen(states.working())
    screen.view.show_hub("knowledge")
    screen.ui.settle()
    screen.ui.press("F1")
    _answered(screen)
    text = screen.ui.nodes("markdown")[-1].value
    href = re.findall(r"\]\(([a-z-]+\.md[^)]*)\)", text)[0]

    screen.ui.follow(href)
    _answered(screen)
    screen.ui.click("Back")
    _answered(screen)

    assert _asked(screen) == ["knowledge", href.partition(".")[0], "knowledge"]
    screen.ui.press("Escape")
    assert screen.view.dialog is None


def test_a_page_that_is_not_there_says_where_it_was_looked_for() -> None:
    page = read_guide("../../etc/passwd")

    assert not page.text
    assert str(guide_folder()) in page.problem


def test_links_between_pages_lead_to_pages_that_can_be_read() -> None:
    names = read_guide("caching").titles
    for name in names:
        for target in re.findall(r"\]\((?:\.\./)?([a-z-]+)\.md(?:#[^)]*)?\)", read_guide(name).text):
            assert target in names, (name, target)


@pytest.mark.parametrize("kind", [*DIALOG_PAGES, *BEHIND])
def test_every_dialog_asks_in_the_layer_that_takes_no_early_click_and_nowhere_beside_it(kind: str) -> None:
    """`tests/gui/test_dialog_stands.py` holds the layer; a dialog that asked outside it would take a click that was begun before."""
    make, subject, text, command = SUBJECTS.get(kind, (states.working, "d1", "", None))
    view = view_of(DiscussionView(comparing=[""] * 4))
    screen = Screen(make(), view)
    screen.ui.settle()
    before = {node.path for node in screen.ui.nodes("button")}
    view.dialog = Dialog(kind=kind, subject=subject, text=text, command=command)
    screen.ui.settle()

    (dialog,) = (*screen.ui.nodes("dialog"), *screen.ui.nodes("file_dialog"))
    fresh = [node.path for node in screen.ui.nodes("button") if node.path not in before]

    assert [path for path in fresh if path[: len(dialog.path)] != dialog.path] == []
