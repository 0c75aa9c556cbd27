"""Actions on the harvest from the menus."""

from __future__ import annotations

from core.harvest.messages import LookForHarvest, UndoHarvest
from panels.base.desk import Action, Desk
from panels.harvest.view import HarvestView


def _look(desk: Desk) -> None:
    own = desk.view.of(HarvestView)
    desk.view.show_hub("harvest")
    own.tab = "conversations"
    own.looked_with = desk.state.config.settings.knowledge
    desk.send(LookForHarvest())


def _undo(desk: Desk) -> None:
    desk.view.show_hub("harvest")
    desk.view.of(HarvestView).tab = "applied"
    desk.send(UndoHarvest())


def _can_undo(desk: Desk) -> bool:
    harvest = desk.state.harvest
    if harvest.is_busy or desk.state.program.is_home_read_only:
        return False
    if harvest.looked_at is None:  # not known yet: only what is known can have been harvested
        known = desk.state.knowledge
        return any(one.items for one in known.categories) or any(one.items for one in known.notes)
    return any(not one.undone_at for one in harvest.look.applies)


ACTIONS: tuple[Action, ...] = (
    Action("undo_harvest", "Edit", 0, "Undo the last harvest", _undo, "rotate-left", is_enabled=_can_undo),
    Action("look_harvest", "Tools", 3, "Look for conversations to harvest", _look, "wheat-awn",
           is_enabled=lambda d: not d.state.harvest.is_busy),
)  # fmt: skip
