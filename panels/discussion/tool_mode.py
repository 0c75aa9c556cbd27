"""Tools of a discussion and their mode: what they do without a question, chosen beside the composer, or by one key."""

from __future__ import annotations

from core.agent.messages import SetTools
from core.values.agent import Mode
from panels.base.desk import Desk
from panels.base.ui import Option

MODES = (
    Option(Mode.ASK.value, "Ask first", "writes, edits and commands wait for a yes", icon="shield-halved"),
    Option(Mode.ACCEPT_EDITS.value, "Accept edits", "edits inside the project go by", icon="pen-to-square"),
    Option(Mode.PLAN.value, "Plan", "it only reads", icon="eye"),
)
BY_MODE = {Mode(option.value): option for option in MODES}


def has_tools(desk: Desk) -> bool:
    """True if the selected discussion's model is given tools."""
    return desk.summary is not None and desk.summary.meta.has_tools


def toggle_tools(desk: Desk) -> None:
    """Give the discussion tools, or take them away. Sends SetTools."""
    if (summary := desk.summary) is not None:
        desk.send(SetTools(summary.meta.id, not summary.meta.has_tools, summary.meta.mode))


def next_mode(desk: Desk) -> None:
    """Go on to the mode after the one that counts. Sends SetTools."""
    if (summary := desk.summary) is not None:
        at = list(BY_MODE).index(summary.meta.mode)
        set_mode(desk, list(BY_MODE)[(at + 1) % len(BY_MODE)])


def set_mode(desk: Desk, mode: Mode) -> None:
    """Choose a mode. Sends SetTools where it is another."""
    if (summary := desk.summary) is not None and mode is not summary.meta.mode:
        desk.send(SetTools(summary.meta.id, summary.meta.has_tools, mode))


def tool_menu(desk: Desk, *, has_words: bool) -> None:
    """Draw the mode as a menu, where the discussion has tools.

    Args:
        has_words: there is room for its name.
    """
    ui, summary = desk.ui, desk.summary
    if summary is None or not summary.meta.has_tools:
        return
    now = BY_MODE[summary.meta.mode]
    mode_action = desk.actions["mode"]
    tip = f"{now.label}: {now.detail} ({mode_action.chord}: the next)"
    with ui.menu("mode", now.label if has_words else "", icon=now.icon, tip=tip) as is_open:
        if not is_open:
            return
        for option in MODES:
            label = f"{option.label}: {option.detail}"
            if ui.menu_item(("mode", option.value), label, icon=option.icon, is_checked=option is now):
                set_mode(desk, Mode(option.value))
        ui.divider("off line")
        if ui.menu_item("off", "Take its tools away", icon="xmark"):
            toggle_tools(desk)
