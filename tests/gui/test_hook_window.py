"""What the Hook API asks of the window is done on the window's thread, between two frames."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import SetTools
from core.app.app_messages import Command
from core.front.hooks.operation import Window
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting, TrustProject
from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.app import HookedWindow, LastLook, WindowApp
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.shell.rooms import BY_ID
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui
T = TypeVar("T")


def _app(screen: Screen) -> WindowApp:
    """A window app on the tests' one window, before its controller is there."""
    app = WindowApp(LastLook(), lambda: None)
    app.ui, app.loop = screen.ui, screen.loop
    return app


def _asked(screen: Screen, ask: Callable[[], T]) -> T:
    """What a request on another thread gets while the window draws frames."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        while not answer.done():
            screen.loop.frame()
        return answer.result()


def test_an_entry_of_the_menus_sends_what_the_menu_would(screen: Screen) -> None:
    app = _app(screen)
    window: Window = HookedWindow(app)

    assert _asked(screen, lambda: window.act("new")) is True
    assert _asked(screen, lambda: window.act("theme")) is True

    sent: list[Command] = app.early
    assert sent == [CreateDiscussion(keeps_empty=True), ChangeSetting("appearance.theme", "light")]
    assert app.view.page == "chat"


def test_a_disabled_entry_and_one_that_is_not_there_do_nothing(screen: Screen) -> None:
    app = _app(screen)
    window = HookedWindow(app)

    assert _asked(screen, lambda: window.act("retry")) is False
    assert window.act("no such thing") is None
    assert app.early == []


def test_what_is_asked_is_done_on_the_windows_thread_and_shown_in_the_next_frames(screen: Screen) -> None:
    threads: list[threading.Thread] = []

    def draw(ui: Ui) -> None:
        threads.append(threading.current_thread())
        ui.text("page", app.view.page)

    app = _app(screen)
    person = screen.show(draw)
    assert person.has("chat")

    assert _asked(screen, lambda: HookedWindow(app).act("settings")) is True

    person.step(3)
    assert person.has("settings")
    assert set(threads) == {threading.current_thread()}


def test_a_window_that_does_not_draw_is_not_waited_for_for_ever(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.app.FRAME_S", 0.05)
    app = _app(screen)

    with pytest.raises(TimeoutError):
        HookedWindow(app).act("new")

    screen.loop.frame()
    assert app.early == [], "what nobody waits for any more is not done late"


def test_a_state_before_the_controller_is_there_is_empty(screen: Screen) -> None:
    assert _app(screen).state() == AppState()


def _giving(command: Command) -> Callable[[Desk], None]:
    return lambda desk: desk.send(command)


def test_an_entry_that_gives_what_counts_only_from_a_person_does_nothing_over_http(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = _app(screen)
    given: tuple[Command, ...] = (SetTools("d1", has_tools=True), TrustProject(is_trusted=True))
    for command in given:
        monkeypatch.setitem(BY_ID, "theme", replace(BY_ID["theme"], run=_giving(command)))
        with pytest.raises(PermissionError):
            _asked(screen, lambda: HookedWindow(app).act("theme"))
    assert app.early == []
