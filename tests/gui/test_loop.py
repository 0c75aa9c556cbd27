"""The frame loop: describes only when something changed, survives what breaks, and asks before it closes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import dearpygui.dearpygui as dpg
import pytest
from psutil import Process

from gui.elements.editor import Editor
from gui.loop import ACTIVE_FOR_S, ACTIVE_FPS, LONGEST_REST_S, Loop, Pace, UnseenFrames
from panels.base.ui import Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui
FRAMES, MOST_BYTES_A_FRAME = 300, 3_000


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


def test_frames_keep_no_memory(screen: Screen) -> None:
    """Lists of many lengths, each with its own vertices. A driver that drew nothing kept those of each frame."""

    def draw(ui: Ui) -> None:
        for name, lines in (("a", 5), ("b", 20), ("c", 80)):
            with ui.surface(name, "pane", scrolls=True, height=200):
                for number in range(lines):
                    ui.text(f"{name}{number}", f"Line {number} of {name}")

    person = screen.show(draw)
    person.step(100)
    before = Process().memory_info().rss
    person.step(FRAMES)
    assert Process().memory_info().rss - before < FRAMES * MOST_BYTES_A_FRAME


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


@dataclass
class Rests:
    """A watch that rests at once: what its waits were asked for, and what ends each of them."""

    hears_input: bool = True
    asked_s: list[float] = field(default_factory=list)
    then: Callable[[], object] = lambda: None
    is_nudged: bool = False

    def wait(self, timeout_s: float) -> bool:
        self.asked_s.append(timeout_s)
        return bool(self.then())

    def nudge(self) -> None:
        self.is_nudged = True

    def close(self) -> None:
        """Nothing is held."""


def at_rest(screen: Screen, watch: Rests, patch: pytest.MonkeyPatch) -> Loop:
    """The window's loop, come to rest, with a clock of its own that a wait moves on. A second loop would hear all input
    twice, and so would every test that follows.
    """
    loop, seconds = screen.loop, [time.perf_counter()]
    patch.setattr(loop, "_clock", lambda: seconds[0])
    patch.setattr(loop, "_pace", Pace(hears_input=watch.hears_input))
    patch.setattr(loop, "_watch", watch)
    wait = watch.wait

    def waited(timeout_s: float) -> bool:
        seconds[0] += max(timeout_s, 0.001)
        return wait(timeout_s)

    watch.wait = waited  # type: ignore[method-assign]
    for _ in range(40):
        loop.turn(watch)
    seconds[0] += 60.0
    for _ in range(4):
        loop.turn(watch)
    watch.asked_s.clear()
    return loop


def test_nothing_is_drawn_while_nothing_happens(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    screen.show(lambda ui: ui.text("a", "still"))
    watch = Rests()
    loop = at_rest(screen, watch, monkeypatch)
    frames = loop.frames
    for _ in range(50):
        loop.turn(watch)
    assert loop.frames == frames
    assert len(watch.asked_s) == 50
    assert min(watch.asked_s) == LONGEST_REST_S


def test_a_change_that_does_not_show_draws_nothing_and_one_that_shows_does(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = View()
    screen.show(lambda ui: ui.text("a", view.value))
    watch = Rests()
    loop = at_rest(screen, watch, monkeypatch)
    frames, described = loop.frames, loop.described
    for _ in range(5):
        screen.revision += 1
        loop.turn(watch)
    assert loop.frames == frames
    assert loop.described == described + 5
    view.value = "two"
    screen.revision += 1
    for _ in range(5):
        loop.turn(watch)
    assert loop.frames == frames + 1
    assert screen.driver.has("two")


def test_input_wakes_it_for_a_while(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    screen.show(lambda ui: ui.text("a", "still"))
    watch = Rests()
    loop = at_rest(screen, watch, monkeypatch)
    frames = loop.frames
    watch.then = lambda: True
    loop.turn(watch)
    watch.then = lambda: False
    for _ in range(100):
        loop.turn(watch)
    assert ACTIVE_FOR_S * ACTIVE_FPS * 0.5 < loop.frames - frames < ACTIVE_FOR_S * ACTIVE_FPS * 1.5


def test_without_waits_for_input_it_is_looked_at_now_and_then(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen.show(lambda ui: ui.text("a", "still"))
    watch = Rests(hears_input=False)
    loop = at_rest(screen, watch, monkeypatch)
    frames = loop.frames
    for _ in range(20):
        loop.turn(watch)
    assert loop.frames > frames
    assert sum(watch.asked_s) / (loop.frames - frames) >= 0.24


def test_another_thread_ends_the_rest(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    screen.show(lambda ui: ui.text("a", "still"))
    watch = Rests()
    loop = at_rest(screen, watch, monkeypatch)
    ran: list[bool] = []
    loop.post(lambda: ran.append(True))
    assert watch.is_nudged
    loop.turn(watch)
    assert ran == [True]


def test_a_burst_of_keys_is_taken_in_without_a_picture_of_each(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, chosen = View(value=""), list[bool]()

    def draw(ui: Ui) -> None:
        edited = ui.editor("text", view.value, hint="Write")
        view.value = edited.text if edited else view.value

    person = screen.show(draw)
    person.click("Write")
    watch = Rests()
    loop = at_rest(screen, watch, monkeypatch)
    monkeypatch.setattr(loop, "_unseen", UnseenFrames(chosen.append))
    described = loop.described
    person.strike(*"abcdefgh", "Backspace", *"ijklmnop", "Left", "Left", *"qrstuvwx", "Backspace", *"yz")
    loop.wake()
    for _ in range(200):
        loop.turn(watch)
    assert view.value == "abcdefgijklmnqrstuvwyzop"
    assert loop.described - described < 20
    assert chosen == [True, False] * (len(chosen) // 2)
    assert chosen


def test_a_chord_is_heard_whose_modifier_is_up_when_the_frame_ends(screen: Screen) -> None:
    """A macro keyboard's 12 ms: Ctrl went down in one frame; in the next N went down and Ctrl up. Eight of eight were lost."""
    heard = list[str]()

    def draw(ui: Ui) -> None:
        heard.extend(chord for chord in ("Ctrl+N", "N", "Ctrl+Shift+K") if ui.shortcut(chord))

    person = screen.show(draw)
    for _ in range(8):
        person.roll("Ctrl+n")
        person.roll("Ctrl+Shift+k")
    assert heard == ["Ctrl+N", "Ctrl+Shift+K"] * 8


