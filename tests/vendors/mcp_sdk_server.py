"""An MCP server by the SDK, over stdio: what a well-behaved one does."""

from __future__ import annotations

import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ImageContent, InputRequiredResult, TextContent

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

server = MCPServer("calculator")


@server.tool()
def add(first: int, second: int) -> int:
    """Adds two numbers."""
    return first + second


@server.tool()
def ask() -> InputRequiredResult:
    """Asks the person before it answers, as the protocol of 2026 does."""
    wanted = ElicitRequestFormParams(
        message="Your password?", requested_schema={"type": "object", "properties": {}}
    )
    return InputRequiredResult(input_requests={"password": ElicitRequest(params=wanted)})


@server.tool()
def picture() -> list[Any]:
    """A picture with words."""
    return [
        TextContent(type="text", text="a pixel"),
        ImageContent(type="image", data=PIXEL, mime_type="image/png"),
    ]


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("there is no such thing")


async def grow(context: Context[Any]) -> str:
    """Offers one tool more, and says so."""

    def subtract(first: int, second: int) -> int:
        """Subtracts a number."""
        return first - second

    server.add_tool(subtract)
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    if sys.argv[1:] == ["grows"]:
        server.add_tool(grow)
    server.run("stdio")
