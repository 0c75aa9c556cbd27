"""The Harvest panel on a real window: it fits, and real input reaches it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import EditHarvestItem, MoveHarvestItem, PreviewHarvest
from gui.elements.editor import Editor
from gui.elements.lists import VirtualList
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.harvest.harvest_room import HarvestTab, HarvestView
from panels.knowledge.knowledge_room import KnowledgeView
from panels.shell.window import window
from tests.gui.conftest import Screen
from tests.gui.layout_check import faults
from tests.gui.test_window_caching import Desk
from tests.gui.test_window_states import panel_shown
from tests.panels.harvest import harvest_states as hs
from tests.panels.knowledge.test_facts import state as fact_state

pytestmark = pytest.mark.gui
STATES: dict[str, Callable[[], AppState]] = {
    "nothing": hs.nothing,
    "looked": hs.looked,
    "begun": hs.begun,
    "previewing": hs.previewing,
    "previewed": hs.previewed,
    "applied": hs.applied,
    "batched": hs.batched,
    "undone": hs.undone,
    "failed": hs.failed,
    "wordy": hs.wordy,
    "many": lambda: hs.many(2_000),
}
TABS: tuple[HarvestTab, ...] = ("conversations", "preview", "applied", "ledger")


def _view(tab: HarvestTab, state: AppState, hub_px: float = 384.0) -> WindowView:
    view = WindowView(panel="harvest", hub_px=hub_px, side="hub")
    own = view.of(HarvestView)
    own.tab, own.looked_with, own.looked_among = (
        tab,
        state.config.settings.knowledge,
        len(state.discussions.summaries),
    )
    return view


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("name", sorted(STATES))
def test_every_part_fits(screen: Screen, name: str, tab: HarvestTab) -> None:
    state = STATES[name]()
    for scale, hub_px in ((1.0, 384.0), (0.9, 1000.0), (1.5, 288.0)):
        assert panel_shown(screen, state, _view(tab, state, hub_px), scale) == []


@pytest.mark.parametrize(("size", "scale"), [((1280, 800), 1.5), ((1024, 700), 2.0)])
@pytest.mark.parametrize(
    ("panel", "part"), [("harvest", "conversations"), ("harvest", "preview"), ("knowledge", "facts")]
)
def test_in_a_low_window_a_list_has_some_rows_whatever_stands_over_it(
    screen: Screen, panel: str, part: str, size: tuple[int, int], scale: float
) -> None:
    """What stands over it scrolls away with it: there was one row, or none."""
    state = {"conversations": hs.batched, "preview": hs.previewed, "facts": fact_state}[part]()
    view = WindowView(panel=panel, side="hub")
    view.of(HarvestView).tab = "preview" if part == "preview" else "conversations"
    view.of(HarvestView).looked_with = state.config.settings.knowledge
    view.of(HarvestView).looked_among = len(state.discussions.summaries)
    view.of(KnowledgeView).tab = "facts"

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        window(state, view, ui, lambda _: None)

    load()
    screen.show(draw)
    for _ in range(4):
        screen.ui.frame(draw, *size)
    assert faults(screen.ui.tree) == []
    hub = next(el for el in screen.ui.tree.root.walk() if el.key == "hub")
    lists = [el for el in hub.walk() if isinstance(el, VirtualList)]
    assert [round(el.h / scale) for el in lists if el.h / scale < 100] == []
    assert lists
    screen.loop.wake()


def test_the_settings_fit(screen: Screen) -> None:
    state = hs.wordy()
    for hub_px in (288.0, 384.0, 900.0):
        view = _view("conversations", state, hub_px)
        view.of(HarvestView).are_settings_open = True
        assert panel_shown(screen, state, view) == []


def test_an_item_is_edited_with_the_keyboard_while_more_arrives(screen: Screen) -> None:
    state = hs.previewing()
    desk = Desk(screen, state, _view("preview", state))
    person = screen.driver
    person.click("Edit the text")
    editor = person.find("Text", kind=Editor)
    assert isinstance(editor, Editor)
    person.until(lambda: editor.is_active)
    person.key("End")
    person.type(" And more")

    preview = state.harvest.preview
    assert preview is not None
    about = hs.artifacts()[1].facts
    more = replace(preview, sources=(*preview.sources, about), items=(*preview.items, *hs.items(about)))
    desk.show(replace(state, harvest=replace(state.harvest, preview=more)))
    person.type(" yet.")
    person.until(
        lambda: any(edit.head.endswith("And more yet.") for edit in desk.view.of(HarvestView).edits.values())
    )
    person.click("Keep")

    head, body = more.items[0].item.head, more.items[0].item.body
    assert desk.asked == [EditHarvestItem(more.items[0].id, f"{head} And more yet.", body)]
    screen.check()


def test_a_tick_by_mouse_asks_for_it(screen: Screen) -> None:
    state = hs.looked()
    desk = Desk(screen, state, _view("conversations", state))

    screen.driver.click("Read Cache TTL policy")
    screen.driver.until(lambda: screen.driver.has("Preview 3 conversations"))
    screen.driver.click("Preview 3 conversations")

    assert [type(command) for command in desk.asked] == [PreviewHarvest]


def test_an_item_is_moved_by_its_menu(screen: Screen) -> None:
    state = hs.previewed()
    desk = Desk(screen, state, _view("preview", state))
    screen.driver.click("Category; choose another")
    screen.driver.until(lambda: screen.driver.has("Done task"))
    screen.check()
    screen.driver.click("Playbook")

    assert [type(command) for command in desk.asked] == [MoveHarvestItem]


@pytest.mark.parametrize("tab", ["conversations", "preview", "ledger"])
def test_two_thousand_rows_scroll(screen: Screen, tab: HarvestTab) -> None:
    state = hs.many(2_000)
    desk = Desk(screen, state, _view(tab, state))
    word = {"conversations": "Conversation", "preview": "Decision", "ledger": "Conversation"}[tab]

    screen.driver.wheel(word, 12)

    assert desk.asked == []
    screen.check()