def test_chords_in_one_burst_are_answered_in_their_order(screen: Screen) -> None:
    """Each is for what the one before opened; of eight chords within 12 ms each, none was heard before."""
    heard, view = list[str](), View(value="")

    def draw(ui: Ui) -> None:
        for chord in ("Ctrl+N", "Ctrl+Shift+K", "F1", "Ctrl+,"):
            if ui.shortcut(chord):
                heard.append(chord)
                view.value = "open" if chord == "F1" else view.value
        if not view.value:
            return
        with ui.dialog("dialog", "Dialog", width=300) as closed:
            ui.text("text", "Read this")
        if closed.clicked:
            heard.append("Escape")
            view.value = ""

    person = screen.show(draw)
    chords = ["Ctrl+N", "F1", "Escape", "Ctrl+,", "Ctrl+N", "Ctrl+Shift+K", "F1", "Escape", "Ctrl+N"]
    spelled = [chord.replace("N", "n").replace("K", "k") for chord in chords]
    for _ in range(3):
        heard.clear()
        person.strike(*spelled)
        person.step(40)
        assert heard == chords


def test_keys_at_a_persons_pace_are_drawn_each(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    view, chosen = View(value=""), list[bool]()

    def draw(ui: Ui) -> None:
        edited = ui.editor("text", view.value, hint="Write")
        view.value = edited.text if edited else view.value

    person = screen.show(draw)
    person.click("Write")
    watch = Rests()
    loop = at_rest(screen, watch, monkeypatch)
    monkeypatch.setattr(loop, "_unseen", UnseenFrames(chosen.append))
    for letter in "abc":
        person.strike(letter)
        loop.wake()
        for _ in range(6):
            loop.turn(watch)
    assert view.value == "abc"
    assert not chosen


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


def test_the_corner_can_be_pressed_after_the_looks_changed(screen: Screen) -> None:
    """The window of the keyboard stands below that of the page, also when this was made anew."""
    looks, pressed = [("light", 1.0)], list[str]()

    def draw(ui: Ui) -> None:
        screen.ui.set_looks(*looks[0])
        if ui.button("corner", "X", is_small=True):
            pressed.append("corner")

    person = screen.show(draw)
    person.click("X")
    looks[0] = ("dark", 1.0)
    screen.settle(6)
    person.click("X")
    assert pressed == ["corner", "corner"]


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
