"""The two answers of a dialog that asks: one leaves everything as it is, the other does what was asked for."""

from __future__ import annotations

from panels.base.ui import Ui

CHOSEN = "chosen answer"
"""Key of the button that has the keyboard when a dialog opens, so that Enter presses it."""


def answers(ui: Ui, no: str, yes: str, *, is_danger: bool = False, other: str = "") -> str:
    """Draw them at the right. Returns `yes`, `no`, `other` or nothing.

    Enter presses the chosen one, which has the keyboard: the coloured, and where a yes is dangerous the safe one. Escape,
    which the dialog hears, leaves everything as it is.

    Args:
        other: the label of a third way between the two, none where empty.
        is_danger: what a yes does cannot be taken back, or takes something away.
    """
    with ui.row("buttons"):
        ui.push()
        is_no = ui.button(CHOSEN if is_danger else "no", no)
        is_other = bool(other) and ui.button("other", other)
        is_yes = ui.button("yes" if is_danger else CHOSEN, yes, kind="danger" if is_danger else "primary")
        if ui.is_focused(CHOSEN) and ui.shortcut("Enter", while_typing=True):
            is_no, is_yes = is_danger, not is_danger
    return "no" if is_no else "other" if is_other else "yes" if is_yes else ""
