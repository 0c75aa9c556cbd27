#!/usr/bin/env bash
# mcp 2.3.0
#
# Two tools of a Python MCP server take a text. One declares `content: str`, the other `content: str | None = None`.
# A model passes the text of a JSON file, {"name": "x"}, as a string, as the published schema says.
#
# Expected: both get the string that was sent.
# Seen: for the optional one the server parses every string that is JSON, before it checks types, and then refuses the
# object that it made itself: "Input should be a valid string". Only a parameter annotated as plain `str` is spared.
# "12" and "true" come through; an object, a list and null do not ("null" arrives as None).
#
# Why it matters: a file-writing tool works for every file but JSON files, and the error blames the caller, who did
# send a string; a model then tries again and again with the same value.
#
# Output seen:
#   plain, '{"name": "x"}': received '{"name": "x"}'
#   plain, '[1, 2]': received '[1, 2]'
#   plain, 'null': received 'null'
#   optional, '{"name": "x"}': error: Input should be a valid string
#   optional, '[1, 2]': error: Input should be a valid string
#   optional, 'null': received None
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0

cat > call.py <<'PY'
import asyncio, logging
from mcp import Client
from mcp.server import MCPServer
server = MCPServer("files")
logging.disable()
@server.tool()
def plain(content: str) -> str:
    return f"received {content!r}"
@server.tool()
def optional(content: str | None = "") -> str:
    return f"received {content!r}"
async def main():
    async with Client(server) as client:
        for tool in ("plain", "optional"):
            for text in ('{"name": "x"}', "[1, 2]", "null"):
                result = await client.call_tool(tool, {"content": text})
                said = result.content[0].text
                seen = "error: " + said.splitlines()[2].strip().partition(" [")[0] if result.is_error else said
                print(f"{tool}, {text!r}: {seen}")
asyncio.run(main())
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
