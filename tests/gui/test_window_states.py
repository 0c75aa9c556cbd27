"""The whole window in its states: nothing is clipped, nothing overlaps, at any size and scale."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.app.messages import Command
from core.values.discussion import Draft
from core.values.state import AppState
from gui.elements.controls import Combo
from gui.elements.editor import Editor
from gui.elements.text import Text
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.discussion.view import DiscussionView
from panels.shell.window import window
from tests.gui.conftest import Screen
from tests.gui.layout_check import faults
from tests.panels import states

pytestmark = pytest.mark.gui
STATES: dict[str, Callable[[], AppState]] = {
    "working": states.working,
    "streaming": states.streaming,
    "failed": states.failed,
    "versioned": states.versioned,
    "first_run": states.first_run,
    "busy": states.busy,
    "many": states.many,
}
SIZES = ((1600, 1000), (1280, 800), (1024, 700))


def shown(screen: Screen, state: AppState, view: WindowView, scale: float = 1.0) -> list[str]:
    """Faults of the window at all sizes."""
    load()
    sent: list[Command] = []

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(state, view, ui, sent.append)

    screen.show(draw)
    found = []
    for size in SIZES:
        screen.ui.frame(draw, *size)
        screen.ui.frame(draw, *size)
        found += [f"{size}: {fault}" for fault in faults(screen.ui.tree)]
    screen.loop.wake()
    return found


@pytest.mark.parametrize("name", sorted(STATES))
@pytest.mark.parametrize("scale", [0.9, 1.0, 1.2])
def test_every_state_fits(screen: Screen, name: str, scale: float) -> None:
    assert shown(screen, STATES[name](), WindowView(), scale) == []


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_what_a_send_costs_and_who_answers_is_shown_whole_in_the_smallest_windows(
    screen: Screen, scale: float
) -> None:
    load()
    state, view = states.streaming(), WindowView()

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for size in ((1280, 800), (1024, 700)):
        for _ in range(3):
            screen.ui.frame(draw, *size)
        assert faults(screen.ui.tree) == []
        shown = list(screen.ui.tree.root.walk())
        tips = {element.tip for element in shown if isinstance(element, Combo) and element.w > 0}
        assert {"Model; it can change in the middle", "How hard the model thinks"} <= tips
        figures = [
            el
            for el in shown
            if isinstance(el, Text) and ("est. $" in el.label() or " tok · $" in el.label())
        ]
        assert len(figures) >= 2
        assert [el.lines for el in figures if any(line.endswith("…") for line in el.lines)] == []
    screen.loop.wake()


@pytest.mark.parametrize("name", ["working", "streaming", "failed"])
@pytest.mark.parametrize(("size", "scale"), [((1024, 700), 2.0), ((760, 520), 1.5), ((1280, 800), 2.0)])
def test_in_a_low_window_the_messages_have_height_and_nothing_of_the_composer_is_gone(
    screen: Screen, name: str, size: tuple[int, int], scale: float
) -> None:
    load()
    state, view = STATES[name](), WindowView()

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(4):
        screen.ui.frame(draw, *size)
    shown = list(screen.ui.tree.root.walk())
    (messages,) = [element for element in shown if element.key == "messages"]
    assert messages.h / scale > 110
    combos = {element.tip: element.w / scale for element in shown if isinstance(element, Combo)}
    assert combos["Model; it can change in the middle"] > 60
    assert combos["How hard the model thinks"] > 60
    figures = [el for el in shown if isinstance(el, Text) and " / " in el.label() and "est. $" in el.label()]
    assert figures
    assert not any(line.endswith("…") for el in figures for line in el.lines)
    labels = {element.label() for element in shown if element.w > 0}
    assert labels & {"Send", "Queue"}
    assert faults(screen.ui.tree) == []
    screen.loop.wake()


@pytest.mark.parametrize("section", ["providers", "models", "appearance", "files"])
def test_every_page_of_the_settings_fits(screen: Screen, section: str) -> None:
    view = WindowView()
    view.page, view.settings_section = "settings", section
    assert shown(screen, states.working(), view) == []


def test_up_walks_through_the_prompt_history_and_the_composer_keeps_the_keyboard(screen: Screen) -> None:
    load()
    state = states.working()
    chosen = state.discussions.selected_id
    opened = replace(state.discussions.open[chosen], draft=Draft())
    state = replace(
        state,
        discussions=replace(
            state.discussions,
            open={**state.discussions.open, chosen: opened},
            prompt_history=("first", "second", "third"),
        ),
    )
    view, sent = WindowView(), list[Command]()
    person = screen.show(lambda ui: window(state, view, ui, sent.append))
    person.click("Write a message")
    editor = person.find("Write a message", kind=Editor)
    assert isinstance(editor, Editor)
    person.until(lambda: editor.is_active)
    for prompt in ("third", "second", "first"):
        person.key("Up")
        screen.settle(12)
        assert view.of(DiscussionView).composers[chosen].text == prompt
    person.type("!")
    person.until(lambda: "!" in view.of(DiscussionView).composers[chosen].text)
