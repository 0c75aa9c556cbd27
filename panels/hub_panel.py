"""The Operations Hub: the tabs at the right, one panel each."""

from __future__ import annotations

from core.values.state import AppState
from panels.presets_panel import presets_panel
from panels.ui import Option, Send, Ui
from panels.view import WindowView

TABS = (
    Option("presets", "Presets", icon="layer-group"),
    Option("context", "Context", icon="chart-bar"),
    Option("knowledge", "Knowledge", icon="book"),
    Option("caching", "Caching", icon="bolt"),
    Option("harvest", "Harvest", icon="wheat-awn"),
)


def hub_panel(state: AppState, view: WindowView, ui: Ui, send: Send) -> None:
    """Draw the tab strip and the panel in front. A panel is loaded when it is first shown, for the first frame's sake."""
    with ui.surface("hub", "clear", height=0, padding=(12, 8)):
        clicked = ui.tabs("tabs", TABS, view.hub_tab)
        if clicked == "presets":
            view.hub_tab = "presets"
        elif clicked == "context":
            view.hub_tab = "context"
        elif clicked == "knowledge":
            view.hub_tab = "knowledge"
        elif clicked == "caching":
            view.hub_tab = "caching"
        elif clicked == "harvest":
            view.hub_tab = "harvest"
        with ui.surface(view.hub_tab, "clear", height=0, padding=(0, 0)):
            match view.hub_tab:
                case "presets":
                    presets_panel(state, view, ui, send)
                case "context":
                    from panels.context_panel import context_panel

                    context_panel(state, view, ui, send)
                case "knowledge":
                    from panels.knowledge_panel import knowledge_panel

                    knowledge_panel(state, view, ui, send)
                case "caching":
                    from panels.caching_panel import caching_panel

                    caching_panel(state, view, ui, send)
                case "harvest":
                    from panels.harvest_panel import harvest_panel

                    harvest_panel(state, view, ui, send)
