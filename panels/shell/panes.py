"""Panes side by side, and their widths, so that the conversation always has room to be read."""

from __future__ import annotations

from typing import Literal

from panels.base.view import Side, WindowView

Pane = Literal["list", "conversation", "hub"]

LIST_MIN_PX = 208.0
HUB_MIN_PX = 288.0
CONVERSATION_MIN_PX = 420.0
CONVERSATION_PX = 560.0
"""Width that it has before the hub grows beyond its usual one in a small window."""
HUB_SMALL_PX, HUB_PX = 384.0, 448.0
"""Of the hub while the person has not dragged its edge: in a small window and in one where its tabs have room."""
BOTH_FROM_PX = LIST_MIN_PX + HUB_MIN_PX + CONVERSATION_MIN_PX
CONVERSATION_LEAST_PX = 232.0
"""Width under which neither its model nor its estimate could be read."""
BESIDE_FROM_PX = HUB_MIN_PX + CONVERSATION_LEAST_PX
"""Width from which the hub stands beside the conversation; below, the one that was asked for last has the room."""


def panes(view: WindowView, room_px: float) -> tuple[tuple[Pane, float], ...]:
    """The panes from the left with their widths; 0 takes what is left.

    Args:
        room_px: width for all of them, design px; 0 while not known yet.

    Returns:
        In a narrow window only the side pane that was asked for last, else those that are switched on; side panes
        give way before the conversation does. The hub stands alone where there is no room beside it.
    """
    has_list, has_hub = view.is_list_shown, view.is_hub_shown
    if has_hub and 0 < room_px < BESIDE_FROM_PX:
        if view.side == "hub":
            return (("hub", 0.0),)
        has_hub = False
    if has_list and has_hub and 0 < room_px < BOTH_FROM_PX:
        has_list, has_hub = view.side == "list", view.side == "hub"
    list_px = view.list_px if has_list else 0.0
    hub_px = (view.hub_px or _usual_hub_px(room_px - list_px)) if has_hub else 0.0
    if room_px > 0:
        spare = room_px - CONVERSATION_MIN_PX - list_px - hub_px
        if spare < 0 and has_hub:
            hub_px = max(HUB_MIN_PX, hub_px + spare)
            spare = room_px - CONVERSATION_MIN_PX - list_px - hub_px
        if spare < 0 and has_list:
            list_px = max(LIST_MIN_PX, list_px + spare)
    shown: list[tuple[Pane, float]] = [("conversation", 0.0)]
    if has_list:
        shown.insert(0, ("list", list_px))
    if has_hub:
        shown.append(("hub", hub_px))
    return tuple(shown)


def _usual_hub_px(room_px: float) -> float:
    return min(HUB_PX, max(HUB_SMALL_PX, room_px - CONVERSATION_PX))


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
