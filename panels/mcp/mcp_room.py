"""Room of MCP servers in the window, and the view of their manager."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.language import tr
from panels.base.desk import Desk, HubPanel, Room
from panels.base.window_fields import Kept

# View of the manager of MCP servers: what is unfolded, which tools are ticked, the form.


class McpForm(msgspec.Struct):
    """A server that is being entered. `line`: its command or its address; `error`: why it is not taken; `sent`: the command under way."""

    name: str = ""
    line: str = ""
    variables: str = ""
    network: bool = False
    error: str = ""
    sent: str = ""


class McpView(msgspec.Struct):
    """The manager's own state.

    Args:
        folded: servers whose tools are shown or hidden against what is usual, by name; open_tools: those whose
            description and schema are shown, by server and tool; whole: servers of which all tools are shown.
        open_lines: lines of a question all of whose rows are shown, by server and label.
        left: tools that the person unticked, by the question's id; sent: commands whose outcome may be seen, by server.
        looked_with: the folder and the servers that were last looked at.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    folded: frozenset[str] = frozenset()
    open_tools: frozenset[tuple[str, str]] = frozenset()
    whole: frozenset[str] = frozenset()
    open_lines: frozenset[tuple[str, str]] = frozenset()
    left: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    sent: dict[str, str] = msgspec.field(default_factory=dict)
    looked_with: tuple[str, tuple[str, ...]] | None = None
    form: McpForm | None = None


# Room of MCP servers in the window.


def _panel(desk: Desk) -> None:
    from panels.mcp.mcp_panel import mcp_panel

    mcp_panel(desk)


ROOM = Room(
    view=McpView,
    panels=(
        HubPanel(
            id="mcp",
            words=tr("MCP tools plugins connectors extensions"),
            title=tr("MCP servers"),
            guide="mcp",
            about=tr(
                "Add MCP servers that give the model more tools. A server starts only after you approve it."
            ),
            draw=_panel,
        ),
    ),
)
