"""Bounds of a person's yes to an MCP server: what differs from it, which tools it covers, how a server stands. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from core.base.text import one_line
from core.values.mcp import McpApproval, McpApproved, McpPhase, McpServer, McpTool

_SHOWN_CHARS = 200


def question_id(asked: McpApproval) -> str:
    """Sha256 (hex) of a question: a yes to one is none to another."""
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()


def tool_sha256(tool: McpTool) -> str:
    """Sha256 (hex) of all that a model is told of a tool, and of its name."""
    digest = hashlib.sha256()
    for part in (tool.name, tool.schema.name, tool.schema.description, tool.schema.parameters_json):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def differences(approved: McpApproval, found: McpApproval) -> tuple[str, ...]:
    """Lines on what is started, or spoken to, that is not as it was approved; empty where it is. Tools are apart."""
    rows = (
        ("Its program", approved.program, found.program),
        ("Its address", approved.url, found.url),
        ("Its arguments", _words(approved.arguments), _words(found.arguments)),
        ("The variables it gets", _words(approved.environment), _words(found.environment)),
        ("The key it is sent", approved.key, found.key),
        ("The network", _network(approved), _network(found)),
        ("Folders with more code than a yes is bound to", _words(approved.unbound), _words(found.unbound)),
    )
    lines = [f"{what}: {_said(was)}, now {_said(now)}" for what, was, now in rows if was != now]
    if approved.program == found.program and approved.program_sha256 != found.program_sha256:
        lines.append(f"Its program is another file than the one that you approved: {found.program}")
    lines += _file_differences(approved.files, found.files)
    lines += [
        f"A file that it is given leads elsewhere: {name}, now to {path}"
        for name, path in found.data.items()
        if path != approved.data.get(name, name)
    ]
    return tuple(lines)


def tool_differences(kept: McpApproved, tools: Iterable[McpTool]) -> tuple[str, ...]:
    """Lines on tools that a person did not answer for: a new one, and one whose description or schema is another now."""
    answered = {**kept.refused, **kept.approval.tools}
    lines = []
    for tool in tools:
        was = answered.get(tool.name)
        if was is None and answered:
            lines.append(f"New tool: {tool.name}")
        elif was is not None and was != tool_sha256(tool):
            lines.append(f"Another description or schema: {tool.name}")
    return tuple(lines)


def may_start(kept: McpApproved | None, found: McpApproval | None) -> bool:
    """True if a person approved exactly what would be started."""
    return kept is not None and found is not None and not differences(kept.approval, found)


def covered(kept: McpApproved | None, tools: Iterable[McpTool]) -> frozenset[str]:
    """Names of the tools that a person approved as they are now."""
    known = {} if kept is None else kept.approval.tools
    return frozenset(tool.name for tool in tools if known.get(tool.name) == tool_sha256(tool))


def of_start(found: McpApproval, kept: McpApproved | None, root: str) -> McpApproved:
    """The yes to being started. What was answered about its tools stays."""
    tools = () if kept is None else kept.tools
    refused = {} if kept is None else kept.refused
    approval = replace(found, tools={tool.name: tool_sha256(tool) for tool in tools})
    return McpApproved(approval, root, tools, refused)


def of_tools(kept: McpApproved, tools: Sequence[McpTool], names: frozenset[str]) -> McpApproved:
    """The yes to tools as they are described now. One that is not among `names` is refused: approved no more.

    A tool that the server does not list just now stays as it was: a model that was offered it hears that it is away.
    """
    listed = {tool.name for tool in tools}
    chosen = [tool for tool in tools if tool.name in names]
    away = [tool for tool in kept.tools if tool.name not in listed]
    rows = tuple(sorted((*chosen, *away), key=lambda tool: tool.schema.name))
    approval = replace(kept.approval, tools={tool.name: tool_sha256(tool) for tool in rows})
    left = {name: sha256 for name, sha256 in kept.refused.items() if name not in listed}
    refused = left | {tool.name: tool_sha256(tool) for tool in tools if tool.name not in names}
    return replace(kept, approval=approval, tools=rows, refused=refused)


def standing(server: McpServer) -> McpServer:
    """The server with phase, question and covered tools as they follow from all else that is known of it."""
    kept, found = server.kept, server.found
    approved = covered(kept, server.tools or (() if kept is None else kept.tools))
    about = replace(server, asked=None, changed=(), approved=approved)
    if not server.settings.is_enabled:
        return replace(about, phase=McpPhase.OFF)
    if found is not None and not may_start(kept, found):
        changed = () if kept is None else differences(kept.approval, found)
        return replace(about, phase=McpPhase.ASKING, asked=found, changed=changed)
    if server.problem:
        return replace(about, phase=McpPhase.FAILED)
    if server.is_starting:
        return replace(about, phase=McpPhase.STARTING)
    if not server.is_running or kept is None or found is None:
        return replace(about, phase=McpPhase.OFF)
    if len(approved) == len(server.tools):
        return replace(about, phase=McpPhase.READY)
    asked = replace(found, tools={tool.name: tool_sha256(tool) for tool in server.tools})
    changed = tool_differences(kept, server.tools)
    answered = approved.union(
        tool.name for tool in server.tools if kept.refused.get(tool.name) == tool_sha256(tool)
    )
    phase = McpPhase.READY if len(answered) == len(server.tools) else McpPhase.ASKING
    return replace(about, phase=phase, asked=asked, changed=changed)


def _file_differences(approved: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for path in sorted({*approved, *found}):
        if path not in found:
            yield f"Code that it ran is gone: {path}"
        elif path not in approved:
            yield f"Code that it runs is new: {path}"
        elif approved[path] != found[path]:
            yield f"Code that it runs has changed: {path}"


def _words(words: Sequence[str]) -> str:
    return " ".join(words)


def _network(approval: McpApproval) -> str:
    return "open to it" if approval.network else "shut"


def _said(text: str) -> str:
    return one_line(text, _SHOWN_CHARS) or "nothing"
