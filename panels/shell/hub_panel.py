"""The Operations Hub: the pane at the right, with the one panel that the rail chose."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.shell.rooms import PANELS

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
                "close",
                "",
                icon="xmark",
                kind="ghost",
                is_small=True,
                tip=f"Hide {shown.title} (Ctrl+Shift+H)",
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
