#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 (TypeScript, with zod 4.6.7), mcp 2.3.0 (Python client beside it)
#
# Tools of a TypeScript server declare their result by a zod schema, `outputSchema: { name: z.string(), price: z.number() }`, and
# return a row of a database: with one more column, without a currency for which the schema has a default, or with a price as text,
# which z.coerce.number() reads.
#
# Expected: what the server has checked and let through passes the schema that it published; or the server says what is wrong.
# Seen: the server checks by zod, which drops more columns, fills in the default and makes a number of "2.5", but it sends the row
# as the tool returned it. The JSON schema made of the same zod schema says additionalProperties: false, requires the currency and
# a number, and so clients refuse the result: those of both SDKs, the package's own only when it has listed the tools before. A
# client that has not gets the row as it was, with no currency and a price in text.
#
# Why it matters: one more column in a table ends a tool for all clients, while the server and a test by `callTool` alone are content.
#
# Output seen:
#   more: typescript, tools not listed {"name":"tea","price":2.5,"shelf":7}; listed refuses; python refuses
#   default: typescript, tools not listed {"name":"tea"}; listed refuses; python refuses
#   coerce: typescript, tools not listed {"price":"2.5"}; listed refuses; python refuses
#   exact: typescript, tools not listed {"name":"tea","price":2.5}; listed {"name":"tea","price":2.5}; python {"name":"tea","price":2.5}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 2>/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 zod@4.6.7

cat > server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
const server = new McpServer({ name: "shop", version: "1" });
function tool(name, outputSchema, row) {
  server.registerTool(name, { outputSchema }, async () => ({ content: [], structuredContent: row }));
}
tool("more", { name: z.string(), price: z.number() }, { name: "tea", price: 2.5, shelf: 7 });
tool("default", { name: z.string(), currency: z.string().default("EUR") }, { name: "tea" });
tool("coerce", { price: z.coerce.number() }, { price: "2.5" });
tool("exact", { name: z.string(), price: z.number() }, { name: "tea", price: 2.5 });
await server.connect(new StdioServerTransport());
JS
cat > call.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const client = new Client({ name: "x", version: "1" });
await client.connect(new StdioClientTransport({ command: "node", args: ["server.mjs"] }));
const names = ["more", "default", "coerce", "exact"], seen = [[], []];
for (const rows of seen) {
  for (const name of names) {
    const refused = (e) => (e.message.includes("does not match the tool's output schema") ? "refuses" : e.message);
    rows.push(await client.callTool({ name }).then((r) => (r.isError ? r.content[0].text : JSON.stringify(r.structuredContent)), refused));
  }
  await client.listTools();
}
names.forEach((name, at) => console.log(`${name}: typescript, tools not listed ${seen[0][at]}; listed ${seen[1][at]}`));
await client.close();
JS
cat > call.py <<'PY'
import asyncio, json
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
async def main():
    async with Client(stdio_client(StdioServerParameters(command="node", args=["server.mjs"]))) as client:
        for name in ("more", "default", "coerce", "exact"):
            try:
                result = await client.call_tool(name, {})
                print("python", json.dumps(result.structured_content, separators=(",", ":")))
            except RuntimeError as error:
                print("python refuses" if "Invalid structured content" in str(error) else error)
asyncio.run(main())
PY
node call.mjs > typescript
venv/bin/python call.py > python
paste -d '#' typescript python | sed 's/#/; /' | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
