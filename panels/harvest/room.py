"""Room of the harvest in the window."""

from __future__ import annotations

from core.values.batches import BatchReport
from panels.base.desk import Desk
from panels.base.room import LEAST_PX, HubPanel, Room
from panels.base.view import Dialog
from panels.harvest.actions import ACTIONS
from panels.harvest.view import SHOWN_PROBLEMS, HarvestView

PREVIEW_PX = 500.0
BATCH_PX, BUTTONS_PX = 44.0, 36.0
"""Height of what is said of a batch, in two lines, and of the buttons below those that are open."""


def _panel(desk: Desk) -> None:
    from panels.harvest.harvest_panel import harvest_panel

    harvest_panel(desk)


def _least_px(desk: Desk) -> float:
    """More where batches stand over the conversations; of the preview items are high."""
    if desk.view.of(HarvestView).tab == "preview":
        return PREVIEW_PX
    harvest = desk.state.harvest
    told = harvest.batched or BatchReport()
    closed = sum(not one.is_open for one in told.batches)
    lines = len(harvest.look.batches) + closed + min(SHOWN_PROBLEMS, len(told.problems))
    return LEAST_PX + BATCH_PX * lines + (BUTTONS_PX if harvest.look.batches else 0.0)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.harvest.dialogs import harvest_dialog

    harvest_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    """Ctrl+Enter belongs to the words that are being typed in the preview, before it sends a message."""
    own = desk.view.of(HarvestView)
    own.begin_frame()
    if own.had_keyboard and desk.view.dialog is None and desk.ui.shortcut("Ctrl+Enter"):
        from panels.harvest.item import keep_words  # loaded with the panel

        keep_words(desk, own.had_keyboard)


def _escape(desk: Desk) -> bool:
    own = desk.view.of(HarvestView)
    return bool(own.had_keyboard) and own.edits.pop(own.had_keyboard, None) is not None


ROOM = Room(
    ACTIONS,
    HarvestView,
    panels=(HubPanel("harvest", "Harvest", "Harvest", "wheat-awn", 5, _panel, _least_px),),
    dialogs=dict.fromkeys(
        (
            "harvest_give_up",
            "harvest_discard",
            "harvest_folder",
            "harvest_files",
            "harvest_cancel_batches",
        ),
        _dialog,
    ),
    begin=_begin,
    escape=_escape,
)
