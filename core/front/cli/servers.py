"""Approvals by a person on the command line: MCP servers, and the values that a project asks for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from core.agent.tool import escaped
from core.app.execution import act
from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console, table
from core.front.cli.questions import check_terminal, confirm, secret_line
from core.front.cli.search import local_retrieving
from core.front.cli.session import FrontEnd, check_name, report_faults_of, session
from core.kernel.errors import SlopError
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.paths import project_file
from core.kernel.values.mcp import McpPhase, McpServer, McpTool
from core.kernel.values.retrieval import AskedPlaces, MemoryToolAnswer
from core.kernel.values.settings import Project
from core.kernel.values.stack import ToolSchema
from core.kernel.values.state import AppState
from core.knowledge.mcp_server.mcp_server import INSTRUCTIONS, HomeShelf, KnowledgeServer
from core.knowledge.mcp_server.mcp_tools import Asked, answer, tools
from core.mcp.approvals import count_words, question_id, start_lines, state_words, where_words
from core.mcp.mcp_messages import ApproveServer, ApproveTools, LookAtServers, SetMcpServer, WithdrawApproval
from core.mcp.mcp_worker import named_keys
from core.mcp.pasted_servers import pasted_servers
from core.retrieval.retrieval_worker import NAMES, ServedNotes
from core.services.providers.key_names import SERVER_KEY, key_variables
from core.services.providers.keys import MAX_KEY_CHARS, KeyStore
from core.services.settings import trust
from core.services.settings.asked_values import asked_lines, shown_as, trust_reason, trust_title
from core.services.settings.project_tables import ProjectTables
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, config_request, load
from core.services.settings.settings_rules import places_of

# `servers`: MCP servers with their state, and the questions before one starts, on the terminal of the
# command.

LOOK_S, START_S = 60.0, 120.0
NOT_AGREED = 1
ADD = "add"
MOST_CHARS = 200_000
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
            console,
            tr("This command needs your confirmation"),
            remedy=tr("Run the command on a terminal, or approve the server in the window"),
        )
    if (given.approve or given.forget) and not given.server:
        raise UsageError(tr("Name a server"), remedy=tr("`manual-slop servers` lists the servers"))
    if given.server == ADD:
        return _add(options, front, console)
    if given.json_text:
        raise UsageError(
            tr("The command takes no second argument {json_text!r}", json_text=given.json_text),
            remedy=tr("`manual-slop servers add JSON` adds servers"),
        )
    with session(front, console) as begun:
        check_name("server", given.server, tuple(begun.mcp.servers))
        state = _looked(front, begun)
        if given.forget:
            act(front, WithdrawApproval(given.server))
            console.outcome(
                tr("{server} no longer has your approval.", server=given.server),
                {"server": given.server, "is_approved": False},
            )
            return 0
        if given.approve:
            return _approve(front, console, given.server)
        chosen = [one for name, one in state.mcp.servers.items() if given.server in {"", name}]
        _print(chosen, console, is_json=options.is_json, is_whole=bool(given.server))
    return 0


def _add(options: Options, front: FrontEnd, console: Console) -> int:
    """Put the servers of a README's JSON into your settings. None starts before its questions are answered."""
    text = options.given.json_text
    if text in {"", "-"}:
        text = "" if sys.stdin is None or (sys.stdin.isatty() and not text) else sys.stdin.read(MOST_CHARS)
    if not text.strip():
        raise UsageError(
            tr("There is no server to add"),
            remedy=f"manual-slop servers {ADD} '{{\"mcpServers\": …}}', or pipe the JSON in",
        )
    found = pasted_servers(text)
    with session(front, console):
        for server in found.servers:
            act(front, SetMcpServer(server=server, is_new=True))
    names = [server.name for server in found.servers]
    for note in found.notes:
        console.note(tr("manual-slop: {note}", note=escaped(note)))
    console.outcome(
        tr(
            "{names}: added. A server starts after you approve it: `manual-slop servers NAME --approve`.",
            names=", ".join(names),
        ),
        {"added": names, "notes": list(found.notes)},
    )
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
            tr("The program starts no MCP server in a folder that you do not trust"),
            remedy=tr("Run `manual-slop trust`"),
        )
    if server.found is None:
        raise SlopError(server.problem or tr("{name} is turned off in your settings", name=name))
    if server.asked is not None and not server.asked.tools:
        for line in server.changed:
            console.shown(tr("changed:  {line}", line=escaped(line)))
        for label, text in start_lines(server.asked):
            console.shown(f"{label}:  {escaped(text)}")
        if not confirm(console, tr("Start {name}?", name=name), is_yes=False):
            console.line(
                tr("You did not agree, so {server} does not start. Nothing was changed.", server=name)
            )
            return NOT_AGREED
        act(front, ApproveServer(name=name, shown=question_id(server.asked)))
    with console.waiting(tr("Starting {name}", name=name)):
        server = _started(front, name)
    if server.asked is None:
        console.line(
            tr(
                "The server {server} is approved, {tools}.",
                server=name,
                tools=count_words(server) or tr("without tools"),
            )
        )
        return 0
    for line in (
        tr("The server {name} runs, {server}.", name=name, server=count_words(server)),
        *server.changed,
    ):
        console.shown(escaped(line))
    if server.left_out:
        console.shown(
            tr("left out, so models do not see these ({left_out:,}):", left_out=len(server.left_out))
        )
    for line in server.left_out:
        console.shown(f"  {escaped(line)}")
    for tool in server.tools:
        console.shown(_asked_lines(tool, is_approved=tool.name in server.approved))
    if not confirm(console, _offer_question(server), is_yes=False):
        console.line(tr("You did not agree, so models do not see these tools. Nothing more was changed."))
        return NOT_AGREED
    act(front, ApproveTools(name=name, shown=question_id(server.asked)))
    console.line(tr("{name} is approved.", name=name))
    return 0


