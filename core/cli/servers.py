"""`servers`: MCP servers with their state, and the questions before one starts, on the terminal of the command."""

from __future__ import annotations

from core.agent.escapes import escaped
from core.app.execution import act
from core.base.errors import SlopError
from core.base.text import one_line
from core.cli.arguments import Options
from core.cli.confirmation import check_terminal, confirm
from core.cli.output import Console
from core.cli.session import FrontEnd, UsageError, check_name, session
from core.cli.tables import table
from core.mcp.approvals import question_id
from core.mcp.messages import ApproveServer, ApproveTools, LookAtServers, WithdrawApproval
from core.mcp.wording import count_words, start_lines, state_words, where_words
from core.values.mcp import McpPhase, McpServer, McpTool
from core.values.state import AppState

LOOK_S, START_S = 60.0, 120.0
NOT_AGREED = 1
_SAID_CHARS = 200


def run_servers(options: Options, front: FrontEnd, console: Console) -> int:
    """List servers, show one, approve it after its questions, or take the yes back.

    Returns:
        0, and 1 where the person said no.

    Raises:
        UsageError: no such server, or nobody can be asked. SlopError: it does not start.
    """
    given = options.given
    if given.approve:
        check_terminal(
            console, "This needs your yes", remedy="Run it on a terminal, or say yes in the window"
        )
    if (given.approve or given.forget) and not given.server:
        raise UsageError("Name the server that is meant", remedy="`manual-slop servers` lists them")
    with session(front, console) as begun:
        check_name("server", given.server, tuple(begun.mcp.servers))
        state = _looked(front, begun)
        if given.forget:
            act(front, WithdrawApproval(given.server))
            console.outcome(
                f"{given.server} is approved no more.", {"server": given.server, "is_approved": False}
            )
            return 0
        if given.approve:
            return _approve(front, console, given.server)
        chosen = [one for name, one in state.mcp.servers.items() if given.server in {"", name}]
        _print(chosen, console, is_json=options.is_json, is_whole=bool(given.server))
    return 0


def _looked(front: FrontEnd, state: AppState) -> AppState:
    """The state once it is known what would be started."""
    if not state.mcp.servers:
        return state
    front.send(LookAtServers())
    found = front.wait_for(
        lambda now: all(
            one.found is not None or one.problem or not one.settings.is_enabled
            for one in now.mcp.servers.values()
        ),
        LOOK_S,
    )
    return front.snapshot() if found is None else found


def _approve(front: FrontEnd, console: Console, name: str) -> int:
    server = front.snapshot().mcp.servers[name]
    if not front.snapshot().config.project.is_trusted:
        raise SlopError(
            "No MCP server starts in a folder that you do not trust", remedy="Run `manual-slop trust`"
        )
    if server.found is None:
        raise SlopError(server.problem or f"{name} is switched off in your settings")
    if server.asked is not None and not server.asked.tools:
        for line in server.changed:
            console.shown(f"changed:  {escaped(line)}")
        for label, text in start_lines(server.asked):
            console.shown(f"{label.lower()}:  {escaped(text)}")
        if not confirm(console, f"Start {name}?", is_yes=False):
            console.line(f"Nothing was changed: {name} does not start.")
            return NOT_AGREED
        act(front, ApproveServer(name, question_id(server.asked)))
    with console.waiting(f"Starting {name}"):
        server = _started(front, name)
    if server.asked is None:
        console.line(f"{name} is approved, {count_words(server) or 'it offers no tools'}.")
        return 0
    for line in (f"{name} runs, {count_words(server)}.", *server.changed):
        console.shown(escaped(line))
    for tool in server.tools:
        console.shown(_asked_lines(tool, is_approved=tool.name in server.approved))
    if not confirm(
        console,
        f"Offer {'this tool' if len(server.tools) == 1 else f'these {len(server.tools):,} tools'} to models?",
        is_yes=False,
    ):
        console.line("Nothing more was changed: no model is offered them.")
        return NOT_AGREED
    act(front, ApproveTools(name, question_id(server.asked)))
    console.line(f"{name} is approved.")
    return 0


def _started(front: FrontEnd, name: str) -> McpServer:
    """The server once it runs. Raises SlopError."""

    def is_there(state: AppState) -> bool:
        one = state.mcp.servers[name]
        return one.is_running or one.phase is McpPhase.FAILED or bool(one.kept and one.kept.tools)

    state = front.wait_for(is_there, START_S)
    server = (state or front.snapshot()).mcp.servers[name]
    if state is None or server.problem:
        raise SlopError(server.problem or f"{name} does not start within {START_S:.0f} s")
    return server


def _print(servers: list[McpServer], console: Console, *, is_json: bool, is_whole: bool = False) -> None:
    if is_json:
        console.json({one.settings.name: _data(one) for one in servers})
        return
    rows = [
        (one.settings.name, state_words(one), count_words(one), escaped(where_words(one.settings)))
        for one in servers
    ]
    listed = table((), rows, kept=frozenset({0, 1}), columns=console.columns) if rows else ""
    console.write(listed or "No MCP server is set up.\n")
    for one in servers:
        said = (*one.changed, *filter(None, (one.problem,)))
        for line in said:
            console.line(f"{one.settings.name}:  {escaped(line)}")
        for tool in (one.tools or (() if one.kept is None else one.kept.tools)) if is_whole else ():
            mark = "approved" if tool.name in one.approved else "not approved"
            said_of_it = one_line(escaped(tool.schema.description), _SAID_CHARS)
            console.line(f"{tool.name} ({mark}):  {said_of_it}")


def _asked_lines(tool: McpTool, *, is_approved: bool) -> str:
    """All that a yes to a tool is bound to: orders to a model would stand where nobody is shown them."""
    mark = "approved" if is_approved else "not approved"
    return f"{tool.name} ({mark}):  {escaped(tool.schema.description)}\n  takes:  {escaped(tool.schema.parameters_json)}"


def _data(one: McpServer) -> dict[str, object]:
    known = one.tools or (() if one.kept is None else one.kept.tools)
    return {
        "phase": one.phase.value,
        "origin": one.settings.origin.value,
        "where": where_words(one.settings),
        "changed": list(one.changed),
        "problem": one.problem,
        "tools": [{"name": tool.name, "is_approved": tool.name in one.approved} for tool in known],
    }
