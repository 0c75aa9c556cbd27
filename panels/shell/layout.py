"""Layout of the window: its panes, its rail, and what stands there before anything is read.

It reads no room and no value of the program, so that the first frame waits for neither.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import msgspec

from core.kernel.language import tr
from panels.base.ui import ButtonKind, Ui
from panels.base.window_fields import Kept, Panes, one_of, text, within, yes_or_no

MENUS = (tr("File"), tr("Edit"), tr("View"), tr("Discussion"), tr("Tools"), tr("Help"))
MENU_PX, STATUS_PX = 32, 28
MIN_PANE_PX = 200


class RailPlace(msgspec.Struct, frozen=True):
    """A button of the rail. `id`: of the panel that it opens; `icon`: of the panel's action, too."""

    id: str
    label: str
    icon: str


PLACES = (
    RailPlace(id="presets", label=tr("Presets"), icon="layer-group"),
    RailPlace(id="context", label=tr("Context"), icon="chart-bar"),
    RailPlace(id="knowledge", label=tr("Knowledge"), icon="book"),
    RailPlace(id="caching", label=tr("Caching"), icon="bolt"),
    RailPlace(id="harvest", label=tr("Harvest"), icon="wheat-awn"),
    RailPlace(id="retrieval", label=tr("Search"), icon="compass"),
    RailPlace(id="agent", label=tr("Agent"), icon="robot"),
    RailPlace(id="mcp", label=tr("Servers"), icon="plug"),
    RailPlace(id="signals", label=tr("Signals"), icon="bell"),
    RailPlace(id="usage", label=tr("Usage"), icon="coins"),
)
"""One for each panel of the Operations Hub, in the order of the rail; the chord of the first nine is Ctrl and their number."""


_HUB_PX = within(160, 1200)

WINDOW: tuple[Kept, ...] = (
    Kept(key="page", name="page", read=one_of("chat", "settings")),
    Kept(key="hub_tab", name="panel", read=one_of(*(one.id for one in PLACES))),
    Kept(key="settings_section", name="settings_section", read=text),
    Kept(key="list_px", name="list_px", read=within(160, 800)),
    Kept(key="hub_px", name="hub_px", read=lambda value, now: _HUB_PX(value or None, now)),
    Kept(key="is_list_shown", name="is_list_shown", read=yes_or_no),
    Kept(key="is_hub_shown", name="is_hub_shown", read=yes_or_no),
)
"""Page and panes in the window's file."""


# Panes side by side, and their widths, so that the conversation always has room to be read.

Pane = Literal["list", "conversation", "hub"]

LIST_MIN_PX = 208.0
HUB_MIN_PX = 288.0
CONVERSATION_MIN_PX = 420.0
CONVERSATION_PX = 560.0
"""Width that it has before the hub grows beyond its usual one in a small window."""
HUB_SMALL_PX, HUB_PX = 384.0, 448.0
"""Width of the hub until the person drags its edge: in a small window, and in one where its tabs have room."""
BOTH_FROM_PX = LIST_MIN_PX + HUB_MIN_PX + CONVERSATION_MIN_PX
CONVERSATION_LEAST_PX = 232.0
"""Width under which neither its model nor its estimate could be read."""
BESIDE_FROM_PX = HUB_MIN_PX + CONVERSATION_LEAST_PX
"""Width from which the hub stands beside the conversation; below, the one that was asked for last has the room."""


def panes(view: Panes, room_px: float) -> tuple[tuple[Pane, float], ...]:
    """The panes from the left with their widths; 0 takes what is left.

    Args:
        room_px: width for all of them, design px; 0 while not known yet.

    Returns:
        In a narrow window only the side pane that was asked for last, else those that are switched on; side panes
        give way before the conversation does. The hub stands alone where there is no room beside it.
    """
    has_list, has_hub = view.is_list_shown, view.is_hub_shown
    if has_hub and 0 < room_px < BESIDE_FROM_PX:
        if view.side == "hub":
            return (("hub", 0.0),)
        has_hub = False
    if has_list and has_hub and 0 < room_px < BOTH_FROM_PX:
        has_list, has_hub = view.side == "list", view.side == "hub"
    list_px = view.list_px if has_list else 0.0
    hub_px = (view.hub_px or _usual_hub_px(room_px - list_px)) if has_hub else 0.0
    if room_px > 0:
        spare = room_px - CONVERSATION_MIN_PX - list_px - hub_px
        if spare < 0 and has_hub:
            hub_px = max(HUB_MIN_PX, hub_px + spare)
            spare = room_px - CONVERSATION_MIN_PX - list_px - hub_px
        if spare < 0 and has_list:
            list_px = max(LIST_MIN_PX, list_px + spare)
    shown: list[tuple[Pane, float]] = [("conversation", 0.0)]
    if has_list:
        shown.insert(0, ("list", list_px))
    if has_hub:
        shown.append(("hub", hub_px))
    return tuple(shown)