def _offer_question(server: McpServer) -> str:
    """The question for a server's tools, with the count of those that are left out."""
    offered = (
        tr("this tool") if len(server.tools) == 1 else tr("these {tools:,} tools", tools=len(server.tools))
    )
    if not server.left_out:
        return tr("Offer {offered} to models?", offered=offered)
    return tr(
        "Offer {offered} to models ({left_out:,} more left out)?",
        offered=offered,
        left_out=len(server.left_out),
    )


def _started(front: FrontEnd, name: str) -> McpServer:
    """The server once it runs. Raises SlopError."""

    def is_there(state: AppState) -> bool:
        one = state.mcp.servers[name]
        return one.is_running or one.phase is McpPhase.FAILED or bool(one.kept and one.kept.tools)

    state = front.wait_for(is_there, START_S)
    server = (state or front.snapshot()).mcp.servers[name]
    if state is None or server.problem:
        raise SlopError(
            server.problem or tr("{name} did not start within {START_S:.0f} s", name=name, START_S=START_S)
        )
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
    console.write(listed or tr("You have set up no MCP server.\n"))
    for one in servers:
        said = (*one.changed, *filter(None, (one.problem,)))
        for line in said:
            console.line(f"{one.settings.name}:  {escaped(line)}")
        for tool in (one.tools or (() if one.kept is None else one.kept.tools)) if is_whole else ():
            mark = tr("approved") if tool.name in one.approved else tr("not approved")
            said_of_it = one_line(escaped(tool.schema.description), _SAID_CHARS)
            console.line(f"{tool.name} ({mark}):  {said_of_it}")


def _asked_lines(tool: McpTool, *, is_approved: bool) -> str:
    """All that a yes to a tool is bound to: orders to a model would stand where nobody is shown them."""
    mark = tr("approved") if is_approved else tr("not approved")
    return tr(
        "{name} ({mark}):  {description}\n  takes:  {parameters_json}",
        name=tool.name,
        mark=mark,
        description=escaped(tool.schema.description),
        parameters_json=escaped(tool.schema.parameters_json),
    )


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


