"""Windows whose rooms are as a test wants them."""

from __future__ import annotations

from typing import Any

from panels.base.view import RoomView, WindowView
from panels.shell.rooms import restore


def view_of(*rooms: RoomView, **fields: Any) -> WindowView:
    return WindowView(rooms={type(room): room for room in rooms}, **fields)


def restored(text: str) -> WindowView:
    """A new window with what an earlier one left."""
    view = WindowView()
    restore(view, text)
    return view
