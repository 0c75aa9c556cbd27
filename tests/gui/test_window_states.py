"""The whole window in its states: nothing is clipped, nothing overlaps, at any size and scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command
from core.kernel.values.discussion import Draft
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.state import AppState, Level, Notice
from core.kernel.values.usage import UsageBy, UsageQuery, UsageRow
from core.talk.discussion.discussion_messages import UndoDelete
from gui.elements.controls import Button, Combo, Field
from gui.elements.editor import Editor
from gui.elements.lists import VirtualList
from gui.elements.popups import FloatLayer, anchor_of
from gui.elements.surfaces import Surface
from gui.elements.tabs import RailButton
from gui.elements.text import Badge, Text
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import Dialog, WindowView
from panels.discussion.view import DiscussionView
from panels.harvest.harvest_room import HarvestTab, HarvestView
from panels.shell.rooms import PANELS
from panels.shell.window import window
from panels.usage.usage_room import UsageView
from tests.gui.conftest import Screen
from tests.gui.layout_check import faults
from tests.panels import states
from tests.panels import test_usage_panel as usage
from tests.panels.harvest import harvest_states as hs
from tests.panels.shell.test_notices_panel import untrusted
from tests.panels.views import view_of
from tests.state_fields import with_fields

pytestmark = pytest.mark.gui
E = TypeVar("E")
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

    screen.describe = draw
    screen.settle(1)  # the toolkit takes it; that it holds still is judged at each size
    found = []
    for size in SIZES:
        screen.ui.frame(draw, *size)
        found += [f"{size}: {fault}" for fault in faults(screen.ui.tree)]
    screen.loop.wake()
    return found


def panel_shown(screen: Screen, state: AppState, view: WindowView, scale: float = 1.0) -> list[str]:
    """Faults of the window at all sizes, for a test of a panel: see `beside_a_panel`."""
    return shown(screen, states.beside_a_panel(state), view, scale)


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
        assert {
            "Model; you can change the model during a discussion",
            "How much the model thinks before it replies",
        } <= tips
        figures = [
            el
            for el in shown
            if isinstance(el, Text) and ("est. $" in el.label() or " tok · $" in el.label())
        ]
        assert len(figures) >= 2
        assert [el.lines for el in figures if any(line.endswith("…") for line in el.lines)] == []
    screen.loop.wake()


FILES = tuple(
    AttachmentPart(f"{number:02}" * 32, "application/pdf", f"a scanned paper about tides and harbours {number}.pdf", 90_000, 3)
    for number in range(12)
)  # fmt: skip


@pytest.mark.parametrize(("text", "files"), [("", FILES), ("/", ()), ("/", FILES)])
@pytest.mark.parametrize(("size", "scale"), [((800, 600), 1.0), ((1280, 800), 2.0)])
def test_many_files_and_many_suggestions_leave_send_and_the_messages_in_view(
    screen: Screen, text: str, files: tuple[AttachmentPart, ...], size: tuple[int, int], scale: float
) -> None:
    load()
    state = states.with_opened(states.working(), draft=Draft(text, files))
    own = DiscussionView()
    own.composer("d1").text = text
    view = view_of(own)

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(5):
        screen.ui.frame(draw, *size)
    person, bottom = screen.driver, size[1]
    send = person.find("Run" if text else "Send", kind=Button)
    assert anchor_of(send)[1] + send.h < bottom
    (messages,) = [one for one in screen.ui.tree.root.walk() if one.key == "messages"]
    assert messages.h > 20
    assert faults(screen.ui.tree) == []
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
    assert combos["Model; you can change the model during a discussion"] > 60
    assert combos["How much the model thinks before it replies"] > 60
    figures = [el for el in shown if isinstance(el, Text) and " / " in el.label() and "est. $" in el.label()]
    assert figures
    assert not any(line.endswith("…") for el in figures for line in el.lines)
    labels = {element.label() for element in shown if element.w > 0}
    assert labels & {"Send", "Queue"}
    assert faults(screen.ui.tree) == []
    screen.loop.wake()


@pytest.mark.parametrize("is_hub_shown", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_notices_never_lie_over_the_composer(screen: Screen, scale: float, is_hub_shown: bool) -> None:
    told = (*states.notices(), Notice("undo", Level.INFO, "Deleted “Old ideas”", action=UndoDelete("d8"), action_label="Undo"))  # fmt: skip
    for side in ("list", "hub"):
        view = WindowView(is_hub_shown=is_hub_shown, is_list_shown=side == "list", side=side)
        assert shown(screen, with_fields(states.working(), notices=told), view, scale) == []


@pytest.mark.parametrize("section", ["providers", "models", "appearance", "files"])
def test_every_page_of_the_settings_fits(screen: Screen, section: str) -> None:
    view = WindowView()
    view.page, view.settings_section = "settings", section
    assert shown(screen, states.working(), view) == []


@pytest.mark.parametrize(
    ("size", "scale", "place"),
    [((1280, 800), 2.0, "providers"), ((1280, 800), 2.0, "files"), ((1024, 700), 1.0, "context")],
)
def test_where_room_is_short_no_figure_name_or_badge_is_cut(
    screen: Screen, size: tuple[int, int], scale: float, place: str
) -> None:
    view = WindowView(panel="context") if place == "context" else WindowView()
    if place != "context":
        view.page, view.settings_section = "settings", place

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(states.working(), view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(3):
        screen.ui.frame(draw, *size)
    pane = next(
        el for el in screen.ui.tree.root.walk() if el.key == ("hub" if place == "context" else "page")
    )
    short = [el for el in pane.walk() if isinstance(el, Text | Badge) and el.w > 0]
    assert short
    assert [el.label() for el in short if el.is_cut] == []
    screen.loop.wake()


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


def test_at_twice_the_size_in_a_small_window_every_place_and_value_is_reached(screen: Screen) -> None:
    """The rail cut the last panel, Harvest showed no conversation, and the settings' choices no value."""
    load()
    state, view = hs.state(hs.seen()), view_of(HarvestView(), panel="harvest")
    view.show_hub("harvest")

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 2.0)
        window(state, view, ui, lambda _: None)

    def elements(kind: type[E]) -> list[E]:
        for _ in range(4):
            screen.ui.frame(draw, 1024, 700)
        return [one for one in screen.ui.tree.root.walk() if isinstance(one, kind)]

    screen.show(draw)
    places = [one for one in elements(RailButton) if one.parent is not None and one.parent.key == "buttons"]
    assert len(places) == 1 + len(PANELS)
    room = places[-1].parent.parent  # type: ignore[union-attr]
    assert room is not None
    assert places[-1].y + places[-1].h <= room.h
    (whole,) = [one for one in elements(Surface) if one.key == "whole"]
    (table,) = [one for one in whole.walk() if isinstance(one, VirtualList)]
    assert table.h >= 2 * 60
    assert whole.parent is not None
    assert whole.parent.can_scroll()  # type: ignore[attr-defined]

    view.page, view.settings_section = "settings", "appearance"
    assert all(one.w > 2 * 100 for one in elements(Combo))
    screen.loop.wake()


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_every_place_of_the_rail_is_in_view(screen: Screen, scale: float) -> None:
    """Panels that came after the rail was cut for a low window stood below its end."""
    view = WindowView()

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(states.working(), view, ui, lambda _: None)

    load()
    screen.show(draw)
    for size in (*SIZES, (1920, 700)):
        for _ in range(3):
            screen.ui.frame(draw, *size)
        every = [el for el in screen.ui.tree.root.walk() if isinstance(el, RailButton)]
        places = [one for one in every if one.parent is not None and one.parent.key == "buttons"]
        assert len(places) == 1 + len(PANELS)
        room = places[-1].parent.parent  # type: ignore[union-attr]
        assert isinstance(room, Surface)
        assert not room.can_scroll(), f"{size} at {scale}"
    screen.loop.wake()


