"""The Operations Hub: the pane at the right, with the one panel that the rail chose."""

from __future__ import annotations

from core.kernel.language import tr
from panels.base.desk import Desk
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


def go(desk: Desk, pressed: str) -> None:
    """Do what a button of the rail is for: it opens its place, and closes it where it is in view. Empty for none."""
    view = desk.view
    if pressed == "settings":
        view.page = "chat" if view.page == "settings" else "settings"
    elif pressed == "list":
        toggle_side(view, "list")
    elif pressed and pressed in lit(desk):
        view.is_hub_shown = False
    elif pressed:
        view.show_hub(pressed)


def lit(desk: Desk) -> frozenset[str]:
    """The buttons of the rail whose place is in view."""
    view = desk.view
    shown = shown_panes(view)
    on = {"list"} & shown | ({view.panel} if "hub" in shown else set())
    return frozenset(on | ({"settings"} if view.page == "settings" else set()))
