"""Results of MCP servers as the SDK's reader takes them: what it would refuse the whole answer for is mended part by part. Pure."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_KINDS = frozenset({"text", "image", "audio", "resource", "resource_link"})
"""Parts of an answer. Source: Model Context Protocol, `ContentBlock` (2025-11-25)."""
_NO_SCHEMA: Json = {"type": "object", "properties": {"schema": {"type": "none"}}}
"""In place of a schema that is none: the tool that has it is left out by its own sentence, not its server."""


def sound_result(result: Json) -> Json:
    """The result of any request: of a start, a list of tools or a call. What is as it should be stays the same."""
    if "protocolVersion" in result:
        return _started(result)
    if isinstance(result.get("tools"), list):
        return _listed(result)
    if "content" in result or "structuredContent" in result:
        return _answered(result)
    return result


def _started(result: Json) -> Json:
    about = result.get("serverInfo")
    told = about if isinstance(about, dict) else {}
    return {
        **result,
        "serverInfo": {
            **told,
            "name": str(told.get("name") or ""),
            "version": str(told.get("version") or ""),
        },
    }


def _listed(result: Json) -> Json:
    """A list in which each tool can be read by itself. An empty cursor ends it, as none does."""
    tools = [_tool(one) for one in result["tools"] if isinstance(one, dict)]
    rest = {key: one for key, one in result.items() if key != "nextCursor" or one}
    return {**rest, "tools": tools}


def _tool(tool: Json) -> Json:
    known = {key: one for key, one in tool.items() if one is not None}
    schema = known.get("inputSchema")
    if not isinstance(schema, dict):
        return {**known, "inputSchema": _NO_SCHEMA}
    schema = {key: one for key, one in schema.items() if one is not None}
    if schema.setdefault("type", "object") != "object" or not isinstance(schema.get("properties", {}), dict):
        schema = _NO_SCHEMA
    if not isinstance(schema.get("required", []), list):
        del schema["required"]
    return {**known, "inputSchema": schema}


def _answered(result: Json) -> Json:
    """An answer whose parts are of kinds that are known; of another only that it came."""
    content = result.get("content")
    parts = content if isinstance(content, list) else [] if content is None else [content]
    kept = {key: one for key, one in result.items() if key != "isError" or one is not None}
    return {**kept, "content": [_part(one) for one in parts]}


def _part(part: Any) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and kind in _KINDS:
        return part
    return {"type": "text", "text": f"[a part of the kind {str(kind)[:40]!r} was left out]"}