# `mcp`: knowledge served to another program over the Model Context Protocol. Standard output is the
# protocol's alone.


def run_mcp(options: Options) -> int:
    """Serve until the client closes its end. Returns 0.

    Raises:
        ConfigError: the current folder was deleted.
    """
    asked = config_request(start=options.start, home=options.home, overrides=options.overrides)
    KnowledgeServer(_Served(asked, options)).serve()
    return 0


class _Served:
    """Everything that one server gives: knowledge, and search where it is on and was asked for."""

    def __init__(self, request: ConfigRequest, options: Options) -> None:
        given = options.given
        self._request = request
        self._has_knowledge, self._has_talks = (
            not given.only_notes,
            given.discussions and not given.only_notes,
        )
        self._shelf = HomeShelf(request.home, request.root if self._has_talks else None)
        has_notes = given.notes or given.only_notes
        self._notes = (
            ServedNotes(self._searched, lambda: local_retrieving(request.home)) if has_notes else None
        )

    @property
    def instructions(self) -> str:
        """Words about the tools for the client's model. Empty if only notes are served: their schemas suffice."""
        return INSTRUCTIONS if self._has_knowledge else ""

    def tools(self) -> tuple[ToolSchema, ...]:
        """Schemas of what is served now."""
        own = tools(has_talks=self._has_talks) if self._has_knowledge else ()
        return (*own, *(() if self._notes is None else self._notes.tools()))

    def answer(self, asked: Asked) -> MemoryToolAnswer:
        """Answer a call. The place of the home is in no answer."""
        if self._notes is not None and asked.name in NAMES:
            told = self._notes.answer(asked.name, asked.arguments)
        elif self._has_knowledge:
            told = answer(asked, self._shelf)
        else:
            told = MemoryToolAnswer(f"There is no tool {asked.name[:100]!r}.", is_error=True)
        return MemoryToolAnswer(told.text.replace(str(self._request.home), "(home)"), told.is_error)

    def _searched(self) -> AskedPlaces | None:
        loaded = load(self._request)
        return places_of(loaded.settings.retrieval, loaded.project)

    def close(self) -> None:
        """Let go of indexes and the model."""
        self._shelf.close()
        if self._notes is not None:
            self._notes.close()


# `trust`: show the values that a project asks for, and trust them after a yes.


def run_trust(options: Options, console: Console) -> int:
    """Trust a folder for what is shown, stop trusting it, or list what is trusted.

    Returns:
        0, and 1 where the person said no, or the folder's file cannot be read.

    Raises:
        UsageError: no such folder, or nobody can be asked.
    """
    given = options.given
    request = _request(options, given.folder)
    if given.list:
        folders = trust.trusted_folders(request.trust_file)
        if options.is_json:
            console.json(list(folders))
        else:
            console.write("".join(f"{folder}\n" for folder in folders) or tr("You trust no folder.\n"))
        return 0
    if given.remove:
        trust.distrust(request.root, request.trust_file)
        _tell(tr("{root} is not trusted.", root=request.root), request, console, is_trusted=False)
        return 0
    loaded = load(request)
    if not _told_faults(request, loaded, console):
        console.line(
            tr(
                "The program can read nothing in {file}. Nothing was changed.",
                file=project_file(request.root).name,
            )
        )
        return NOT_AGREED
    _show(loaded, console.line if given.yes else console.shown)
    if loaded.project.asked and not confirm(
        console, tr("Trust this folder with these requests?"), is_yes=given.yes
    ):
        console.line(
            tr(
                "You did not agree, so the program ignores the requests of {folder}. Nothing was changed.",
                folder=request.root,
            )
        )
        return NOT_AGREED
    _tell(_trust(request, loaded), request, console, is_trusted=True, project=loaded.project)
    return 0


def _told_faults(request: ConfigRequest, loaded: LoadedSettings, console: Console) -> bool:
    """Say what is wrong in the project's file. False where nothing of it holds: a yes would be to words unseen."""
    file = str(project_file(request.root))
    faults = [fault for fault in loaded.faults if fault.path == file]
    report_faults_of(faults, console)
    return loaded.project_data != ProjectTables() or not any(fault.is_grave for fault in faults)


