"""Tools of a discussion and their mode: what they do without a question, chosen beside the composer, or by one key."""

from __future__ import annotations

from core.agent.delegation import questions_of
from core.agent.messages import SetTools
from core.agent.pages import mode_of
from core.context.offered_tools import can_take_memory, missing_in_folder, missing_tools
from core.values.agent import Mode
from panels.base.action import run_action
from panels.base.desk import Desk
from panels.base.ui import Option

MODES = (
    Option(Mode.ASK.value, "Ask first", "writes, edits and commands wait for a yes", icon="shield-halved"),
    Option(
        Mode.ACCEPT_EDITS.value, "Accept edits", "edits inside the project need no yes", icon="pen-to-square"
    ),
    Option(Mode.PLAN.value, "Plan", "it only reads", icon="eye"),
)
WITHOUT_TIP = "Give the model tools: it reads and searches this project, and asks before it writes a file or runs a command"
TRUST_LABEL = "Trust this folder, so that they work in it…"
BY_MODE = {Mode(option.value): option for option in MODES}


def has_tools(desk: Desk) -> bool:
    """True if the selected discussion's model is given tools."""
    return desk.summary is not None and desk.summary.meta.has_tools


def toggle_tools(desk: Desk) -> None:
    """Give the discussion tools, or take them away. Sends SetTools."""
    if (summary := desk.summary) is not None:
        desk.send(SetTools(summary.meta.id, not summary.meta.has_tools, mode_of(desk.state, summary.meta.id)))


def next_mode(desk: Desk) -> None:
    """Go on to the mode after the one that counts. Sends SetTools.

    While a call waits for a yes it passes over the mode that would say it: no key does.
    """
    if (summary := desk.summary) is not None:
        order, now = list(BY_MODE), mode_of(desk.state, summary.meta.id)
        if now is not Mode.ACCEPT_EDITS and questions_of(desk.state, summary.meta.id):
            order.remove(Mode.ACCEPT_EDITS)
        set_mode(desk, order[(order.index(now) + 1) % len(order)])


def set_mode(desk: Desk, mode: Mode) -> None:
    """Choose a mode. Sends SetTools where it is another."""
    if (summary := desk.summary) is not None and mode is not mode_of(desk.state, summary.meta.id):
        desk.send(SetTools(summary.meta.id, summary.meta.has_tools, mode))


def tool_menu(desk: Desk) -> None:
    """Draw the mode as a menu; where the discussion has no tools, each mode gives it them."""
    ui, summary = desk.ui, desk.summary
    if summary is None:
        return
    has_any, now = summary.meta.has_tools, BY_MODE[mode_of(desk.state, summary.meta.id)]
    label, icon = (now.label, now.icon) if has_any else ("No tools", "wrench")
    missing = missing_tools(desk.state, summary.meta.provider)
    if has_any and missing:
        is_some = can_take_memory(desk.state, summary.meta.provider)
        label, icon = "Search alone" if is_some else "No tools here", "triangle-exclamation"
    tip = f"{now.label}: {now.detail} ({desk.actions['mode'].chord}: the next)" if has_any else WITHOUT_TIP
    tip = missing or tip
    with ui.menu("mode", label, icon=icon, tip=tip) as is_open:
        if not is_open:
            return
        for option in MODES:
            is_now = has_any and option is now
            words = f"{option.label}: {option.detail}"
            if ui.menu_item(("mode", option.value), words, icon=option.icon, is_checked=is_now):
                _give(desk, Mode(option.value))
        if has_any or can_be_trusted(desk):
            ui.divider("off line")
        if has_any and ui.menu_item("off", "Take its tools away", icon="xmark"):
            toggle_tools(desk)
        if can_be_trusted(desk) and ui.menu_item("trust", TRUST_LABEL, icon="shield-halved"):
            run_action("trust", desk)


def _give(desk: Desk, mode: Mode) -> None:
    """Choose a mode; tools come with it. Sends SetTools where something is another."""
    if (summary := desk.summary) is None:
        return
    if not (summary.meta.has_tools and mode is mode_of(desk.state, summary.meta.id)):
        desk.send(SetTools(summary.meta.id, has_tools=True, mode=mode))


def can_be_trusted(desk: Desk) -> bool:
    """True where a folder is open that tools may not touch before the person trusts it."""
    project = desk.state.config.project
    return bool(project.root) and not project.is_trusted


def trust_line(desk: Desk) -> None:
    """Say that tools do not reach the model, or have no folder to work in, with the way to what mends it; else nothing."""
    ui = desk.ui
    if desk.summary is not None and (missing := missing_tools(desk.state, desk.summary.meta.provider)):
        with ui.row("model", gap=6):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", missing, tone="warn", style="small", wraps=True, width=0)
        return
    text = missing_in_folder(desk.state)
    if not text:
        return
    with ui.row("folder", gap=6):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        ui.text("text", text, tone="warn", style="small", wraps=True, width=0)
    trust_button(desk)


def trust_button(desk: Desk) -> None:
    """Draw the way to trust the folder that is open, or to open one; what a yes covers stands in the dialog."""
    action = desk.actions["trust" if desk.state.config.project.root else "open_project"]
    if desk.ui.button("let", action.shown_label(desk), icon=action.icon, is_small=True):
        run_action(action.id, desk)
