"""The frame loop: describes only when something changed, survives what breaks, and asks before it closes."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

import dearpygui.dearpygui as dpg
import pytest

from gui.elements.editor import Editor
from gui.loop import ACTIVE_FPS, IDLE_FPS, Loop
from panels.base.ui import Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui


@dataclass
class View:
    """What a small panel remembers."""

    value: str = "one"
    seen: list[str] = field(default_factory=list)


def test_nothing_is_described_while_nothing_changes(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.text("a", "still"))
    person.step(5)
    before = screen.loop.described
    person.step(50)
    assert screen.loop.described == before
    screen.revision += 1
    person.step(5)
    assert screen.loop.described > before


def test_the_mouse_makes_it_describe_again(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.text("a", "still"))
    person.step(5)
    before = screen.loop.described
    person.hover("still")
    assert screen.loop.described > before


def test_a_panel_that_raises_is_told_once_and_comes_back(
    screen: Screen, caplog: pytest.LogCaptureFixture
) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        if view.value == "broken":
            raise ValueError("the panel broke")
        ui.text("a", view.value)

    person = screen.show(draw)
    view.value = "broken"
    with caplog.at_level(logging.CRITICAL, "gui.loop"):
        for _ in range(5):
            screen.revision += 1
            person.step(2)
    assert [str(error) for error in screen.failures] == ["the panel broke"]
    screen.failures.clear()
    view.value = "back"
    screen.settle()
    assert person.has("back")


def test_a_callback_that_raises_loses_no_other(screen: Screen, caplog: pytest.LogCaptureFixture) -> None:
    view = View()

    def boom() -> None:
        raise ValueError("the callback broke")

    jobs = [(boom, 0, None, None), (lambda: view.seen.append("none"), 0, None, None),
            (lambda sender, data: view.seen.append(f"{sender} {data}"), 7, "x", None), (None, 0, None, None)]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.CRITICAL, "gui.loop"):
        patch.setattr(dpg, "get_callback_queue", lambda: jobs)
        screen.loop._dispatch()
    assert view.seen == ["none", "7 x"]
    assert [str(error) for error in screen.failures] == ["the callback broke"]
    screen.failures.clear()


def test_the_close_button_asks(screen: Screen) -> None:
    """The window manager's message, as its close button sends it."""
    from Xlib import X, display
    from Xlib.protocol.event import ClientMessage

    person = screen.show(lambda ui: ui.text("a", "still"))
    connection = display.Display()
    atoms = [connection.intern_atom(name) for name in ("WM_PROTOCOLS", "WM_DELETE_WINDOW")]
    for window in connection.screen().root.query_tree().children:
        if window.get_wm_name() == "Manual Slop":
            message = ClientMessage(
                window=window, client_type=atoms[0], data=(32, [atoms[1], X.CurrentTime, 0, 0, 0])
            )
            window.send_event(message)
    connection.sync()
    person.until(lambda: screen.closed)
    connection.close()
    assert dpg.is_dearpygui_running()


def test_it_runs_slowly_while_nothing_happens(screen: Screen) -> None:
    loop: Loop = screen.loop
    screen.show(lambda ui: ui.text("a", "still"))
    loop._active_until_s = 0.0
    frames = loop.frames
    start = time.perf_counter()
    original = loop.frame

    def counted() -> bool:
        if loop.frames - frames >= 8:
            loop.stop()
        return original()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "frame", counted)
        loop.run()
    took = time.perf_counter() - start
    assert took > 7 / IDLE_FPS
    assert ACTIVE_FPS > IDLE_FPS


def test_a_change_of_size_lays_out_again_without_a_frame_of_the_old(screen: Screen) -> None:
    widths: list[float] = []

    def draw(ui: Ui) -> None:
        with ui.surface("card", "card"):
            widths.append(ui.width())

    screen.show(draw)
    screen.ui.frame(draw, 900, 600)
    assert widths[-1] == 900 - 32
    screen.check()
    screen.loop.wake()


def test_looks_change_at_run_time_and_keep_what_was_typed(screen: Screen) -> None:
    view = View(value="")
    looks = [("dark", 1.0)]

    def draw(ui: Ui) -> None:
        screen.ui.set_looks(*looks[0])
        edited = ui.editor("text", view.value, hint="Write")
        view.value = edited.text if edited else view.value
        ui.button("go", "Go")

    person = screen.show(draw)
    person.click("Write")
    person.type("kept")
    height = person.find("Go").h
    looks[0] = ("light", 1.5)
    screen.settle(6)
    assert person.find("Go").h == pytest.approx(1.5 * height, abs=1)
    assert screen.ui.canvas.palette.name == "light"
    editor = person.find("Write")
    assert isinstance(editor, Editor)
    assert editor.text == "kept"
    screen.check()
