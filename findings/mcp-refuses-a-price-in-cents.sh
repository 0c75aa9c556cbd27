#!/usr/bin/env bash
# mcp 2.3.0 (with pydantic 2.14.4, jsonschema 4.26.0), @modelcontextprotocol/sdk 1.32.2
#
# A tool of a Python MCP server returns a price in whole cents: Annotated[float, Field(multiple_of=0.01)].
#
# Expected: what the server accepts and sends, a client accepts too: both read the same schema.
# Seen: pydantic on the server allows for the error of binary fractions and takes 19.99. Both official clients check
# the schema's multipleOf by plain division, so 19.99 "is not a multiple of 0.01", and the call raises an error
# instead of giving the result. 1.1 passes. The tool has run by then.
#
# Why it matters: some amounts work and others do not; a client that tries again orders twice.
#
# Output seen:
#   python client, 1.1: {'result': 1.1}
#   python client, 19.99: RuntimeError: 19.99 is not a multiple of 0.01
#   typescript client, 1.1: {"result":1.1}
#   typescript client, 19.99: data/result must be multiple of 0.01
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 pydantic==2.14.4 jsonschema==4.26.0
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2

cat > server.py <<'PY'
from typing import Annotated
from mcp.server import MCPServer
from pydantic import Field
server = MCPServer("shop")
@server.tool()
def price(amount: float) -> Annotated[float, Field(multiple_of=0.01)]:
    return amount
if __name__ == "__main__":
    server.run()
PY
cat > call.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const client = new Client({ name: "x", version: "1" });
await client.connect(new StdioClientTransport({ command: "venv/bin/python", args: ["server.py"], stderr: "ignore" }));
await client.listTools();
for (const amount of [1.1, 19.99]) {
  const seen = await client.callTool({ name: "price", arguments: { amount } }).then((r) => JSON.stringify(r.structuredContent), (e) => e.message.split("schema: ")[1]);
  console.log(`typescript client, ${amount}: ${seen}`);
}
await client.close();
JS
cat > call.py <<'PY'
import asyncio, sys
from server import server
from mcp import Client
async def main():
    async with Client(server) as client:
        for amount in (1.1, 19.99):
            try:
                seen = (await client.call_tool("price", {"amount": amount})).structured_content
            except RuntimeError as error:
                seen = "RuntimeError: " + str(error).splitlines()[0].partition("price: ")[2]
            print(f"python client, {amount}: {seen}")
asyncio.run(main())
PY
{ venv/bin/python call.py; node call.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
