"""The two tables of the window: its rooms, and what a person can do, joined from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, ClassVar, Literal

import msgspec

from core.app.app_messages import Quit
from core.kernel.language import tr
from panels.agent.agent_room import ROOM as AGENT
from panels.base.desk import Action, Desk, HubPanel, Room, opens_dialog, run_action
from panels.base.view import WindowView
from panels.base.window_fields import Kept, Side
from panels.caching.caching_room import ROOM as CACHING
from panels.context.context_room import ROOM as CONTEXT
from panels.discussion.discussion_room import ROOM as DISCUSSION
from panels.forgetting.forgetting_room import ROOM as FORGETTING
from panels.harvest.harvest_room import ROOM as HARVEST
from panels.help.help_room import ROOM as HELP
from panels.imports.imports_room import ROOM as IMPORTS
from panels.knowledge.knowledge_room import ROOM as KNOWLEDGE
from panels.mcp.mcp_room import ROOM as MCP
from panels.retrieval.retrieval_room import ROOM as RETRIEVAL
from panels.settings.settings_room import ROOM as SETTINGS
from panels.shell.layout import HUB_MIN_PX, LIST_MIN_PX, MENUS, PLACES, WINDOW, Pane, panes
from panels.signals.signals_room import ROOM as SIGNALS
from panels.usage.usage_room import ROOM as USAGE

# The one table of the window's rooms. A new room is one line here, below the rooms that it reads.

ROOMS: tuple[Room, ...] = (
    DISCUSSION,
    IMPORTS,
    FORGETTING,
    CONTEXT,
    CACHING,
    USAGE,
    KNOWLEDGE,
    HARVEST,
    RETRIEVAL,
    SIGNALS,
    AGENT,
    MCP,
    SETTINGS,
    HELP,
)
"""In the order of their layers, the lowest first: so menus list what they do, and the window's file what they keep."""

_BUTTONS = {one.id: one for one in PLACES}
_ORDER = tuple(_BUTTONS)
PANELS: tuple[HubPanel, ...] = tuple(
    sorted((panel for room in ROOMS for panel in room.panels), key=lambda one: _ORDER.index(one.id))
)
"""The panels of the Operations Hub, in the order of the rail."""


# The one table of what a person can do, joined from the rooms: menus, palette, shortcuts and buttons use
# it.

# Which panes are in view, and how a person changes that.


def shown_panes(view: WindowView) -> frozenset[Pane]:
    """The panes in view just now."""
    return frozenset(name for name, _ in panes(view, view.room_px)) if view.page == "chat" else frozenset()


def show_conversation(view: WindowView) -> None:
    """Bring the conversation back where the hub stands alone."""
    if all(name != "conversation" for name, _ in panes(view, view.room_px)):
        view.side = "list"


def toggle_side(view: WindowView, side: Side) -> None:
    """Hide a side pane that is in view, else bring it into view."""
    if side not in shown_panes(view):
        view.show_side(side)
    elif side == "list":
        view.is_list_shown = False
    else:
        view.is_hub_shown = False


def _toggle_list(desk: Desk) -> None:
    toggle_side(desk.view, "list")


def _toggle_hub(desk: Desk) -> None:
    toggle_side(desk.view, "hub")


STEP_PX = 32.0
"""Distance by which a key moves the edge of a pane."""


def _moves(pane: Literal["list", "hub"], by: float) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        view = desk.view
        width = dict(panes(view, view.room_px))[pane] + by  # of what is shown: no wider than there is room
        if pane == "list":
            view.list_px = max(width, view.list_px if by > 0 else LIST_MIN_PX)
        else:
            view.hub_px = max(width, view.hub_px if by > 0 else HUB_MIN_PX)

    return run


def _has_edge(pane: Pane) -> Callable[[Desk], bool]:
    return lambda desk: len(shown := shown_panes(desk.view)) > 1 and pane in shown


def _of_panel(panel: HubPanel) -> Action:
    place = PANELS.index(panel) + 1
    return Action(
        id=panel.id, menu=tr("View"), group=2, label=panel.title, run=lambda d: d.view.show_hub(panel.id), icon=_BUTTONS[panel.id].icon,
        chord=f"Ctrl+{place}" if place < 10 else "",
        is_checked=lambda d: "hub" in shown_panes(d.view) and d.view.panel == panel.id, words=panel.words,
    )  # fmt: skip


