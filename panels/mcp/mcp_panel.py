"""The manager of MCP servers: each with its state, what it asks for, what changed, and its tools, a line each."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from msgspec.structs import replace

from core.agent.tool import escaped
from core.kernel import figures as fmt
from core.kernel.errors import SlopError
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.values.mcp import McpApproval, McpOrigin, McpPhase, McpServer, McpServerSettings, McpTool
from core.kernel.values.updates import is_under_way, outcome_of
from core.mcp.approvals import count_words, question_id, start_lines, state_words, where_words
from core.mcp.mcp_messages import (
    ApproveServer,
    ApproveTools,
    LookAtServers,
    OfferServerTools,
    RemoveMcpServer,
    SetMcpServer,
    TryServer,
    WithdrawApproval,
)
from core.mcp.pasted_servers import is_paste, pasted_servers
from core.talk.context.context_spec import approved_by_now, offered_by_servers
from panels.base.desk import Desk, ask_removal
from panels.base.ui import Surface, Tone, Ui
from panels.discussion.approvals import GUARD_S
from panels.discussion.tool_mode import trust_button
from panels.mcp.mcp_room import McpForm, McpView

# Tools of a server in the manager: a line each, which unfolds to what a model is told of it.

SHOWN = 40
"""Tools of a server that are drawn until all are asked for."""
LINE_CHARS = 120
ROWS = 3
"""Rows of a line of the question that stand there until the rest is asked for."""


def hidden_tools(own: McpView, server: McpServer) -> tuple[McpTool, ...]:
    """Tools of a server that are not drawn before all are asked for: the last ones."""
    tools = server.tools or (() if server.kept is None else server.kept.tools)
    return () if server.settings.name in own.whole else tools[SHOWN:]


def is_unfolded(desk: Desk, own: McpView, server: McpServer) -> bool:
    """Draw the line under which the tools of a server fold. True if they are to be shown."""
    name = server.settings.name
    is_open = name in own.folded
    icon = "chevron-down" if is_open else "chevron-right"
    if desk.ui.button("tools", count_words(server), icon=icon, kind="ghost", is_small=True):
        own.folded ^= {name}
    return is_open


def tool_rows(
    desk: Desk, own: McpView, server: McpServer, ticks: Callable[[McpTool], bool | None] | None = None
) -> None:
    """Draw the tools of a server. O(shown).

    Args:
        ticks: draws the box of a tool in place of its mark; None where nothing is asked: then they fold under a line.
    """
    ui, name = desk.ui, server.settings.name
    tools = server.tools or (() if server.kept is None else server.kept.tools)
    if not tools:
        return
    if ticks is None and not is_unfolded(desk, own, server):
        return
    hidden = hidden_tools(own, server)
    for tool in tools[: len(tools) - len(hidden)]:
        _row(desk, own, server, tool, ticks)
    if hidden and ui.button(
        "whole", tr("Show {hidden:,} more", hidden=len(hidden)), kind="ghost", is_small=True
    ):
        own.whole |= {name}


def _row(
    desk: Desk, own: McpView, server: McpServer, tool: McpTool, ticks: Callable[[McpTool], bool | None] | None
) -> None:
    ui, place = desk.ui, (server.settings.name, tool.name)
    is_open = place in own.open_tools
    with ui.group(("tool", tool.name), gap=4):
        with ui.row("line", gap=6):
            if ticks is not None:
                ticks(tool)
            else:
                is_approved = tool.name in server.approved
                ui.icon(
                    "mark",
                    "circle-check" if is_approved else "circle-empty",
                    tone="ok" if is_approved else "faint",
                )
            icon = "chevron-down" if is_open else "chevron-right"
            tip = tr("Show the text that a model gets about {name}", name=tool.name)
            if ui.button("fold", "", icon=icon, kind="ghost", is_small=True, tip=tip):
                own.open_tools ^= {place}
            ui.text("name", tool.name, style="small_strong", width=0)
        description = escaped(tool.schema.description)
        if not is_open:
            ui.text("said", one_line(description, LINE_CHARS), tone="muted", style="small", width=0)
        else:
            ui.text("description", description, style="small", wraps=True)
            ui.code("schema", escaped(tool.schema.parameters_json), language="json")
            if tool.says_read_only:
                ui.text("hint", tr("The tool says that it only reads. The program still asks you about each call."),
                        tone="muted", style="small", wraps=True)  # fmt: skip


# Questions of MCP servers: whether one may start, and which of its tools a model may be offered.


def start_question(desk: Desk, own: McpView, server: McpServer, asked: McpApproval) -> None:
    """Draw what a yes would start. Sends ApproveServer. No key presses its yes."""
    ui, name = desk.ui, server.settings.name
    with ui.surface("question", "card_selected", padding=(12, 10)), ui.group("rows", gap=6):
        title = tr("Connect to this server?") if asked.url else tr("Start this server?")
        ui.text("title", title, style="strong")
        for label, text in start_lines(asked):
            # beside text of many lines a label would stand by none of them
            with ui.group(("line", label), gap=0):
                ui.text("label", label, tone="muted", style="small", wraps=True)
                _rows_of(ui, own, (name, label), text)
        sandbox = desk.state.agent.sandbox
        if not asked.url and sandbox.is_known and not sandbox.is_confined:
            ui.text("bare", tr("No sandbox limits programs on this machine: the server can do everything that you can."),
                    tone="warn", style="small", wraps=True)  # fmt: skip
        is_free = not is_under_way(desk.state, own.sent.get(name, ""))
        if ui.button("approve", tr("Approve and start"), icon="check", kind="primary", is_small=True,
                     is_enabled=is_free and desk.state.config.project.is_trusted, guard_s=GUARD_S,
                     tip=tr("Your approval holds until one of these lines changes")):  # fmt: skip
            own.sent[name] = desk.ask(ApproveServer(name=name, shown=question_id(asked)))


def _rows_of(ui: Ui, own: McpView, place: tuple[str, str], text: str) -> None:
    """Draw the rows of a line; of many the first ones, and the rest on a click: the answer stays in sight."""
    rows = text.split("\n")
    left = 0 if place in own.open_lines or len(rows) <= ROWS + 1 else len(rows) - ROWS
    ui.text("text", escaped("\n".join(rows[: len(rows) - left])), style="mono_small", wraps=True)
    if left and ui.button("rows", tr("Show {hidden:,} more", hidden=left), kind="link", is_small=True):
        own.open_lines |= {place}


def tools_question(desk: Desk, own: McpView, server: McpServer, asked: McpApproval) -> None:
    """Draw the tools of a server, each with a tick; what is new or changed since a yes has none. Sends ApproveTools.

    Once all of them are answered for, nothing is asked: another answer can be given. A yes is never one to a tool that is
    not shown; what a person said of one before stays.
    """
    ui, name, shown = desk.ui, server.settings.name, question_id(asked)
    is_answered = server.phase is McpPhase.READY
    left = own.left.get(shown, _unapproved(server) if server.changed or is_answered else frozenset())

    def tick(tool: McpTool) -> bool | None:
        is_on = tool.name not in left
        changed = ui.checkbox("tick", "", is_on, tip=tr("Offer {name} to models", name=tool.name))
        if changed is not None:
            own.left[shown] = left ^ {tool.name}
        return changed

    surface: Surface = "inset" if is_answered else "card_selected"
    with ui.surface("question", surface, padding=(12, 10)), ui.group("rows", gap=4):
        if is_answered:
            if not is_unfolded(desk, own, server):
                return
        else:
            ui.text("title", tr("Which tools of this server may models use?"), style="strong", wraps=True)
        ui.text("what", tr("Models read these descriptions. The program asks you about each call."),
                tone="muted", style="small", wraps=True)  # fmt: skip
        tool_rows(desk, own, server, tick)
        hidden = frozenset(tool.name for tool in hidden_tools(own, server)) - server.approved
        names = tuple(tool.name for tool in server.tools if tool.name not in left | hidden)
        if hidden and not is_answered:
            ui.text("hidden", tr("{hidden} not shown: your approval does not cover tools that you did not see.", hidden=fmt.count(len(hidden), tr('more tool'), tr('more tools'))),
                    tone="muted", style="small", wraps=True)  # fmt: skip
        if is_answered and server.approved == frozenset(names):
            return
        is_free = not is_under_way(desk.state, own.sent.get(name, ""))
        with ui.row("answers"):
            label = (
                tr("Approve {tools}", tools=fmt.count(len(names), tr("tool"), tr("tools")))
                if names
                else tr("Approve no tool")
            )
            if ui.button("approve", label, icon="check", kind="primary", is_small=True, is_enabled=is_free, guard_s=GUARD_S,
                         tip=tr("Your approval holds until a tool's description changes")):  # fmt: skip
                own.sent[name] = desk.ask(ApproveTools(name=name, shown=shown, names=names))


def _unapproved(server: McpServer) -> frozenset[str]:
    return frozenset(tool.name for tool in server.tools) - server.approved


# The manager of MCP servers: each with its state, what it asks for, what changed, and its tools.

LOOKS: dict[McpPhase, tuple[str, Tone]] = {
    McpPhase.OFF: ("circle-empty", "faint"),
    McpPhase.STARTING: ("circle-dot", "accent"),
    McpPhase.ASKING: ("shield-halved", "warn"),
    McpPhase.READY: ("circle-check", "ok"),
    McpPhase.FAILED: ("circle-exclamation", "error"),
}
WHAT = tr(
    "MCP servers are programs that give the model more tools. Each server starts only after your approval, in a sandbox. The program asks you before each call. When a server or tool changes, you approve it again."
)

UNTRUSTED = tr("This folder is not trusted: no server starts, and models get no server tools.")
NO_FOLDER = tr("No project is open: a server starts only in a folder that you trust.")

FIELDS = ("name", "line", "variables")
"""Fields of the form, in which Enter adds the server."""


def mcp_panel(desk: Desk) -> None:
    """Draw the manager.

    Sends LookAtServers, ApproveServer, ApproveTools, WithdrawApproval, TryServer, SetMcpServer, RemoveMcpServer, OfferServerTools.
    """
    ui, own = desk.ui, desk.view.of(McpView)
    _look(desk, own)
    with (
        ui.surface("servers", "clear", height=0, padding=(0, 0), scrolls=True),
        ui.group("parts", gap=10),
    ):
        ui.text("what", WHAT, tone="muted", style="small", wraps=True)
        if desk.state.program.is_loading:
            ui.text("loading", tr("Reading settings…"), tone="muted")
            return
        if not desk.state.config.project.is_trusted:
            _untrusted(desk)
        _waiting_tools(desk)
        for server in desk.state.mcp.servers.values():
            _server(desk, own, server)
        if not desk.state.mcp.servers:
            ui.text("none", tr("You have set up no server."), tone="muted", style="small")
        _form(desk, own)


def _untrusted(desk: Desk) -> None:
    """Say why nothing starts, with the way to what mends it."""
    ui, has_folder = desk.ui, bool(desk.state.config.project.root)
    with ui.row("untrusted", gap=6):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        ui.text(
            "text", UNTRUSTED if has_folder else NO_FOLDER, tone="warn", style="small", wraps=True, width=0
        )
    trust_button(desk)


def _look(desk: Desk, own: McpView) -> None:
    """Look once at what would be started, and again where other servers are named."""
    state = desk.state
    if state.program.is_loading or not state.mcp.servers:
        return
    about = (state.config.project.root, tuple(state.mcp.servers))
    if own.looked_with != about:
        own.looked_with = about
        desk.send(LookAtServers())


def _waiting_tools(desk: Desk) -> None:
    """Say that the shown discussion is offered other tools than are approved by now, and give them at once."""
    ui, summary = desk.ui, desk.summary
    if summary is None or not summary.meta.has_tools:
        return
    chosen = summary.meta.id
    if not desk.state.config.project.is_trusted or offered_by_servers(desk.state, chosen) == approved_by_now(
        desk.state
    ):
        return
    with ui.surface("other tools", "inset", padding=(12, 8)), ui.group("lines", gap=6):
        text = tr(
            "This discussion keeps the tools of its last request, because the provider caches them. Newly approved tools join when that cache ends."
        )
        ui.text("text", text, style="small", tone="muted", wraps=True)
        if ui.button(
            "now",
            tr("Add tools now"),
            is_small=True,
            tip=tr("This ends the cache: you pay for the discussion's prefix again"),
        ):
            desk.send(OfferServerTools(chosen))


def _server(desk: Desk, own: McpView, server: McpServer) -> None:
    ui, name = desk.ui, server.settings.name
    icon, tone = LOOKS[server.phase]
    with ui.surface(("server", name), "card", padding=(12, 10)), ui.group("lines", gap=6):
        with ui.row("head"):
            ui.icon("state", icon, tone=tone)
            ui.text("name", name, style="strong", width=0)
            _buttons(desk, ui, server)
        with ui.row("stand"):
            ui.text("words", state_words(server), tone=tone, style="small", width=0)
            if server.settings.origin is McpOrigin.PROJECT:
                ui.badge(
                    "origin",
                    tr("from this project"),
                    tip=tr("The project's manual_slop.toml names this server"),
                )
        where = where_words(server.settings)
        if server.asked is None or server.asked.tools:  # else the question shows each word of it
            ui.text("where", escaped(where), style="mono_small", tone="muted", wraps=True)
        if server.problem:
            ui.text("problem", f"{escaped(server.problem)}.", tone="error", style="small", wraps=True)
        for number, line in enumerate(server.changed):
            with ui.row(("changed", number), gap=6):
                ui.icon("icon", "triangle-exclamation", tone="warn")
                ui.text("text", escaped(line), tone="warn", style="small", wraps=True, width=0)
        if server.asked is not None and not server.asked.tools:
            start_question(desk, own, server, server.asked)
        elif server.asked is not None:
            tools_question(desk, own, server, server.asked)
        else:
            tool_rows(desk, own, server)
        for number, line in enumerate(server.left_out):
            ui.text(
                ("left out", number),
                tr("Models do not get this tool: {line}", line=escaped(line)),
                tone="muted",
                style="small",
                wraps=True,
            )
        outcome = outcome_of(desk.state, own.sent.get(name, ""))
        if outcome is not None and not outcome.is_done:
            ui.text("refused", outcome.said, tone="error", style="small", wraps=True)


def _buttons(desk: Desk, ui: Ui, server: McpServer) -> None:
    name = server.settings.name
    can_try = server.settings.is_enabled and server.phase is not McpPhase.STARTING
    if ui.button("try", "", icon="rotate-right", kind="ghost", is_small=True, is_enabled=can_try,
                 tip=tr("Check {name} again, and restart the server if you approved it", name=name)):  # fmt: skip
        desk.send(TryServer(name))
    if server.kept is not None and ui.button("forget", "", icon="ban", kind="ghost", is_small=True,
                                             tip=tr("Withdraw your approval of {name}; the server stops", name=name)):  # fmt: skip
        desk.send(WithdrawApproval(name))
    if server.settings.origin is McpOrigin.USER and ui.button(
        "remove",
        "",
        icon="trash-can",
        kind="ghost",
        is_small=True,
        tip=tr("Remove {name} from your settings", name=name),
    ):
        what = tr(
            "This removes {settings} from your settings.", settings=escaped(where_words(server.settings))
        )
        ask_removal(desk, name, what, RemoveMcpServer(name))


def _form(desk: Desk, own: McpView) -> None:
    ui, form = desk.ui, _answered(desk, own)
    if form is None:
        if ui.button("add", tr("Add server"), icon="plus", is_small=True):
            own.form = McpForm()
        return
    with ui.surface("form", "inset", padding=(12, 10)), ui.group("fields", gap=6):
        name = ui.text_input("name", form.name, hint=tr("Name, for example files"), is_focused=not form.name)
        form.name = form.name if name is None else name
        line = ui.text_input("line", form.line, hint=tr("Command, https:// address, or a README's JSON"))
        form.line = form.line if line is None else line
        variables = ui.text_input("variables", form.variables, hint=tr("Names of environment variables"))
        form.variables = form.variables if variables is None else variables
        network = ui.checkbox(
            "network",
            tr("Allow network access"),
            form.network,
            tip=tr("This setting works only for a server that a command starts"),
        )
        form.network = form.network if network is None else network
        if form.error:
            ui.text("error", form.error, tone="error", style="small", wraps=True)
        is_entered = any(map(ui.is_focused, FIELDS)) and ui.shortcut("Enter", while_typing=True)
        if is_entered:
            # What is typed from here on belongs to the form: the keyboard would go home to the composer.
            ui.focus("line" if form.name.strip() else "name")
        with ui.row("buttons"):
            is_free = not form.sent
            if ui.button("save", tr("Add server"), kind="primary", is_small=True, is_enabled=is_free) or (
                is_free and is_entered
            ):
                _save(desk, form)
            if ui.button("cancel", tr("Cancel"), is_small=True):
                own.form = None


def _answered(desk: Desk, own: McpView) -> McpForm | None:
    """The form that is open: one whose server is written closes, and what was against it stands in the form."""
    form = own.form
    told = outcome_of(desk.state, form.sent) if form is not None and form.sent else None
    if form is not None and told is not None:
        form.sent, form.error = "", told.said
        if told.is_done:
            own.form = None
    return own.form


def _save(desk: Desk, form: McpForm) -> None:
    """Send the server. What its name may be is the settings' rule, told by the outcome."""
    name, line = form.name.strip(), form.line.strip()
    if is_paste(line):
        _save_pasted(desk, form, line)
        return
    is_address = line.startswith(("http://", "https://"))
    try:
        words = () if is_address else tuple(shlex.split(line))
    except ValueError:
        form.error = tr("The command is not readable: close the open quote")
        return
    if not name or not (is_address or words):
        form.error = tr("A server needs a name, and a command or an address")
        return
    server = McpServerSettings(
        name=name,
        command=words,
        url=line if is_address else "",
        environment=tuple(form.variables.replace(",", " ").split()),
        network=form.network and not is_address,
    )
    form.error, form.sent = "", desk.ask(SetMcpServer(server=server, is_new=True))


def _save_pasted(desk: Desk, form: McpForm, text: str) -> None:
    """Send the servers of a README's JSON. A single one takes the name that stands in the form."""
    try:
        found = pasted_servers(text)
    except SlopError as error:
        form.error = as_sentences(error.what, error.remedy)
        return
    name = form.name.strip()
    for server in found.servers:
        own = replace(server, name=name) if name and len(found.servers) == 1 else server
        form.error, form.sent = "", desk.ask(SetMcpServer(server=own, is_new=True))
