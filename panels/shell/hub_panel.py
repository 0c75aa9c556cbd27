"""The Operations Hub: the tabs at the right, one panel each."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.ui import Option
from panels.shell.rooms import TABS

OPTIONS = tuple(Option(tab.id, tab.label, icon=tab.icon) for tab in TABS)
DRAW = {tab.id: tab.draw for tab in TABS}


def hub_panel(desk: Desk) -> None:
    """Draw the tab strip and the panel in front. A panel is loaded when it is first shown, for the first frame's sake."""
    ui, view = desk.ui, desk.view
    with ui.surface("hub", "clear", height=0, padding=(12, 8)):
        view.hub_tab = ui.tabs("tabs", OPTIONS, view.hub_tab) or view.hub_tab
        with ui.surface(view.hub_tab, "clear", height=0, padding=(0, 0)):
            DRAW[view.hub_tab](desk)
