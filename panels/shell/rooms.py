"""The one table of the window's rooms. A new room is one line here, below the rooms that it reads."""

from __future__ import annotations

from panels.agent.room import ROOM as AGENT
from panels.base.room import HubPanel, Room
from panels.caching.room import ROOM as CACHING
from panels.context.room import ROOM as CONTEXT
from panels.discussion.room import ROOM as DISCUSSION
from panels.forgetting.room import ROOM as FORGETTING
from panels.harvest.room import ROOM as HARVEST
from panels.imports.room import ROOM as IMPORTS
from panels.knowledge.room import ROOM as KNOWLEDGE
from panels.mcp.room import ROOM as MCP
from panels.retrieval.room import ROOM as RETRIEVAL
from panels.settings.room import ROOM as SETTINGS
from panels.signals.room import ROOM as SIGNALS

ROOMS: tuple[Room, ...] = (
    DISCUSSION,
    IMPORTS,
    FORGETTING,
    CONTEXT,
    CACHING,
    KNOWLEDGE,
    HARVEST,
    RETRIEVAL,
    SIGNALS,
    AGENT,
    MCP,
    SETTINGS,
)
"""In the order of their layers, the lowest first: so menus list what they do, and the window's file what they keep."""

PANELS: tuple[HubPanel, ...] = tuple(
    sorted((panel for room in ROOMS for panel in room.panels), key=lambda one: one.place)
)
"""The panels of the Operations Hub, in the order of the rail."""
