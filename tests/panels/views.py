"""Windows whose rooms are as a test wants them."""

from __future__ import annotations

from typing import Any

from panels.base.kept import RoomView
from panels.base.view import WindowView


def view_of(*rooms: RoomView, **fields: Any) -> WindowView:
    return WindowView(rooms={type(room): room for room in rooms}, **fields)
