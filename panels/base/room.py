"""Room of the window, with what it gives: actions, panels of the hub, dialogs, its own view."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from panels.base.desk import Action, Desk
from panels.base.view import Dialog
from panels.base.window_field import RoomView

DrawDialog = Callable[[Desk, Dialog], None]


LEAST_PX = 400.0
"""Height that a panel has at least: in a lower window it scrolls as a whole, since its fixed parts would leave no row."""


def _least(_desk: Desk) -> float:
    return LEAST_PX


class HubPanel(msgspec.Struct, frozen=True):
    """A panel of the Operations Hub, with its button in the rail and its action in the View menu.

    Args:
        id: stable; title: of the panel and the action; label: of the button; icon: of both.
        place: from the top, from 1; its chord is Ctrl and this number.
        draw: draws the panel. It imports the panel itself: the first frame must not wait for panels behind.
        least_px: height that it needs as it is now, so that its list has some rows.
    """

    id: str
    title: str
    label: str
    icon: str
    place: int
    draw: Callable[[Desk], None]
    least_px: Callable[[Desk], float] = _least


def _nothing(_desk: Desk) -> None:
    return


def _nothing_open(_desk: Desk) -> bool:
    return False


class Room(msgspec.Struct, frozen=True):
    """One room of the window.

    Args:
        view: what it alone knows, None for nothing; dialogs: by kind, each importing what it draws with.
        begin: what it does at the start of each frame, before shortcuts.
        escape: closes what is open in it, innermost first; returns whether something was.
    """

    actions: tuple[Action, ...] = ()
    view: type[RoomView] | None = None
    panels: tuple[HubPanel, ...] = ()
    dialogs: Mapping[str, DrawDialog] = msgspec.field(default_factory=dict)
    begin: Callable[[Desk], None] = _nothing
    escape: Callable[[Desk], bool] = _nothing_open
