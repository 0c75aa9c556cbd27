"""Actions on what a person is told."""

from __future__ import annotations

from core.signals.messages import SetQuiet
from panels.base.desk import Action, Desk


def is_quiet(desk: Desk) -> bool:
    """True while notifications are held back."""
    return desk.state.signals.is_quiet


def _toggle(desk: Desk) -> None:
    desk.send(SetQuiet(not is_quiet(desk)))


ACTIONS: tuple[Action, ...] = (
    Action("quiet", "Tools", 3, "Hold notifications back", _toggle, "bell-slash",
           is_done=is_quiet, undo_label="Give notifications again"),
)  # fmt: skip
