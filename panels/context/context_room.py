"""Room of the context in the window."""

from __future__ import annotations

from core.kernel.language import tr
from core.talk.context.context_messages import SavePreset
from panels.base import view
from panels.base.desk import Action, Desk, HubPanel, Room
from panels.base.view import Dialog
from panels.context.context_view import ContextPanelView
from panels.context.presets_panel import presets_panel

# Actions on context presets from the menus.


def _save_preset(desk: Desk) -> None:
    if (preset := view.active_preset(desk.state)) is not None:
        desk.send(SavePreset(preset.name))


def _has_unsaved_preset(desk: Desk) -> bool:
    preset = view.active_preset(desk.state)
    return preset is not None and preset.name in desk.state.config.project.unsaved_presets


ACTIONS: tuple[Action, ...] = (
    Action(id="save_preset", menu=tr("Tools"), group=1, label=tr("Save context preset"), run=_save_preset, icon="floppy-disk", chord="Ctrl+S",
           is_enabled=_has_unsaved_preset),
)  # fmt: skip


def _context(desk: Desk) -> None:
    from panels.context.context_panel import context_panel

    context_panel(desk)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.context.presets_panel import context_dialog

    context_dialog(desk, dialog)


ROOM = Room(
    actions=ACTIONS,
    view=ContextPanelView,
    panels=(
        HubPanel(
            id="presets",
            title=tr("Context presets"),
            guide="context",
            about=tr("Choose the files that the model reads. Save your choice as a preset of the project."),
            draw=presets_panel,
        ),
        HubPanel(
            id="context",
            title=tr("Context"),
            guide="context",
            about=tr(
                "See the next request, layer by layer, with the tokens of each. Check its price before you send."
            ),
            draw=_context,
        ),
    ),
    dialogs=dict.fromkeys(
        ("add_files", "new_preset", "duplicate_preset", "rename_preset", "delete_preset"), _dialog
    ),
)
