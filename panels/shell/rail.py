"""The rail: the one navigation of the window, from the list of discussions over the panels to the settings."""

from __future__ import annotations

from panels.base.action import action_tip
from panels.base.desk import Desk
from panels.base.room import HubPanel
from panels.base.ui import ButtonKind
from panels.shell.panes import shown_panes, toggle_side
from panels.shell.rooms import PANELS

WORDS_FROM_PX = 1_160.0
"""Width of the window from which the buttons have their words under them; a tip has them at every width."""
WIDE_PX, NARROW_PX = 76.0, 48.0
PADDING_PX = 4.0
FOOT_PX, FOOT_LOW_PX = 56.0, 36.0
LOW_PX = 400.0
"""Height of the rail under which its buttons are small, so that all are in view."""
SMALL_PX = 34.0


def rail_px(window_px: float) -> float:
    """Width of the rail, design px, in a window of a width."""
    return WIDE_PX if window_px >= WORDS_FROM_PX else NARROW_PX


def rail(desk: Desk, window_px: float) -> None:
    """Draw the rail.

    Args:
        window_px: width of the window, design px; 0 while not known yet.
    """
    ui, view = desk.ui, desk.view
    width = rail_px(window_px)
    is_low = 0 < ui.height() < LOW_PX
    side = (width - SMALL_PX) / 2 if is_low and width == NARROW_PX else PADDING_PX
    with ui.surface("rail", "base", width=width, height=0, padding=(side, 4 if is_low else 8)):
        width -= 2 * side
        foot = FOOT_LOW_PX if is_low else FOOT_PX
        with (
            ui.surface("places", "clear", height=-foot, padding=(0, 0), scrolls=True),
            ui.group("buttons", gap=2 if is_low else 4),
        ):
            if _button(desk, "list", "Discussions", "comments", width, is_on="list" in shown_panes(view)):
                toggle_side(view, "list")
            ui.divider("panels")
            for panel in PANELS:
                _panel(desk, panel, width)
        if _button(desk, "settings", "Settings", "gear", width, is_on=view.page == "settings"):
            view.page = "chat" if view.page == "settings" else "settings"


def _panel(desk: Desk, panel: HubPanel, width: float) -> None:
    view = desk.view
    is_on = "hub" in shown_panes(view) and view.panel == panel.id
    if _button(desk, panel.id, panel.label, panel.icon, width, is_on=is_on):
        if is_on:
            view.is_hub_shown = False
        else:
            view.show_hub(panel.id)


def _button(desk: Desk, action_id: str, label: str, icon: str, width: float, *, is_on: bool) -> bool:
    """A button for what an action does; the tip names the action and its chord."""
    kind: ButtonKind = "rail_active" if is_on else "rail"
    tip = action_tip(desk, action_id)
    return desk.ui.button(action_id, label, icon=icon, kind=kind, tip=tip, width=width)
