"""Bounds of a person's approval of an MCP server: its tools, later differences, and the state of a server. Pure."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from core.kernel import figures
from core.kernel.codecs import to_json
from core.kernel.frame import one_line
from core.kernel.language import spliced, tr
from core.kernel.values.mcp import McpApproval, McpApproved, McpPhase, McpServer, McpServerSettings, McpTool
from core.kernel.web_addresses import parse_address

_SHOWN_CHARS = 200


def question_id(asked: McpApproval) -> str:
    """Sha256 (hex) of a question: a yes to one does not answer another."""
    return hashlib.sha256(to_json(asked, order="sorted")).hexdigest()


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
        (tr("Its program"), approved.program, found.program),
        (tr("Its address"), approved.url, found.url),
        (tr("Its arguments"), _words(approved.arguments), _words(found.arguments)),
        (tr("Its variables"), _words(approved.environment), _words(found.environment)),
        (tr("Its key"), approved.key, found.key),
        (tr("The network"), _network(approved), _network(found)),
        (
            tr("Folders with code that your approval does not cover"),
            _words(approved.unbound),
            _words(found.unbound),
        ),
    )
    lines = [
        tr("{what}: {was}, now {now}", what=what, was=_said(was), now=_said(now))
        for what, was, now in rows
        if was != now
    ]
    if approved.program == found.program and approved.program_sha256 != found.program_sha256:
        lines.append(
            tr("The server's program is not the file that you approved: {program}", program=found.program)
        )
    lines += _file_differences(approved.files, found.files)
    lines += [
        tr("A file of the server is at another place now: {name}, now {path}", name=name, path=path)
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
            lines.append(tr("New tool: {name}", name=tool.name))
        elif was is not None and was != tool_sha256(tool):
            lines.append(tr("Changed description or schema: {name}", name=tool.name))
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
    return McpApproved(approval=approval, root=root, tools=tools, refused=refused)


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
            yield tr("File of the server's code is gone: {path}", path=path)
        elif path not in approved:
            yield tr("New file in the server's code: {path}", path=path)
        elif approved[path] != found[path]:
            yield tr("Changed file in the server's code: {path}", path=path)


def _words(words: Sequence[str]) -> str:
    return " ".join(words)


def _network(approval: McpApproval) -> str:
    return tr("the server may use it") if approval.network else tr("off")


def _said(text: str) -> str:
    return one_line(text, _SHOWN_CHARS) or "nothing"


# Addresses of MCP servers over HTTP: which may be asked, and with a key. Pure.


def remote_problem(url: str, *, has_key: bool, may_reach_own: bool) -> str:
    """Reason why a server's address is not asked, a sentence without a full stop; empty where it may be.

    Args:
        has_key: a bearer goes with each request.
        may_reach_own: this machine and its network count as well, as for a server of the person's own settings.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        return tr("the server's url is not an address ({error})", error=error)
    if parts.scheme not in {"http", "https"} or not host:
        return tr("the server's url does not begin with http:// or https:// and a host")
    if parts.username is not None or parts.password is not None:
        return tr("the server's url holds a user name or password: instead, set `key` to a keyring entry")
    if not may_reach_own:
        problem = parse_address(url).problem
        if problem:
            return tr(
                "a project's server may not use this url: {reason}",
                reason=problem.rstrip("."),
            )
    if has_key and parts.scheme == "http" and not is_own_machine(host):
        return tr("the server's url is unencrypted (http), so others could read its key: use https")
    return ""


def is_own_machine(host: str) -> bool:
    """True for a name or address of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


# Wording of MCP servers: their state, and what a yes would start; one text for window, command line and
# doctor. Pure.

HASH_CHARS = 16
MOST_NAMED, MOST_FOLDERS = 12, 12
"""Files of code that a question names, and folders behind them."""
PHASES = {
    McpPhase.OFF: tr("starts when a discussion needs the server"),
    McpPhase.STARTING: tr("starting"),
    McpPhase.ASKING: tr("waits for your approval"),
    McpPhase.READY: tr("runs"),
    McpPhase.FAILED: tr("stopped by an error"),
}


def state_words(server: McpServer) -> str:
    """State of a server in a few words."""
    return PHASES[server.phase] if server.settings.is_enabled else tr("switched off")


def count_words(server: McpServer) -> str:
    """Count of a server's tools: `3 of 5 tools approved`; empty where none is known."""
    kept = server.kept
    known = len(server.tools) or (0 if kept is None else len({*kept.approval.tools, *kept.refused}))
    return (
        tr(
            "{approved:,} of {tools} approved",
            approved=len(server.approved),
            tools=figures.count(known, tr("tool"), tr("tools")),
        )
        if known
        else ""
    )


