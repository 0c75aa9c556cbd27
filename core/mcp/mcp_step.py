"""The part of MCP servers in the step: what is asked, what starts, what calls may go to, what a model is offered."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from core.kernel.language import as_sentences, joined, tr
from core.kernel.patterns import late
from core.kernel.structures import with_entry, without
from core.kernel.values.mcp import McpOrigin, McpPhase, McpServer, McpServerSettings
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import (
    Handlers,
    Result,
    conclude,
    decline,
    dismiss,
    follow,
    is_busy,
    notify,
    on,
)
from core.mcp.approvals import may_start, of_start, of_tools, question_id, standing
from core.mcp.mcp_messages import (
    NOTICE,
    ApproveServer,
    ApproveTools,
    BeginServer,
    EndServer,
    FindServers,
    LookAtServers,
    OfferServerTools,
    RemoveMcpServer,
    ServedServer,
    ServerFailed,
    ServerListed,
    ServersLookedAt,
    ServerStarting,
    ServeServers,
    SetMcpServer,
    TryServer,
    WithdrawApproval,
    WriteRefused,
)
from core.services.settings.settings_messages import WriteMcpServer, WriteServerApproval
from core.talk.caching.accounts import is_warm
from core.talk.caching.caching_messages import CacheReported, DropOffered
from core.talk.turn.turn_messages import CallProvider

_REFUSED = late(r"(?i)EROFS|read-only file system|(?:errno|os error) 30\b|EPERM: operation not permitted")
"""Words of Node, Python, Go, Rust and C for a place that the sandbox keeps as it is."""
_PLACE = late(r"""(?<![\w.:/~-])(/[^\s'"`<>|:,;()\[\]{}]{1,400})|['"`](/[^'"`\n]{1,400})['"`]""")
_OF_A_PACKAGE = late(r"/(?:node_modules|site-packages|dist-packages)/")
MOST_PLACES = 3
"""Files that a notice names."""
_LINES = 400


_OTHER_FOLDER = tr("Give the server a folder in this project. Its README names the argument or variable")


def refused_writes(answer: str, root: str) -> tuple[str, ...]:
    """Files beyond the project that an answer says could not be written for a file system that is read-only, each once.

    Args:
        answer: as the server gave it; root: of the project, which it may write; empty where it may write none.
    """
    return tuple(dict.fromkeys(_places(answer, root)))[:MOST_PLACES]


def _places(answer: str, root: str) -> Iterator[str]:
    for line in answer.splitlines()[:_LINES]:
        if _REFUSED.search(line):
            for found in _PLACE.finditer(line):
                place = os.path.normpath(found[1] or found[2])
                if not (root and (place == root or place.startswith(f"{root}/"))):
                    yield place


def write_note(server: str, places: tuple[str, ...], root: str, *, is_lost: bool = False) -> tuple[str, str]:
    """Words on writes that were refused, and on the way to allow them. `is_lost`: as in `WriteRefused`."""
    if is_lost:
        lost = tr(
            "The MCP server {server} wrote {places}. That is lost when this program ends",
            server=server,
            places=", ".join(places),
        )
        return as_sentences(lost, is_closed=True), _OTHER_FOLDER
    what = as_sentences(
        tr("The MCP server {server} could not write {places}.", server=server, places=", ".join(places)),
        tr("The server may write only into the project ({root}) and its own /tmp.", root=root)
        if root
        else tr("The server may write only into its own /tmp."),
    )
    if _OF_A_PACKAGE.search(places[0]):  # its own code: nobody should write there
        return what, _OTHER_FOLDER
    folder = os.path.dirname(places[0]) or "/"
    remedy = tr(
        "To allow that, open the folder: manual-slop --project {folder}, or Open folder. Then trust the folder. Or give the server a folder in this project. Its README names the argument or variable",
        folder=folder,
    )
    return what, remedy


def _withdraw_approval(state: AppState, asked: WithdrawApproval) -> Result:
    server = state.mcp.servers.get(asked.name)
    if server is None:
        return _unknown(state, asked.name, asked.command_id)
    return state, (WriteServerApproval(name=asked.name, root=_root(state, server.settings), approved=None),)


def _server_starting(state: AppState, happened: ServerStarting) -> Result:
    return _changed(state, happened.name, is_starting=True, problem=""), ()


def _server_failed(state: AppState, happened: ServerFailed) -> Result:
    found = {} if happened.found is None else {"found": happened.found}
    state = _changed(
        state, happened.name, is_starting=False, is_running=False, problem=happened.problem, **found
    )
    return _said(state), ()


def _configured(before: AppState, after: AppState) -> Result:
    """Take in the servers that the settings name, and what is approved of them."""
    was, now = before.config, after.config
    is_same_place = was.project.root == now.project.root and was.project.is_trusted == now.project.is_trusted
    if (
        was.settings.mcp == now.settings.mcp
        and was.approved_servers == now.approved_servers
        and is_same_place
    ):
        is_same_room = (
            was.settings.tools.bounds == now.settings.tools.bounds
            and was.project.policies.shown == now.project.policies.shown
        )
        return after, (_served(after),) if after.mcp.servers and not is_same_room else ()
    old = after.mcp.servers
    servers: dict[str, McpServer] = {}
    for name, settings in sorted(now.settings.mcp.items()):
        kept = now.approved_servers.get(name)
        known = old.get(name)
        if known is None or known.settings != settings or not is_same_place:
            servers[name] = standing(McpServer(settings=settings, kept=kept))
        else:
            servers[name] = standing(replace(known, kept=kept))
    after = _said(replace(after, mcp=replace(after.mcp, servers=servers)))
    if not servers and not old:
        return after, ()
    effects: list[Any] = [_served(after)]
    for name, server in servers.items():
        is_new = name not in old or old[name].kept != server.kept
        if is_new and _may_begin(after, server) and server.kept is not None:
            effects.append(BeginServer(name))
    return after, tuple(effects)


def _served(state: AppState) -> ServeServers:
    project = state.config.project
    rows = {
        name: ServedServer(server.settings, server.kept)
        for name, server in state.mcp.servers.items()
        if server.settings.is_enabled
    }
    bounds, shown = state.config.settings.tools.bounds, project.policies.shown
    return ServeServers(
        root=project.root if project.is_trusted else "",
        servers=rows if project.is_trusted else {},
        bounds=bounds,
        shown=shown,
    )


def _may_begin(state: AppState, server: McpServer) -> bool:
    return (
        state.config.project.is_trusted
        and server.settings.is_enabled
        and not server.is_running
        and not server.is_starting
        and may_start(server.kept, server.found)
    )


def _wanted(state: AppState) -> Result:
    """Look at servers that nobody looked at, once a discussion that is open could use them."""
    if not state.config.project.is_trusted:
        return state, ()
    names = tuple(
        name
        for name, server in state.mcp.servers.items()
        if server.settings.is_enabled and not server.is_looked_at
    )
    summaries = state.discussions.summaries
    has_tools = any(one in summaries and summaries[one].meta.has_tools for one in state.discussions.open)
    return _looked(state, names) if names and has_tools else (state, ())


def _looked(state: AppState, names: tuple[str, ...], *, begins: bool = False) -> Result:
    servers = tuple(state.mcp.servers[name].settings for name in names)
    if not servers:
        return state, ()
    for name in names:
        state = _changed(state, name, is_looked_at=True)
    return state, (FindServers(servers=servers, root=state.config.project.root, begins=begins),)


def thawed(state: AppState) -> AppState:
    """Forget what discussions were offered whose prefix no provider holds any more: their next request may say otherwise."""
    frozen = state.mcp.frozen
    for name in tuple(frozen):
        cache = state.caching.caches.get(name)
        if not is_busy(state, name) and (cache is None or not is_warm(cache, state.now)):
            frozen = without(frozen, name)
    return state if frozen is state.mcp.frozen else replace(state, mcp=replace(state.mcp, frozen=frozen))


def recalled(state: AppState, reported: CacheReported) -> AppState:
    """Go on with what a discussion's last request offered, also one of before a restart, or of another program, as long
    as a provider holds its prefix.
    """
    name, cache = reported.discussion_id, state.caching.caches.get(reported.discussion_id)
    if reported.offered is None or cache is None or not is_warm(cache, state.now) or is_busy(state, name):
        return state
    if name in state.mcp.renewed:  # the report was on its way when the person gave others
        return state
    return replace(state, mcp=replace(state.mcp, frozen=with_entry(state.mcp.frozen, name, reported.offered)))


def _renewed(state: AppState, asked: OfferServerTools) -> Result:
    name, known = asked.discussion_id, state.mcp
    if name not in state.discussions.summaries:
        return conclude(
            state,
            CommandOutcome(
                command_id=asked.command_id, problem=tr("No discussion has the id {name!r}.", name=name)
            ),
        ), ()
    given = replace(known, frozen=without(known.frozen, name), renewed=known.renewed | {name})
    state = conclude(replace(state, mcp=given), CommandOutcome(command_id=asked.command_id))
    return state, (DropOffered(name),)


def _frozen(state: AppState, effects: Iterable[object]) -> AppState:
    """Keep what a discussion's model was offered last, as long as it has tools."""
    frozen: Mapping[str, Any] = state.mcp.frozen
    renewed = state.mcp.renewed
    for effect in effects:
        if isinstance(effect, CallProvider) and effect.spec.tools is not None:
            frozen = with_entry(frozen, effect.spec.discussion_id, effect.spec.tools.servers)
            renewed -= {effect.spec.discussion_id}
    summaries = state.discussions.summaries
    for name in tuple(frozen):
        if name in summaries and not summaries[name].meta.has_tools:
            frozen = without(frozen, name)
    renewed &= summaries.keys()
    if frozen is state.mcp.frozen and renewed == state.mcp.renewed:
        return state
    return replace(state, mcp=replace(state.mcp, frozen=frozen, renewed=renewed))


def _approve_server(state: AppState, asked: ApproveServer) -> Result:
    server = state.mcp.servers.get(asked.name)
    if server is None:
        return _unknown(state, asked.name, asked.command_id)
    if not _is_asked(server, asked.shown) or may_start(server.kept, server.found) or server.found is None:
        return _other_question(state, asked.name, asked.command_id)
    root = _root(state, server.settings)
    approved = of_start(server.found, server.kept, root)
    return state, (WriteServerApproval(name=asked.name, root=root, approved=approved),)


def _approve_tools(state: AppState, asked: ApproveTools) -> Result:
    server = state.mcp.servers.get(asked.name)
    if server is None:
        return _unknown(state, asked.name, asked.command_id)
    kept = server.kept
    if not _is_asked(server, asked.shown) or kept is None or not may_start(kept, server.found):
        return _other_question(state, asked.name, asked.command_id)
    names = frozenset(tool.name for tool in server.tools) if asked.names is None else frozenset(asked.names)
    approved = of_tools(kept, server.tools, names)
    if approved == kept:
        return conclude(state, CommandOutcome(command_id=asked.command_id)), ()
    return state, (
        WriteServerApproval(name=asked.name, root=_root(state, server.settings), approved=approved),
    )


def _is_asked(server: McpServer, shown: str) -> bool:
    return server.asked is not None and question_id(server.asked) == shown


def _other_question(state: AppState, name: str, command_id: str) -> Result:
    text = tr("The request of the MCP server {name!r} changed after you saw it.", name=name)
    detail = tr("You have approved nothing. Read the new request, then answer.")
    return decline(state, command_id, f"{NOTICE}-changed", text, detail), ()


def _unknown(state: AppState, name: str, command_id: str) -> Result:
    known = ", ".join(state.mcp.servers) or tr("none")
    return decline(
        state,
        command_id,
        NOTICE,
        tr("There is no MCP server {name!r}.", name=name),
        tr("The MCP servers are: {known}.", known=known),
    ), ()


def _set(state: AppState, asked: SetMcpServer) -> Result:
    own = replace(asked.server, origin=McpOrigin.USER)
    known = state.config.settings.mcp.get(own.name)
    if asked.is_new and known is not None and known.origin is McpOrigin.USER:
        problem = tr("You already have an MCP server {name!r}", name=own.name)
        remedy = tr("Give this server another name, or remove the other one first")
        return conclude(
            state, CommandOutcome(command_id=asked.command_id, problem=problem, remedy=remedy)
        ), ()
    return state, (WriteMcpServer(name=own.name, server=own),)


def _try(state: AppState, name: str) -> Result:
    """Look once more, and start it where it is approved. One that runs is started anew."""
    server = state.mcp.servers.get(name)
    if server is None:
        return _unknown(state, name, "")
    state, looked = _looked(state, (name,), begins=True)
    if not state.config.project.is_trusted:
        text = tr("The program starts MCP servers only in folders that you trust.")
        return decline(state, "", NOTICE, text, tr("Trust the folder first.")), looked
    state = _changed(state, name, problem="", is_running=False, is_starting=False)
    return state, (EndServer(name), *looked)


def _found(state: AppState, happened: ServersLookedAt) -> Result:
    effects: list[Any] = []
    for name, found in happened.found.items():
        if name not in state.mcp.servers:
            continue
        state = _changed(state, name, found=found)
        server = state.mcp.servers[name]
        is_unknown = server.kept is not None and not server.kept.tools
        if _may_begin(state, server) and (is_unknown or happened.begins) and not server.problem:
            effects.append(BeginServer(name))
    for name, problem in happened.problems.items():
        state = _changed(state, name, problem=problem, is_starting=False, is_running=False)
    return _said(state), tuple(effects)


def _listed(state: AppState, happened: ServerListed) -> AppState:
    server = state.mcp.servers.get(happened.name)
    if server is None:
        return state
    fields: dict[str, Any] = {"tools": happened.tools, "left_out": happened.left_out, "problem": ""}
    if happened.found is not None:
        fields["found"] = happened.found
    return _said(_changed(state, happened.name, is_starting=False, is_running=True, **fields))


def _changed(state: AppState, name: str, **fields: Any) -> AppState:
    server = state.mcp.servers.get(name)
    if server is None:
        return state
    after = standing(replace(server, **fields))
    if after == server:
        return state
    return replace(state, mcp=replace(state.mcp, servers=with_entry(state.mcp.servers, name, after)))


def _said(state: AppState) -> AppState:
    """Say that servers wait for a yes, as long as some do and are to be used here."""
    asking = [name for name, one in state.mcp.servers.items() if one.phase is McpPhase.ASKING]
    if not asking or not state.config.project.is_trusted:
        return dismiss(state, NOTICE)
    names = ", ".join(asking)
    text = (
        tr("MCP servers wait for your approval: {names}", names=names)
        if len(asking) > 1
        else tr("The MCP server {names} waits for your approval", names=names)
    )
    lines = [line for name in asking for line in state.mcp.servers[name].changed]
    text = as_sentences(text, is_closed=True)
    return notify(state, NOTICE, Level.INFO, text, joined("\n", lines), is_standing=True)


def _write_refused(state: AppState, happened: WriteRefused) -> AppState:
    what, remedy = write_note(happened.name, happened.places, happened.root, is_lost=happened.is_lost)
    remedy = as_sentences(remedy, is_closed=True)
    return notify(state, f"{WRITE_NOTICE}{happened.name}", Level.WARNING, what, remedy)


WRITE_NOTICE = "mcp-write-"
"""Beginning of the subjects of notices about writes that a sandbox refused."""


def _root(state: AppState, settings: McpServerSettings) -> str:
    """The root under which an approval is kept."""
    return state.config.project.root if settings.origin is McpOrigin.PROJECT else ""


HANDLERS = Handlers(
    on(ApproveServer, _approve_server),
    on(ApproveTools, _approve_tools),
    on(WithdrawApproval, _withdraw_approval),
    on(SetMcpServer, _set),
    on(RemoveMcpServer, lambda state, asked: (state, (WriteMcpServer(name=asked.name, server=None),))),
    on(TryServer, lambda state, asked: _try(state, asked.name)),
    on(LookAtServers, lambda state, _asked: _looked(state, tuple(state.mcp.servers))),
    on(OfferServerTools, _renewed),
    on(ServersLookedAt, _found),
    on(ServerStarting, _server_starting),
    on(ServerListed, lambda state, happened: (_listed(state, happened), ())),
    on(ServerFailed, _server_failed),
    on(WriteRefused, lambda state, happened: (_write_refused(state, happened), ())),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = (
    follow("config", lambda before, after, _moment: _configured(before, after)),
    follow("config discussions mcp", lambda _before, after, _moment: _wanted(after), needs="mcp.servers"),
    follow("discussions turns mcp", lambda _before, after, moment: (_frozen(after, moment.effects), ())),
)
"""Servers as settings, trust and approvals have them; a look at them; what discussions were offered last."""
