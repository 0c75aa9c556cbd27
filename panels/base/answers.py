"""The two answers of a dialog that asks: one leaves everything as it is, the other does what was asked for."""

from __future__ import annotations

from panels.base.ui import Ui


def answers(ui: Ui, no: str, yes: str, *, is_danger: bool = False, other: str = "") -> str:
    """Draw them at the right. Returns `yes`, `no`, `other` or nothing.

    Args:
        other: the label of a third way between the two, none where empty.
        is_danger: what a yes does cannot be taken back, or takes something away.
    """
    found = ""
    with ui.row("buttons"):
        ui.push()
        if ui.button("no", no):
            found = "no"
        if other and ui.button("other", other):
            found = "other"
        if ui.button("yes", yes, kind="danger" if is_danger else "primary"):
            found = "yes"
    return found
