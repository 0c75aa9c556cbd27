"""Room of caching in the window."""

from __future__ import annotations

from panels.base.desk import Desk, HubPanel, Room
from panels.caching.caching_view import CachingView, lose_cache_dialog, spend_limit_dialog


def _panel(desk: Desk) -> None:
    from panels.caching.caching_panel import caching_panel

    caching_panel(desk)


ROOM = Room(
    view=CachingView,
    panels=(
        HubPanel(
            id="caching", title="Caching", label="Caching", icon="bolt", place=4, guide="caching", draw=_panel
        ),
    ),
    dialogs={"lose_cache": lose_cache_dialog, "spend_limit": spend_limit_dialog},
)
