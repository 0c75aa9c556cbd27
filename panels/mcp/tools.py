"""Tools of a server in the manager: a line each, which unfolds to what a model is told of it."""

from __future__ import annotations

from collections.abc import Callable

from core.agent.escapes import escaped
from core.base.text import one_line
from core.mcp.wording import count_words
from core.values.mcp import McpServer, McpTool
from panels.base.desk import Desk
from panels.mcp.view import McpView

SHOWN = 40
"""Tools of a server that are drawn until all are asked for."""
LINE_CHARS = 120


def hidden_tools(own: McpView, server: McpServer) -> tuple[McpTool, ...]:
    """Tools of a server that are not drawn before all are asked for: the last ones."""
    tools = server.tools or (() if server.kept is None else server.kept.tools)
    return () if server.settings.name in own.whole else tools[SHOWN:]


def is_unfolded(desk: Desk, own: McpView, server: McpServer) -> bool:
    """Draw the line under which the tools of a server fold. True if they are to be shown."""
    name = server.settings.name
    is_open = name in own.folded
    icon = "chevron-down" if is_open else "chevron-right"
    if desk.ui.button("tools", count_words(server), icon=icon, kind="ghost", is_small=True):
        own.folded ^= {name}
    return is_open


def tool_rows(
    desk: Desk, own: McpView, server: McpServer, ticks: Callable[[McpTool], bool | None] | None = None
) -> None:
    """Draw the tools of a server. O(shown).

    Args:
        ticks: draws the box of a tool in place of its mark; None where nothing is asked: then they fold under a line.
    """
    ui, name = desk.ui, server.settings.name
    tools = server.tools or (() if server.kept is None else server.kept.tools)
    if not tools:
        return
    if ticks is None and not is_unfolded(desk, own, server):
        return
    hidden = hidden_tools(own, server)
    for tool in tools[: len(tools) - len(hidden)]:
        _row(desk, own, server, tool, ticks)
    if hidden and ui.button("whole", f"Show {len(hidden):,} more", kind="ghost", is_small=True):
        own.whole |= {name}


def _row(
    desk: Desk, own: McpView, server: McpServer, tool: McpTool, ticks: Callable[[McpTool], bool | None] | None
) -> None:
    ui, place = desk.ui, (server.settings.name, tool.name)
    is_open = place in own.open_tools
    with ui.group(("tool", tool.name), gap=4):
        with ui.row("line", gap=6):
            if ticks is not None:
                ticks(tool)
            else:
                is_approved = tool.name in server.approved
                ui.icon(
                    "mark", "circle-check" if is_approved else "circle", tone="ok" if is_approved else "faint"
                )
            icon = "chevron-down" if is_open else "chevron-right"
            tip = f"What a model is told of {tool.name}"
            if ui.button("fold", "", icon=icon, kind="ghost", is_small=True, tip=tip):
                own.open_tools ^= {place}
            ui.text("name", tool.name, style="small_strong", width=0)
        description = escaped(tool.schema.description)
        if not is_open:
            ui.text("said", one_line(description, LINE_CHARS), tone="muted", style="small", width=0)
        else:
            ui.text("description", description, style="small", wraps=True)
            ui.code("schema", escaped(tool.schema.parameters_json), language="json")
            if tool.says_read_only:
                ui.text("hint", "It says of itself that it only reads. That lets nothing go without a question.",
                        tone="muted", style="small", wraps=True)  # fmt: skip
