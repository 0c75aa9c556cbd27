"""The Operations Hub: the pane at the right, with the one panel that the rail chose."""

from __future__ import annotations

from core.kernel.language import tr
from panels.base.desk import Desk, HubPanel, action_tip
from panels.base.ui import ButtonKind
from panels.help.help_room import open_page
from panels.shell.rooms import PANELS, shown_panes, toggle_side

LOW_SHARE = 0.8
"""Share of the height that a panel needs, under which it scrolls as a whole."""
BY_PANEL = {panel.id: panel for panel in PANELS}


def hub_panel(desk: Desk) -> None:
    """Draw the chosen panel under its title. It is loaded when it is first shown, for the first frame's sake."""
    ui, view = desk.ui, desk.view
    shown = BY_PANEL[view.panel]
    with ui.surface("hub", "clear", height=0, padding=(12, 8)):
        with ui.row("head"):
            ui.text("title", shown.title, style="h3", width=0)
            if ui.button(
                "about", "", icon="circle-question", kind="ghost", is_small=True, tip=tr("What is this?")
            ):
                open_page(desk, shown.page(desk), about=shown.about)
            if ui.button(
                "close",
                "",
                icon="xmark",
                kind="ghost",
                is_small=True,
                tip=tr("Hide {title} (Ctrl+Shift+H)", title=shown.title),
            ):
                view.is_hub_shown = False
        least = shown.least_px(desk)
        is_low = view.is_hub_low = 0 < ui.height() < LOW_SHARE * least
        with ui.surface(view.panel, "clear", height=0, padding=(0, 0), scrolls=is_low):
            if not is_low:
                shown.draw(desk)
                return
            with ui.surface("whole", "clear", least_height=least, padding=(0, 0)):
                shown.draw(desk)


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
        if wide + 2 * PADDING_PX <= width and foot + ENDS_PX + (1 + len(PANELS)) * (high + gap) <= height:
            return step
    return STEPS[-1]


def rail(desk: Desk, window_px: float, high_px: float) -> None:
    """Draw the rail.

    Args:
        window_px, high_px: size of the window, design px; 0 while not known yet.
    """
    ui, view = desk.ui, desk.view
    width = rail_px(window_px, high_px)
    wide, high, gap = _step(width, ui.height() or window_px)
    is_low, side = high < STEPS[2][1], (width - wide) / 2
    with ui.surface("rail", "base", width=width, height=0, padding=(side, 4 if is_low else 8)):
        width = wide
        foot = FOOT_LOW_PX if is_low else FOOT_PX
        with (
            ui.surface("places", "clear", height=-foot, padding=(0, 0), scrolls=True),
            ui.group("buttons", gap=gap),
        ):
            if _button(desk, "list", tr("Discussions"), "comments", width, is_on="list" in shown_panes(view)):
                toggle_side(view, "list")
            ui.divider("panels")
            for panel in PANELS:
                _panel(desk, panel, width)
        if _button(desk, "settings", tr("Settings"), "gear", width, is_on=view.page == "settings"):
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
