#!/usr/bin/env bash
# mcp 2.3.0 (Python server), @modelcontextprotocol/sdk 1.32.2 (TypeScript client)
#
# One tool of a Python server returns a string with a pattern that Python and pydantic read, (?i)^[a-z]+-\d+$, and
# the server publishes it in the tool's output schema. The other tools have none.
#
# Expected: at worst the client does not check that tool's result.
# Seen: the TypeScript client compiles the patterns of all output schemas when it lists tools. JavaScript has no (?i)
# at the start of a pattern, so `listTools()` raises and the client has no tool at all, not even the plain ones. The
# same pattern on a parameter is harmless, and the Python client lists and calls both tools.
#
# Why it matters: a server that its author tested from Python shows nothing in clients built on the TypeScript SDK,
# and the message names neither the tool nor the server.
#
# Output seen:
#   python client: ['hello', 'ticket'] abc-12
#   typescript client: SyntaxError: Invalid regular expression: /(?i)^[a-z]+-\d+$/u: Invalid group
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 pydantic==2.14.4
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2

cat > server.py <<'PY'
from typing import Annotated
from mcp.server import MCPServer
from pydantic import Field
server = MCPServer("desk")
@server.tool()
def hello() -> str:
    return "hello"
@server.tool()
def ticket() -> Annotated[str, Field(pattern=r"(?i)^[a-z]+-\d+$")]:
    return "abc-12"
if __name__ == "__main__":
    server.run()
PY
cat > call.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const client = new Client({ name: "x", version: "1" });
await client.connect(new StdioClientTransport({ command: "venv/bin/python", args: ["server.py"], stderr: "ignore" }));
const seen = await client.listTools().then((r) => r.tools.map((tool) => tool.name), (e) => `${e.name}: ${e.message}`);
console.log("typescript client:", seen);
await client.close();
JS
cat > call.py <<'PY'
import asyncio
from server import server
from mcp import Client
async def main():
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        print("python client:", sorted(names), (await client.call_tool("ticket", {})).content[0].text)
asyncio.run(main())
PY
{ venv/bin/python call.py; node call.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
