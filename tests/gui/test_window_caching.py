"""The Caching panel on a real window: it fits, and real input reaches it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, SaveWindow
from core.kernel.values.state import AppState
from core.talk.caching.caching_messages import DisableCaching
from core.talk.discussion.discussion_messages import ChangeDiscussion
from gui.elements.pictures import Plot
from gui.elements.text import Text
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.caching.caching_room import CachingView
from panels.shell.window import window
from tests.gui.conftest import SIZE, Screen
from tests.gui.layout_check import faults
from tests.gui.test_window_states import panel_shown
from tests.panels import states
from tests.panels.caching import cache_states
from tests.panels.screen import plain
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
STATES: dict[str, Callable[[], AppState]] = {
    "caching": cache_states.caching,
    "due": cache_states.due,
    "fresh": cache_states.fresh,
    "many": lambda: cache_states.many(2_000),
    "first run": states.first_run,
}


def _view(tab: str = "overview") -> WindowView:
    return view_of(CachingView(tab=tab), panel="caching")


@pytest.mark.parametrize("tab", ["overview", "discussions", "settings"])
@pytest.mark.parametrize("name", sorted(STATES))
@pytest.mark.parametrize("scale", [0.9, 1.0, 1.5])
def test_every_part_fits(screen: Screen, name: str, tab: str, scale: float) -> None:
    assert panel_shown(screen, STATES[name](), _view(tab), scale) == []


def test_a_narrow_hub_fits(screen: Screen) -> None:
    for tab in ("overview", "discussions", "settings"):
        view = _view(tab)
        view.hub_px, view.side = 288.0, "hub"
        assert panel_shown(screen, cache_states.caching(), view) == []


class Desk:
    """The window over a state that the test changes."""

    def __init__(self, screen: Screen, state: AppState, view: WindowView) -> None:
        load()
        self.state, self.view, self.sent, self.screen = state, view, list[Command](), screen
        screen.show(self._draw)

    def _draw(self, ui: Ui) -> None:
        window(self.state, self.view, ui, self.sent.append)

    def show(self, state: AppState) -> None:
        """Publish another state."""
        self.state = state
        self.screen.settle()

    @property
    def asked(self) -> list[Command]:
        """What was asked for, without the window's own upkeep."""
        return [plain(command) for command in self.sent if not isinstance(command, SaveWindow)]


def test_a_running_countdown_changes_only_what_it_says(screen: Screen) -> None:
    desk = Desk(screen, cache_states.caching(), _view())
    desk.show(desk.state)
    before = screen.ui.canvas.calls

    desk.show(replace(desk.state, now=states.NOW + timedelta(minutes=1)))

    assert screen.driver.has("Expires in 3 minutes")
    assert screen.ui.canvas.calls - before < 30


def test_a_click_on_disable_asks_for_it(screen: Screen) -> None:
    desk = Desk(screen, cache_states.caching(), _view())

    screen.driver.click("Disable caching here")
    screen.driver.until(lambda: screen.driver.has("Give up the warm cache?"))
    screen.check()
    assert desk.asked == []
    screen.driver.click("Turn off anyway")
    screen.driver.step(3)

    assert desk.asked == [DisableCaching("d1")]


def test_a_disabled_button_says_why_on_hover_and_does_nothing(screen: Screen) -> None:
    desk = Desk(screen, cache_states.caching(selected_id="d2"), _view())
    button = screen.driver.find("Disable caching here")

    screen.driver.click(button)

    assert desk.asked == []
    assert "caches by itself" in button.tip


def test_switching_the_model_with_the_mouse_asks_and_a_yes_switches(screen: Screen) -> None:
    desk = Desk(screen, cache_states.caching(), _view())
    screen.driver.click("Model; you can change the model during a discussion")
    screen.driver.until(lambda: screen.driver.has("Claude Haiku 4.8"))

    screen.driver.click("Claude Haiku 4.8")
    screen.driver.until(lambda: screen.driver.has("Give up the warm cache?"))
    screen.check()
    screen.driver.click("Switch anyway")
    screen.driver.step(3)

    assert desk.asked == [
        ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"})
    ]


def test_the_plot_of_a_discussion_answers_to_the_mouse(screen: Screen) -> None:
    Desk(screen, cache_states.caching(), _view())
    plot = screen.driver.find("hit rate · cost", kind=Plot)

    screen.driver.hover(plot)
    screen.driver.step(3)

    assert any(spec[0] == "text" and str(spec[3]).startswith("Turn ") for spec in plot.prims)


def test_ten_thousand_discussions_scroll(screen: Screen) -> None:
    desk = Desk(screen, cache_states.many(), _view("discussions"))

    screen.driver.wheel("Active discussions", 0)
    screen.driver.wheel("Cached by Anthropic", 12)

    assert desk.asked == []
    assert screen.driver.has("Cached by Anthropic")
    screen.check()


def test_on_the_smallest_window_the_rail_is_in_reach_and_the_figures_are_whole(screen: Screen) -> None:
    load()
    view = _view()
    view.side = "hub"
    state = cache_states.caching()

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.5)
        window(state, view, ui, list[Command]().append)

    screen.show(draw)
    for _ in range(2):
        screen.ui.frame(draw, 760, 520)

    assert faults(screen.ui.tree) == []
    lines = [element.lines for element in screen.ui.tree.root.walk() if isinstance(element, Text)]
    assert all([figure] in lines for figure in ("23.5 %", "$1.94", "4 min"))
    screen.loop.wake()


def test_the_plot_stands_in_view_without_scrolling(screen: Screen) -> None:
    """It stood below the fold of a window of usual size."""
    Desk(screen, cache_states.caching(), _view())
    plot = screen.driver.find("hit rate · cost", kind=Plot)

    assert plot.spot is not None
    assert plot.spot[3] < SIZE[1]
