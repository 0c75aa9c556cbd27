"""File of what outlives the window: pages, tabs, widths, scroll, as TOML in the program's own settings."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from panels.base.view import WindowView
from panels.base.window_field import Kept, one_of, text, within, yes_or_no
from panels.shell.rooms import PANELS, ROOMS

_HUB_PX = within(160, 1200)

WINDOW: tuple[Kept, ...] = (
    Kept("page", "page", one_of("chat", "settings")),
    Kept("hub_tab", "panel", one_of(*(one.id for one in PANELS))),
    Kept("settings_section", "settings_section", text),
    Kept("list_px", "list_px", within(160, 800)),
    Kept("hub_px", "hub_px", lambda value, now: _HUB_PX(value or None, now)),
    Kept("is_list_shown", "is_list_shown", yes_or_no),
    Kept("is_hub_shown", "is_hub_shown", yes_or_no),
)

ROOM_FIELDS = tuple((room.view, room.view.kept) for room in ROOMS if room.view is not None and room.view.kept)
_of_window = attrgetter(*(one.name for one in WINDOW))
_OF_ROOMS = tuple((room, attrgetter(*(one.name for one in fields))) for room, fields in ROOM_FIELDS)


def _fields(view: WindowView) -> Iterator[tuple[object, Kept]]:
    """Every field that persists, with the view that has it."""
    yield from ((view, one) for one in WINDOW)
    for room, fields in ROOM_FIELDS:
        own = view.of(room)
        yield from ((own, one) for one in fields)


def kept(view: WindowView) -> tuple[object, ...]:
    """Values that persist, for noticing a change without writing anything. Once a frame."""
    return _of_window(view), [get(view.of(room)) for room, get in _OF_ROOMS]


def to_toml(view: WindowView) -> str:
    """TOML document of what persists."""
    import tomli_w

    document: dict[str, Any] = {one.key: one.write(getattr(own, one.name)) for own, one in _fields(view)}
    return tomli_w.dumps(document)


def restore(view: WindowView, text: str) -> None:
    """Take over what an earlier window left, in place."""
    from core.base.toml import TomlError, read_toml

    try:
        found = read_toml(text)
    except TomlError:
        return
    for own, one in _fields(view):
        setattr(own, one.name, one.read(found.get(one.key), getattr(own, one.name)))
    view.saved = kept(view)
