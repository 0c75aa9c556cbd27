"""The window as a front end: how it is left, and how it looked last time."""

from __future__ import annotations

from ctypes.util import find_library
from typing import cast

import pytest
from msgspec.structs import asdict, replace

from core.agent.agent_messages import NoteActivity
from core.app.app_messages import Command, Quit, SaveWindow
from core.app.controller import AppController
from core.kernel.values.agent import Attention, AttentionState, Autonomy
from core.kernel.values.settings import AgentSettings, Settings
from core.kernel.values.state import AppState
from gui.app import LastLook, WindowApp, look_of, with_look
from gui.elements.popups import anchor_of
from gui.elements.surfaces import Surface
from gui.elements.tabs import RailButton
from gui.input_watch import DesktopIdle
from gui.window import Placement
from panels.base.view import WindowView
from panels.base.window_fields import Page, Panes
from panels.shell.layout import PLACES
from panels.shell.rooms import restore, to_toml
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui


class Controller:
    """Takes commands and shows a state."""

    def __init__(self) -> None:
        self.sent: list[Command] = []
        self.revision = 0
        self.state = AppState()

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def snapshot(self) -> AppState:
        return self.state


def _app(screen: Screen, controller: Controller | None) -> WindowApp:
    app = WindowApp(LastLook(), lambda: None, controller=cast("AppController | None", controller))
    app.ui, app.loop = screen.ui, screen.loop
    return app


def test_the_cross_of_the_window_asks_the_controller_which_may_have_something_to_say(screen: Screen) -> None:
    controller = Controller()
    app = _app(screen, controller)
    screen.loop._is_running = True

    app.ask_to_close()

    assert controller.sent == [Quit()]
    assert screen.loop._is_running


def test_before_the_controller_is_there_the_cross_closes_at_once(screen: Screen) -> None:
    app = _app(screen, None)
    screen.loop._is_running = True

    app.ask_to_close()

    assert not screen.loop._is_running


def test_a_window_that_is_closed_before_it_read_what_the_last_one_kept_writes_nothing_over_it(
    screen: Screen,
) -> None:
    controller = Controller()
    app = _app(screen, controller)

    app._keep()
    assert controller.sent == []

    program = replace(controller.state.program, home="/home/person", window_toml='hub_tab = "usage"\n')
    controller.state = replace(controller.state, program=program)
    screen.show(app._describe)
    app._keep()
    (saved,) = [one for one in controller.sent if isinstance(one, SaveWindow)]
    assert 'hub_tab = "usage"' in saved.data_toml


def test_the_program_is_told_that_the_person_is_here_whether_or_not_something_is_autonomous(
    screen: Screen,
) -> None:
    controller = Controller()
    app = _app(screen, controller)

    app._note_activity()
    app._note_activity()

    assert controller.sent == [NoteActivity()]


def test_only_who_wants_it_has_the_whole_desktop_looked_at_and_only_for_autonomy(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = Controller()
    app = _app(screen, controller)
    monkeypatch.setattr(app.desktop, "idle_s", lambda: 2.0)
    wanted = Settings(agent=AgentSettings(desktop_idle=True))
    autonomy = AttentionState(Autonomy("d1", Attention.RESTING))
    for settings, attention in ((Settings(), autonomy), (wanted, AttentionState())):
        state = AppState()
        controller.state = replace(
            state, config=replace(state.config, settings=settings), attention=attention
        )
        app._revision()
    assert controller.sent == []

    controller.state = replace(controller.state, attention=autonomy)
    app._revision()
    app._revision()

    assert controller.sent == [NoteActivity(is_elsewhere=True)]


def test_the_desktop_tells_since_when_nobody_used_it_where_it_can(screen: Screen) -> None:
    idle_s = DesktopIdle().idle_s()

    assert (idle_s is not None and 0 <= idle_s < 3600) == bool(find_library("Xss"))


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "not toml [",
        "[viewport]\nx = -5\nwidth = 'wide'\n",
        "viewport = 3\n",
        '[viewport]\ntheme = "pink"\n',
        'hub_tab = "none"\nhub_px = true\n',
        "hub_tab = []\nlist_px = nan\nhub_px = []\n",
    ],
)
def test_a_broken_look_gives_the_default(broken: str) -> None:
    assert look_of(broken) == LastLook()


