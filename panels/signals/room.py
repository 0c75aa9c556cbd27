"""Room of signals in the window."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import HubPanel, Room
from panels.signals.actions import ACTIONS
from panels.signals.view import SignalsView


def _panel(desk: Desk) -> None:
    from panels.signals.signals_panel import signals_panel

    signals_panel(desk)


ROOM = Room(ACTIONS, SignalsView, panels=(HubPanel("signals", "Signals", "Signals", "bell", 9, _panel),))