def _tell(
    said: str,
    request: ConfigRequest,
    console: Console,
    *,
    is_trusted: bool,
    project: Project = Project(),  # noqa: B008 (frozen)
) -> None:
    asked = [line.words for line in asked_lines(project.asked)]
    rest = {"asked": asked, "held_back": list(project.held_back)} if is_trusted else {}
    console.outcome(said, {"folder": str(request.root), "is_trusted": is_trusted, **rest})


def trust_project(options: Options, console: Console) -> None:
    """Trust the project's folder before a command, as `--trust` says, and show what that lets count."""
    request = _request(options, "")
    loaded = load(request)
    if loaded.project.asked or not loaded.project.is_trusted:
        aside = Console(out=console.err, err=console.err)
        _show(loaded, aside.line)
        aside.line(_trust(request, loaded))


def _show(loaded: LoadedSettings, say: Callable[[str], None]) -> None:
    """Print the question: what is recorded by a yes is what was printed, not what stands in the file by then."""
    project = loaded.project
    if project.asked:
        say(trust_title(project))
        say(trust_reason(project))
    for line in asked_lines(project.asked):
        say(tr("the folder asks for:  {words}", words=line.words))
        for text in line.text.splitlines():
            say(f"            | {text}")
    for sentence in project.held_back:
        say(tr("the program ignores a part of manual_slop.toml:  {reason}", reason=sentence))


def _trust(request: ConfigRequest, loaded: LoadedSettings) -> str:
    """Let what is asked for count. Returns what to say of it."""
    project = loaded.project
    trust.trust(request.root, request.trust_file, map(shown_as, project.asked), asked=loaded.asked)
    rest = (
        ""
        if project.has_file
        else tr("The folder has no manual_slop.toml. If one appears, the program asks you first.")
    )
    return as_sentences(tr("{root} is trusted.", root=request.root), rest)


def _request(options: Options, folder: str) -> ConfigRequest:
    start = Path(folder).expanduser().absolute() if folder else options.start
    if start is not None and not start.is_dir():
        raise UsageError(tr("{folder!r} is not a folder", folder=folder))
    return config_request(start=start, home=options.home, overrides=options.overrides)


# `key`: where each provider's key was found, and how one is kept or removed.


def run_key(options: Options, console: Console) -> int:
    """List, keep or remove keys. Returns 0."""
    given = options.given
    request = config_request(start=options.start, home=options.home, overrides=options.overrides)
    settings = load(request).settings
    own = (SERVER_KEY,) if settings.retrieval.server else ()
    servers = (*settings.servers, *own, *named_keys(settings.mcp))
    store = KeyStore(request.home, request.environ)
    check_name("provider", given.provider, servers)
    if not given.provider:
        _list(store, servers, console, is_json=options.is_json)
    elif given.remove:
        console.outcome(store.delete(given.provider), {"provider": given.provider})
    else:
        said = store.store(
            given.provider,
            secret_line(console, tr("Key for {provider}", provider=given.provider), MAX_KEY_CHARS + 2),
        )
        console.outcome(said, {"provider": given.provider})
    return 0


def _list(store: KeyStore, providers: tuple[str, ...], console: Console, *, is_json: bool) -> None:
    found = {provider: store.find(provider, providers) for provider in providers}
    if is_json:
        console.json({name: {"source": key.source.value, "where": key.where} for name, key in found.items()})
        return
    rows = [
        (name, key.source.value.replace("_", " "), key.where or ", ".join(key_variables(name)))
        for name, key in found.items()
    ]
    console.write(table((), rows, kept=frozenset({0, 1}), columns=console.columns))
    said = (text for key in found.values() for text in (key.warning, key.conflict) if text)
    for warning in dict.fromkeys(said):
        console.note(tr("manual-slop: warning: {warning}", warning=warning))
