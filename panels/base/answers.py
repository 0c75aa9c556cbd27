"""The two answers of a dialog that asks: one leaves everything as it is, the other does what was asked for."""

from __future__ import annotations

from panels.base.ui import Ui


def answers(ui: Ui, no: str, yes: str, *, is_danger: bool = False, other: str = "") -> str:
    """Draw them at the right. Returns `yes`, `no`, `other` or nothing.

    Enter presses the coloured button, unless the Tab key led to another; Escape, which the dialog hears, is the safe one.

    Args:
        other: the label of a third way between the two, none where empty.
        is_danger: what a yes does cannot be taken back, or takes something away: Enter alone does not do it.
    """
    with ui.row("buttons"):
        ui.push()
        is_elsewhere = ui.is_focused("no") or ui.is_focused("other")
        is_no = ui.button("no", no)
        is_other = bool(other) and ui.button("other", other)
        is_yes = ui.button("yes", yes, kind="danger" if is_danger else "primary")
    if not is_danger and not is_elsewhere and ui.shortcut("Enter", while_typing=True):
        is_yes = not (is_no or is_other)
    return "no" if is_no else "other" if is_other else "yes" if is_yes else ""
