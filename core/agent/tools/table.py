"""Table of the tools."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.agent.tool import Tool
from core.agent.tools import (
    bash,
    delegate,
    edit_file,
    glob,
    grep,
    journal,
    memory,
    read_file,
    todo,
    view_image,
    web_fetch,
    write_file,
    yield_to_user,
)

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        tool.schema.name: tool
        for tool in (
            read_file.TOOL,
            write_file.TOOL,
            edit_file.TOOL,
            grep.TOOL,
            glob.TOOL,
            journal.TOOL,
            yield_to_user.TOOL,
            todo.TOOL,
            view_image.TOOL,
            web_fetch.TOOL,
            delegate.TOOL,
            *bash.TOOLS,
            *memory.TOOLS,
        )
    }
)
"""Every tool by name; the order counts for nothing, since the wire has them sorted."""