OWN: tuple[Action, ...] = (
    Action(id="quit", menu=tr("File"), group=3, label=tr("Quit"), run=lambda d: d.send(Quit()), icon="power-off", chord="Ctrl+Q"),
    Action(id="list", menu=tr("View"), group=1, label=tr("Show discussion list"), run=_toggle_list, icon="list", chord="Ctrl+B",
           is_done=lambda d: "list" in shown_panes(d.view), undo_label=tr("Hide discussion list")),
    Action(id="hub", menu=tr("View"), group=1, label=tr("Show Operations Hub"), run=_toggle_hub, icon="table-columns", chord="Ctrl+Shift+H",
           is_done=lambda d: "hub" in shown_panes(d.view), undo_label=tr("Hide Operations Hub")),
    Action(id="widen_list", menu=tr("View"), group=1, label=tr("Widen discussion list"), run=_moves("list", STEP_PX), icon="expand",
           chord="Alt+Shift+Right", is_enabled=_has_edge("list")),
    Action(id="narrow_list", menu=tr("View"), group=1, label=tr("Narrow discussion list"), run=_moves("list", -STEP_PX), icon="compress",
           chord="Alt+Shift+Left", is_enabled=_has_edge("list")),
    Action(id="widen_hub", menu=tr("View"), group=1, label=tr("Widen Operations Hub"), run=_moves("hub", STEP_PX), icon="expand",
           chord="Alt+Shift+Up", is_enabled=_has_edge("hub")),
    Action(id="narrow_hub", menu=tr("View"), group=1, label=tr("Narrow Operations Hub"), run=_moves("hub", -STEP_PX), icon="compress",
           chord="Alt+Shift+Down", is_enabled=_has_edge("hub")),
    Action(id="palette", menu=tr("Tools"), group=0, label=tr("Command palette"), run=opens_dialog("palette"), icon="terminal", chord="Ctrl+Shift+P",
           second_chord="Ctrl+K"),
    Action(id="shortcuts", menu=tr("Help"), group=0, label=tr("Keyboard shortcuts"), run=opens_dialog("shortcuts"), icon="keyboard", chord="Shift+F1",
           words=tr("hotkeys key bindings keymap")),
)  # fmt: skip


def _place(action: Action) -> tuple[int, int]:
    return MENUS.index(action.menu), action.group


ACTIONS: tuple[Action, ...] = tuple(
    sorted((*(a for room in ROOMS for a in room.actions), *map(_of_panel, PANELS), *OWN), key=_place)
)
"""By menu and group; within a group in the order of the rooms."""

BY_ID = {action.id: action for action in ACTIONS}


def run_shortcuts(desk: Desk) -> None:
    """Do what the pressed chords ask for, or have it said why not. Once a frame, before anything is drawn."""
    for action in ACTIONS:
        chord = action.heard_chord(desk.state) if action.is_bound else ""
        if chord and desk.ui.shortcut(chord):
            meant = _meant(desk, action, chord)
            why = "" if meant.is_enabled(desk) else meant.why_not(desk)
            desk.view.said = (desk.state.discussions.selected_id, why) if why else None
            run_action(meant.id, desk)


def _meant(desk: Desk, action: Action, chord: str) -> Action:
    """The action that a chord means: while its own cannot be done, the one that has it as its second."""
    if action.is_enabled(desk):
        return action
    others = (one for one in ACTIONS if one.second_chord == chord and one.is_enabled(desk))
    return next(others, action)


# File of what outlives the window: pages, tabs, widths, scroll, as TOML in the program's own settings.

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
    """Values of the view that are saved. Two results compare equal while there is nothing new to save. Called once a frame."""
    return _of_window(view), [get(view.of(room)) for room, get in _OF_ROOMS]


def to_toml(view: WindowView) -> str:
    """TOML document of what persists."""
    import tomli_w

    document: dict[str, Any] = {one.key: one.write(getattr(own, one.name)) for own, one in _fields(view)}
    return tomli_w.dumps(document)


def restore(view: WindowView, text: str) -> None:
    """Take over what an earlier window left, in place."""
    from core.kernel.codecs import TomlError, read_toml

    try:
        found = read_toml(text)
    except TomlError:
        return
    for own, one in _fields(view):
        one.take(own, found)
    view.saved = kept(view)


# View of the notices over the conversation.


class NoticesView(msgspec.Struct):
    """The notices' own state. `was_trust_put_off`: questions of trust that were put off, by their id and folder."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    are_all_shown: bool = False
    was_trust_put_off: set[tuple[str, str]] = msgspec.field(default_factory=set)
