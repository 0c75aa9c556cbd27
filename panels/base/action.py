"""An action as a button and as a menu item, and doing what it does."""

from __future__ import annotations

from panels.base.desk import Desk


def run_action(action_id: str, desk: Desk) -> None:
    """Do what an action does, unless it cannot be done just now."""
    action = desk.actions[action_id]
    if action.is_enabled(desk):
        action.run(desk)


def action_tip(desk: Desk, action_id: str) -> str:
    """Tip of an icon button for an action, on hover: `Regenerate reply (Ctrl+Shift+R)`."""
    action = desk.actions[action_id]
    label = action.shown_label(desk)
    return f"{label} ({action.chord})" if action.chord else label


def action_button(desk: Desk, action_id: str, *, has_label: bool = False) -> None:
    """A ghost button for an action."""
    action = desk.actions[action_id]
    label = action.shown_label(desk) if has_label else ""
    if desk.ui.button(
        ("action", action_id), label, icon=action.icon, kind="ghost",
        is_enabled=action.is_enabled(desk), tip=action_tip(desk, action_id),
    ):  # fmt: skip
        run_action(action_id, desk)


def action_item(desk: Desk, action_id: str) -> None:
    """A menu item for an action."""
    action = desk.actions[action_id]
    if desk.ui.menu_item(
        action.id, action.shown_label(desk), icon=action.icon, shortcut=action.shown_chord(desk.state),
        is_enabled=action.is_enabled(desk), is_checked=action.is_checked(desk), tone=action.tone,
    ):  # fmt: skip
        run_action(action_id, desk)
