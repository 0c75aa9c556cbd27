"""Tools of a server in the manager: a line each, which unfolds to what a model is told of it."""

from __future__ import annotations

from collections.abc import Callable

from core.agent.tool import escaped
from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.values.mcp import McpApproval, McpPhase, McpServer, McpTool
from core.kernel.values.updates import is_under_way
from core.mcp.approvals import count_words, question_id, start_lines
from core.mcp.mcp_messages import ApproveServer, ApproveTools
from panels.base.desk import Desk
from panels.base.ui import Surface
from panels.discussion.approvals import GUARD_S
from panels.mcp.mcp_view import McpView

SHOWN = 40
"""Tools of a server that are drawn until all are asked for."""
LINE_CHARS = 120


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
    if hidden and ui.button("whole", f"Show {len(hidden):,} more", kind="ghost", is_small=True):
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
                    "mark", "circle-check" if is_approved else "circle", tone="ok" if is_approved else "faint"
                )
            icon = "chevron-down" if is_open else "chevron-right"
            tip = f"What a model is told of {tool.name}"
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
                ui.text("hint", "It says of itself that it only reads. That lets nothing go without a question.",
                        tone="muted", style="small", wraps=True)  # fmt: skip


# Questions of MCP servers: whether one may start, and which of its tools a model may be offered.


def start_question(desk: Desk, own: McpView, server: McpServer, asked: McpApproval) -> None:
    """Draw what a yes would start. Sends ApproveServer. No key presses its yes."""
    ui, name = desk.ui, server.settings.name
    with ui.surface("question", "card_selected", padding=(12, 10)), ui.group("rows", gap=6):
        title = "Speak to this server?" if asked.url else "Start this server?"
        ui.text("title", title, style="strong")
        for label, text in start_lines(asked):
            # beside text of many lines a label would stand by none of them
            with ui.group(("line", label), gap=0):
                ui.text("label", label, tone="muted", style="small", wraps=True)
                ui.text("text", escaped(text), style="mono_small", wraps=True)
        sandbox = desk.state.agent.sandbox
        if not asked.url and sandbox.is_known and not sandbox.is_confined:
            ui.text("bare", "Nothing confines programs on this machine: it may do whatever you may.",
                    tone="warn", style="small", wraps=True)  # fmt: skip
        is_free = not is_under_way(desk.state, own.sent.get(name, ""))
        if ui.button("approve", "Approve and start", icon="check", kind="primary", is_small=True,
                     is_enabled=is_free and desk.state.config.project.is_trusted, guard_s=GUARD_S,
                     tip="Until something of this changes"):  # fmt: skip
            own.sent[name] = desk.ask(ApproveServer(name=name, shown=question_id(asked)))


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
        changed = ui.checkbox("tick", "", is_on, tip=f"A model may be offered {tool.name}")
        if changed is not None:
            own.left[shown] = left ^ {tool.name}
        return changed

    surface: Surface = "inset" if is_answered else "card_selected"
    with ui.surface("question", surface, padding=(12, 10)), ui.group("rows", gap=4):
        if is_answered:
            if not is_unfolded(desk, own, server):
                return
        else:
            ui.text("title", "Which of its tools may a model be offered?", style="strong", wraps=True)
        ui.text("what", "Their descriptions are what the model reads of them. Each call is asked about.",
                tone="muted", style="small", wraps=True)  # fmt: skip
        tool_rows(desk, own, server, tick)
        hidden = frozenset(tool.name for tool in hidden_tools(own, server)) - server.approved
        names = tuple(tool.name for tool in server.tools if tool.name not in left | hidden)
        if hidden and not is_answered:
            ui.text("hidden", f"{fmt.count(len(hidden), 'more tool')} not shown: a yes does not count for what you did not see.",
                    tone="muted", style="small", wraps=True)  # fmt: skip
        if is_answered and server.approved == frozenset(names):
            return
        is_free = not is_under_way(desk.state, own.sent.get(name, ""))
        with ui.row("answers"):
            label = f"Approve {fmt.count(len(names), 'tool')}" if names else "Approve none"
            if ui.button("approve", label, icon="check", kind="primary", is_small=True, is_enabled=is_free, guard_s=GUARD_S,
                         tip="Until what it says of one of them changes"):  # fmt: skip
                own.sent[name] = desk.ask(ApproveTools(name=name, shown=shown, names=names))


def _unapproved(server: McpServer) -> frozenset[str]:
    return frozenset(tool.name for tool in server.tools) - server.approved
