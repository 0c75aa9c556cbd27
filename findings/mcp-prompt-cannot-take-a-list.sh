#!/usr/bin/env bash
# mcp 2.3.0
#
# A prompt and a tool of a Python MCP server have the same arguments: a number, a flag and a list of names. Arguments of
# a prompt are texts by the protocol, so the server has to read values out of them, and it does so by the types.
#
# Expected: the list is read as the tool reads it (JSON in a text), or the server refuses such a prompt when it is made.
# Seen: the number and the flag are read. The prompt is listed like any other, but no text whatever can be its list:
# every call is answered with "Internal server error", and neither the argument nor the reason is named. The tool takes
# the same text.
#
# Why it matters: the prompt stands in every client's menu and can never be used.
#
# Output seen:
#   listed: names, on, times
#   prompt, without names: 3 True []
#   prompt, names='["a", "b"]': MCPError: Internal server error
#   prompt, names='a': MCPError: Internal server error
#   tool, names='["a", "b"]': 3 True ['a', 'b']
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0

cat > try.py <<'PY'
import asyncio, logging
from mcp import Client
from mcp.server import MCPServer
logging.disable()
server = MCPServer("greetings")
@server.prompt()
def greet(times: int, on: bool = False, names: list[str] = []) -> str:
    return f"{times} {on} {names}"
@server.tool(name="greet")
def greet_tool(times: int, on: bool = False, names: list[str] = []) -> str:
    return f"{times} {on} {names}"
async def main():
    async with Client(server) as client:
        listed = (await client.list_prompts()).prompts[0]
        print("listed:", ", ".join(sorted(one.name for one in listed.arguments)))
        known = {"times": "3", "on": "true"}
        for names in (None, '["a", "b"]', "a"):
            given = known if names is None else known | {"names": names}
            said = "without names" if names is None else f"names={names!r}"
            try:
                print(f"prompt, {said}:", (await client.get_prompt("greet", given)).messages[0].content.text)
            except Exception as error:
                print(f"prompt, {said}: {type(error).__name__}: {error}")
        given = known | {"names": '["a", "b"]'}
        print("tool, names='[\"a\", \"b\"]':", (await client.call_tool("greet", given)).content[0].text)
asyncio.run(main())
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
