"""Room of signals in the window, and the view of their panel."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.signals.signals_messages import SetQuiet
from panels.base.desk import Action, Desk, HubPanel, Room
from panels.base.window_fields import Kept

# View of the Signals panel: which signals are unfolded.


class SignalsView(msgspec.Struct):
    """The panel's own state. `open_signals`: ids of signals with their whole text shown."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    open_signals: frozenset[str] = frozenset()


# Room of signals in the window.

# Actions on what a person is told.


def is_quiet(desk: Desk) -> bool:
    """True while notifications are held back."""
    return desk.state.signals.is_quiet


def _toggle(desk: Desk) -> None:
    desk.send(SetQuiet(not is_quiet(desk)))


ACTIONS: tuple[Action, ...] = (
    Action(id="quiet", menu=tr("Tools"), group=3, label=tr("Hold notifications back"), run=_toggle, icon="bell-slash",
           is_done=is_quiet, undo_label=tr("Show notifications again")),
)  # fmt: skip


def _panel(desk: Desk) -> None:
    from panels.signals.signals_panel import signals_panel

    signals_panel(desk)


ROOM = Room(
    actions=ACTIONS,
    view=SignalsView,
    panels=(
        HubPanel(
            id="signals",
            words=tr("inbox events IRC watch"),
            title=tr("Signals"),
            guide="autonomy",
            about=tr(
                "See news from outside that waits for an autonomous discussion. Remove a signal that the model must not read."
            ),
            draw=_panel,
        ),
    ),
)
