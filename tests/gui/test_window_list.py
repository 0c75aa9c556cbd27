"""The rail and the list of discussions under a person's mouse, at every size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.app.app_messages import Command
from core.kernel.values.state import TrashItem
from core.talk.discussion.discussion_messages import ChangeDiscussion, SelectDiscussion
from gui.elements.popups import MenuButton, PopupItem
from gui.elements.tabs import RailButton
from gui.elements.text import Text
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.discussion.view import DiscussionView
from panels.shell.layout import PLACES
from panels.shell.window import window
from tests.gui.conftest import Screen
from tests.gui.layout_check import faults
from tests.panels import states
from tests.state_fields import with_fields

pytestmark = pytest.mark.gui


def _shown(screen: Screen, view: WindowView) -> tuple[Callable[[Ui], None], list[Command]]:
    load()
    sent: list[Command] = []
    trash = (
        TrashItem("t1", "Gone with a name that is too long for the list", states.NOW, "deleted", "/h/t1"),
    )
    state = with_fields(states.working(), trash=trash)

    def draw(ui: Ui) -> None:
        window(state, view, ui, sent.append)

    screen.show(draw)
    sent.clear()
    return draw, sent


def test_the_mouse_over_a_row_brings_its_menu_where_the_age_stood(screen: Screen) -> None:
    view = WindowView()
    _, sent = _shown(screen, view)
    person = screen.driver
    row = person.find("Harvest worker design", kind=Text).parent
    assert row is not None
    assert [kid.label() for kid in row.order][-1] == "3 min"

    person.hover("Harvest worker design")
    person.until(lambda: isinstance(row.order[-1], MenuButton), "the menu in the row")
    menu = row.order[-1]
    assert isinstance(menu, MenuButton)
    person.click(menu)
    person.until(lambda: person.has("Archive"), "the menu")
    person.click(person.find("Archive", kind=PopupItem))
    person.until(lambda: bool(sent), "the command")

    assert sent == [ChangeDiscussion(discussion_id="d2", changes={"archived": True})]
    assert view.of(DiscussionView).menu_of == ""


def test_a_click_on_a_row_shows_it(screen: Screen) -> None:
    _, sent = _shown(screen, WindowView())

    screen.driver.click("Release checklist")

    assert sent == [SelectDiscussion("d7")]


@pytest.mark.parametrize(
    ("width", "height", "has_words"),
    [(1_280, 700, True), (1_280, 640, False), (1_024, 700, False), (760, 520, False), (720, 350, False)],
)
def test_the_rail_says_its_words_where_there_is_room_a_tip_at_every_size_and_hides_no_place(
    screen: Screen, width: int, height: int, has_words: bool
) -> None:
    view = WindowView()
    draw, _ = _shown(screen, view)
    for _ in range(3):
        screen.ui.frame(draw, width, height)
    buttons = [e for e in screen.ui.tree.root.walk() if isinstance(e, RailButton)]

    assert [e.label() for e in buttons] == [
        "Discussions",
        *(place.label for place in PLACES),
        "Settings",
    ]
    assert {e.has_words for e in buttons} == {has_words}
    last, room = buttons[-2], buttons[-2].parent.parent  # type: ignore[union-attr]
    assert room is not None
    assert last.y + last.h <= room.h
    assert buttons[1].tooltip() == "Context presets (Ctrl+1)"
    screen.loop.wake()


def test_the_rail_brings_a_panel_and_takes_it_away(screen: Screen) -> None:
    view = WindowView()
    _shown(screen, view)
    button = screen.driver.find("Caching", kind=RailButton)

    screen.driver.click(button)
    assert (view.panel, view.is_hub_shown) == ("caching", True)
    screen.driver.click(button)
    assert not view.is_hub_shown


@pytest.mark.parametrize(
    ("scale", "size"),
    [(1.0, (760, 520)), (1.0, (1_920, 1_080)), (1.5, (1_024, 700)), (1.5, (1_600, 1_000)), (2.0, (1_600, 1_000)),
     (2.0, (1_920, 1_080))],
)  # fmt: skip
@pytest.mark.parametrize("side", ["list", "hub"])
def test_nothing_is_clipped_at_any_size(
    screen: Screen, scale: float, size: tuple[int, int], side: str
) -> None:
    view = WindowView(panel="context", side=side)  # type: ignore[arg-type]
    own = view.of(DiscussionView)
    own.is_archive_open = own.is_trash_open = True
    own.project = "/w/a folder with a name that is too long for the list"
    draw, _ = _shown(screen, view)
    screen.ui.set_looks("dark", scale)
    for _ in range(3):
        screen.ui.frame(draw, *size)
    found = faults(screen.ui.tree)
    screen.ui.set_looks("dark", 1.0)
    screen.loop.wake()

    assert found == []