def lit(view: Panes, room_px: float) -> frozenset[str]:
    """Ids of the rail's buttons whose place is in view. `room_px`: as of `panes`."""
    if view.page == "settings":
        return frozenset({"settings"})
    shown = {name for name, _ in panes(view, room_px)}
    return frozenset({"list"} & shown | ({view.panel} if "hub" in shown else set()))


def _usual_hub_px(room_px: float) -> float:
    return min(HUB_PX, max(HUB_SMALL_PX, room_px - CONVERSATION_PX))


# The rail: the one navigation of the window, from the list of discussions over the panels to the settings.

WORDS_FROM_PX, WORDS_FROM_HIGH_PX = 1_160.0, 690.0
"""Width and height of the window from which the buttons have their words under them; a tip has them in every window."""
WIDE_PX, NARROW_PX = 92.0, 48.0
PADDING_PX = 4.0
FOOT_PX, FOOT_LOW_PX = 56.0, 23.0
ENDS_PX = 22.0
"""Height of its edges and of the line under the first button."""
STEPS = ((84.0, 50.0, 4.0), (82.0, 45.0, 2.0), (40.0, 40.0, 4.0), (34.0, 26.0, 2.0), (30.0, 21.0, 0.0))
"""Sizes of its buttons: width, height and the gap below. In a low window they are smaller, so that all are in view."""


def rail_px(window_px: float, high_px: float) -> float:
    """Width of the rail, design px, in a window of a width and a height; 0 for a height that is not known yet."""
    has_words = window_px >= WORDS_FROM_PX and not 0 < high_px < WORDS_FROM_HIGH_PX
    return WIDE_PX if has_words else NARROW_PX


def _step(width: float, height: float) -> tuple[float, float, float]:
    """The largest buttons that all have room in a rail, else the smallest."""
    for step in STEPS:
        wide, high, gap = step
        foot = FOOT_PX if high >= STEPS[2][1] else FOOT_LOW_PX
        if wide + 2 * PADDING_PX <= width and foot + ENDS_PX + (1 + len(PLACES)) * (high + gap) <= height:
            return step
    return STEPS[-1]


def rail(ui: Ui, window_px: float, high_px: float, on: Collection[str], tip: Callable[[str], str]) -> str:
    """Draw the rail.

    Args:
        window_px, high_px: size of the window, design px; 0 while not known yet.
        on: ids of the buttons whose place is in view; tip: what a button's action is called, by its id.

    Returns:
        Id of the button that was pressed, empty for none.
    """
    width = rail_px(window_px, high_px)
    wide, high, gap = _step(width, ui.height() or window_px)
    is_low, side = high < STEPS[2][1], (width - wide) / 2
    pressed = ""

    def button(place: RailPlace) -> None:
        nonlocal pressed
        kind: ButtonKind = "rail_active" if place.id in on else "rail"
        if ui.button(place.id, place.label, icon=place.icon, kind=kind, tip=tip(place.id), width=wide):
            pressed = place.id

    with ui.surface("rail", "base", width=width, height=0, padding=(side, 4 if is_low else 8)):
        foot = FOOT_LOW_PX if is_low else FOOT_PX
        with (
            ui.surface("places", "clear", height=-foot, padding=(0, 0), scrolls=True),
            ui.group("buttons", gap=gap),
        ):
            button(RailPlace(id="list", label=tr("Discussions"), icon="comments"))
            ui.divider("panels")
            for place in PLACES:
                button(place)
        button(RailPlace(id="settings", label=tr("Settings"), icon="gear"))
    return pressed


def opening(ui: Ui, view: Panes) -> None:
    """Draw the window as it was left last, while its rooms are loaded. What is pressed in it does nothing yet."""
    with ui.surface("window", "base", height=0, padding=(0, 0)):
        width_px, high_px = ui.width(), ui.height()
        with ui.surface("menu bar", "base", height=MENU_PX, padding=(8, 2)), ui.row("menus", gap=4):
            for menu in MENUS:
                with ui.menu(menu, menu):
                    pass
        with ui.row("body", gap=0, height=-STATUS_PX):
            on = lit(view, max(0.0, width_px - rail_px(width_px, high_px)))
            rail(ui, width_px, high_px, on, lambda _: "")
            with ui.group("main", gap=0):
                if view.page == "settings":
                    with ui.surface("settings", "pane", height=0, padding=(0, 0)):
                        pass
                else:
                    _panes(ui, view)
        with ui.surface("status", "base", height=STATUS_PX):
            pass


def _panes(ui: Ui, view: Panes) -> None:
    shown = panes(view, ui.width())
    names = tuple(name for name, _ in shown)
    with ui.split(("panes", names), [width for _, width in shown], min_px=MIN_PANE_PX) as split:
        for index, name in enumerate(names):
            with split.pane(index), ui.surface(name, "pane", height=0, padding=(16, 12)):
                if name == "conversation":
                    ui.text("loading", tr("Opening your discussions…"), tone="muted")
