"""Questions of MCP servers: whether one may start, and which of its tools a model may be offered."""

from __future__ import annotations

from core.agent.escapes import escaped
from core.base import figures as fmt
from core.mcp.approvals import question_id
from core.mcp.messages import ApproveServer, ApproveTools
from core.mcp.wording import start_lines
from core.values.mcp import McpApproval, McpPhase, McpServer, McpTool
from core.values.updates import is_under_way
from panels.base.desk import Desk
from panels.base.ui import Surface
from panels.discussion.approvals import GUARD_S
from panels.mcp.tools import hidden_tools, is_unfolded, tool_rows
from panels.mcp.view import McpView


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
            own.sent[name] = desk.ask(ApproveServer(name, question_id(asked)))


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
                own.sent[name] = desk.ask(ApproveTools(name, shown, names))


def _unapproved(server: McpServer) -> frozenset[str]:
    return frozenset(tool.name for tool in server.tools) - server.approved
