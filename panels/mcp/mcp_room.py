"""Room of MCP servers in the window."""

from __future__ import annotations

from panels.base.desk import Desk, HubPanel, Room
from panels.mcp.mcp_view import McpView


def _panel(desk: Desk) -> None:
    from panels.mcp.mcp_panel import mcp_panel

    mcp_panel(desk)


ROOM = Room(
    view=McpView,
    panels=(
        HubPanel(
            id="mcp", title="MCP Servers", label="Servers", icon="plug", place=8, guide="mcp", draw=_panel
        ),
    ),
)