def test_in_the_lowest_window_the_question_of_trust_leaves_the_list_its_search(screen: Screen) -> None:
    """It lay over the search and all rows, and nothing could be done before an answer."""
    load()
    state, view = untrusted(), WindowView(is_hub_shown=False)

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 2.0)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(4):
        screen.ui.frame(draw, 1024, 700)
    (question,) = [one for one in screen.ui.tree.top.order if isinstance(one, FloatLayer)]
    elements = list(screen.ui.tree.root.walk())
    (search,) = [one for one in elements if isinstance(one, Field) and one.label() == "Search discussions"]
    _, top, _, high = anchor_of(search)

    assert not question.is_hidden
    assert question.y > top + high + 2 * 60, "some rows of the list are free too"
    assert faults(screen.ui.tree) == []
    screen.loop.wake()


@pytest.mark.parametrize("scale", [1.0, 1.2])
@pytest.mark.parametrize("label", ["Undo", "Open the newest", "Review requests"])
def test_no_button_beside_a_notice_leaves_so_little_room_that_words_are_broken(
    screen: Screen, label: str, scale: float
) -> None:
    words = "While notifications were held back: 1 discussion waits for your answer, 1 tool call waits for your approval"
    notice = Notice("told", Level.INFO, words, action=UndoDelete("d8"), action_label=label)
    state = with_fields(states.working(), notices=(notice,))

    assert shown(screen, state, WindowView(), scale) == []
    for size in SIZES:
        screen.ui.frame(lambda ui: window(state, WindowView(), ui, lambda _: None), *size)
        text = screen.driver.find(words, kind=Text)
        longest = max(screen.ui.canvas.m.width(word, "body") for word in words.split())
        assert text.w >= longest, size


HARVEST_TABS: dict[HarvestTab, Callable[[], AppState]] = {
    "conversations": hs.looked,
    "ledger": hs.looked,
    "applied": hs.applied,
}


