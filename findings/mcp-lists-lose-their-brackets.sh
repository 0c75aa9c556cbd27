#!/usr/bin/env bash
# mcp 2.3.0
#
# A tool of a Python MCP server returns a list. Clients that know no structured results, and most that hand results to a
# model, read the text of `content`. The specification says that the text should be the serialized result.
#
# Expected: the text of [] is [], that of [{"id": 7}] is a list of one.
# Seen: each item becomes a text of its own and the list itself is dropped. An empty list gives no content at all, the same
# as None; a list of one object gives the same text as the object alone. `structured_content` beside it is right.
#
# Why it matters: "no open tickets" reaches the model as silence, which reads like a tool that failed or returned nothing;
# models then call again or guess.
#
# Output seen:
#   {'id': 7}: text ['{"id": 7}']
#   [{'id': 7}]: text ['{"id": 7}'], structured {'result': [{'id': 7}]}
#   []: text [], structured {'result': []}
#   None: text [], structured {'result': None}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0

cat > call.py <<'PY'
import asyncio, json
from mcp import Client
from mcp.server import MCPServer
server = MCPServer("desk")
@server.tool()
def single() -> dict:
    return {"id": 7}
@server.tool()
def one() -> list[dict]:
    return [{"id": 7}]
@server.tool()
def empty() -> list[dict]:
    return []
@server.tool()
def nothing() -> dict | None:
    return None
async def main():
    async with Client(server) as client:
        for tool in (single, one, empty, nothing):
            result = await client.call_tool(tool.__name__, {})
            texts = [json.dumps(json.loads(block.text)) for block in result.content]
            structured = f", structured {result.structured_content}" if result.structured_content else ""
            print(f"{tool()}: text {texts}{structured}")
asyncio.run(main())
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
