"""Which panes stand side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from panels.base.view import WindowView
from panels.shell.layout import (
    CONVERSATION_LEAST_PX,
    CONVERSATION_MIN_PX,
    HUB_MIN_PX,
    HUB_PX,
    HUB_SMALL_PX,
    LIST_MIN_PX,
    panes,
)
from panels.shell.rooms import show_conversation, shown_panes, toggle_side
from tests.panels import states
from tests.panels.screen import Screen


def test_a_wide_window_shows_the_panes_as_they_were_left() -> None:
    view = WindowView(list_px=300, hub_px=500)
    assert panes(view, 1_500) == (("list", 300.0), ("conversation", 0.0), ("hub", 500.0))


def test_a_hub_that_nobody_dragged_is_wide_where_the_conversation_has_room() -> None:
    assert dict(panes(WindowView(), 1_552))["hub"] == HUB_PX
    assert dict(panes(WindowView(), 1_232))["hub"] == HUB_SMALL_PX


def test_the_hub_gives_way_first_then_the_list() -> None:
    assert panes(WindowView(), 1_050) == (("list", 288.0), ("conversation", 0.0), ("hub", 342.0))
    assert panes(WindowView(), 940) == (("list", 232.0), ("conversation", 0.0), ("hub", HUB_MIN_PX))


def test_a_narrow_window_shows_the_side_that_was_asked_for_last() -> None:
    view = WindowView(room_px=700)
    assert shown_panes(view) == {"list", "conversation"}

    view.show_side("hub")
    assert shown_panes(view) == {"conversation", "hub"}
    toggle_side(view, "list")
    assert shown_panes(view) == {"list", "conversation"}
    toggle_side(view, "list")

    assert shown_panes(view) == {"conversation", "hub"}


def test_without_room_beside_it_a_panel_stands_alone_until_the_conversation_is_asked_for() -> None:
    view = WindowView(room_px=HUB_MIN_PX + CONVERSATION_LEAST_PX - 1)
    assert shown_panes(view) == {"list", "conversation"}

    view.show_side("hub")
    assert shown_panes(view) == {"hub"}
    show_conversation(view)
    assert "conversation" in shown_panes(view)

    view.show_side("hub")
    view.room_px += 1
    show_conversation(view)
    assert shown_panes(view) == {"conversation", "hub"}


@given(st.floats(0, 4_000), st.floats(160, 800), st.floats(160, 1_200), st.booleans(), st.booleans())
def test_the_conversation_is_always_there_and_has_room_as_far_as_there_is_any(
    room: float, list_px: float, hub_px: float, has_list: bool, has_hub: bool
) -> None:
    view = WindowView(list_px=list_px, hub_px=hub_px, is_list_shown=has_list, is_hub_shown=has_hub)

    shown = dict(panes(view, room))

    assert shown.pop("conversation") == 0
    left = room - sum(shown.values())
    smallest = {"list": LIST_MIN_PX, "hub": HUB_MIN_PX}
    asked = {"list": list_px, "hub": hub_px}
    is_tight = all(
        shown[side] <= max(smallest[side], 0) or shown[side] == asked[side] < smallest[side] for side in shown
    )
    assert room == 0 or left >= CONVERSATION_MIN_PX - 0.01 or is_tight


def test_keys_move_the_edges_of_the_panes_as_far_as_there_is_room() -> None:
    screen = Screen(states.working(), width_px=1_500)

    def list_px() -> float:
        return dict(panes(screen.view, screen.view.room_px))["list"]

    before = list_px()
    for _ in range(40):
        screen.ui.press("Alt+Shift+Right")
    widest = list_px()
    screen.ui.press("Alt+Shift+Left")
    assert before < list_px() < widest, "no press was for nothing"
    for _ in range(40):
        screen.ui.press("Alt+Shift+Left")
    assert list_px() == LIST_MIN_PX


def test_a_pane_that_has_no_room_to_be_widened_keeps_the_width_for_a_wider_window() -> None:
    screen = Screen(states.working(), width_px=560)
    wanted = screen.view.list_px
    assert dict(panes(screen.view, screen.view.room_px))["list"] < wanted

    screen.ui.press("Alt+Shift+Right")

    assert screen.view.list_px == wanted
