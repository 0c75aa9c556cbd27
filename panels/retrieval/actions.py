"""Actions on the search index from the menus."""

from __future__ import annotations

from core.retrieval.messages import UpdateIndex
from panels.base.desk import Action, Desk


def _can_update(desk: Desk) -> bool:
    return desk.state.retrieval.asked is not None and desk.state.retrieval.progress is None


ACTIONS: tuple[Action, ...] = (
    Action("update_index", "Tools", 2, "Update search index", lambda d: d.send(UpdateIndex()), "compass",
           is_enabled=_can_update),
)  # fmt: skip
