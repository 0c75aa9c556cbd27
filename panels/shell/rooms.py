"""The one table of the window's rooms. A new room is one line here, below the rooms that it reads."""

from __future__ import annotations

from panels.agent.agent_room import ROOM as AGENT
from panels.base.desk import HubPanel, Room
from panels.caching.caching_room import ROOM as CACHING
from panels.context.context_room import ROOM as CONTEXT
from panels.discussion.discussion_room import ROOM as DISCUSSION
from panels.forgetting.forgetting_room import ROOM as FORGETTING
from panels.harvest.harvest_room import ROOM as HARVEST
from panels.help.help_room import ROOM as HELP
from panels.imports.imports_room import ROOM as IMPORTS
from panels.knowledge.knowledge_room import ROOM as KNOWLEDGE
from panels.mcp.mcp_room import ROOM as MCP
from panels.retrieval.retrieval_room import ROOM as RETRIEVAL
from panels.settings.settings_room import ROOM as SETTINGS
from panels.signals.signals_room import ROOM as SIGNALS
from panels.usage.usage_room import ROOM as USAGE

ROOMS: tuple[Room, ...] = (
    DISCUSSION,
    IMPORTS,
    FORGETTING,
    CONTEXT,
    CACHING,
    USAGE,
    KNOWLEDGE,
    HARVEST,
    RETRIEVAL,
    SIGNALS,
    AGENT,
    MCP,
    SETTINGS,
    HELP,
)
"""In the order of their layers, the lowest first: so menus list what they do, and the window's file what they keep."""

PANELS: tuple[HubPanel, ...] = tuple(
    sorted((panel for room in ROOMS for panel in room.panels), key=lambda one: one.place)
)
"""The panels of the Operations Hub, in the order of the rail."""
