"""F1: the guide's page about the panel that has the keyboard, with links between pages."""

from __future__ import annotations

import re

import pytest

from core.services.settings.settings_messages import ReadGuide
from core.services.settings.settings_worker import guide_folder, read_guide
from panels.base.desk import HubPanel
from panels.help.help_room import PAGES
from panels.shell.rooms import PANELS
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _answered(screen: Screen) -> None:
    """The page that was asked for last was read."""
    asked = [one for one in screen.asked if isinstance(one, ReadGuide)]
    screen.show(with_fields(screen.state, guide=read_guide(asked[-1].page)))


def _asked(screen: Screen) -> list[str]:
    return [one.page for one in screen.asked if isinstance(one, ReadGuide)]


def test_every_panel_has_a_page_that_is_there() -> None:
    for page in {*PAGES.values(), *(panel.guide for panel in PANELS)}:
        assert (guide_folder() / f"{page}.md").is_file(), page


@pytest.mark.parametrize(
    ("panel", "page"), [("usage", "caching"), ("knowledge", "knowledge"), ("signals", "autonomy")]
)
def test_f1_opens_the_page_of_the_panel_that_was_asked_for_last(panel: str, page: str) -> None:
    screen = Screen(states.working())
    screen.view.show_hub(panel)
    screen.ui.settle()

    screen.ui.press("F1")
    _answered(screen)

    assert _asked(screen) == [page]
    assert screen.ui.nodes("markdown")[-1].value == (guide_folder() / f"{page}.md").read_text("utf-8")


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.id)
def test_what_is_this_answers_in_two_sentences_above_the_page(panel: HubPanel) -> None:
    screen = Screen(states.working())
    screen.view.show_hub(panel.id)
    screen.ui.settle()

    screen.ui.click("What is this?")
    _answered(screen)

    sentences = re.findall(r"[A-Z][^.]*\.", panel.about)
    assert " ".join(sentences) == panel.about
    assert len(sentences) == 2
    assert all(len(one.split()) <= 14 for one in sentences)
    assert screen.ui.has(panel.about)
    assert _asked(screen) == [panel.guide]


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