@pytest.mark.parametrize("tab", sorted(HARVEST_TABS))
def test_no_word_of_a_harvest_is_cut_beside_a_discussion(screen: Screen, tab: HarvestTab) -> None:
    """The note below Preview, what became of a conversation and its status were cut, with room below them."""
    load()
    state, view = HARVEST_TABS[tab](), view_of(HarvestView(tab=tab), panel="harvest")
    view.show_hub("harvest")

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.0)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for size in ((1600, 1000), (1280, 800), (1280, 700)):
        for _ in range(3):
            screen.ui.frame(draw, *size)
        hub = next(el for el in screen.ui.tree.root.walk() if el.key == "hub")
        texts = [el for el in hub.walk() if isinstance(el, Text | Badge) and el.w > 0]
        assert len(texts) > 5
        assert [el.label() for el in texts if el.is_cut] == [], size
        assert faults(screen.ui.tree) == []
    screen.loop.wake()


@pytest.mark.parametrize("count", [1, 3, 40])
def test_the_question_of_trust_is_as_high_as_what_a_folder_asks_for(screen: Screen, count: int) -> None:
    """One request stood in a box for twenty."""
    load()
    state, view = untrusted(count), WindowView()
    view.dialog = Dialog(kind="trust")

    def draw(ui: Ui) -> None:
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(4):
        screen.ui.frame(draw, 1280, 800)
    (asked,) = [one for top in screen.ui.tree.top.order for one in top.walk() if one.key == "asked"]
    assert isinstance(asked, Surface)
    assert asked.can_scroll() == (count == 40)
    assert count == 40 or asked.h < asked.inner_h + 2
    assert faults(screen.ui.tree) == []
    screen.loop.wake()


@pytest.mark.parametrize(("size", "in_sight"), [((1600, 1000), 3), ((1280, 800), 1)])
def test_the_way_to_keep_a_compared_reply_is_in_sight_however_long_the_reply_is(
    screen: Screen, size: tuple[int, int], in_sight: int
) -> None:
    """Keep stood below the text, at the end of what a column scrolls."""
    load()
    state = states.compared_at_length()
    view = view_of(DiscussionView(side_by_side={"d1": ""}))

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.0)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(6):
        screen.ui.frame(draw, *size)
    (columns,) = [el for el in screen.ui.tree.root.walk() if el.key == "columns"]
    _, top, _, high = anchor_of(columns)
    keeps = [
        anchor_of(el)
        for el in columns.walk()
        if isinstance(el, Button) and el.label() == "Keep this reply" and el.w > 0
    ]
    assert sum(top <= y and y + tall <= top + high for _, y, _, tall in keeps) >= in_sight
    assert faults(screen.ui.tree) == []
    screen.loop.wake()


@pytest.mark.parametrize("size", [(1600, 1000), (1280, 800)])
def test_every_row_of_the_usage_is_reached_and_no_cost_is_cut(screen: Screen, size: tuple[int, int]) -> None:
    """Rows after the tenth lay below the end of their table, which did not scroll; an unknown price was cut."""
    load()
    rows = tuple(UsageRow(key=f"m{n}", label=f"model {n}", sum=usage.SUM) for n in range(20))
    query = UsageQuery(by=UsageBy.MODEL, per=UsageBy.MONTH)
    state = usage.state_with(usage=replace(usage.REPORT, query=query, rows=rows))
    view = view_of(UsageView(span="all", by="model"), panel="usage")
    view.show_hub("usage")

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.0)
        window(state, view, ui, lambda _: None)

    screen.show(draw)
    for _ in range(4):
        screen.ui.frame(draw, *size)
    hub = next(el for el in screen.ui.tree.root.walk() if el.key == "hub")
    assert faults(screen.ui.tree) == []
    costs = [el for el in hub.walk() if isinstance(el, Text) and el.label() == "$3.25 + 2 unknown"]
    assert costs
    assert not any(el.is_cut for el in costs)
    (table,) = [el for el in hub.walk() if isinstance(el, VirtualList)]
    assert table.can_scroll()

    state = usage.state_with(usage=replace(usage.REPORT, query=query, rows=rows[:3]))
    for _ in range(4):
        screen.ui.frame(draw, *size)
    (table,) = [el for el in hub.walk() if isinstance(el, VirtualList)]
    assert table.h == table.view.heights.total, "a gap under the last row"

    row = replace(rows[0], label="Claude Opus 5.5 (fast)", sum=replace(usage.SUM, unpriced=0))
    state = usage.state_with(usage=replace(usage.REPORT, query=query, rows=(row,)))
    view.side, view.hub_px = "hub", 300.0
    for _ in range(4):
        screen.ui.frame(draw, *size)
    (name,) = [el for el in hub.walk() if isinstance(el, Text) and el.label() == row.label]
    assert not name.is_cut, "beside a short cost there is room for a name"
    screen.loop.wake()
