"""The manager of MCP servers: each with its state, what it asks for, what changed, and its tools."""

from __future__ import annotations

import shlex

from msgspec.structs import replace

from core.agent.tool import escaped
from core.kernel.errors import SlopError
from core.kernel.values.mcp import McpOrigin, McpPhase, McpServer, McpServerSettings
from core.kernel.values.updates import outcome_of
from core.mcp.approvals import state_words, where_words
from core.mcp.mcp_messages import (
    LookAtServers,
    OfferServerTools,
    RemoveMcpServer,
    SetMcpServer,
    TryServer,
    WithdrawApproval,
)
from core.mcp.pasted_servers import is_paste, pasted_servers
from core.talk.context.offered_tools import approved_by_now, offered_by_servers
from panels.base.desk import Desk, ask_removal
from panels.base.ui import Tone, Ui
from panels.discussion.tool_mode import trust_button
from panels.mcp.mcp_view import McpForm, McpView
from panels.mcp.tools import start_question, tool_rows, tools_question

LOOKS: dict[McpPhase, tuple[str, Tone]] = {
    McpPhase.OFF: ("circle", "faint"),
    McpPhase.STARTING: ("circle-dot", "accent"),
    McpPhase.ASKING: ("shield-halved", "warn"),
    McpPhase.READY: ("circle-check", "ok"),
    McpPhase.FAILED: ("circle-exclamation", "error"),
}
WHAT = (
    "Programs that give the model more tools. Each starts after your yes, in the sandbox of commands; every call is asked "
    "about, and a change of the program or of a tool asks again."
)

UNTRUSTED = "This folder is not trusted: no server starts in it, and no model is offered their tools."
NO_FOLDER = "No project is open: no server starts, since each works in a folder that you trust."

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
            ui.text("loading", "Reading settings…", tone="muted")
            return
        if not desk.state.config.project.is_trusted:
            _untrusted(desk)
        _waiting_tools(desk)
        for server in desk.state.mcp.servers.values():
            _server(desk, own, server)
        if not desk.state.mcp.servers:
            ui.text("none", "No server is set up.", tone="muted")
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
        text = (
            "This discussion still has the tools of its last request, since its provider holds that. It gets what you approved "
            "since then when that has ended."
        )
        ui.text("text", text, style="small", tone="muted", wraps=True)
        if ui.button(
            "now", "Give them now", is_small=True, tip="What the provider holds is read anew, and paid again"
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
                ui.badge("origin", "of this project", tip="Its manual_slop.toml names it")
        where = where_words(server.settings)
        ui.text("where", escaped(where), style="mono_small", tone="muted", width=0, tip=escaped(where))
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
                ("left out", number), f"Not offered: {escaped(line)}", tone="muted", style="small", wraps=True
            )
        outcome = outcome_of(desk.state, own.sent.get(name, ""))
        if outcome is not None and not outcome.is_done:
            ui.text("refused", outcome.said, tone="error", style="small", wraps=True)


def _buttons(desk: Desk, ui: Ui, server: McpServer) -> None:
    name = server.settings.name
    can_try = server.settings.is_enabled and server.phase is not McpPhase.STARTING
    if ui.button("try", "", icon="rotate-right", kind="ghost", is_small=True, is_enabled=can_try,
                 tip=f"Look at {name} again, and start it anew where it is approved"):  # fmt: skip
        desk.send(TryServer(name))
    if server.kept is not None and ui.button("forget", "", icon="ban", kind="ghost", is_small=True,
                                             tip=f"Take your yes to {name} back: it ends"):  # fmt: skip
        desk.send(WithdrawApproval(name))
    if server.settings.origin is McpOrigin.USER and ui.button(
        "remove", "", icon="trash-can", kind="ghost", is_small=True, tip=f"Take {name} out of your settings"
    ):
        what = f"{escaped(where_words(server.settings))} goes from your settings."
        ask_removal(desk, name, what, RemoveMcpServer(name))


def _form(desk: Desk, own: McpView) -> None:
    ui, form = desk.ui, _answered(desk, own)
    if form is None:
        if ui.button("add", "Add a server", icon="plus", is_small=True):
            own.form = McpForm()
        return
    with ui.surface("form", "inset", padding=(12, 10)), ui.group("fields", gap=6):
        name = ui.text_input("name", form.name, hint="Name, for example files", is_focused=not form.name)
        form.name = form.name if name is None else name
        line = ui.text_input("line", form.line, hint="Command, https:// address, or a README's JSON")
        form.line = form.line if line is None else line
        variables = ui.text_input("variables", form.variables, hint="Names of its variables")
        form.variables = form.variables if variables is None else variables
        network = ui.checkbox("network", "It may reach the network", form.network, tip="Of a command alone")
        form.network = form.network if network is None else network
        if form.error:
            ui.text("error", form.error, tone="error", style="small", wraps=True)
        is_entered = any(map(ui.is_focused, FIELDS)) and ui.shortcut("Enter", while_typing=True)
        if is_entered:
            # What is typed from here on belongs to the form: the keyboard would go home to the composer.
            ui.focus("line" if form.name.strip() else "name")
        with ui.row("buttons"):
            is_free = not form.sent
            if ui.button("save", "Add it", kind="primary", is_small=True, is_enabled=is_free) or (
                is_free and is_entered
            ):
                _save(desk, form)
            if ui.button("cancel", "Cancel", is_small=True):
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
        form.error = "The command cannot be read: a quote in it does not end"
        return
    if not name or not (is_address or words):
        form.error = "A server needs a name, and a command or an address"
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
        form.error = f"{error.what}. {error.remedy}"
        return
    name = form.name.strip()
    for server in found.servers:
        own = replace(server, name=name) if name and len(found.servers) == 1 else server
        form.error, form.sent = "", desk.ask(SetMcpServer(server=own, is_new=True))
