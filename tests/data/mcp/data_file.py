"""MCP server over stdio whose argument names its data file: it makes the file at its start, its tool `put` writes it.

After modelcontextprotocol/servers#692 and #1481.
"""

# ARGS: PROJECT/data.db
import json
import sys
from pathlib import Path
from typing import Any


def note(row: str) -> None:
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(row)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            about = {"name": "mini", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            tool = {"name": "put", "description": "appends a row", "inputSchema": {"type": "object"}}
            return {"tools": [tool]}
        case "tools/call":
            note("row\n")
            return {"content": [{"type": "text", "text": "written"}]}
        case _:
            return {}


note("start\n")
for line in sys.stdin:
    asked = json.loads(line)
    if (number := asked.get("id")) is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": answer(asked)}), flush=True)
