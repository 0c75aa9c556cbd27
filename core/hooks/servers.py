"""MCP servers over HTTP: how each stands. A yes to one is a person's, in the window or on a terminal."""

from __future__ import annotations

from core.hooks.fields import Data, filled
from core.hooks.operation import Resource, operation
from core.hooks.request import Answer, Request
from core.mcp.messages import LookAtServers, TryServer
from core.mcp.wording import where_words
from core.values.mcp import McpOrigin, McpPhase, McpServer


class McpToolData(Data, frozen=True):
    """Tool of a server. `name`: as models know it."""

    name: str
    description: str
    is_approved: bool


class McpServerData(Data, frozen=True):
    """An MCP server. `where`: its command or address; `changed`: what is not as it was approved; `left_out`: tools that no
    model is offered, a sentence each.
    """

    name: str
    phase: McpPhase
    origin: McpOrigin
    where: str
    problem: str
    changed: list[str]
    left_out: list[str]
    tools: list[McpToolData]

    @classmethod
    def of(cls, server: McpServer) -> McpServerData:
        """The server as it is answered with."""
        known = server.tools or (() if server.kept is None else server.kept.tools)
        tools = [
            McpToolData(tool.schema.name, tool.schema.description, tool.name in server.approved)
            for tool in known
        ]
        return filled(
            cls,
            server,
            name=server.settings.name,
            origin=server.settings.origin,
            where=where_words(server.settings),
            changed=list(server.changed),
            left_out=list(server.left_out),
            tools=tools,
        )


class McpServersData(Data, frozen=True):
    """All MCP servers of the settings, by name."""

    servers: list[McpServerData]


async def list_servers(request: Request[None]) -> Answer:
    """List the MCP servers."""
    servers = request.state.mcp.servers.values()
    return Answer(McpServersData([McpServerData.of(one) for one in servers]))


RESOURCE = Resource(
    (operation("GET", "/api/servers", list_servers, {200: McpServersData}),),
    {"mcp": (LookAtServers, TryServer)},
)
