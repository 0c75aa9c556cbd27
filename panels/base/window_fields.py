"""Fields of a view that outlive the window: their key in the window's file, and how they are read back.

It reads no value of the program, so that the first frame has the panes as the window before it left them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

Page = Literal["chat", "settings"]
Side = Literal["list", "hub"]
Read = Callable[[object, Any], Any]
"""Makes a value of what the file holds (None: nothing) and the value so far, which stays where that is no good."""


def _same(value: Any) -> Any:
    return value


class Kept(msgspec.Struct, frozen=True):
    """A field that persists: its key in the file, its name in the view, how it is read and what is written of it.

    Its value is replaced, never changed in place: the window sees by identity that there is nothing to write.
    """

    key: str
    name: str
    read: Read
    write: Callable[[Any], Any] = _same

    def take(self, view: object, document: Mapping[str, object]) -> None:
        """Take the field over from the window's file, in place."""
        setattr(view, self.name, self.read(document.get(self.key), getattr(view, self.name)))


def one_of(*allowed: str) -> Read:
    """One of these words."""
    return lambda value, now: value if isinstance(value, str) and value in allowed else now


def text(value: object, now: str) -> str:
    """Any words."""
    return value if isinstance(value, str) else now


def yes_or_no(value: object, now: bool) -> bool:
    """A switch; what is neither counts as no."""
    return now if value is None else value is True


def within(low: float, high: float) -> Read:
    """A number, brought into its range."""

    def read(value: object, now: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return now
        return min(max(float(value), low), high) if value == value else now  # noqa: PLR0124 (NaN)

    return read


class Panes(msgspec.Struct):
    """Page and panes of the window as a person chose them. `panels.shell.layout.WINDOW` says what persists.

    Args:
        panel: id of the one in the hub; list_px, hub_px: widths in design px; hub_px: 0 while nobody dragged its edge.
        side: the side pane that was asked for last.
    """

    page: Page = "chat"
    panel: str = "presets"
    settings_section: str = "providers"
    list_px: float = 288.0
    hub_px: float = 0.0
    is_list_shown: bool = True
    is_hub_shown: bool = True
    side: Side = "list"