def where_words(settings: McpServerSettings) -> str:
    """Command or address of a server, in one line."""
    return settings.url or shlex.join(settings.command)


def _code_lines(asked: McpApproval) -> Iterator[tuple[str, str]]:
    """Lines on code and data: a yes is bound to the one, and the other may change."""
    if asked.files:
        yield (
            tr("Code of the server: after a change, you approve the server again"),
            "\n".join(_code_rows(asked.files)),
        )
    if asked.unbound:
        folders = ", ".join(asked.unbound)
        yield (
            tr("Your approval covers only a part of the server's code"),
            tr(
                "One approval does not cover all code in {folders}. If the uncovered code changes, the program does not notice",
                folders=folders,
            ),
        )
    if asked.data:
        yield (
            tr("Data files of the server: they may change without a new approval"),
            ", ".join(sorted(asked.data)),
        )


def _code_rows(files: Mapping[str, str]) -> Iterator[str]:
    """A row each for what is named first, then one a folder, with a hash over its files."""
    packages = [row for row in files.items() if row[0].endswith(os.sep)]
    rows = tuple(row for row in files.items() if row not in packages)
    yield from (f"{path} ({sha256[:HASH_CHARS]})" for path, sha256 in rows[:MOST_NAMED])
    folders: dict[str, list[tuple[str, str]]] = {}
    for path, sha256 in rows[MOST_NAMED:]:
        folders.setdefault(os.path.dirname(path), []).append((path, sha256))
    shown = sorted(folders.items())
    for folder, inside in shown[:MOST_FOLDERS]:
        yield spliced(
            "{}: {} ({})",
            folder,
            figures.count(len(inside), tr("more file"), tr("more files")),
            _digest(inside),
        )
    if rest := [row for _, inside in shown[MOST_FOLDERS:] for row in inside]:
        yield tr(
            "{files} in {folders} ({sha256})",
            files=figures.count(len(rest), tr("more file"), tr("more files")),
            folders=figures.count(len(shown) - MOST_FOLDERS, tr("folder"), tr("folders")),
            sha256=_digest(rest),
        )
    yield from (
        tr("installed packages in {folder} ({sha256})", folder=folder, sha256=sha256[:HASH_CHARS])
        for folder, sha256 in packages
    )


def _digest(rows: list[tuple[str, str]]) -> str:
    text = "\n".join(f"{path}\0{sha256}" for path, sha256 in sorted(rows))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]


def start_lines(asked: McpApproval) -> tuple[tuple[str, str], ...]:
    """Lines of the question: what would be started or spoken to, and what it gets. A label and a text each."""
    if asked.url:
        return (tr("Address"), asked.url), (tr("Key"), asked.key or tr("none is sent"))
    return (
        (tr("Program"), f"{asked.program} ({asked.program_sha256[:HASH_CHARS]})"),
        (tr("Arguments"), shlex.join(asked.arguments) or tr("none")),
        *_code_lines(asked),
        (tr("Variables"), ", ".join(asked.environment) or tr("none of yours")),
        (tr("Network"), _network(asked)),
        (
            tr("Files"),
            tr(
                "In a sandbox only files in this project stay. What the server writes elsewhere is refused or lost"
            ),
        ),
        (
            tr("Secrets"),
            tr(
                "In a sandbox the server cannot read files that may hold keys (.env, *.pem). Files named here are the exception"
            ),
        ),
    )


# Waits between attempts at an MCP server that failed. Pure.

FIRST_S, LONGEST_S = 1.0, 300.0


class BackOff(msgspec.Struct, frozen=True):
    """Failures of a server in a row. `next_s`: of the monotonic clock, before which it is not tried again."""

    failures: int = 0
    next_s: float = 0.0

    def failed(self, now_s: float) -> BackOff:
        """After one more failure: each wait is twice the last, up to five minutes."""
        wait_s = min(FIRST_S * 2.0 ** min(self.failures, 16), LONGEST_S)
        return BackOff(self.failures + 1, now_s + wait_s)

    def left_s(self, now_s: float) -> float:
        """Seconds until the program may start the server again, 0 for now."""
        return max(self.next_s - now_s, 0.0)
