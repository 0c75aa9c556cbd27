"""The harvest's panel on a screen: a part of it in front, and the words in view."""

from __future__ import annotations

from core.kernel.values.state import AppState
from panels.base.view import WindowView
from panels.harvest.harvest_room import HarvestTab, HarvestView
from tests.panels.screen import Screen
from tests.recording_nodes import Node


def open_at(tab: HarvestTab, state: AppState, *, is_wide: bool = False) -> Screen:
    """The window with a part of the panel in front, everything looked at."""
    made = WindowView(panel="harvest", hub_px=1000.0 if is_wide else 424.0)
    made.of(HarvestView).tab = tab
    made.of(HarvestView).looked_with = state.config.settings.knowledge
    made.of(HarvestView).looked_among = len(state.discussions.summaries)
    return Screen(state, made)


def panel(screen: Screen) -> list[str]:
    """The words of the hub alone."""
    return hub(screen).texts()


def hub(screen: Screen) -> Node:
    (hub,) = [node for node in screen.ui.nodes("surface") if node.path[-1] == "hub" and node.props["height"] == 0
              and node.props["surface"] == "clear"]  # fmt: skip
    return hub


def rows(screen: Screen) -> list[list[str]]:
    """The words of each row in view of the table."""
    return [node.texts() for node in screen.ui.nodes("list_row") if "table" in node.path]