def test_a_look_is_found_again_and_a_window_is_never_too_small_to_use() -> None:
    look = LastLook(Placement(10, 20, 1200, 800), "light", 1.5)

    assert look_of(with_look("page = 'chat'", look)) == look
    small = look_of(with_look("", LastLook(Placement(0, 0, 30, 20))))
    assert (small.placement.width, small.placement.height) == (720, 480)


def test_the_panes_of_the_first_frame_are_those_that_the_window_kept() -> None:
    view = WindowView(panel="caching", is_list_shown=False, hub_px=512.5)

    panes = look_of(with_look(to_toml(view), LastLook())).panes

    assert panes == Panes(panel="caching", is_list_shown=False, hub_px=512.5)


@pytest.mark.parametrize(
    "kept",
    [
        "list_px = 1100\nhub_px = 5000\n",
        "list_px = -3\nhub_px = 0\nis_list_shown = 0\n",
        'list_px = true\nhub_px = "wide"\nhub_tab = 3\npage = "settings"\n',
    ],
)
def test_the_first_frame_reads_the_panes_by_the_rules_of_the_window(kept: str) -> None:
    view = WindowView()
    restore(view, kept)

    panes = look_of(kept).panes

    assert {name: getattr(view, name) for name in Panes.__struct_fields__} == asdict(panes)


def test_before_the_rooms_are_loaded_the_rail_and_the_panes_stand_where_they_stay(screen: Screen) -> None:
    app = _app(screen, None)
    person = screen.show(app._describe)
    opening = _places(screen)

    assert person.has("Opening your discussions…")
    assert not person.has("Search discussions")
    app.take_rooms()
    person = screen.show(app._describe)

    assert person.has("Search discussions")
    assert _places(screen) == opening
    assert len(opening) == len(PLACES) + 2 + 3


@pytest.mark.parametrize("size", [(1280, 800), (720, 520)])
@pytest.mark.parametrize("page", ["chat", "settings"])
def test_the_first_frame_shows_the_page_and_lights_the_buttons_that_stay(
    screen: Screen, page: Page, size: tuple[int, int]
) -> None:
    app = _app(screen, None)
    app.look = LastLook(panes=Panes(page=page))
    opening = _shown(app, screen, size)
    app.take_rooms()
    app.view.page = page

    assert _shown(app, screen, size) == opening


def _shown(app: WindowApp, screen: Screen, size: tuple[int, int]) -> tuple[object, ...]:
    """Looks of the rail's buttons, and the panes, once the window has settled in a size."""
    for _ in range(3):
        screen.ui.frame(app._describe, *size)
    return _kinds(screen), _places(screen).keys()


def _kinds(screen: Screen) -> dict[object, object]:
    """Look of each button of the rail."""
    return {one.key: one.props[2] for one in screen.ui.tree.root.walk() if isinstance(one, RailButton)}


def _places(screen: Screen) -> dict[str, tuple[float, ...]]:
    """Where each button of the rail and each pane stands."""
    elements = list(screen.ui.tree.root.walk())
    buttons = [one for one in elements if isinstance(one, RailButton)]
    panes = [
        one for one in elements if one.key in {"list", "conversation", "hub"} and isinstance(one, Surface)
    ]
    return {f"{type(one).__name__} {one.key}": anchor_of(one) for one in (*buttons, *reversed(panes))}


def test_keys_pressed_before_the_rooms_are_there_wait_for_them(screen: Screen) -> None:
    app = _app(screen, None)
    driver = screen.show(app._describe)

    driver.strike("Ctrl+q")
    driver.step(30)
    assert app.early == []

    app.take_rooms()
    driver.until(lambda: app.early, "the chord is answered")
    assert app.early == [Quit()]
