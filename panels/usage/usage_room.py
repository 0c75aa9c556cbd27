"""Room of usage in the window."""

from __future__ import annotations

from panels.base.desk import Desk, HubPanel, Room
from panels.usage.usage_view import UsageView


def _panel(desk: Desk) -> None:
    from panels.usage.usage_panel import usage_panel

    usage_panel(desk)


ROOM = Room(
    view=UsageView,
    panels=(
        HubPanel(
            id="usage", title="Usage", label="Usage", icon="coins", place=10, guide="caching", draw=_panel
        ),
    ),
)
