"""Measures a call of an MCP server: ours, through the host, against the bare SDK's in one process with its caller."""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from core.kernel.child_process import PACKAGE_ROOT, child_environment
from core.kernel.values.mcp import McpServerSettings, WrappedCommand
from core.mcp.mcp_client import McpClient
from tests.bench.__main__ import Row, row

ROUNDS, CALLS = 9, 60
BAR = 1.5
SERVER = """
from mcp.server import MCPServer
server = MCPServer("bench")
@server.tool()
def add(first: int, second: int) -> int:
    return first + second
server.run("stdio")
"""
ARGUMENTS = {"first": 1, "second": 2}


def rows() -> list[Row]:
    """Call both in turn, each with a server of the SDK of its own over stdio, without a sandbox."""
    import anyio.from_thread
    from mcp import Client, StdioServerParameters

    environment = child_environment(os.environ)
    command = (sys.executable, "-P", "-c", SERVER)
    client = McpClient()
    bare = Client(StdioServerParameters(command=command[0], args=list(command[1:]), env=environment))

    async def bare_ms() -> float:
        began = time.perf_counter()
        for _ in range(CALLS):
            await bare.call_tool("add", dict(ARGUMENTS))
        return (time.perf_counter() - began) * 1_000 / CALLS

    def ours_ms() -> float:
        began = time.perf_counter()
        for _ in range(CALLS):
            client.call("bench", "add", '{"first": 1, "second": 2}')
        return (time.perf_counter() - began) * 1_000 / CALLS

    def unwrapped(words: tuple[str, ...], _needs_network: bool) -> WrappedCommand:
        return WrappedCommand(words[0], words[1:], str(PACKAGE_ROOT), environment)

    try:
        began = time.perf_counter()
        client.start(McpServerSettings("bench", command), unwrapped, {})
        start_ms = (time.perf_counter() - began) * 1_000
        with anyio.from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(bare):
            pairs = [(ours_ms(), portal.call(bare_ms)) for _ in range(ROUNDS + 1)][1:]
        rss = _rss_mb(client.pid)
    finally:
        client.close()
    ours, alone = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(mine / other for mine, other in pairs)
    return [
        row("a call of an MCP server over stdio, the bare SDK", alone, "ms", runs=ROUNDS * CALLS),
        row("the same through the program's host", ours, "ms", runs=ROUNDS * CALLS),
        row("through the host / the bare SDK", ratio, "times", BAR, runs=ROUNDS),
        row("host and first server, from nothing to its list", start_ms, "ms", runs=1),
        row("memory of the host, one server", rss, "MB", runs=1),
    ]


def _rss_mb(pid: int | None) -> float:
    """Resident memory of a process; 0 where the system does not say."""
    try:
        words = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
