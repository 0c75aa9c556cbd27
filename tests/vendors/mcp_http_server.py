"""An MCP server over streamable HTTP on loopback, of the protocol's version of 2025: sessions, one answer a request."""

from __future__ import annotations

import json

from tests.vendors.loopback import Captured, Json, LoopbackServer, Reply, json_reply

SESSION = "session-1"


class McpHttpServer(LoopbackServer):
    """A server with one tool, `say`, and one valid key (empty: anybody's).

    Attributes:
        leads_to: where it redirects requests; description: of its tool, which it may change without a word.
        odd_answer: fields of its answer to a call in the place of what belongs there; a field of None stays null.
        streams: it answers calls in a stream of events.
    """

    def __init__(self, key: str = "") -> None:
        super().__init__()
        self.key = key
        self.leads_to = ""
        self.body_bytes = 0
        self.is_session_over = False
        self.description = "Says it."
        self.odd_answer: Json | None = None
        self.streams = False

    def answer(self, captured: Captured) -> Reply:
        if self.leads_to:
            return Reply(307, b"", {"location": self.leads_to})
        if self.key and captured.headers.get("authorization") != f"Bearer {self.key}":
            return Reply(401, b"who are you?", {"content-type": "text/plain"})
        if captured.method != "POST":
            return Reply(405 if captured.method == "GET" else 200, b"")
        asked = captured.json
        if "id" not in asked:
            return Reply(202, b"")
        if self.is_session_over and captured.headers.get("mcp-session-id") == SESSION:
            return Reply(404, b"")
        return self._said(asked)

    def _said(self, asked: Json) -> Reply:
        def result(value: Json) -> Reply:
            return json_reply(
                200, {"jsonrpc": "2.0", "id": asked["id"], "result": value}, {"mcp-session-id": SESSION}
            )

        match asked["method"]:
            case "initialize":
                version = asked["params"]["protocolVersion"]
                server = {"name": "http", "version": "1"}
                self.is_session_over = False
                return result(
                    {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
                )
            case "tools/list":
                return result(
                    {
                        "tools": [
                            {
                                "name": "say",
                                "description": self.description,
                                "inputSchema": {"type": "object"},
                            }
                        ]
                    }
                )
            case "tools/call":
                if self.odd_answer is not None:
                    return self._odd(self.odd_answer)
                words = "x" * self.body_bytes or str(asked["params"]["arguments"])
                return result({"content": [{"type": "text", "text": words}]})
            case _:
                error = {"code": -32601, "message": "Method not found"}
                return json_reply(404, {"jsonrpc": "2.0", "id": asked["id"], "error": error})

    def _odd(self, fields: Json) -> Reply:
        message = {"jsonrpc": "2.0", **fields}
        headers = {"mcp-session-id": SESSION}
        if not self.streams:
            return json_reply(200, message, headers)
        event = f"event: message\ndata: {json.dumps(message)}\n\n".encode()
        return Reply(200, event, {**headers, "content-type": "text/event-stream"})
